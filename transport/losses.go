package transport

import (
	"fmt"
	"math"
	"sync/atomic"
)

// Losses loses frames on purpose, with a probability that may change while
// frames arrive. The reader of a Bus asks it of every frame. Unlike [Disturb] it
// needs no goroutine between the Bus and its reader, so that it costs nothing as
// long as nothing is lost. Lose is for one goroutine at a time, Set for any; nil loses
// nothing.
type Losses struct {
	self   HostID
	seed   uint64
	loss   atomic.Uint64     // its bits
	counts map[HostID]uint64 // frames that were asked about, by sender
}

// NewLosses returns what loses frames that arrive at host self: none before Set.
// Which ones are lost follows from the seed, both hosts, and the count of frames.
func NewLosses(self HostID, seed uint64) *Losses {
	return &Losses{self: self, seed: scramble(seed), counts: map[HostID]uint64{}}
}

// Set changes the probability that a frame is lost.
func (l *Losses) Set(p float64) error {
	if math.IsNaN(p) || p < 0 || p > 1 {
		return fmt.Errorf("transport: losses: %v, want a probability from 0 to 1", p)
	}
	l.loss.Store(math.Float64bits(p))
	return nil
}

// Lose says whether the next frame from a host is lost.
func (l *Losses) Lose(from HostID) bool {
	if l == nil {
		return false
	}
	f := Faults{Seed: l.seed, Loss: math.Float64frombits(l.loss.Load())}
	if f.Loss == 0 {
		return false
	}
	n := l.counts[from]
	l.counts[from] = n + 1
	return f.fate(from, l.self, n).lost
}
