package snapshot

import (
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// Names of the tensors that hold the answers which nodes pass on. They follow each
// other node by node, and of a node the oldest first.
const (
	relayCountName   = "online.relay.count"   // a row per node: the numbers of relayCounts
	relayLengthName  = "online.relay.length"  // steps that each node remembers
	relayNumbersName = "online.relay.numbers" // a row per step: time, teller, hop, and whether it was heard, believed and passed on
	relayTargetName  = "online.relay.target"  // a row per step of which something was heard
)

const (
	relayCounts  = 5
	relayNumbers = 6
)

// putRelays stores the answers that are passed on.
func putRelays(file *modelfile.Model, s *online.Snapshot) {
	var counts, lengths, numbers []float64
	var targets []float32
	rows := 0
	for _, m := range s.Relays {
		c := m.Stats
		counts = append(counts, float64(c.Believed), float64(c.Doubled), float64(c.Contradicted), float64(c.Outdated), float64(c.Passed))
		lengths = append(lengths, float64(len(m.Steps)))
		for _, step := range m.Steps {
			numbers = append(numbers, float64(step.Time), float64(step.Teller), float64(step.Hop),
				bit(step.Heard), bit(step.Believed), bit(step.Passed))
			if step.Heard {
				targets = append(targets, step.Target...)
				rows++
			}
		}
	}
	put := func(name string, cols int, values []float64) {
		if len(values) > 0 {
			file.Precise[name] = modelfile.Float64s{Rows: len(values) / cols, Cols: cols, Data: values}
		}
	}
	put(relayCountName, relayCounts, counts)
	put(relayLengthName, len(lengths), lengths)
	put(relayNumbersName, relayNumbers, numbers)
	if rows > 0 {
		file.Extra[relayTargetName] = mat.NewDense(rows, len(targets)/rows, targets)
	}
}

// relays gives a snapshot what putRelays stored.
func (r *reader) relays(s *online.Snapshot) {
	counts, lengths, numbers := r.integers(relayCountName), r.integers(relayLengthName), r.integers(relayNumbersName)
	targets := r.values(relayTargetName)
	for range lengths {
		c, n := take(r, relayCountName, &counts, relayCounts), lengths[len(s.Relays)]
		if r.err != nil {
			return
		}
		m := rule.RelayMemory{Stats: rule.RelayStats{
			Believed: uint64(c[0]), Doubled: uint64(c[1]), Contradicted: uint64(c[2]), Outdated: uint64(c[3]), Passed: uint64(c[4]),
		}}
		for range n {
			v := take(r, relayNumbersName, &numbers, relayNumbers)
			if r.err != nil {
				return
			}
			step := rule.RelayStep{
				Relayed: rule.Relayed{Time: uint64(v[0]), Teller: uint32(v[1]), Hop: v[2]}, Heard: v[3] != 0, Believed: v[4] != 0, Passed: v[5] != 0,
			}
			if step.Heard {
				step.Target = targets.rows(r, 1)
			}
			m.Steps = append(m.Steps, step)
		}
		s.Relays = append(s.Relays, m)
	}
	if r.err == nil && len(counts)+len(numbers)+targets.left() > 0 {
		r.complain("the tensors online.relay.… hold more than %s says", relayLengthName)
	}
}
