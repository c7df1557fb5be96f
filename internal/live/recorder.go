package live

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"
)

// EventsName is the file of a recording in the folder of a run: one JSON object
// per line, {"scene": …} first, then {"frame": …} and {"words": …} as they came.
const EventsName = "events.jsonl"

// RecordConfig says how much is recorded. Its zero value is for a browser.
type RecordConfig struct {
	Limit int64         // bytes of the file; 0 means 64 MiB
	Gap   time.Duration // least time between frames; 0 means a tenth of a second
}

// Recorder writes what a hub shows to a file. As the file grows it keeps fewer
// frames, so that a long run has its beginning and its end.
type Recorder struct {
	config RecordConfig
	file   *os.File
	out    *bufio.Writer
	sub    *Subscription
	done   chan struct{}
	err    error

	written int64
	over    bool // another scene began
	last    time.Time
	pending *Message // the latest frame that was not written
}

// Record begins to record a hub into dir, where a recording must not exist yet.
// It ends when the hub is closed or with Close.
func Record(h *Hub, dir string, c RecordConfig) (*Recorder, error) {
	if c.Limit == 0 {
		c.Limit = 64 << 20
	}
	if c.Gap == 0 {
		c.Gap = time.Second / 10
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("live: record: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, EventsName), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("live: record: %w", err)
	}
	sub, err := h.Subscribe(8)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	r := &Recorder{config: c, file: f, out: bufio.NewWriterSize(f, 1<<16), sub: sub, done: make(chan struct{})}
	go r.run()
	return r, nil
}

// run writes until the hub or the subscription is closed.
func (r *Recorder) run() {
	defer close(r.done)
	for {
		m, err := r.sub.Next(context.Background())
		if err != nil {
			break
		}
		if r.err == nil {
			r.err = r.take(m)
		}
	}
	if r.pending != nil && r.err == nil {
		r.err = r.write(*r.pending)
	}
	if err := r.out.Flush(); r.err == nil {
		r.err = err
	}
	if err := r.file.Close(); r.err == nil {
		r.err = err
	}
}

// take writes a message, or keeps it for later.
func (r *Recorder) take(m Message) error {
	if m.Kind == kindScene && r.written > 0 {
		r.over = true // what follows is of another scene
	}
	if r.over {
		return nil
	}
	switch m.Kind {
	case kindHistory:
		return nil // made of frames
	case kindFrame:
		if time.Since(r.last) < r.gap() {
			r.pending = &m
			return nil
		}
		r.last, r.pending = time.Now(), nil
	}
	if err := r.write(m); err != nil {
		return err
	}
	return r.out.Flush() // somebody may be looking already
}

// gap doubles with each half of what is left of the limit.
func (r *Recorder) gap() time.Duration {
	left := 1 - float64(r.written)/float64(r.config.Limit)
	if left <= 1.0/1024 {
		return math.MaxInt64
	}
	return time.Duration(float64(r.config.Gap) * math.Exp2(math.Floor(-math.Log2(left))))
}

// write appends a line, if the limit allows.
func (r *Recorder) write(m Message) error {
	line, err := json.Marshal(map[string]json.RawMessage{m.Kind: m.Text})
	if err != nil {
		return fmt.Errorf("live: record: %w", err)
	}
	if r.written+int64(len(line))+1 > r.config.Limit {
		return nil
	}
	n, err := r.out.Write(append(line, '\n'))
	r.written += int64(n)
	if err != nil {
		return fmt.Errorf("live: record: %w", err)
	}
	return nil
}

// Close ends the recording and says whether all of it was written.
func (r *Recorder) Close() error {
	r.sub.Close()
	<-r.done
	return r.err
}
