package runview

import (
	"fmt"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/internal/live"
)

// Network is where a run takes place.
type Network struct {
	Names []string
	Links [][2]int32
	Read  []int                    // nodes that answer, in the order of the lines' letters
	Out   func(step int) []int32   // links that are out at a step; nil if all are there always
	index map[string]int           // of the names
	graph func(t int) *graph.Graph // at a step
}

const (
	mostNodes  = 5000 // that are drawn
	mostGraphs = 100  // of a stream whose links are drawn; what later ones add is not
)

// networkOf returns the network of a run, nil if it is too large to be drawn.
func networkOf(run *lifecycle.OnlineRun) *Network {
	s := run.Stream
	if s.Nodes > mostNodes {
		return nil
	}
	w := &Network{Names: slices.Clone(s.Names()), Read: s.Read, index: map[string]int{}, graph: s.Graph}
	for i := len(w.Names); i < s.Nodes; i++ {
		w.Names = append(w.Names, fmt.Sprintf("node %d", i))
	}
	for i, name := range w.Names {
		w.index[name] = i
	}
	at := map[[2]int32]int32{}
	seen := map[*graph.Graph]bool{}
	for _, g := range s.Graphs {
		if seen[g] || len(seen) == mostGraphs {
			continue
		}
		seen[g] = true
		for l := range links(g) {
			if _, known := at[l]; !known {
				at[l] = int32(len(w.Links))
				w.Links = append(w.Links, l)
			}
		}
	}
	if len(s.Graphs) > 1 {
		w.Out = w.outs(at)
	}
	return w
}

// links visits the pairs of nodes that a graph links, each once or twice.
func links(g *graph.Graph) func(yield func([2]int32) bool) {
	return func(yield func([2]int32) bool) {
		for i := range g.Nodes() {
			for _, j := range g.Neighbors(i) {
				if int32(i) != j && !yield([2]int32{min(int32(i), j), max(int32(i), j)}) {
					return
				}
			}
		}
	}
}

// outs returns a function that says which links are out, and remembers the last
// answer: a graph holds for many steps.
func (w *Network) outs(at map[[2]int32]int32) func(step int) []int32 {
	var last *graph.Graph
	var out []int32
	return func(step int) []int32 {
		if g := w.graph(step); g != last {
			there := make([]bool, len(w.Links))
			for l := range links(g) {
				if k, known := at[l]; known {
					there[k] = true
				}
			}
			last, out = g, []int32{}
			for k, ok := range there {
				if !ok {
					out = append(out, int32(k))
				}
			}
		}
		return out
	}
}

// nodes is what each node of a network shows.
type nodes struct {
	network  *Network
	classes  bool
	errors   func(step, node int) [2]float64
	right    [2]*tallies // by node read
	off      [2][]*window
	open     live.Floats // by node: 1 if it answers with what it learned; nil without gates
	doubted  map[int]bool
	lastDown []int32
	lastOut  int // links that were out; -1 before the first step
	changes  int // of links so far
}

func newNodes(a *About) *nodes {
	w := a.Network
	n := &nodes{network: w, classes: a.Classes, errors: a.Errors, doubted: map[int]bool{}, lastDown: []int32{}, lastOut: -1}
	steps := windowOf(a.Steps)
	for l := range learners {
		n.right[l] = newTallies(len(w.Read), steps)
		if a.Errors != nil {
			for range w.Names {
				n.off[l] = append(n.off[l], newWindow(steps))
			}
		}
	}
	if a.Gates {
		n.open = blank(len(w.Names))
		for _, i := range w.Read {
			n.open[i] = 0
		}
	}
	return n
}

// scene adds the network and its quantities.
func (n *nodes) scene(s *live.Scene, a *About, steps int) {
	w := n.network
	s.Nodes, s.Edges, s.Layout = w.Names, w.Links, live.LayoutForce
	if len(w.Read) < len(w.Names) {
		for _, i := range w.Read {
			s.Marks = append(s.Marks, live.Mark{Node: i, Kind: "detector"})
		}
	}
	for _, l := range []int{learnerOnline, learnerFrozen} {
		q := live.Quantity{Learner: l, Group: "answers"}
		switch {
		case a.Classes:
			q.Name, q.Unit, q.High, q.Good = fmt.Sprintf("%s: right answers, last %d steps", learners[l], steps), "%", 100, "high"
		case n.errors != nil:
			q.Name = fmt.Sprintf("%s: error %s ahead, last %d steps", learners[l], a.Ahead[middle(a.Horizons)], steps)
			q.Unit, q.Good = a.Unit, "low"
		default:
			continue
		}
		s.Quantities = append(s.Quantities, q)
	}
	if n.open != nil {
		s.Quantities = append(s.Quantities, live.Quantity{Name: "answers with what it learned", Learner: learnerOnline, High: 1})
	}
	s.Down = "none"
	if a.Sensors != nil {
		s.Down = "not believed"
	}
}

// take puts into a frame what nodes show after a step.
func (n *nodes) take(s lifecycle.OnlineStep, f *live.Frame) {
	letters := [2]string{learnerFrozen: s.FrozenRight, learnerOnline: s.Right}
	for l := range learners {
		n.right[l].add(letters[l])
	}
	if n.errors != nil {
		for i := range n.network.Names {
			for l, v := range n.errors(s.Step, i) {
				if v-v == 0 {
					n.off[l][i].add(v, 1)
				} else {
					n.off[l][i].add(0, 0)
				}
			}
		}
	}
	for _, l := range []int{learnerOnline, learnerFrozen} {
		values := blank(len(n.network.Names))
		switch {
		case n.classes:
			for k, i := range n.network.Read {
				values[i] = float32(100 * n.right[l].mean(k))
			}
		case n.errors != nil:
			for i := range values {
				values[i] = float32(n.off[l][i].mean())
			}
		default:
			continue
		}
		f.Values = append(f.Values, values)
	}
	n.turn(s, f)
	if n.network.Out != nil {
		f.Out = n.network.Out(s.Step)
	}
}

// linked says that links changed at a step.
func (n *nodes) linked(step int) (w live.Words) {
	if n.network.Out == nil {
		return w
	}
	out, before := len(n.network.Out(step)), n.lastOut
	n.lastOut = out
	if out == before || before < 0 {
		return w
	}
	text := fmt.Sprintf("%d of %d links are out from now on.", out, len(n.network.Links))
	if out == 0 {
		text = fmt.Sprintf("All %d links are there from now on.", len(n.network.Links))
	}
	w = live.Words{Time: float64(step), Text: text, Mark: "links change"}
	if n.changes++; n.changes > mostMarked { // of links that change all the time
		w.Mark = ""
	}
	return w
}

// mostMarked is how many changes of links are marked at the axis of time.
const mostMarked = 10

// turn follows gates and sensors that are not believed.
func (n *nodes) turn(s lifecycle.OnlineStep, f *live.Frame) {
	if n.open != nil {
		for v, list := range [][]int{s.Closed, s.Opened} {
			for _, i := range list {
				if i < len(n.open) {
					n.open[i] = float32(v)
				}
			}
		}
		f.Values = append(f.Values, slices.Clone(n.open))
	}
	for _, news := range s.News {
		i, known := n.network.index[news.Sensor]
		if !known {
			continue
		}
		if news.What == lifecycle.NewsBroken {
			n.doubted[i] = true
		} else {
			delete(n.doubted, i)
		}
		n.lastDown = []int32{}
		for j := range n.network.Names {
			if n.doubted[j] {
				n.lastDown = append(n.lastDown, int32(j))
			}
		}
	}
	f.Down = n.lastDown
}

func blank(n int) live.Floats {
	v := make(live.Floats, n)
	for i := range v {
		v[i] = float32(math.NaN())
	}
	return v
}

// tallies are the right answers of each of some nodes in the last steps.
type tallies struct {
	lines        []string // a ring
	at           int
	right, asked []int
}

func newTallies(nodes, steps int) *tallies {
	return &tallies{lines: make([]string, steps), right: make([]int, nodes), asked: make([]int, nodes)}
}

// add takes in the letters of a step; see lifecycle.OnlineStep.
func (t *tallies) add(letters string) {
	t.count(t.lines[t.at], -1)
	t.lines[t.at] = letters
	t.count(letters, 1)
	t.at = (t.at + 1) % len(t.lines)
}

func (t *tallies) count(letters string, by int) {
	for k := 0; k < min(len(letters), len(t.right)); k++ {
		if letters[k] == '1' {
			t.right[k] += by
		}
		if letters[k] != '-' {
			t.asked[k] += by
		}
	}
}

// mean returns the share of right answers of the k-th node, NaN if there are none.
func (t *tallies) mean(k int) float64 {
	if t.asked[k] == 0 {
		return math.NaN()
	}
	return float64(t.right[k]) / float64(t.asked[k])
}
