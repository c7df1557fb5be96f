package certify

import (
	"context"
	"errors"
	"fmt"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/crown"
	"github.com/wdgnn/wdgnn/internal/paper/theory"
	"github.com/wdgnn/wdgnn/mat"
)

// SequenceReport is the direct certificate of a model with delayed filters on a
// sequence of graphs that could have been another. Theorem 1 says nothing there:
// the space-time shift of a sequence is directed and nilpotent.
type SequenceReport struct {
	Nodes    int     `json:"nodes"`
	Steps    int     `json:"steps"`
	Signal   float64 `json:"signal"`   // ‖X‖ over all steps
	Output   float64 `json:"output"`   // ‖Ψ‖ likewise
	Measured float64 `json:"measured"` // ‖ΔΨ‖ likewise
	Known    float64 `json:"known"`    // the certificate of these signals
	Any      float64 `json:"any"`      // and of all that are as large
}

// Sequence runs a model with delayed filters on the shifts S_0, S_1, … and
// on others, with the signals X_0, X_1, …, N×F each, and sets the change of its
// outputs over all steps beside the direct certificate.
func Sequence(ctx context.Context, m *gnn.WideDeep, shifts, perturbed []*mat.CSR, signals []mat.Dense) (*SequenceReport, error) {
	steps := len(shifts)
	if steps == 0 || len(perturbed) != steps || len(signals) != steps {
		return nil, fmt.Errorf("%d shifts, %d perturbed ones and %d signals, want as many of each", steps, len(perturbed), len(signals))
	}
	n := shifts[0].Rows
	var x []float64
	for t, s := range signals {
		if s.Rows != n || s.Cols != m.Config.In || shifts[t].Rows != n || perturbed[t].Rows != n {
			return nil, fmt.Errorf("step %d: shifts of %d and %d nodes and a signal of %d×%d, want %d nodes and %d features",
				t, shifts[t].Rows, perturbed[t].Rows, s.Rows, s.Cols, n, m.Config.In)
		}
		x = append(x, crown.Signal(s)...)
	}
	pair, err := theory.NewPair(crown.NewShift(graph.SpaceTime(shifts)), crown.NewShift(graph.SpaceTime(perturbed)))
	if err != nil {
		return nil, err
	}
	if pair.Symmetric {
		return nil, errors.New("a sequence without a link at any step")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	v := theory.NewStability(crown.NewNetwork(m), pair).Measure(pair, x)
	return &SequenceReport{Nodes: n, Steps: steps, Signal: v.Signal, Output: v.Output, Measured: v.Change, Known: v.Known, Any: v.Any}, nil
}
