package box

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// outbox writes lines beside the loop of a host, so that a reader who has
// stopped reading does not stop the host. put may be called concurrently, close
// once and after it.
type outbox struct {
	queue  chan []byte
	wait   time.Duration // for room
	done   chan struct{}
	failed atomic.Pointer[error]
}

const (
	outboxLines = 256
	outboxEnd   = 2 * time.Second // in which the last lines must be taken
)

// errSlow says that nobody reads what is written.
var errSlow = errors.New("nobody reads it")

// newOutbox returns an outbox to w whose callers wait for room at most as given.
func newOutbox(w io.Writer, wait time.Duration) *outbox {
	o := &outbox{queue: make(chan []byte, outboxLines), wait: wait, done: make(chan struct{})}
	go func() {
		defer close(o.done)
		buffered := bufio.NewWriter(w)
		for line := range o.queue {
			_, err := buffered.Write(line)
			if err == nil && len(o.queue) == 0 {
				err = buffered.Flush()
			}
			if err != nil {
				o.failed.Store(&err)
			}
		}
	}()
	return o
}

// put takes a line, without its end; text is not kept.
func (o *outbox) put(text []byte) error {
	if err := o.failed.Load(); err != nil {
		return *err
	}
	line := append(append(make([]byte, 0, len(text)+1), text...), '\n')
	select {
	case o.queue <- line:
		return nil
	default:
	}
	timer := time.NewTimer(o.wait)
	defer timer.Stop()
	select {
	case o.queue <- line:
		return nil
	case <-timer.C:
		return fmt.Errorf("box: a line for the world: %w", errSlow)
	}
}

// close returns when all lines are written, or nobody wants to read them.
func (o *outbox) close() error {
	close(o.queue)
	timer := time.NewTimer(outboxEnd)
	defer timer.Stop()
	select {
	case <-o.done:
	case <-timer.C:
		return fmt.Errorf("box: the last lines for the world: %w", errSlow)
	}
	if err := o.failed.Load(); err != nil {
		return *err
	}
	return nil
}
