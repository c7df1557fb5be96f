package certify

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/crown"
	"github.com/wdgnn/wdgnn/internal/paper/theory"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
)

// certify plays the case with settings and returns the report.
func (f *onlineCase) certify(settings string) *OnlineReport {
	f.Helper()
	r, err := Run(context.Background(), f.config(settings), f.model, nil)
	if err != nil {
		f.Fatal(err)
	}
	return r
}

// A bound is called proven if everything it takes is so: not where a ridge escapes
// the clipping of gradients, not for delayed filters that the certificate takes to
// stand still.
func TestProvenIsDerived(t *testing.T) {
	f := newOnlineCase(t, config.Regress, false)
	for settings, want := range map[string]string{
		"mode: distributed, preset: paper, step_size: {value: 0.02}":                             "",
		"mode: distributed, preset: paper, step_size: {value: 0.02}, clip_norm: 0.2":             "",
		"mode: distributed, preset: paper, step_size: {value: 0.02}, clip_norm: 0.2, ridge: 0.1": "gradients may be clipped",
	} {
		r := f.certify(settings)
		for _, b := range r.Bounds {
			asRun := strings.Contains(b.Name, "as run")
			if asRun && (b.Proven != (want == "") || !strings.Contains(b.Note, want)) ||
				strings.Contains(b.Name, "with a ridge") && !b.Proven {
				t.Errorf("%s: %s: proven %v, %q; want %q of the run as it was", settings, b.Name, b.Proven, b.Note, want)
			}
		}
	}
	for _, delayed := range []bool{false, true} {
		m := newOnlineCase(t, config.Regress, delayed).model
		r, err := Graphs(context.Background(), m, graph.Ring(6), graph.Ring(6), Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range r.Bounds[:2] {
			if b.Proven == delayed || strings.Contains(b.Note, "stand still") != delayed {
				t.Errorf("delayed %v: %s: proven %v, %q", delayed, b.Name, b.Proven, b.Note)
			}
		}
	}
}

// wrongly describes costs that are not those that the learner hears: its inputs are
// a hundredth larger.
func wrongly(c *theory.Coordinates, z, base, _ mat.Dense, j loss.Loss) []Observation {
	var met []Observation
	target := j.(loss.MSE).Target
	for i := range z.Rows {
		row := theory.Row{
			Input: c.Input(z.Row(i)), Base: crown.Signal(base.View(i, 0, 1, base.Cols)),
			Target: crown.Signal(target.View(i, 0, 1, target.Cols)),
		}
		for k := range row.Input {
			row.Input[k] *= 1.01
		}
		met = append(met, Observation{Node: i, Row: row})
	}
	return met
}

// A run whose steps are not the gradient steps of the costs that it is held
// against is found out: its bound is not called proven, and holds all the same,
// because what the steps are beside gradient steps is part of it.
func TestStepsThatAreNotGradientSteps(t *testing.T) {
	for _, distributed := range []bool{false, true} {
		run := ringRun(t, 20, 0.5, 1)
		run.Distributed = distributed
		honest, err := Stream(context.Background(), run)
		if err != nil {
			t.Fatal(err)
		}
		run = ringRun(t, 20, 0.5, 1)
		run.Distributed, run.Rows = distributed, wrongly
		r, err := Stream(context.Background(), run)
		if err != nil {
			t.Fatal(err)
		}
		if !honest.Bounds[0].Proven || r.Bounds[0].Proven || !strings.Contains(r.Bounds[0].Note, "more than rounding explains") {
			t.Errorf("distributed %v: proven %v, and %v of other costs, %q; want true and false", distributed,
				honest.Bounds[0].Proven, r.Bounds[0].Proven, r.Bounds[0].Note)
		}
		for k, m := range r.AsRun.Measured {
			if m > r.AsRun.Bound[k]*(1+1e-9)+1e-12 {
				t.Errorf("distributed %v, step %d: %v away, bound %v", distributed, k, m, r.AsRun.Bound[k])
			}
		}
	}
}

// ringRun is a run of a filter of order 1 on a ring whose signals are 1 ± ripple
// and whose targets are residual away from the output, to either side.
func ringRun(t *testing.T, nodes int, ripple, residual float32) StreamRun {
	t.Helper()
	net, err := gnn.NewRandom(gnn.Config{In: 1, Features: 1, Wide: &gnn.WideConfig{Order: 1}, NoBias: true}, random.Stream(1, "ring"))
	if err != nil {
		t.Fatal(err)
	}
	clear(net.Params.Flat) // the optimum is near
	g := graph.Ring(nodes)
	s, err := graph.ShiftSpectral.Of(g)
	if err != nil {
		t.Fatal(err)
	}
	w, err := graph.Metropolis(g)
	if err != nil {
		t.Fatal(err)
	}
	x, target := mat.NewDense(nodes, 1, nil), mat.NewDense(nodes, 1, nil)
	rng := random.Stream(1, "ripple")
	for i := range x.Data {
		x.Data[i] = 1 + ripple*float32(2*rng.Float64()-1)
	}
	for i := range x.Data {
		target.Data[i] = residual
		if x.Data[i] < (x.Data[(i+1)%nodes]+x.Data[(i+nodes-1)%nodes])/2 {
			target.Data[i] = -residual
		}
	}
	return StreamRun{
		Model: net, World: &stillWorld{
			graph.Sample{Shift: s, Mixing: w, Signal: x},
			loss.MSE{Target: target},
		}, Kind: theory.Quadratic, Steps: 120,
		Config: online.Config{Nodes: nodes}, Rule: rule.Config{StepSize: rule.StepSize{Value: 0.09}},
	}
}

// stillWorld shows the same for ever.
type stillWorld struct {
	sample graph.Sample
	cost   loss.Loss
}

func (w *stillWorld) Samples() iter.Seq[graph.Sample] {
	return func(yield func(graph.Sample) bool) {
		for t := 0; ; t++ {
			s := w.sample
			s.Time = t
			if !yield(s) {
				return
			}
		}
	}
}

func (w *stillWorld) Reveal(mat.Dense) loss.Loss { return w.cost }

// Columns that are nearly collinear, signals without a ripple, a network that has
// arrived: no run as it was in float32, and none that is learned once more, is
// farther from the optimum than its bound, not by what float64 rounds either.
//
// Reference: Theorems 2 and 3, doc/theory.md "What is left of the gradient" and "Rounding".
func TestBoundsHaveFloors(t *testing.T) {
	for _, c := range []struct {
		name             string
		ripple, residual float32
		ridge            float64
	}{{"collinear", 2e-6, 10, 0}, {"flat", 0, 1, 0}, {"arrived", 0.5, 1, 3}, {"plain", 0.5, 1, 0}} {
		for _, distributed := range []bool{false, true} {
			run := ringRun(t, 20, c.ripple, c.residual)
			run.Distributed, run.Rule.Ridge = distributed, c.ridge
			r, err := Stream(context.Background(), run)
			if err != nil {
				t.Fatal(err)
			}
			for name, s := range map[string]*Tracked{"as run": r.AsRun, "with a ridge": r.Ridged} {
				last := len(s.Measured) - 1
				t.Logf("%s, distributed %v, %s: bound %.4g, measured %.4g", c.name, distributed, name,
					float64(s.Bound[last]), float64(s.Measured[last]))
				for k, m := range s.Measured {
					if m > s.Bound[k] {
						t.Errorf("%s, distributed %v, %s, step %d: %v away, bound %v", c.name, distributed, name, k, m, s.Bound[k])
						break
					}
				}
			}
			for _, b := range r.Bounds {
				if !b.Proven {
					t.Errorf("%s, distributed %v, %s: %q, want it proven", c.name, distributed, b.Name, b.Note)
				}
			}
		}
	}
}

// Whatever is being computed when the context ends, certifying ends there.
func TestCertifyRunEndsWithContext(t *testing.T) {
	for _, settings := range []string{
		"mode: distributed, preset: paper, step_size: {schedule: decaying, value: 0.05}, ridge: 0.1",
		"mode: centralized, preset: paper, step_size: {value: 0.05}, ridge: 0.1",
	} {
		f := newOnlineCase(t, config.Regress, false)
		c := f.config(settings)
		var stages []string
		heard := func(s Stage) {
			if !slices.Contains(stages, s.Name) {
				stages = append(stages, s.Name)
			}
		}
		if _, err := Run(context.Background(), c, f.model, heard); err != nil {
			t.Fatal(err)
		}
		if len(stages) < 8 {
			t.Errorf("%s: heard of %q only", settings, stages)
		}
		for _, stage := range stages {
			ctx, cancel := context.WithCancel(context.Background())
			after := 0
			_, err := Run(ctx, c, f.model, func(s Stage) {
				if s.Name == stage {
					cancel()
				}
				if ctx.Err() != nil {
					after++
				}
			})
			cancel()
			if !errors.Is(err, context.Canceled) || after != 1 {
				t.Errorf("%s: ended during %q: got %v after %d steps more, want that it was cancelled, at once", settings,
					stage, err, after-1)
			}
		}
	}
}
