package host

import (
	"encoding/json"
	"log/slog"
	"sync/atomic"
)

// Store keeps checkpoints. It is used by one goroutine at a time, and belongs to
// whoever opened it.
type Store interface {
	// Last returns the checkpoint that was written last, nil if there is none. It
	// is asked once, before any Write.
	Last() ([]byte, error)

	// Write replaces it, whole or not at all: after an error, and after a power
	// failure at any moment, one of the two is there.
	Write(checkpoint []byte) error
}

// saver writes checkpoints beside the loop, one at a time.
type saver struct {
	store   Store
	log     *slog.Logger
	work    chan *Checkpoint
	done    chan struct{}
	written atomic.Uint64
	failed  atomic.Uint64
	unsaved atomic.Bool // the last one failed
}

func newSaver(store Store, log *slog.Logger) *saver {
	return &saver{store: store, log: log, work: make(chan *Checkpoint, 1), done: make(chan struct{})}
}

// run writes what is offered, until close.
func (s *saver) run() {
	defer close(s.done)
	for c := range s.work {
		if err := s.write(c); err != nil {
			s.log.Warn("checkpoint not written; the one before is still there", "err", err)
		}
	}
}

// offer takes a checkpoint if the last is written.
func (s *saver) offer(m *Machine) {
	if len(s.work) == 0 {
		s.work <- m.Checkpoint()
	}
}

// write writes a checkpoint.
func (s *saver) write(c *Checkpoint) error {
	text, err := json.Marshal(c)
	if err == nil {
		err = s.store.Write(text)
	}
	s.unsaved.Store(err != nil)
	if err != nil {
		s.failed.Add(1)
		return err
	}
	s.written.Add(1)
	return nil
}

// close writes a last checkpoint; nil means none.
func (s *saver) close(c *Checkpoint) error {
	close(s.work)
	<-s.done
	if c == nil {
		return nil
	}
	return s.write(c)
}
