package conformal

import (
	"fmt"
	"slices"
)

// Node gives the answers of one node their sets or intervals, and learns from how
// they turn out. A step that is judged allocates nothing. It is not safe for
// concurrent use.
type Node struct {
	config  Config
	outputs int
	windows []window // one for classes, otherwise one per output
	bounds  []Bound  // of the next answer, by window
}

// New returns the Node of answers of so many outputs, of which nothing is known
// yet. The configuration must be valid.
func New(c Config, outputs int) *Node {
	n := &Node{config: c.filled(), outputs: outputs}
	n.windows = make([]window, n.config.Windows(outputs))
	n.bounds = make([]Bound, len(n.windows))
	for k := range n.windows {
		w := &n.windows[k]
		w.ring, w.sorted = make([]float64, 0, n.config.Window), make([]float64, 0, n.config.Window)
		w.level, n.bounds[k] = n.config.miss(), everything
	}
	return n
}

// Windows returns how many bounds an answer of so many outputs has: one if they
// are scores of classes, otherwise one each.
func (c *Config) Windows(outputs int) int {
	if c.Classes {
		return 1
	}
	return outputs
}

// Begin puts scores of earlier answers, oldest first, in the place of what was
// remembered of an output, 0 for classes. Those that are not finite are passed
// over.
func (n *Node) Begin(output int, scores []float64) {
	w := &n.windows[output]
	w.ring, w.sorted, w.next = w.ring[:0], w.sorted[:0], 0
	for _, s := range scores {
		if s-s == 0 {
			w.add(s, n.config.Window)
		}
	}
	n.bounds[output] = w.bound(&n.config)
}

// Bounds returns those of the next answer. They belong to the node, and hold until
// Judge.
func (n *Node) Bounds() []Bound { return n.bounds }

// Judge takes in the truth of the answer y, which was given with the bounds: the
// class, or the number of each output. What is not finite, and a class that does
// not exist, is passed over.
func (n *Node) Judge(y []float32, given []Bound, truth []float32) {
	if len(y) != n.outputs || len(given) != len(n.windows) || len(truth) != len(n.windows) {
		panic(fmt.Sprintf("conformal: Judge: %d outputs, %d bounds and %d truths for %d outputs with %d",
			len(y), len(given), len(truth), n.outputs, len(n.windows)))
	}
	if n.config.Classes {
		n.judgeClass(y, given[0], truth[0])
		return
	}
	for c, v := range truth {
		n.judgeNumber(c, y[c], given[c], v)
	}
}

func (n *Node) judgeClass(y []float32, b Bound, truth float32) {
	if !(truth >= 0 && truth < float32(len(y))) {
		return
	}
	label := int(truth)
	score := Margin(y, label)
	if score-score != 0 {
		return
	}
	size := 0
	for c := range y {
		if b.Holds(y, c) {
			size++
		}
	}
	w, held := &n.windows[0], b.Holds(y, label)
	w.meter.count(held, true, float64(size))
	w.judged(&n.config, held, score)
	n.bounds[0] = w.bound(&n.config)
}

func (n *Node) judgeNumber(c int, y float32, b Bound, truth float32) {
	score := Residual(y, truth)
	if score-score != 0 {
		return
	}
	low, high := b.Interval(y)
	w, held, width := &n.windows[c], low <= truth && truth <= high, float64(high)-float64(low)
	w.meter.count(held, width-width == 0, width)
	w.judged(&n.config, held, score)
	n.bounds[c] = w.bound(&n.config)
}

// Meter returns what was counted of all outputs together.
func (n *Node) Meter() Meter {
	var m Meter
	for k := range n.windows {
		m.Add(n.windows[k].meter)
	}
	return m
}

// Bound returns that of answers which scores of earlier ones give, such as those
// of a model on samples that it was not trained on: at coverage 1-α, if the
// answers to come are like the earlier ones. Scores that are not finite are passed
// over; the order of the others does not matter.
func (c Config) Bound(scores []float64) Bound {
	c = c.filled()
	sorted := make([]float64, 0, len(scores))
	for _, s := range scores {
		if s-s == 0 {
			sorted = append(sorted, s)
		}
	}
	slices.Sort(sorted)
	return quantiles(sorted, &c, c.miss())
}
