package flocking

import (
	"slices"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
)

// Trajectory is a flight as an example to imitate: what robots knew at every
// step and what the expert would have done. Row t·N+i is robot i at time t.
type Trajectory struct {
	Signals mat.Dense  // X, (T·N)×6
	Targets mat.Dense  // expert actions, clamped, (T·N)×2
	Shifts  []*mat.CSR // S_0 … S_(T-1), N×N
	Flight  *Flight    // how it went
}

// Record lets control fly s until time T and returns what the robots knew on
// the way, with shifts of the given kind, and the action of the expert in every
// state. With Expert as control this is the training data of Section 6.2; with
// a learned controller it is what that controller needs to be taught.
func Record(s *Swarm, shift graph.Shift, control Controller) (*Trajectory, error) {
	n := len(s.position)
	steps := max(s.config.Steps()-s.time, 0)
	tr := &Trajectory{
		Signals: mat.NewDense(steps*n, Features, nil),
		Targets: mat.NewDense(steps*n, 2, nil),
		Shifts:  make([]*mat.CSR, 0, steps),
	}
	flight, err := fly(s, control, func(scratch [][2]float64) error {
		now, err := s.Shift(shift)
		if err != nil {
			return err
		}
		row := len(tr.Shifts) * n
		tr.Shifts = append(tr.Shifts, clone(now))
		s.Signal(tr.Signals.View(row, 0, n, Features))
		s.Expert(scratch)
		for i, u := range scratch {
			target := tr.Targets.Row(row + i)
			target[0], target[1] = float32(u[0]), float32(u[1])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	tr.Flight = flight
	return tr, nil
}

// Sample returns the trajectory as one signal on one graph, on which an
// ordinary graph filter is the delayed filter of eq. (24); see
// [graph.SpaceTime]. The signal is shared with tr.
func (tr *Trajectory) Sample() graph.Sample {
	return graph.Sample{Shift: graph.SpaceTime(tr.Shifts), Signal: tr.Signals}
}

// clone returns a copy of a that shares no memory with it.
func clone(a *mat.CSR) *mat.CSR {
	b := *a
	b.RowPtr, b.Col, b.Val = slices.Clone(a.RowPtr), slices.Clone(a.Col), slices.Clone(a.Val)
	return &b
}
