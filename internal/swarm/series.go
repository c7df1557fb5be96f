package swarm

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
)

// seriesWorld is a series of readings, in the user's units, for nodes that forecast
// what their sensors will read. The same rows were played in one process before, which
// says what agents should answer, and what the model as trained does.
type seriesWorld struct {
	run     *lifecycle.OnlineRun
	steps   int
	outputs int
	end     online.Snapshot // what nodes know in one process when these are over

	row     int
	now     *graph.Graph
	answers []float32 // steps×N×C; what a silent node answered last
	cost    judged
	trained float64 // what the model as trained would have cost at this step
	any     bool    // truths became known at this step
}

// judged is what forecasts cost whose truth became known at a step: their mean
// absolute error in the user's units.
type judged float64

// Eval implements [loss.Loss].
func (j judged) Eval(mat.Dense, mat.Dense) float64 { return float64(j) }

// newSeriesWorld plays the first steps of a run.
func newSeriesWorld(file *modelfile.Model, r *lifecycle.OnlineRun, steps int) (*seriesWorld, error) {
	sensors, err := file.Sensors()
	if err != nil {
		return nil, err
	}
	first, _, _ := r.Stream.Reading(0)
	for i := range sensors {
		if m := &sensors[i]; m.Started && m.Step >= first {
			return nil, fmt.Errorf("the series begins with step %d, and the sensors of the model have read step %d; give readings that follow",
				first, m.Step)
		}
	}
	outputs := file.Network.Outputs()
	w := &seriesWorld{run: r, steps: steps, outputs: outputs, answers: make([]float32, steps*r.Stream.Nodes*outputs)}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	err = r.Play(ctx, func() error { return nil }, func(s lifecycle.OnlineStep) error {
		if s.Step == steps-1 {
			cancel() // after its update
		}
		return nil
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		return nil, err
	}
	w.end = r.Snapshot()
	return w, nil
}

// newcomers returns the names of sensors that a model does not know, by node.
func (w *seriesWorld) newcomers(m *modelfile.Model) map[uint32]string {
	spec, err := m.Forecast()
	if err != nil || spec == nil {
		return nil // Plan says so
	}
	var names map[uint32]string
	for i, name := range w.run.Stream.Names() {
		if i >= len(spec.Sensors) {
			if names == nil {
				names = map[uint32]string{}
			}
			names[uint32(i)] = name
		}
	}
	return names
}

// Samples implements [online.World].
func (w *seriesWorld) Samples() iter.Seq[graph.Sample] {
	return func(yield func(graph.Sample) bool) {
		for w.row = range w.steps {
			step, values, _ := w.run.Stream.Reading(w.row)
			w.now = w.run.Stream.Graph(w.row)
			if !yield(graph.Sample{Time: int(step), Signal: values}) {
				return
			}
		}
	}
}

// Reveal implements [online.World]: it keeps the forecasts y, and returns what those
// cost whose truth is known now.
func (w *seriesWorld) Reveal(y mat.Dense) loss.Loss {
	n := w.run.Stream.Nodes
	for i := range n {
		copy(w.answers[(w.row*n+i)*w.outputs:], y.Row(i))
	}
	own, trained, any := w.run.ErrorsAt(w.row, w.answers)
	w.cost, w.trained, w.any = judged(own), trained, any
	return w.cost
}

// known implements [lateWorld].
func (w *seriesWorld) known() bool { return w.any }

// late implements [lateWorld]: truths come with readings.
func (w *seriesWorld) late(int) loss.Loss { return nil }

// truth returns what the reading of a node should have been, nil if it is its own
// truth.
func (w *seriesWorld) truth(node agent.NodeID) []float32 {
	_, _, truths := w.run.Stream.Reading(w.row)
	if truths == nil {
		return nil
	}
	return []float32{truths[node]}
}

// Graph implements [World].
func (w *seriesWorld) Graph() *graph.Graph { return w.now }

// Near implements [World]: every link is known.
func (w *seriesWorld) Near() *graph.Graph { return nil }

// expected returns what a node answers at this step in one process.
func (w *seriesWorld) expected(i int) []float32 {
	at := (w.row*w.run.Stream.Nodes + i) * w.outputs
	return w.run.Predictions[at : at+w.outputs]
}

// sameNumbers says whether a and b have the same bits, whatever kind of NaN they hold.
func sameNumbers(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) || x != x && y != y })
}

// compareStates compares what nodes know in their checkpoints with what they know in
// one process.
func (v *verifier) compareStates(folder string) error {
	states, err := stateFolders(folder)
	if err != nil {
		return err
	}
	v.SameParams = 0
	for _, path := range states {
		c, _, err := readState(path)
		if err != nil {
			return err
		}
		for _, m := range c.Nodes {
			switch {
			case sameState(&m, &v.series.end):
				v.SameParams++
			case v.First == "":
				v.First = fmt.Sprintf("at the end, node %d: it knows something else than in one process", m.Node)
			}
		}
	}
	return nil
}

// sameState says whether a node knows what one process says of it.
func sameState(m *agent.Memory, end *online.Snapshot) bool {
	i := int(m.Node)
	return i < len(end.Nodes) && slices.Equal(m.State, end.Nodes[i])
}
