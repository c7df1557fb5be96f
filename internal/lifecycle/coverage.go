package lifecycle

import (
	"fmt"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/conformal"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/rundir"
	"github.com/wdgnn/wdgnn/mat"
)

// CoverageResult is how often the sets or intervals of a run held the truth. It is
// of answers whose truth became known.
type CoverageResult struct {
	Asked  float64 `json:"asked"`  // the share that was asked for
	Share  float64 `json:"share"`  // of the answers that held the truth
	Judged uint64  `json:"judged"` // answers, of numbers each output counts
	Size   float64 `json:"size"`   // mean number of classes in a set, or width of an interval

	// Unknown are intervals of which nothing was known. They hold everything, which
	// counts in Share, and have no width: Size is of the others.
	Unknown uint64 `json:"unknown,omitempty"`

	Classes bool       `json:"classes"` // sets; otherwise intervals
	Worst   *NodeShare `json:"worst,omitempty"`
}

// NodeShare is how often the sets or intervals of one node held the truth.
type NodeShare struct {
	Node  int     `json:"node"`
	Share float64 `json:"share"`
}

// String says it in a line.
func (c *CoverageResult) String() string {
	if c.Judged == 0 {
		return "nothing was judged"
	}
	size := fmt.Sprintf("%.4g wide on average", c.Size)
	if c.Classes {
		size = fmt.Sprintf("%.2f classes on average", c.Size)
	}
	if c.Unknown > 0 {
		size += fmt.Sprintf(", but for %d of %d that are unknown and hold everything", c.Unknown, c.Judged)
	}
	return fmt.Sprintf("%.1f %% of the answers hold the truth, %.4g %% asked; %s; node %d has the least, %.1f %%",
		100*c.Share, 100*c.Asked, size, c.Worst.Node, 100*c.Worst.Share)
}

// bounded is a learner whose answers come with bounds.
type bounded interface {
	Bounds(r int) []conformal.Bound
	Meter(r int) conformal.Meter
}

// sure is what an online run knows of sets and intervals.
type sure struct {
	learner bounded
	row     []int // of the nodes of Stream.Read, in that order
}

// newSure returns what is needed to write sets or intervals, nil if the rule has
// none.
func (r *OnlineRun) newSure() *sure {
	if r.Rule.Conformal == nil {
		return nil
	}
	s := &sure{learner: r.learner.(bounded)}
	sorted := slices.Sorted(slices.Values(r.Stream.Read))
	for _, i := range r.Stream.Read {
		at, _ := slices.BinarySearch(sorted, i)
		s.row = append(s.row, at)
	}
	return s
}

// beginSure completes what the rule says of sets and intervals by what the model says,
// and returns the scores that nodes begin with.
func (r *OnlineRun) beginSure() (func(node int) [][]float64, error) {
	if r.Rule.Conformal == nil {
		return nil, nil
	}
	r.Rule.Conformal.Classes = r.Stream.Task == config.Classify
	known, err := calibrationOf(r.trained, r.Rule.Conformal)
	if known == nil || err != nil {
		return nil, err
	}
	return func(node int) [][]float64 { return known.Begin(node, r.trained.Meta.Nodes) }, nil
}

// saysSets says whether answers come with sets or intervals.
func (r *OnlineRun) saysSets() bool { return r.sure != nil && r.Rule.Conformal != nil }

// SetsName returns the name of the file for Sets, empty if there are none.
func (r *OnlineRun) SetsName() string {
	switch {
	case !r.saysSets():
		return ""
	case r.Rule.Conformal.Classes:
		return rundir.SetsName
	}
	return rundir.IntervalsName
}

// SetsShape returns the shape of Sets: steps×R×C, of intervals steps×R×C×2.
func (r *OnlineRun) SetsShape() []int {
	if r.Rule.Conformal.Classes {
		return r.PredictionShape()
	}
	return append(r.PredictionShape(), 2)
}

// watchSets writes the sets or intervals of the answers y of a step.
func (r *OnlineRun) watchSets(y mat.Dense) {
	if !r.saysSets() {
		return
	}
	for k, i := range r.Stream.Read {
		r.addSets(i, y.Row(i), r.sure.learner.Bounds(r.sure.row[k]))
	}
}

// addSets writes those of the answer y of node i.
func (r *OnlineRun) addSets(i int, y []float32, bounds []conformal.Bound) {
	for c, v := range y {
		if !r.Rule.Conformal.Classes {
			var low, high float32
			if bounds != nil { // a newcomer of whom nothing is known has none
				low, high = bounds[c].Interval(v)
			}
			if s := r.Stream.sensors; s != nil {
				low, high = s.units(i, low), s.units(i, high)
			}
			r.Sets = append(r.Sets, low, high)
			continue
		}
		in := float32(0)
		if bounds[0].Holds(y, c) {
			in = 1
		}
		r.Sets = append(r.Sets, in)
	}
}

// ResumeSets gives back the sets or intervals that the earlier run wrote, at least
// as many as of Predictions; those of a run that wrote none hold everything.
func (r *OnlineRun) ResumeSets(values []float32) error {
	n := 1
	for _, d := range r.SetsShape() {
		n *= d
	}
	if values == nil {
		for k := range n {
			v := float32(1)
			if !r.Rule.Conformal.Classes {
				v = float32(math.Inf(2*(k%2) - 1))
			}
			values = append(values, v)
		}
	}
	if len(values) < n {
		return fmt.Errorf("%s holds %d numbers, want %d", r.SetsName(), len(values), n)
	}
	r.Sets = append(r.Sets[:0], values[:n]...)
	return nil
}

// meters returns what was counted of nodes in all runs, in the order of Stream.Read.
func (s *sure) meters() []conformal.Meter {
	list := make([]conformal.Meter, len(s.row))
	for k, row := range s.row {
		list[k] = s.learner.Meter(row)
	}
	return list
}

// metered returns what was counted in this run, of all nodes together and by node.
func (r *OnlineRun) metered() (all conformal.Meter, nodes []conformal.Meter) {
	nodes = r.sure.meters()
	for k := range nodes {
		if r.State.Metered != nil {
			nodes[k] = nodes[k].Since(r.State.Metered[k])
		}
		all.Add(nodes[k])
	}
	return all, nodes
}

// watchCoverage puts into a step how often the truth was held so far.
func (r *OnlineRun) watchCoverage(step *OnlineStep) {
	if !r.saysSets() {
		return
	}
	if m, _ := r.metered(); m.Judged > 0 {
		share, size := m.Coverage(), m.MeanSize()
		step.Coverage, step.Size, step.Unknown = &share, &size, m.Unknown()
	}
}

// coverage sums up how often the truth was held, nil if nobody asked.
func (r *OnlineRun) coverage() *CoverageResult {
	if !r.saysSets() {
		return nil
	}
	m, nodes := r.metered()
	c := &CoverageResult{
		Asked: r.Rule.Conformal.Coverage, Share: m.Coverage(), Judged: m.Judged, Size: m.MeanSize(), Unknown: m.Unknown(),
		Classes: r.Rule.Conformal.Classes,
	}
	for k, n := range nodes {
		if share := n.Coverage(); n.Judged > 0 && (c.Worst == nil || share < c.Worst.Share) {
			c.Worst = &NodeShare{r.Stream.Read[k], share}
		}
	}
	return c
}
