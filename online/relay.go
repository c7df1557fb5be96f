package online

import (
	"errors"
	"fmt"

	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/rule"
)

// relaying passes answers on between the nodes of a network, as agents do; nil
// passes none on. Node i hears those of which [S_t]_ij is not 0.
type relaying struct {
	relays []*rule.Relay    // of all nodes, read or not
	said   [][]rule.Relayed // by node, at this step
	due    []rule.Relayed
	target []float32
}

// Relayed is what passing answers on cost, and what came of it.
type Relayed struct {
	rule.RelayStats
	Bytes uint64 `json:"bytes"` // of what was passed on, one message each to all who hear a node, as agents write it
}

// relayedBytes is what a message has beside its target; see doc/wire.md.
const relayedBytes = 40

// newRelaying returns that of so many nodes, nil if r asks for none.
func newRelaying(nodes int, r *rule.Config) *relaying {
	if r.Relay == 0 {
		return nil
	}
	p := &relaying{said: make([][]rule.Relayed, nodes)}
	for i := range nodes {
		p.relays = append(p.relays, rule.NewRelay(uint32(i), r))
	}
	return p
}

// ready reports a cost whose targets cannot be passed on.
func (p *relaying) ready(j loss.Loss, outputs int) error {
	if p == nil {
		return nil
	}
	t, ok := j.(loss.Targeted)
	if !ok {
		return fmt.Errorf("online: answers are passed on by their targets, for which a %T must be a loss.Targeted; try a relay of 0", j)
	}
	if n := t.TargetLen(outputs); len(p.target) != n {
		p.target = make([]float32, n)
	}
	return nil
}

// exchange lets every node say what it believed in the step before, and hear its
// neighbours; a step with the given time begins.
func (p *relaying) exchange(shift *mat.CSR, time uint64) {
	for i, r := range p.relays {
		p.said[i] = r.Pass(p.said[i][:0])
	}
	for i, r := range p.relays {
		neighbors, _ := shift.Row(i)
		for _, j := range neighbors {
			for _, m := range p.said[j] {
				if int(j) != i && m.Teller != uint32(i) {
					r.Hear(m)
				}
			}
		}
	}
	for _, r := range p.relays {
		r.Open(time)
	}
}

// learn takes in what node i was told of the step with the given time, row i of j,
// and returns what it heard and is to learn from beside that.
func (p *relaying) learn(i int, time uint64, told bool, j loss.Loss) []rule.Relayed {
	if told && j.(loss.Targeted).TargetOf(i, p.target) && mat.Finite(p.target...) { // what is known in part stays there
		p.relays[i].Own(time, p.target)
	}
	p.due = p.relays[i].Due(p.due[:0])
	return p.due
}

// count adds up what was counted.
func (p *relaying) count() Relayed {
	if p == nil {
		return Relayed{}
	}
	var all Relayed
	for _, r := range p.relays {
		s := r.Stats()
		all.Believed += s.Believed
		all.Doubled += s.Doubled
		all.Contradicted += s.Contradicted
		all.Outdated += s.Outdated
		all.Passed += s.Passed
	}
	all.Bytes = all.Passed * uint64(relayedBytes+4*len(p.target))
	return all
}

// memory writes what is remembered to s.
func (p *relaying) memory(s *Snapshot) {
	if p == nil {
		return
	}
	for _, r := range p.relays {
		s.Relays = append(s.Relays, r.Memory())
	}
}

// fits reports what keeps the answers of s from being recalled. A snapshot without
// any is one of a learner that passed none on.
func (p *relaying) fits(s *Snapshot) error {
	if p == nil || len(s.Relays) == 0 {
		return nil
	}
	if len(s.Relays) != len(p.relays) {
		return fmt.Errorf("online: restore: answers of %d nodes that are passed on, for %d", len(s.Relays), len(p.relays))
	}
	var errs []error
	for i, r := range p.relays {
		errs = append(errs, r.Fits(s.Relays[i]))
	}
	return errors.Join(errs...)
}

// recall puts back what fits.
func (p *relaying) recall(s *Snapshot) error {
	p.reset()
	if p == nil {
		return nil
	}
	for i, m := range s.Relays {
		if err := p.relays[i].Restore(m); err != nil {
			return fmt.Errorf("online: restore: node %d: %w", i, err)
		}
	}
	return nil
}

// reset forgets all answers.
func (p *relaying) reset() {
	if p == nil {
		return
	}
	for _, r := range p.relays {
		r.Reset()
	}
}
