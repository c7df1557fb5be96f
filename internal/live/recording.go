package live

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

const (
	maxLine   = 32 << 20  // bytes of an event in a file
	maxFrames = 1_000_000 // of a recording
	maxWords  = 10_000
)

// ErrNoRun is what Open returns for a folder without anything to replay.
var ErrNoRun = errors.New("there is nothing to replay")

// Recording is a run that can be replayed. As JSON it is all but its frames. It
// is safe for concurrent use.
type Recording struct {
	Scene   Scene   `json:"scene"`
	Times   Numbers `json:"times"` // of the frames
	Words   []Words `json:"words"`
	History History `json:"history"`
	Story   *Story  `json:"story,omitempty"`
	Skipped int     `json:"skipped"` // lines that make no sense, a torn last line among them

	file   io.ReaderAt
	closer io.Closer
	at     []span
}

// span is where the object of a frame is in the file.
type span struct {
	offset int64
	length int
}

// Open reads the recording in the folder of a run: events.jsonl, or else the
// curves of metrics.jsonl. The caller closes it.
func Open(dir string) (*Recording, error) {
	f, err := os.Open(filepath.Join(dir, EventsName))
	if errors.Is(err, fs.ErrNotExist) {
		return openMetrics(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("live: %w", err)
	}
	r := &Recording{Times: Numbers{}, Words: []Words{}, file: f, closer: f}
	if err := r.index(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("live: %s: %w", filepath.Join(dir, EventsName), err)
	}
	return r, nil
}

// Load reads a recording that a [Writer] wrote.
func Load(text []byte) (*Recording, error) {
	in := bytes.NewReader(text)
	r := &Recording{Times: Numbers{}, Words: []Words{}, file: in}
	if err := r.index(in); err != nil {
		return nil, fmt.Errorf("live: %w", err)
	}
	return r, nil
}

// line is one event of a file.
type line struct {
	Scene *Scene          `json:"scene"`
	Words *Words          `json:"words"`
	Story *Story          `json:"story"`
	Frame json.RawMessage `json:"frame"`
}

// index finds the frames of a file.
func (r *Recording) index(f io.Reader) error {
	var past history
	in := bufio.NewReaderSize(f, 1<<16)
	begun, offset := false, int64(0)
	for {
		text, long, err := readLine(in, maxLine)
		if err == io.EOF && len(text) == 0 {
			break
		}
		if err != nil && err != io.EOF {
			return err
		}
		from := offset
		offset += long
		var l line
		switch {
		case long > int64(len(text)) || json.Unmarshal(text, &l) != nil:
			r.Skipped++
		case l.Scene != nil && !begun:
			if err := l.Scene.validate(); err != nil {
				return err
			}
			r.Scene, begun = *l.Scene, true
		case l.Words != nil && len(r.Words) < maxWords:
			r.Words = append(r.Words, *l.Words)
		case l.Story != nil && begun && r.Scene.checkStory(l.Story) == nil:
			r.Story = l.Story // the last is whole
		case l.Frame != nil && begun && len(r.at) < maxFrames:
			r.addFrame(l.Frame, span{from, len(text)}, &past)
		default:
			r.Skipped++
		}
		if err == io.EOF {
			break
		}
	}
	if !begun {
		return ErrNoRun
	}
	if p := past.copy(); p != nil {
		r.History = *p
	}
	return nil
}

func (r *Recording) addFrame(text []byte, at span, past *history) {
	f := new(Frame)
	if json.Unmarshal(text, f) != nil || r.Scene.check(f) != nil {
		r.Skipped++
		return
	}
	past.add(f)
	r.Times, r.at = append(r.Times, f.Time), append(r.at, at)
}

// readLine returns a line with its end, at most limit bytes of it, and how long
// it is.
func readLine(in *bufio.Reader, limit int) (text []byte, long int64, err error) {
	for {
		part, err := in.ReadSlice('\n')
		long += int64(len(part))
		if len(text) < limit {
			text = append(text, part...)
		}
		if err != bufio.ErrBufferFull {
			return text, long, err
		}
	}
}

// Frames returns how many there are.
func (r *Recording) Frames() int { return len(r.at) }

// Read returns frames from the given one on as JSON objects, at most count and
// about limit bytes, but at least one if there is one.
func (r *Recording) Read(from, count, limit int) ([]json.RawMessage, error) {
	if from < 0 || count < 0 || from > len(r.at) {
		return nil, fmt.Errorf("live: frames from %d on, there are %d", from, len(r.at))
	}
	list, total := []json.RawMessage{}, 0
	for _, s := range r.at[from:min(from+count, len(r.at))] {
		if total += s.length; total > limit && len(list) > 0 {
			break
		}
		text := make([]byte, s.length)
		if _, err := r.file.ReadAt(text, s.offset); err != nil {
			return nil, fmt.Errorf("live: frame: %w", err)
		}
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			return nil, fmt.Errorf("live: frame: %w", err)
		}
		list = append(list, slices.Clone(l.Frame))
	}
	return list, nil
}

// Close closes the file.
func (r *Recording) Close() error {
	if r.closer == nil {
		return nil
	}
	return r.closer.Close()
}
