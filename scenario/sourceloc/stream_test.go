package sourceloc_test

import (
	"errors"
	"testing"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/scenario/sourceloc"
)

// A stream hears its signals over A/λmax of its graph unless another shift is
// asked for; signals and mixing are the same.
func TestStreamOver(t *testing.T) {
	w := newWorld(t, sourceloc.Default())
	signals, labels := w.Draw(2, random.Stream(1, "signals"))
	graphs := []*graph.Graph{w.Graph}
	first := func(s *sourceloc.Stream, err error) graph.Sample {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for sample := range s.Samples() {
			return sample
		}
		t.Fatal("got no signals, want 2")
		return graph.Sample{}
	}
	usual := first(w.NewStreamOver(graph.ShiftSpectral.Of, graphs, 0, signals, labels))
	local := first(w.NewStreamOver(graph.ShiftRowStochastic.Of, graphs, 0, signals, labels))
	if !usual.Shift.Equal(w.Shift) {
		t.Error("the shift is not A/λmax")
	}
	if want, err := graph.ShiftRowStochastic.Of(w.Graph); err != nil || !local.Shift.Equal(want) {
		t.Errorf("the shift is not the one that was asked for: %v", err)
	}
	if !local.Mixing.Equal(usual.Mixing) || &local.Signal.Data[0] != &usual.Signal.Data[0] {
		t.Error("another shift changed the signals or the mixing")
	}
	broken := errors.New("broken")
	if _, err := w.NewStreamOver(func(*graph.Graph) (*mat.CSR, error) { return nil, broken },
		graphs, 0, signals, labels); !errors.Is(err, broken) {
		t.Errorf("error is %v, want what the shift said", err)
	}
}
