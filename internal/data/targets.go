package data

import (
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
)

// TargetFiles names the files that hold what answers should be, and says what
// is asked.
type TargetFiles struct {
	Targets string // labels or values
	Mask    string // which values are known; empty means all
	Read    []int  // nodes that are asked; nil means all

	Classify bool // targets are labels: classes that count from 0, or -1 where none is known
	Outputs  int  // classes that labels are among, or values of a node; 0 means any

	Loss loss.Regression // that values are for, and must suit; nil means any
}

// Targets are what answers should be, row by row. A signal has a target row for
// each node that is asked, in their order; a trajectory one for every node at
// every step, of which those of others carry no loss.
type Targets struct {
	Labels  []int32   // of a classification; loss.NoLabel where none is known
	Values  mat.Dense // of a regression, rows×C; 0 where none is known
	Mask    []bool    // which rows of the values are known
	Outputs int       // C, or the largest label of the file + 1
}

// Targets reads the targets of signals on the graph of o, where ? is left out if
// it is 1:
//
//	labels   samples, one for all nodes; samples×N; samples×R, of R nodes asked
//	values   samples×N×C? or samples×R×C?
//
// Of trajectories the T steps come after the samples.
func (o *Observed) Targets(s *Signals, f TargetFiles) (*Targets, error) {
	r := &reader{TargetFiles: f, samples: s.Samples, steps: len(o.Steps), nodes: o.Nodes, single: o.Delayed() && len(s.Shape) == 3}
	return r.read()
}

// reader reads targets of so many samples.
type reader struct {
	TargetFiles
	samples int
	steps   int  // of each sample; 0 for signals on one graph
	single  bool // one trajectory, the dimension of samples left out
	nodes   int
	gaps    bool  // a value that is NaN is not known
	keep    []int // of the nodes read, those whose targets are kept; nil means all
}

func (r *reader) read() (*Targets, error) {
	var lay, full *layout
	a, err := modelfile.LoadPart(r.Targets, func(shape []int) (rows []int, err error) {
		if lay, err = r.layout(shape); err != nil {
			return nil, fmt.Errorf("%s: %w", r.Targets, err)
		}
		all := *lay
		full = &all
		return r.part(lay), nil
	})
	if err != nil {
		return nil, err
	}
	if r.Classify {
		return r.labels(a, lay)
	}
	var known []int32
	if r.Mask != "" {
		if known, err = r.mask(full); err != nil {
			return nil, err
		}
	}
	return r.values(a, known, lay)
}

// part returns which rows of a step are kept of a file of targets, and leaves the
// layout of those. It is nil if all are.
func (r *reader) part(lay *layout) []int {
	if r.keep == nil {
		return nil
	}
	place := make(map[int]int, len(r.Read))
	for k, i := range r.Read {
		place[i] = k
	}
	rows := make([]int, len(r.keep))
	for k, i := range r.keep {
		rows[k] = lay.source[place[i]]
	}
	if lay.perStep == 0 { // one for all nodes
		lay.source = rows
		return nil
	}
	lay.perStep, lay.source = len(rows), make([]int, len(rows))
	for k := range rows {
		lay.source[k] = k
	}
	return rows
}

// layout says how target rows lie in a file.
type layout struct {
	steps   int   // of all samples together
	each    int   // steps per sample
	perStep int   // rows of the file per step; 0 means one row per sample
	cols    int   // C
	source  []int // for each target row of a step, the row of the file within its step; -1 for none
}

// at returns the row of the file that belongs to target row r of a step, -1
// for none.
func (lay *layout) at(step, r int) int {
	switch {
	case lay.source[r] < 0:
		return -1
	case lay.perStep == 0:
		return step / lay.each
	}
	return step*lay.perStep + lay.source[r]
}

// same says whether the rows of the file are the target rows, in their order.
func (lay *layout) same() bool {
	if lay.perStep != len(lay.source) {
		return false
	}
	for r, at := range lay.source {
		if r != at {
			return false
		}
	}
	return true
}

// layout understands targets of the given shape.
func (r *reader) layout(shape []int) (*layout, error) {
	lead := []int{r.samples}
	switch {
	case r.single:
		lead = []int{r.steps}
	case r.steps > 0:
		lead = append(lead, r.steps)
	}
	lay := &layout{steps: r.samples * max(r.steps, 1), each: max(r.steps, 1), cols: 1}
	rest := shape[min(len(lead), len(shape)):]
	switch fits := len(shape) > len(lead) && slices.Equal(shape[:len(lead)], lead); {
	case r.Classify && len(shape) == 1 && shape[0] == r.samples: // one label per sample
		lay.source = r.source(0)
		return lay, nil
	case fits && len(rest) == 1:
		lay.perStep = rest[0]
	case fits && len(rest) == 2 && (rest[1] == 1 || rest[1] > 1 && !r.Classify):
		lay.perStep, lay.cols = rest[0], rest[1]
	default:
		return nil, r.misfit(lead, shape)
	}
	if n := lay.perStep; n < 1 || n != r.nodes && n != len(r.Read) {
		return nil, r.misfit(lead, shape)
	}
	lay.source = r.source(lay.perStep)
	return lay, nil
}

// source says where the target rows of a step are among so many of a file. A
// signal has a target row for each node that is read, a trajectory for every
// node.
func (r *reader) source(perStep int) []int {
	place := make(map[int]int, len(r.Read))
	for k, i := range r.Read {
		place[i] = k
	}
	of := func(i int) int { // row of node i in the file
		switch k, ok := place[i]; {
		case r.Read != nil && !ok:
			return -1
		case perStep == 0:
			return 0
		case perStep == r.nodes:
			return i
		default:
			return k
		}
	}
	var rows []int
	if r.Read != nil && r.steps == 0 {
		for _, i := range r.Read {
			rows = append(rows, of(i))
		}
		return rows
	}
	for i := range r.nodes {
		rows = append(rows, of(i))
	}
	return rows
}

// misfit says which shapes would have been understood.
func (r *reader) misfit(lead, shape []int) error {
	front := ""
	for _, n := range lead {
		front += fmt.Sprintf("%d×", n)
	}
	want := fmt.Sprintf("%s%d", front, r.nodes)
	if n := len(r.Read); n > 0 && n != r.nodes {
		want += fmt.Sprintf(", or %s%d for the nodes read", front, n)
	}
	if r.Classify {
		want = fmt.Sprintf("%d, one class per sample, or %s", r.samples, want)
	} else {
		want += "; and one more dimension if a node has several values"
	}
	return fmt.Errorf("targets of shape %v, want %s", shape, want)
}

// mostClasses bounds labels, so that one that is not meant as such does not
// ask for all memory.
const mostClasses = 1 << 20

// labels takes the targets of a classification.
func (r *reader) labels(a *modelfile.Array, lay *layout) (*Targets, error) {
	file, err := a.Int32s()
	if err != nil {
		return nil, err
	}
	classes := r.Outputs
	if classes == 0 {
		classes = mostClasses
	}
	t := &Targets{Outputs: 1}
	for i, v := range file {
		if v < loss.NoLabel || int(v) >= classes {
			return nil, fmt.Errorf("%s: label %d, number %d of the file, is not among %d classes that count from 0", r.Targets, v, i, classes)
		}
		t.Outputs = max(t.Outputs, int(v)+1)
	}
	if t.Labels = file; !lay.same() {
		t.Labels = make([]int32, 0, lay.steps*len(lay.source))
		for step := range lay.steps {
			for row := range lay.source {
				label := loss.NoLabel
				if at := lay.at(step, row); at >= 0 {
					label = file[at]
				}
				t.Labels = append(t.Labels, label)
			}
		}
	}
	if r.keep == nil && slices.Max(t.Labels) == loss.NoLabel { // otherwise others may have some
		return nil, fmt.Errorf("%s: every label of the nodes read is %d: there is nothing to learn from", r.Targets, loss.NoLabel)
	}
	return t, nil
}

// mask reads which rows of the targets are known.
func (r *reader) mask(targets *layout) ([]int32, error) {
	a, err := modelfile.LoadPart(r.Mask, func(shape []int) ([]int, error) {
		lay, err := r.layout(shape)
		if err == nil && (lay.cols != 1 || lay.perStep != targets.perStep) {
			err = fmt.Errorf("a mask of shape %v, want one number per row of the targets", shape)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Mask, err)
		}
		return r.part(lay), nil
	})
	if err != nil {
		return nil, err
	}
	return a.Int32s()
}

// values takes the targets of a regression. Known is empty if all are.
func (r *reader) values(a *modelfile.Array, known []int32, lay *layout) (*Targets, error) {
	read := a.Float32s
	if r.gaps || len(known) > 0 || r.Read != nil {
		read = a.Float32sOrNaN // what is not judged may be missing
	}
	file, err := read()
	if err != nil {
		return nil, err
	}
	if r.Outputs != 0 && r.Outputs != lay.cols {
		return nil, fmt.Errorf("%s: %d values per node, want %d", r.Targets, lay.cols, r.Outputs)
	}
	rows := lay.steps * len(lay.source)
	t := &Targets{Mask: make([]bool, rows), Outputs: lay.cols}
	if lay.same() {
		t.Values = mat.NewDense(rows, lay.cols, file) // cleared below where nothing is known
	} else {
		t.Values = mat.NewDense(rows, lay.cols, nil)
	}
	for step := range lay.steps {
		for k := range lay.source {
			at, row := lay.at(step, k), step*len(lay.source)+k
			if at < 0 || len(known) > 0 && known[at] == 0 {
				clear(t.Values.Row(row))
				continue
			}
			values := file[at*lay.cols : (at+1)*lay.cols]
			switch c := slices.IndexFunc(values, isNaN); {
			case c < 0:
				copy(t.Values.Row(row), values)
				t.Mask[row] = true
			case !r.gaps:
				return nil, fmt.Errorf("%s: value at %v is NaN and is to be learned from; fill it, or name a mask that is 0 there",
					r.Targets, Index(at*lay.cols+c, a.Shape))
			default:
				clear(t.Values.Row(row))
			}
		}
	}
	return t, r.judge(t)
}

// judge reports values that nothing can be learned from.
func (r *reader) judge(t *Targets) error {
	if r.keep == nil && !slices.Contains(t.Mask, true) { // otherwise others may have some
		return fmt.Errorf("%s: no target of the nodes read is known", r.Targets)
	}
	if r.Loss == nil {
		return nil
	}
	if err := r.Loss.With(t.Values, t.Mask).Validate(); err != nil {
		return fmt.Errorf("%s: %w", r.Targets, err)
	}
	return nil
}

func isNaN(v float32) bool { return v != v }
