package snapshot

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// Names of the tensors that hold what a learner remembers.
const (
	stepsName   = "online.steps"         // updates so far of each node, float64
	vectorName  = "online.orthonormal."  // and v: the v-th vector of every node, a row each
	newtonSizes = "online.newton.length" // numbers that each node knows by second derivatives, float64
	newtonName  = "online.newton.values" // all of them, one after the other, float64; see rule.Memory.Newton
	delayName   = "online.delay."        // and l: the l-th delay line, one row

	neighborSizes = "online.neighbor.length" // how many neighbours each node weights one by one, float64
	neighborName  = "online.neighbor.values" // which, ascending, node after node, float64
)

// Put stores what a learner remembers in a model file, to the last bit.
func Put(file *modelfile.Model, s online.Snapshot) {
	if file.Extra == nil {
		file.Extra = map[string]mat.Dense{}
	}
	if file.Precise == nil {
		file.Precise = map[string]modelfile.Float64s{}
	}
	var steps, sizes, known []float64
	for _, n := range s.Nodes {
		steps = append(steps, float64(n.Steps))
		sizes, known = append(sizes, float64(len(n.Newton))), append(known, n.Newton...)
	}
	if len(known) == 0 {
		sizes = nil
	}
	for _, p := range []struct {
		name   string
		values []float64
	}{{stepsName, steps}, {newtonSizes, sizes}, {newtonName, known}} {
		if len(p.values) > 0 {
			file.Precise[p.name] = modelfile.Float64s{Rows: 1, Cols: len(p.values), Data: p.values}
		}
	}
	put := func(name string, rows int, values []float32) {
		if len(values) > 0 {
			file.Extra[name] = mat.NewDense(rows, len(values)/rows, values)
		}
	}
	if len(s.Nodes) > 0 {
		for v := range s.Nodes[0].Vectors {
			var all []float32
			for _, n := range s.Nodes {
				all = append(all, n.Vectors[v]...)
			}
			put(vectorName+strconv.Itoa(v), len(s.Nodes), all)
		}
	}
	putNeighbors(file, s.Nodes)
	for l, line := range s.Delay {
		put(delayName+strconv.Itoa(l), 1, line)
	}
	putAnswers(file, &s)
	putSeason(file, &s)
}

// putNeighbors stores whom nodes weight one by one.
func putNeighbors(file *modelfile.Model, nodes []rule.Memory) {
	var sizes, all []float64
	for _, n := range nodes {
		sizes = append(sizes, float64(len(n.Heard)))
		for _, j := range n.Heard {
			all = append(all, float64(j))
		}
	}
	if len(all) > 0 {
		file.Precise[neighborSizes] = modelfile.Float64s{Rows: 1, Cols: len(sizes), Data: sizes}
		file.Precise[neighborName] = modelfile.Float64s{Rows: 1, Cols: len(all), Data: all}
	}
}

// neighbors gives every node those that it weights one by one.
func (r *reader) neighbors(nodes []rule.Memory) {
	sizes, all := r.integers(neighborSizes), r.integers(neighborName)
	if sizes != nil && len(sizes) != len(nodes) {
		r.complain("%s has %d numbers, %s has %d", neighborSizes, len(sizes), stepsName, len(nodes))
		return
	}
	for i, n := range sizes {
		if n > 0 {
			nodes[i].Heard = take(r, neighborName, &all, n)
		}
	}
	if len(all) > 0 {
		r.complain("%s holds more than %s says", neighborName, neighborSizes)
	}
}

// Of returns what Put stored; false if there is nothing. What
// it returns holds together; whether it fits a learner, Restore says.
func Of(file *modelfile.Model) (s online.Snapshot, found bool, err error) {
	r := reader{file: file}
	steps := r.integers(stepsName)
	if found = r.season(&s, steps == nil); steps == nil && r.err == nil {
		s.Delay = r.delay()
		return s, found, r.err
	}
	s.Nodes = make([]rule.Memory, len(steps))
	r.vectors(s.Nodes)
	r.newton(s.Nodes)
	r.neighbors(s.Nodes)
	for i := range s.Nodes {
		s.Nodes[i].Steps = steps[i]
	}
	s.Delay = r.delay()
	r.answers(&s)
	return s, true, r.err
}

// reader reads tensors until the first that does not fit.
type reader struct {
	file *modelfile.Model
	err  error
}

func (r *reader) complain(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("the state of online learning in the model file is damaged: "+format, args...)
	}
}

// integers returns a tensor of numbers from 0; nil if there is none.
func (r *reader) integers(name string) []int {
	x, ok := r.file.Numbers(name)
	if !ok {
		return nil
	}
	all := make([]int, len(x.Data))
	for i, v := range x.Data {
		if !(v >= 0 && v <= 1<<53) || v != float64(int(v)) {
			r.complain("%s holds %v, want whole numbers from 0", name, v)
			return nil
		}
		all[i] = int(v)
	}
	return all
}

// rowsLeft is a tensor whose rows are handed out in order.
type rowsLeft struct {
	name string
	rest mat.Dense
	at   int
}

func (r *reader) values(name string) *rowsLeft {
	return &rowsLeft{name: name, rest: r.file.Extra[name]}
}

func (l *rowsLeft) left() int { return l.rest.Rows - l.at }

// rows returns the values of the next n rows.
func (l *rowsLeft) rows(r *reader, n int) []float32 {
	var values []float32
	if n > l.left() {
		r.complain("%s has %d rows, want more", l.name, l.rest.Rows)
	}
	for range min(n, l.left()) {
		values = append(values, l.rest.Row(l.at)...)
		l.at++
	}
	return values
}

// take returns the next n of values.
func take[T any](r *reader, name string, values *[]T, n int) []T {
	if n > len(*values) {
		r.complain("%s is too short", name)
		return nil
	}
	first := (*values)[:n:n]
	*values = (*values)[n:]
	return first
}

// vectors gives every node its vectors.
func (r *reader) vectors(nodes []rule.Memory) {
	for v := 0; ; v++ {
		name := vectorName + strconv.Itoa(v)
		x, ok := r.file.Extra[name]
		if !ok {
			return
		}
		if x.Rows != len(nodes) {
			r.complain("%s has %d rows for %d nodes", name, x.Rows, len(nodes))
			return
		}
		for i := range nodes {
			nodes[i].Vectors = append(nodes[i].Vectors, append([]float32(nil), x.Row(i)...))
		}
	}
}

// newton gives every node what it knows by second derivatives, if the file says.
func (r *reader) newton(nodes []rule.Memory) {
	sizes := r.integers(newtonSizes)
	x, known := r.file.Numbers(newtonName)
	if sizes == nil && !known {
		return
	}
	if len(sizes) != len(nodes) {
		r.complain("%s has %d numbers, %s has %d", newtonSizes, len(sizes), stepsName, len(nodes))
		return
	}
	rest := x.Data
	for i, n := range sizes {
		if n > 0 {
			nodes[i].Newton = append([]float64(nil), take(r, newtonName, &rest, n)...)
		}
	}
	if len(rest) > 0 {
		r.complain("%s holds more than %s says", newtonName, newtonSizes)
	}
}

// delay returns the delay lines, those that nothing passed as nil.
func (r *reader) delay() [][]float32 {
	const most = 1 << 16
	var lines [][]float32
	for name, x := range r.file.Extra {
		number, ok := strings.CutPrefix(name, delayName)
		if !ok {
			continue
		}
		l, err := strconv.Atoi(number)
		if err != nil || l < 0 || l > most || x.Rows != 1 {
			r.complain("%s is no delay line", name)
			return nil
		}
		for len(lines) <= l {
			lines = append(lines, nil)
		}
		lines[l] = append([]float32(nil), x.Row(0)...)
	}
	return lines
}
