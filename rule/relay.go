package rule

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/mat"
)

// Relayed is an answer that belongs to the whole network, on its way through it:
// what the world told one node of a step, and how far that has come.
type Relayed struct {
	Time   uint64    `json:"time"`   // t, the step that it is about
	Teller uint32    `json:"teller"` // the node that the world told
	Hop    int       `json:"hop"`    // from the teller: 0 there, 1 at its neighbours
	Target []float32 `json:"target"` // as loss.Targeted has it
}

// Relay is what one node knows of answers that are passed on. With [Config.Relay]
// = h, an answer of step t goes one hop per step, with the first message of it, and
// is learned d ≤ h hops away in step t+d, with what that node had observed in step
// t. So much is sure when nothing is lost, and agents and simulations agree to the
// bit.
//
// An answer is known by its teller and its step. Of one step a node believes one
// answer: its own, or else that of the nearest teller, or of equally near ones
// that with the lowest number. What it believes it passes on, once; what it hears
// again is counted, and what says something else is counted apart and goes no
// further. What was learned is not unlearned: an answer of one's own that comes
// after another was believed changes nothing.
//
// Deviation: the paper gives every node a cost of its own, and passes on taps.
type Relay struct {
	self  uint32
	hops  int
	slots []relaySlot // a ring of the last steps
	next  int
	stats RelayStats
}

// relaySlot is what a node knows of one step.
type relaySlot struct {
	Relayed
	used     bool // there was such a step
	heard    bool // somebody said something
	believed bool // and the node went by it
	passed   bool // and said it to others
}

// RelayStats counts what came of relayed answers.
type RelayStats struct {
	Believed     uint64 `json:"believed"`     // relayed answers that were learned from
	Doubled      uint64 `json:"doubled"`      // heard again
	Contradicted uint64 `json:"contradicted"` // that say something else than another one
	Outdated     uint64 `json:"outdated"`     // of steps that are forgotten, or never were
	Passed       uint64 `json:"passed"`       // that the node said to its neighbours, its own among them
}

// NewRelay returns that of node self under c, which must relay.
func NewRelay(self uint32, c *Config) *Relay {
	if c.Relay < 1 {
		panic(fmt.Sprintf("rule: NewRelay: %d hops", c.Relay))
	}
	return &Relay{self: self, hops: c.Relay, slots: make([]relaySlot, c.horizon())}
}

// horizon returns how many steps a node must remember, the present one included:
// an answer may come late, and is then on its way.
func (c *Config) horizon() int { return c.Delay + c.Relay + 1 }

// Open begins a step of the node. Times ascend.
func (r *Relay) Open(time uint64) {
	s := &r.slots[r.next]
	r.next = (r.next + 1) % len(r.slots)
	*s = relaySlot{Relayed: Relayed{Time: time, Target: s.Target[:0]}, used: true}
}

// at returns the slot of a step, nil if it is forgotten.
func (r *Relay) at(time uint64) *relaySlot {
	for k := range r.slots {
		if s := &r.slots[k]; s.used && s.Time == time {
			return s
		}
	}
	return nil
}

// Own takes in what the world told the node of a step. The target is copied.
func (r *Relay) Own(time uint64, target []float32) {
	s := r.at(time)
	if s == nil {
		r.stats.Outdated++
		return
	}
	if s.heard && !slices.Equal(s.Target, target) {
		r.stats.Contradicted++
	}
	if !s.believed {
		s.believe(Relayed{time, r.self, 0, target})
		s.believed = true
	}
}

// believe makes m what is known of the step.
func (s *relaySlot) believe(m Relayed) {
	s.Teller, s.Hop, s.Target, s.heard = m.Teller, m.Hop, append(s.Target[:0], m.Target...), true
}

// Hear takes in what a neighbour passes on, m.Hop hops from its teller. The
// target is copied.
func (r *Relay) Hear(m Relayed) {
	s := r.at(m.Time)
	switch {
	case s == nil:
		r.stats.Outdated++
		return
	case !s.heard:
		s.believe(m)
		return
	case slices.Equal(s.Target, m.Target):
		r.stats.Doubled++
	default:
		r.stats.Contradicted++
	}
	if !s.believed && cmp.Or(cmp.Compare(m.Hop, s.Hop), cmp.Compare(m.Teller, s.Teller)) < 0 {
		s.believe(m)
	}
}

// Check reports what is wrong with a relayed answer that came from outside.
func (r *Relay) Check(m Relayed) error {
	if m.Hop < 1 || m.Hop > r.hops {
		return fmt.Errorf("rule: an answer %d hops from its teller, want 1 to %d", m.Hop, r.hops)
	}
	if !mat.Finite(m.Target...) {
		return fmt.Errorf("rule: an answer of node %d that is not finite", m.Teller)
	}
	return nil
}

// Due appends the answers to dst that the node believes from now on and has to
// learn from, the oldest first. They belong to the Relay, until the next Open.
func (r *Relay) Due(dst []Relayed) []Relayed {
	for s := range r.oldestFirst {
		if s.heard && !s.believed {
			s.believed = true
			r.stats.Believed++
			dst = append(dst, s.Relayed)
		}
	}
	return dst
}

// Pass appends what the node has to say to its neighbours to dst, as they hear
// it, the oldest first. Targets belong to the Relay, until the next Open.
func (r *Relay) Pass(dst []Relayed) []Relayed {
	for s := range r.oldestFirst {
		if s.believed && !s.passed && s.Hop < r.hops {
			s.passed = true
			r.stats.Passed++
			m := s.Relayed
			m.Hop++
			dst = append(dst, m)
		}
	}
	return dst
}

// oldestFirst yields the steps that are remembered.
func (r *Relay) oldestFirst(yield func(s *relaySlot) bool) {
	for k := range r.slots {
		if s := &r.slots[(r.next+k)%len(r.slots)]; s.used && !yield(s) {
			return
		}
	}
}

// Stats returns what was counted.
func (r *Relay) Stats() RelayStats { return r.stats }

// Reset forgets everything but the counts.
func (r *Relay) Reset() {
	for k := range r.slots {
		r.slots[k].used = false
	}
}

// RelayMemory is everything a Relay remembers.
type RelayMemory struct {
	Steps []RelayStep `json:"steps,omitempty"` // the oldest first
	Stats RelayStats  `json:"stats"`
}

// RelayStep is what a Relay remembers of one step.
type RelayStep struct {
	Relayed
	Heard    bool `json:"heard,omitempty"`
	Believed bool `json:"believed,omitempty"`
	Passed   bool `json:"passed,omitempty"`
}

// Memory returns a copy of what is remembered.
func (r *Relay) Memory() RelayMemory {
	m := RelayMemory{Stats: r.stats}
	for s := range r.oldestFirst {
		step := RelayStep{s.Relayed, s.heard, s.believed, s.passed}
		step.Target = slices.Clone(s.Target)
		m.Steps = append(m.Steps, step)
	}
	return m
}

// Fits reports what keeps m from being restored.
func (r *Relay) Fits(m RelayMemory) error {
	if len(m.Steps) > len(r.slots) {
		return fmt.Errorf("rule: memory: answers of %d steps are passed on, want at most %d", len(m.Steps), len(r.slots))
	}
	for k, s := range m.Steps {
		if k > 0 && s.Time <= m.Steps[k-1].Time || s.Hop < 0 || s.Hop > r.hops || !mat.Finite(s.Target...) {
			return fmt.Errorf("rule: memory: an answer of step %d, hop %d, that is passed on makes no sense", s.Time, s.Hop)
		}
	}
	return nil
}

// Restore is the inverse of Memory. A memory that does not fit is an error and
// changes nothing.
func (r *Relay) Restore(m RelayMemory) error {
	if err := r.Fits(m); err != nil {
		return err
	}
	r.Reset()
	r.next, r.stats = 0, m.Stats
	for k, step := range m.Steps {
		r.Open(step.Time)
		if s := &r.slots[k]; step.Heard {
			s.believe(step.Relayed)
			s.believed, s.passed = step.Believed, step.Passed
		}
	}
	return nil
}
