package conformal

import (
	"fmt"
	"math"
	"slices"
)

// windowNumbers is how many numbers State writes of an output before its scores.
const windowNumbers = 6

// State appends everything that the node remembers to list:
//
//	coverage; by output: level, judged, held, sized, sum of sizes, n, and n scores, the oldest first
func (n *Node) State(list []float64) []float64 {
	list = append(list, n.config.Coverage)
	for k := range n.windows {
		w := &n.windows[k]
		list = append(list, w.level, float64(w.meter.Judged), float64(w.meter.Held), float64(w.meter.Sized), w.meter.Size, float64(len(w.ring)))
		list = append(append(list, w.ring[w.next:]...), w.ring[:w.next]...)
	}
	return list
}

// Restored returns a node like n that remembers the state, and goes on with the same
// bits. The state may come from outside: an error says what does not fit. If another
// coverage was asked for then, the level begins anew.
func (n *Node) Restored(state []float64) (*Node, error) {
	to := n.Anew()
	rest := state[min(1, len(state)):]
	for k := range to.windows {
		w, scores := &to.windows[k], []float64(nil)
		if len(rest) >= windowNumbers {
			if v := rest[5]; v >= 0 && v <= float64(min(len(rest)-windowNumbers, maxWindow)) && v == math.Trunc(v) {
				scores = rest[windowNumbers : windowNumbers+int(v)]
			}
		}
		if scores == nil {
			return nil, fmt.Errorf("conformal: state: %d numbers are not those of %d outputs", len(state), len(to.windows))
		}
		m := Meter{uint64(rest[1]), uint64(rest[2]), uint64(rest[3]), rest[4]}
		if i := slices.IndexFunc(rest[:windowNumbers+len(scores)], func(v float64) bool { return v-v != 0 }); i >= 0 {
			return nil, fmt.Errorf("conformal: state: a number is %v", rest[i])
		}
		if !(rest[0] < 1) || slices.Min(rest[1:5]) < 0 || slices.Max(rest[1:4]) > 1<<53 || m.Held > m.Judged || m.Sized > m.Judged {
			return nil, fmt.Errorf("conformal: state: the level is %v, and %v of %v answers held the truth, sizes %v in sum",
				rest[0], rest[2], rest[1], rest[4])
		}
		to.Begin(k, scores)
		if w.meter = m; state[0] == n.config.Coverage {
			w.level = min(rest[0], n.config.most())
		}
		to.bounds[k] = w.bound(&to.config)
		rest = rest[windowNumbers+len(scores):]
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("conformal: state: %d numbers are not those of %d outputs", len(state), len(to.windows))
	}
	return to, nil
}

// Anew returns a node like n of which nothing is known yet.
func (n *Node) Anew() *Node { return New(n.config, n.outputs) }

// Uncounted makes the node count from 0 how sets and intervals turn out; what it learned stays.
func (n *Node) Uncounted() {
	for k := range n.windows {
		n.windows[k].meter = Meter{}
	}
}

// Scores returns those of each output, the oldest first, that a state holds for so many of
// them; nil if it does not.
func Scores(state []float64, outputs int) [][]float64 {
	all := make([][]float64, 0, outputs)
	for rest := state[min(1, len(state)):]; len(rest) >= windowNumbers; {
		count := int(rest[5])
		if count < 0 || count > len(rest)-windowNumbers {
			return nil
		}
		all = append(all, rest[windowNumbers:windowNumbers+count])
		rest = rest[windowNumbers+count:]
	}
	if len(all) != outputs {
		return nil
	}
	return all
}
