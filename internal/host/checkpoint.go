package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/internal/journal"
)

// checkpoint is what a host keeps on disk, as JSON.
type checkpoint struct {
	Version int            `json:"version"`
	Run     string         `json:"run"`
	Time    uint64         `json:"time"` // of the last step
	Nodes   []agent.Memory `json:"nodes"`
}

// checkpointVersion is that of what is written. Version 1 had its parameters in
// other coordinates, which package rule translates.
const checkpointVersion = 2

// memory returns what the nodes remember between two steps.
func (h *Host) memory() *checkpoint {
	c := &checkpoint{Version: checkpointVersion, Run: h.cfg.Run, Time: h.time}
	for i := range h.cells {
		c.Nodes = append(c.Nodes, h.cells[i].node.Memory())
	}
	return c
}

// restore puts the nodes where the last checkpoint left them.
func (h *Host) restore() error {
	j, was, err := journal.Open(h.cfg.Disk)
	if err != nil {
		return fmt.Errorf("host: state: %w", err)
	}
	for _, s := range was.Skipped {
		h.log.Warn("checkpoint cannot be read", "what", s)
	}
	h.saver = newSaver(j, was.Seq, h.cfg.Every, h.log)
	if was.Snapshot == nil {
		return nil
	}
	var c checkpoint
	if err := json.Unmarshal(was.Snapshot, &c); err != nil || c.Version < 1 || c.Version > checkpointVersion {
		return fmt.Errorf("host: state: a checkpoint of version %d: %w; move the folder away to begin anew", c.Version, errors.Join(err, errors.ErrUnsupported))
	}
	if c.Run != h.cfg.Run {
		return fmt.Errorf("host: state: it belongs to the run %q, this is %q; use another folder", c.Run, h.cfg.Run)
	}
	for _, m := range c.Nodes {
		i, ok := h.index[m.Node]
		if !ok {
			return fmt.Errorf("host: state: it has node %d, which is not here; use another folder", m.Node)
		}
		if err := h.cells[i].node.Restore(m); err != nil {
			return fmt.Errorf("host: state: %w; move the folder away to begin anew", err)
		}
	}
	h.time, h.begun = c.Time, true
	h.log.Info("goes on from a checkpoint", "time", c.Time, "nodes", len(c.Nodes))
	return nil
}

// saver writes checkpoints beside the loop, one at a time.
type saver struct {
	journal *journal.Journal
	every   time.Duration
	log     *slog.Logger
	last    time.Time
	work    chan *checkpoint
	done    chan struct{}
	seq     uint64
	written atomic.Uint64
	failed  atomic.Uint64
	unsaved atomic.Bool // the last one failed
}

func newSaver(j *journal.Journal, seq uint64, every time.Duration, log *slog.Logger) *saver {
	s := &saver{journal: j, every: every, log: log, last: time.Now(), work: make(chan *checkpoint, 1), done: make(chan struct{}), seq: seq}
	go func() {
		defer close(s.done)
		for c := range s.work {
			if err := s.write(c); err != nil {
				s.log.Warn("checkpoint not written; the one before is still there", "err", err)
			}
		}
	}()
	return s
}

// offer takes a checkpoint if it is time for one and the last is written.
func (s *saver) offer(memory func() *checkpoint) {
	if now := time.Now(); now.Sub(s.last) >= s.every && len(s.work) == 0 {
		s.last = now
		s.work <- memory()
	}
}

// write writes a checkpoint, whole or not at all.
func (s *saver) write(c *checkpoint) error {
	text, err := json.Marshal(c)
	if err == nil { // under the same number as one that failed, whose remains it replaces
		err = s.journal.WriteSnapshot(s.seq+1, text)
	}
	s.unsaved.Store(err != nil)
	if err != nil {
		s.failed.Add(1)
		return err
	}
	s.seq++
	s.written.Add(1)
	return s.journal.Prune()
}

// close writes a last checkpoint; nil means none.
func (s *saver) close(c *checkpoint) (err error) {
	close(s.work)
	<-s.done
	if c != nil {
		err = s.write(c)
	}
	return errors.Join(err, s.journal.Close())
}
