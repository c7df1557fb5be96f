package flocking

import (
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
)

// operator is the memory of Shift.
type operator struct {
	tracker graph.Tracker
	kind    graph.Shift
	fresh   bool // shift is that of kind at the current time
	shift   *mat.CSR
	values  []float32 // of the matrix that Shift fills in place
}

// Shift returns the shift operator S_t of Heard, N×N. graph.ShiftAdjacency,
// graph.ShiftSpectral and graph.ShiftRowStochastic reuse the swarm's memory.
// Every step has a pointer of its own: whoever remembers a shift by its pointer
// does not take the next for the last.
//
// ShiftSpectral divides by the λmax of the links, whether or not their messages
// were lost: nobody could tell the robots another. It starts from the previous
// λmax that was asked for, so its last bits depend on the steps at which Shift
// was called; see [graph.Tracker]. ShiftRowStochastic divides by the number of
// robots heard, which each robot knows itself.
func (s *Swarm) Shift(kind graph.Shift) (*mat.CSR, error) {
	o := &s.operator
	if o.fresh && o.kind == kind {
		return o.shift, nil
	}
	f := s.seen()
	heard := f.heard.Adjacency()
	switch kind {
	case graph.ShiftAdjacency:
		o.shift = o.fill(heard, func(int) float64 { return 1 })
	case graph.ShiftSpectral:
		lambda := o.tracker.Largest(f.linked)
		o.shift = o.fill(heard, func(int) float64 { return 1 / lambda })
	case graph.ShiftRowStochastic:
		o.shift = o.fill(heard, func(entries int) float64 { return 1 / float64(entries) })
	default:
		shift, err := kind.Of(f.heard)
		if err != nil {
			return nil, fmt.Errorf("flocking: %w", err)
		}
		o.shift = shift
	}
	o.kind, o.fresh = kind, true
	return o.shift, nil
}

// fill returns the matrix with the pattern of a, which it shares, in whose rows
// every entry is the given function of their number.
func (o *operator) fill(a *mat.CSR, value func(entries int) float64) *mat.CSR {
	o.values = slices.Grow(o.values[:0], a.NNZ())[:a.NNZ()]
	for i := range a.Rows {
		lo, hi := a.RowPtr[i], a.RowPtr[i+1]
		if lo == hi {
			continue
		}
		share := float32(value(hi - lo))
		for e := lo; e < hi; e++ {
			o.values[e] = share
		}
	}
	return &mat.CSR{Rows: a.Rows, Cols: a.Cols, RowPtr: a.RowPtr, Col: a.Col, Val: o.values}
}

// Mixing returns the Metropolis weights W_t on Heard, N×N, of eq. (9). The
// matrix belongs to the caller.
//
// A robot that does not hear a linked neighbour takes its own parameters in
// the place of those that did not come: W_ij moves to W_ii. Rows still sum to
// 1; columns do not, so mixing then no longer keeps the mean.
func (s *Swarm) Mixing() (*mat.CSR, error) {
	f := s.seen()
	w, err := graph.Metropolis(f.linked)
	if err != nil {
		return nil, fmt.Errorf("flocking: %w", err)
	}
	if f.heard == f.linked {
		return w, nil
	}
	return withoutLost(w, f.heard), nil
}

// withoutLost returns w with the entries of robots that are not heard moved to
// the diagonal.
func withoutLost(w *mat.CSR, heard *graph.Graph) *mat.CSR {
	out := &mat.CSR{Rows: w.Rows, Cols: w.Cols, RowPtr: make([]int, 1, w.Rows+1)}
	for i := range w.Rows {
		rest, own := 1.0, 0
		col, val := w.Row(i)
		heardBy := heard.Neighbors(i)
		for e, j := range col {
			_, ok := slices.BinarySearch(heardBy, j)
			switch {
			case int(j) == i:
				own = len(out.Val)
			case ok:
				rest -= float64(val[e])
			default:
				continue
			}
			out.Col, out.Val = append(out.Col, j), append(out.Val, val[e])
		}
		out.Val[own] = float32(rest)
		out.RowPtr = append(out.RowPtr, len(out.Col))
	}
	return out
}
