package box

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/natsbus"
)

// world is a host's world with a beginning and an end.
type world interface {
	host.World

	// start begins to speak, with step next where the world can choose.
	start(next uint64) error

	// stop ends speaking, soon.
	stop()
}

// givenWorld is a world that begins and ends by itself.
type givenWorld struct{ host.World }

func (givenWorld) start(uint64) error { return nil }
func (givenWorld) stop()              {}

// mostLine bounds a line of text, in bytes.
const mostLine = 64 << 20

// lines is a world that speaks JSON lines, from stdin or a file.
type lines struct {
	*host.Text
	config *Config
	in     io.Reader
	out    *outbox
	log    *slog.Logger
	halt   chan struct{}
	late   bool // lines were left out
}

// newLines returns a world of lines whose answers go to out.
func (c *Config) newLines(in io.Reader, out *outbox, log *slog.Logger) (*lines, error) {
	w := &lines{Text: c.newText(out.put, log), config: c, in: in, out: out, log: log, halt: make(chan struct{})}
	if c.World.File != "" {
		f, err := os.Open(c.abs(c.World.File))
		if err != nil {
			return nil, fmt.Errorf("world: %w", err)
		}
		w.in = f
	}
	if w.in == nil {
		return nil, errors.New("world: no lines to read; name a file")
	}
	return w, nil
}

// newText returns a world of text that answers what it cannot read, and logs the
// first of it.
func (c *Config) newText(write func([]byte) error, log *slog.Logger) *host.Text {
	var once sync.Once
	return host.NewText(write, func(err error) {
		once.Do(func() { log.Warn("a line cannot be read; others like it are counted without a word", "err", err) })
		text, err := json.Marshal(unread{c.Host, err.Error()})
		if err == nil {
			err = write(text)
		}
		if err != nil {
			log.Debug("nobody was told of a line that cannot be read", "err", err)
		}
	})
}

// unread answers a line that cannot be read: it has no time.
type unread struct {
	Host  transport.HostID `json:"host"`
	Error string           `json:"error"`
}

// Lost returns how many answers could not be written.
func (w *lines) Lost() uint64 { return w.out.lost.Load() }

func (w *lines) start(next uint64) error {
	go w.read(w.config.newClock(next))
	return nil
}

func (w *lines) stop() {
	close(w.halt)
	if c, ok := w.in.(io.Closer); ok {
		c.Close() // ends the read under way, where the system can
	}
}

// read sends line after line until the end.
func (w *lines) read(k *clock) {
	defer w.End()
	r := bufio.NewReaderSize(w.in, 64<<10)
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line) <= mostLine {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if text := bytes.TrimSpace(line); len(text) > 0 {
			if len(line) > mostLine {
				text = []byte("a line that is too long")
			}
			if !w.send(text, k) {
				return
			}
		}
		line = line[:0]
		if err != nil {
			k.end(w.halt)
			return
		}
	}
}

// send hands a line over when it is time, and says whether to go on.
func (w *lines) send(text []byte, k *clock) bool {
	if k.period > 0 {
		var at struct{ Time *uint64 }
		if json.Unmarshal(text, &at) == nil && at.Time != nil {
			if w.over(*at.Time, k) {
				return true
			}
			if !k.wait(*at.Time, w.halt) {
				return false
			}
		}
	}
	w.Say(text, w.halt)
	select {
	case <-w.halt:
		return false
	default:
		return true
	}
}

// over says whether a line of a file is left out: a box that is started late, or
// again, begins with the step whose time it is, as it does with a stream, and does
// not hear all of its file once more. Whoever writes to stdin gets an answer.
func (w *lines) over(time uint64, k *clock) bool {
	if w.config.World.File == "" || k.begun || k.first(time) == time {
		return false
	}
	if !w.late {
		w.log.Info("lines whose time is over are left out, by pace.start and the clock of this machine", "first", time)
	}
	w.late = true
	return true
}

// subject is a world that speaks over NATS.
type subject struct {
	*host.Text
	conn *natsbus.Conn
	from string
	halt chan struct{}
	end  func()
}

func (c *Config) newSubject(conn *natsbus.Conn, log *slog.Logger) *subject {
	answers := natsbus.AnswerSubject(c.Run, c.Host)
	write := func(text []byte) error { return conn.Publish(answers, text) }
	return &subject{Text: c.newText(write, log), conn: conn, from: natsbus.WorldSubject(c.Run, c.Host), halt: make(chan struct{})}
}

func (w *subject) start(uint64) (err error) {
	w.end, err = w.conn.Subscribe(w.from, func(_ string, data []byte) { w.Say(data, w.halt) })
	return err
}

func (w *subject) stop() {
	close(w.halt)
	if w.end != nil {
		w.end()
	}
}
