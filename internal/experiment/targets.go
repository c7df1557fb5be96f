package experiment

import (
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
)

// loader reads the targets of samples.
type loader struct {
	c       *config.Config
	set     *Dataset
	classes int   // that labels must be among; 0 means any
	gaps    bool  // a value that is NaN is not known
	largest int32 // label so far
}

// targets adds the targets of a file to observed signals.
func (l *loader) targets(o *Observed, files config.Files) (*Part, error) {
	path := l.c.Abs(files.Targets)
	a, err := modelfile.LoadArray(path)
	if err != nil {
		return nil, err
	}
	lay, err := l.layout(o, a.Shape)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	p := *o.part
	if l.set.Task == config.Classify {
		p.labels, err = l.labels(a, path, lay)
		return &p, err
	}
	var known []int32
	if files.Mask != "" {
		if known, err = l.mask(o, l.c.Abs(files.Mask), lay); err != nil {
			return nil, err
		}
	}
	return &p, l.values(&p, a, path, known, lay)
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

// layout understands targets of the given shape.
func (l *loader) layout(o *Observed, shape []int) (*layout, error) {
	lead := []int{o.part.Samples}
	switch {
	case l.set.Delayed() && len(o.Shape) == 3: // one trajectory
		lead = []int{l.set.Steps}
	case l.set.Delayed():
		lead = append(lead, l.set.Steps)
	}
	lay := &layout{steps: o.part.Samples * max(l.set.Steps, 1), each: max(l.set.Steps, 1), cols: 1}
	classify := l.set.Task == config.Classify
	rest := shape[min(len(lead), len(shape)):]
	switch fits := len(shape) > len(lead) && slices.Equal(shape[:len(lead)], lead); {
	case classify && len(shape) == 1 && shape[0] == o.part.Samples: // one label per sample
		lay.source = l.source(0)
		return lay, nil
	case fits && len(rest) == 1:
		lay.perStep = rest[0]
	case fits && len(rest) == 2 && (rest[1] == 1 || rest[1] > 1 && !classify):
		lay.perStep, lay.cols = rest[0], rest[1]
	default:
		return nil, l.misfit(lead, o.part.Samples, shape)
	}
	if n := lay.perStep; n < 1 || n != l.set.Nodes && n != len(l.set.Read) {
		return nil, l.misfit(lead, o.part.Samples, shape)
	}
	lay.source = l.source(lay.perStep)
	return lay, nil
}

// source says where the target rows of a step are among so many of a file. A
// signal has a target row for each node that is read, a trajectory for every
// node.
func (l *loader) source(perStep int) []int {
	nodes, read := l.set.Nodes, l.set.Read
	place := make(map[int]int, len(read))
	for r, i := range read {
		place[i] = r
	}
	of := func(i int) int { // row of node i in the file
		switch r, ok := place[i]; {
		case read != nil && !ok:
			return -1
		case perStep == 0:
			return 0
		case perStep == nodes:
			return i
		default:
			return r
		}
	}
	var rows []int
	if read != nil && !l.set.Delayed() {
		for _, i := range read {
			rows = append(rows, of(i))
		}
		return rows
	}
	for i := range nodes {
		rows = append(rows, of(i))
	}
	return rows
}

// misfit says which shapes would have been understood.
func (l *loader) misfit(lead []int, samples int, shape []int) error {
	front := ""
	for _, n := range lead {
		front += fmt.Sprintf("%d×", n)
	}
	want := fmt.Sprintf("%s%d", front, l.set.Nodes)
	if r := len(l.set.Read); r > 0 && r != l.set.Nodes {
		want += fmt.Sprintf(", or %s%d for the nodes read", front, r)
	}
	if l.set.Task == config.Classify {
		want = fmt.Sprintf("%d, one class per sample, or %s", samples, want)
	} else {
		want += "; and one more dimension if a node has several values"
	}
	return fmt.Errorf("targets of shape %v, want %s", shape, want)
}

// mostClasses bounds labels, so that one that is not meant as such does not
// ask for all memory.
const mostClasses = 1 << 20

func (l *loader) labels(a *modelfile.Array, path string, lay *layout) ([]int32, error) {
	file, err := a.Int32s()
	if err != nil {
		return nil, err
	}
	classes := l.classes
	if classes == 0 {
		classes = mostClasses
	}
	for i, v := range file {
		if v < loss.NoLabel || int(v) >= classes {
			return nil, fmt.Errorf("%s: label %d, number %d of the file, is not among %d classes that count from 0", path, v, i, classes)
		}
		l.largest = max(l.largest, v)
	}
	labels := make([]int32, 0, lay.steps*len(lay.source))
	for step := range lay.steps {
		for r := range lay.source {
			label := loss.NoLabel
			if at := lay.at(step, r); at >= 0 {
				label = file[at]
			}
			labels = append(labels, label)
		}
	}
	if slices.Max(labels) == loss.NoLabel {
		return nil, fmt.Errorf("%s: every label of the nodes read is %d: there is nothing to learn from", path, loss.NoLabel)
	}
	return labels, nil
}

func isNaN(v float32) bool { return v != v }

// place returns the index of element i of an array of the given shape.
func place(i int, shape []int) []int {
	index := make([]int, len(shape))
	for d := len(shape) - 1; d >= 0; d-- {
		index[d] = i % shape[d]
		i /= shape[d]
	}
	return index
}

// mask reads which rows of the targets are known.
func (l *loader) mask(o *Observed, path string, targets *layout) ([]int32, error) {
	a, err := modelfile.LoadArray(path)
	if err != nil {
		return nil, err
	}
	lay, err := l.layout(o, a.Shape)
	if err == nil && (lay.cols != 1 || lay.perStep != targets.perStep) {
		err = fmt.Errorf("a mask of shape %v, want one number per row of the targets", a.Shape)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return a.Int32s()
}

// values takes the targets of a regression. Known is empty if all are.
func (l *loader) values(p *Part, a *modelfile.Array, path string, known []int32, lay *layout) error {
	read := a.Float32s
	if l.gaps || len(known) > 0 || l.set.Read != nil {
		read = a.Float32sOrNaN // what is not judged may be missing
	}
	file, err := read()
	if err != nil {
		return err
	}
	if l.set.Outputs != 0 && l.set.Outputs != lay.cols {
		return fmt.Errorf("%s: %d values per node, want %d", path, lay.cols, l.set.Outputs)
	}
	l.set.Outputs = lay.cols
	rows := lay.steps * len(lay.source)
	p.values, p.mask = mat.NewDense(rows, lay.cols, nil), make([]bool, rows)
	for step := range lay.steps {
		for r := range lay.source {
			at, row := lay.at(step, r), step*len(lay.source)+r
			if at < 0 || len(known) > 0 && known[at] == 0 {
				continue
			}
			values := file[at*lay.cols : (at+1)*lay.cols]
			switch c := slices.IndexFunc(values, isNaN); {
			case c < 0:
				copy(p.values.Row(row), values)
				p.mask[row] = true
			case !l.gaps:
				return fmt.Errorf("%s: value at %v is NaN and is to be learned from; fill it, or name a mask that is 0 there",
					path, place(at*lay.cols+c, a.Shape))
			}
		}
	}
	if !slices.Contains(p.mask, true) {
		return fmt.Errorf("%s: no target of the nodes read is known", path)
	}
	return nil
}
