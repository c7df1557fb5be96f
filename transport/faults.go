package transport

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Faults is what a network does wrong on purpose: see [Disturb]. The zero value
// does nothing wrong. Probabilities are per frame and receiver, 0 ≤ p ≤ 1;
// durations are nanoseconds in JSON.
type Faults struct {
	Seed       uint64        `json:"seed" yaml:"seed"`                                 // decides the fate of every frame
	Loss       float64       `json:"loss,omitempty" yaml:"loss,omitempty"`             // probability that a frame is lost
	Duplicate  float64       `json:"duplicate,omitempty" yaml:"duplicate,omitempty"`   // that it arrives twice
	Reorder    float64       `json:"reorder,omitempty" yaml:"reorder,omitempty"`       // that it arrives after the next one of its sender
	Delay      time.Duration `json:"delay,omitempty" yaml:"delay,omitempty"`           // added to every frame
	Jitter     time.Duration `json:"jitter,omitempty" yaml:"jitter,omitempty"`         // up to so much more, uniformly
	Partitions []Partition   `json:"partitions,omitempty" yaml:"partitions,omitempty"` // may overlap

	// Began is what partitions count from, so that a host that is started
	// again agrees with the others; zero means the first frame that arrives.
	Began time.Time `json:"began,omitzero" yaml:"began,omitempty"`
}

// Partition cuts hosts off: frames between a host of the set and one outside
// are lost, in both directions, if both sides are disturbed.
type Partition struct {
	Hosts []HostID      `json:"hosts" yaml:"hosts,flow"`
	From  time.Duration `json:"from" yaml:"from"`                 // since Faults.Began
	To    time.Duration `json:"to,omitempty" yaml:"to,omitempty"` // it heals then; 0 means never
}

// Any says whether there is any fault.
func (f Faults) Any() bool {
	return f.Loss > 0 || f.Duplicate > 0 || f.Reorder > 0 || f.Delay > 0 || f.Jitter > 0 || len(f.Partitions) > 0
}

// Validate reports everything that is wrong.
func (f Faults) Validate() error {
	var errs []error
	for _, p := range []struct {
		name  string
		value float64
	}{{"loss", f.Loss}, {"duplicate", f.Duplicate}, {"reorder", f.Reorder}} {
		if math.IsNaN(p.value) || p.value < 0 || p.value > 1 {
			errs = append(errs, fmt.Errorf("transport: faults: %s is %v, want a probability from 0 to 1", p.name, p.value))
		}
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"delay", f.Delay}, {"jitter", f.Jitter}} {
		if d.value < 0 || d.value > maxDelay {
			errs = append(errs, fmt.Errorf("transport: faults: %s is %v, want 0 to %v", d.name, d.value, maxDelay))
		}
	}
	for i, p := range f.Partitions {
		if err := p.Validate(); err != nil {
			errs = append(errs, fmt.Errorf("transport: faults: partition %d: %w", i, err))
		}
	}
	return errors.Join(errs...)
}

// maxDelay is the largest delay and jitter: a frame that old helps nobody.
const maxDelay = time.Hour

// fate is what happens to one frame at one receiver.
type fate struct {
	lost, doubled, held bool
	delay, copyDelay    time.Duration // of the frame and its copy
}

// fate returns that of the n-th frame from one host at another. It depends on
// nothing else, and every probability has a draw of its own: a higher one
// only adds to what happens.
func (f *Faults) fate(from, to HostID, n uint64) fate {
	state := scramble(scramble(f.Seed^uint64(from)<<32^uint64(to)) + n)
	draw := func(k uint64) float64 {
		return float64(scramble(state+k*golden)>>11) / (1 << 53)
	}
	delay := func(k uint64) time.Duration {
		return f.Delay + time.Duration(draw(k)*float64(f.Jitter))
	}
	return fate{
		lost:      draw(1) < f.Loss,
		doubled:   draw(2) < f.Duplicate,
		held:      draw(3) < f.Reorder,
		delay:     delay(4),
		copyDelay: delay(5),
	}
}

// golden is 2⁶⁴ over the golden ratio, odd: its multiples are far apart.
const golden = 0x9e3779b97f4a7c15

// scramble maps numbers one to one so that near ones go far apart: xors with
// right shifts, between multiplications by odd constants (those of SplitMix64).
func scramble(x uint64) uint64 {
	x += golden
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
