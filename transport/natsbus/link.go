package natsbus

import (
	"errors"
	"net"
	"os"
	"slices"
	"sync"
	"time"
)

const (
	briefTimeout = 20 * time.Millisecond // that a write waits for a slow network
	stallTimeout = 2 * time.Second       // in which the other end must take something
	writeChunk   = 256 << 10             // bytes that it must take in that time
	closeTimeout = 100 * time.Millisecond
	mostPending  = 4 << 20 // bytes that wait for a slow network
)

// link is a connection whose writes wait for a network only briefly: nats.go
// holds its lock while it writes, and Send would wait for that. What is left
// over is written beside, and the connection is given up when the other end
// stops taking data. One goroutine writes at a time, as nats.go does.
type link struct {
	net.Conn
	stop func() bool

	mu      sync.Mutex
	changed *sync.Cond // when one of the following has
	pending []byte     // to be written by pump
	pumping bool
	failed  error
}

func newLink(conn net.Conn, stop func() bool) *link {
	l := &link{Conn: conn, stop: stop}
	l.changed = sync.NewCond(&l.mu)
	return l
}

// Write implements net.Conn. It waits longer only while mostPending bytes do.
func (l *link) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.failed == nil && len(l.pending) > 0 && len(l.pending)+len(p) > mostPending {
		l.changed.Wait()
	}
	if l.failed != nil {
		return 0, l.failed
	}
	if l.pumping {
		l.pending = append(l.pending, p...)
		return len(p), nil
	}
	written, err := l.write(p, briefTimeout)
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		l.failed = err
		return written, err
	}
	l.pending, l.pumping = slices.Clone(p[written:]), true
	go l.pump()
	return len(p), nil
}

// pump writes what is pending until nothing is.
func (l *link) pump() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.pending) > 0 && l.failed == nil {
		batch := l.pending
		l.pending = nil
		l.changed.Broadcast()
		l.mu.Unlock()
		_, err := l.write(batch, stallTimeout)
		l.mu.Lock()
		l.failed = err
	}
	l.pumping = false
	l.changed.Broadcast()
}

// write writes all of p, as long as something of it moves in the given time.
func (l *link) write(p []byte, patience time.Duration) (written int, err error) {
	for written < len(p) {
		if err := l.Conn.SetWriteDeadline(time.Now().Add(patience)); err != nil {
			return written, err
		}
		n, err := l.Conn.Write(p[written:min(len(p), written+writeChunk)])
		written += n
		if err != nil {
			if patience == stallTimeout || !errors.Is(err, os.ErrDeadlineExceeded) {
				l.Conn.Close() // the reader of the connection finds out and starts over
			}
			return written, err
		}
	}
	return written, nil
}

// Close implements net.Conn. What is pending has a moment to be written.
func (l *link) Close() error {
	end := time.AfterFunc(closeTimeout, func() { l.Conn.Close() })
	defer end.Stop()
	l.mu.Lock()
	for l.pumping {
		l.changed.Wait()
	}
	l.mu.Unlock()
	l.stop()
	return l.Conn.Close()
}
