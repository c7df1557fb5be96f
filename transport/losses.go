package transport

import (
	"fmt"
	"math"
)

// Losses loses frames on purpose, with a probability that may change while
// frames arrive. The reader of a Bus asks it of every frame. Unlike [Disturb] it
// needs no goroutine between the Bus and its reader, so that it costs nothing as
// long as nothing is lost. It is not safe for concurrent use; nil loses nothing.
type Losses struct {
	self   HostID
	faults Faults
	counts map[HostID]uint64 // frames that were asked about, by sender
}

// NewLosses returns what loses frames that arrive at host self: none before Set.
// Which ones are lost follows from the seed, both hosts, and the count of frames.
func NewLosses(self HostID, seed uint64) *Losses {
	return &Losses{self: self, faults: Faults{Seed: scramble(seed)}, counts: map[HostID]uint64{}}
}

// Set changes the probability that a frame is lost.
func (l *Losses) Set(p float64) error {
	if math.IsNaN(p) || p < 0 || p > 1 {
		return fmt.Errorf("transport: losses: %v, want a probability from 0 to 1", p)
	}
	l.faults.Loss = p
	return nil
}

// Lose says whether the next frame from a host is lost.
func (l *Losses) Lose(from HostID) bool {
	if l == nil || l.faults.Loss == 0 {
		return false
	}
	n := l.counts[from]
	l.counts[from] = n + 1
	return l.faults.fate(from, l.self, n).lost
}
