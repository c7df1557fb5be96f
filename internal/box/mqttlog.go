package box

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/wdgnn/wdgnn/internal/mqtt"
)

// readingLog keeps messages that were acknowledged and may not be part of a checkpoint yet:
// a box that is killed reads them again. It is two files in the folder of checkpoints that
// take turns, so that the last of them reach back far enough and none grows for long. Every
// message is handed to the system before it is acknowledged; disks are not waited for.
// Nil keeps nothing.
type readingLog struct {
	dir   string
	least time.Duration // of time that is kept
	file  *os.File
	turn  int
	since time.Time // when the file that is written was begun
	size  int64     // of it
	most  int64     // bytes of a file: who floods the box does not fill its disk
}

// mostLogged is how many bytes each of the two files may have. Then the other begins
// anew, and what reaches back further is not read again.
const mostLogged = 32 << 20

// loggedReading is a line of the log.
type loggedReading struct {
	Came     time.Time `json:"came"`
	Topic    string    `json:"topic"`
	Payload  string    `json:"payload"`
	Retained bool      `json:"retained,omitempty"`
}

var readingLogs = [2]string{"readings-0.jsonl", "readings-1.jsonl"}

// openReadingLog returns the log of a folder, and what is in it, the oldest first.
func openReadingLog(dir string, least time.Duration) (*readingLog, []loggedReading, error) {
	l := &readingLog{dir: dir, least: least, since: time.Now(), most: mostLogged}
	var both [2][]loggedReading
	for k, name := range readingLogs {
		var err error
		if both[k], err = readReadings(filepath.Join(dir, name)); err != nil {
			return nil, nil, err
		}
	}
	older, newer := both[0], both[1]
	if len(newer) == 0 || len(older) > 0 && newer[0].Came.Before(older[0].Came) {
		older, newer = newer, older
	} else {
		l.turn = 1
	}
	err := l.begin(os.O_APPEND)
	if err == nil {
		_, err = l.file.WriteString("\n") // ends a line that was cut off
	}
	return l, append(older, newer...), err
}

// readReadings reads a file of the log. Lines that were cut off are left out.
func readReadings(path string) (list []loggedReading, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, mostLine)
	for lines.Scan() {
		var r loggedReading
		if json.Unmarshal(lines.Bytes(), &r) == nil {
			list = append(list, r)
		}
	}
	return list, lines.Err()
}

// begin opens the file whose turn it is.
func (l *readingLog) begin(how int) (err error) {
	if l.file != nil {
		l.file.Close()
	}
	if l.file, err = os.OpenFile(filepath.Join(l.dir, readingLogs[l.turn]), os.O_WRONLY|os.O_CREATE|how, 0o600); err != nil {
		return err
	}
	info, err := l.file.Stat()
	if err == nil {
		l.size = info.Size()
	}
	return err
}

// put keeps a message.
func (l *readingLog) put(m mqtt.Message) error {
	if l == nil {
		return nil
	}
	now := time.Now()
	if now.Sub(l.since) > l.least || l.size > l.most {
		l.turn, l.since = 1-l.turn, now
		if err := l.begin(os.O_TRUNC); err != nil {
			return err
		}
	}
	text, err := json.Marshal(loggedReading{now, m.Topic, string(m.Payload), m.Retained})
	if err == nil {
		var n int
		n, err = l.file.Write(append(text, '\n'))
		l.size += int64(n)
	}
	return err
}

func (l *readingLog) close() error {
	if l == nil {
		return nil
	}
	return l.file.Close()
}
