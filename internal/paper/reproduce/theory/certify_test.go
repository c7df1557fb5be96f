package theory

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/paper/certify"
	robots "github.com/wdgnn/wdgnn/internal/paper/reproduce/flocking"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/sourceloc"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study/studytest"
	"github.com/wdgnn/wdgnn/internal/paper/theory"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// toyController returns a controller that was not trained, whose actions stay far
// below the actuators' limit, and a small swarm.
func toyController(t *testing.T) (*gnn.WideDeep, *flocking.Swarm) {
	t.Helper()
	m, err := gnn.NewRandom(gnn.Config{
		In: flocking.Features, Features: 5, Outputs: 2, Wide: &gnn.WideConfig{Order: 2},
		Deep: []gnn.LayerConfig{{Order: 2, Features: 5, Activation: gnn.Tanh}},
	}, random.Stream(1, "controller"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.Params.Wide.Taps {
		for e := range m.Params.Wide.Taps[i].Data {
			m.Params.Wide.Taps[i].Data[e] *= 0.01
		}
	}
	c := flocking.Default()
	c.Robots, c.DurationSeconds = 9, 0.2
	s, err := flocking.New(c, random.Stream(2, "swarm"))
	if err != nil {
		t.Fatal(err)
	}
	return m, s
}

// The costs of learning in flight, as squared errors of package theory, have the
// value and the gradient of those of package flocking: a learner goes where a
// gradient step on them leads.
//
// Reference: Section 6.2, eq. (7) and (9).
func TestFlightCostsAreSquaredErrors(t *testing.T) {
	for _, cost := range []flocking.Cost{flocking.CostVariation, flocking.CostNeighborhood} {
		m, s := toyController(t)
		world, err := flocking.NewStream(s, graph.ShiftSpectral, cost)
		if err != nil {
			t.Fatal(err)
		}
		const gamma = 1e-3
		pilot := recipe.Pilot{Model: m, Shift: graph.ShiftSpectral, Cost: cost, Rule: recipe.OnlineFlight(gamma, 0)}
		learner, err := pilot.Learner(9)
		if err != nil {
			t.Fatal(err)
		}
		coords, err := theory.NewCoordinates(m, false)
		if err != nil {
			t.Fatal(err)
		}
		where := func(i int) []float64 {
			switch l := learner.(type) {
			case *online.Centralized:
				return coords.Of(l.Params())
			case *online.Consensus:
				return coords.Of(l.Params(i))
			}
			return nil
		}
		costs, delayed := &flightCosts{swarm: s, cost: cost}, gnn.Delayed{Model: m}
		u, base := mat.NewDense(9, 2, nil), mat.NewDense(9, 2, nil)
		first := true
		for sample := range world.Samples() {
			if err := learner.Observe(sample); err != nil {
				t.Fatal(err)
			}
			if err := learner.Predict(u); err != nil {
				t.Fatal(err)
			}
			j := world.Reveal(u)
			delayed.Predict(base, sample.Shift, sample.Signal)
			rows := costs.rows(coords, delayed.Shifted(), base, u, j)
			delayed.Advance()
			if first { // all robots are at 𝒜†, and W mixes nothing
				stepIsGradient(t, cost, coords, rows, u, j, where, func() error { return learner.Update(j) }, gamma)
				first = false
				continue
			}
			if err := learner.Update(j); err != nil {
				t.Fatal(err)
			}
		}
		if costs.limited != 0 {
			t.Errorf("%s: %d actions at the limit, want none", cost, costs.limited)
		}
	}
}

// stepIsGradient compares one update with a gradient step on the rows' squared
// errors, and the cost with their value.
func stepIsGradient(
	t *testing.T, cost flocking.Cost, coords *theory.Coordinates, rows []certify.Observation, u mat.Dense, j loss.Loss,
	where func(int) []float64, update func() error, gamma float64,
) {
	t.Helper()
	problems := map[int]*theory.Problem{}
	for _, o := range rows {
		at, share := o.Node, 1.0
		if cost == flocking.CostVariation {
			at, share = 0, 1/float64(u.Rows)
		}
		if problems[at] == nil {
			problems[at] = coords.Problem(theory.Quadratic, 0)
		}
		o.Row.Share = share
		problems[at].Rows = append(problems[at].Rows, o.Row)
	}
	if cost == flocking.CostVariation {
		if got, want := problems[0].Eval(nil, where(0)), j.Eval(mat.Dense{}, u); math.Abs(got-want) > 1e-5*want {
			t.Errorf("J: got %v, want %v", got, want)
		}
	}
	want := map[int][]float64{}
	for i, p := range problems {
		w := where(i)
		for k, g := range p.Gradient(w) {
			w[k] -= gamma * g
		}
		want[i] = w
	}
	if err := update(); err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		off, size := 0.0, 0.0
		for k, v := range where(i) {
			off, size = off+(v-w[k])*(v-w[k]), size+w[k]*w[k]
		}
		if size == 0 || off > 1e-8*size {
			t.Errorf("%s, robot %d: a step of length %v ends %v away from that of the gradient", cost, i, math.Sqrt(size), math.Sqrt(off))
		}
	}
}

// No learner in flight is farther from the optimum than its bound says.
//
// Reference: Theorems 2 and 3.
func TestFlightBoundsHold(t *testing.T) {
	for _, cost := range []flocking.Cost{flocking.CostVariation, flocking.CostNeighborhood} {
		for _, clip := range []float64{0, 0.01} {
			m, s := toyController(t)
			world, err := flocking.NewStream(s, graph.ShiftSpectral, cost)
			if err != nil {
				t.Fatal(err)
			}
			costs := &flightCosts{swarm: s, cost: cost}
			r, err := certify.Stream(context.Background(), certify.StreamRun{
				Model: m, Distributed: cost == flocking.CostNeighborhood, World: world, Kind: theory.Quadratic, Rows: costs.rows,
				Config: online.Config{Nodes: 9, Delayed: true}, Rule: recipe.OnlineFlight(1e-3, clip),
			})
			if err != nil {
				t.Fatal(err)
			}
			if costs.limited != 0 || r.Steps != 20 {
				t.Fatalf("%d actions at the limit, %d steps, want none and 20", costs.limited, r.Steps)
			}
			for _, tr := range []*certify.Tracked{r.AsRun, r.Ridged} {
				for k, e := range tr.Measured {
					if b := tr.Bound[k]; float64(e) > float64(b)*(1+1e-3)+1e-4 {
						t.Errorf("%s, clip %v, ridge %v: step %d: %v away, bound %v", cost, clip, tr.Ridge, k, e, b)
					}
				}
			}
		}
	}
}

// The report says where an optimum is missing, marks the safe step size, and says
// what Theorem 1 does not cover.
func TestCertifyResult(t *testing.T) {
	inf := certify.Number(math.Inf(1))
	run := certifiedRun{
		Mode: "centralized", Steps: 30, Rank: 2, Dim: 6, SafeStep: 10,
		Rows: []certifiedTracking{
			{Name: "as run", StepSize: 1, Missing: 0},
			{Name: "with a ridge", StepSize: 1, Ridge: 0.1, Missing: -1, Drift: 2, Slowest: 0.999, Bound: inf, Measured: 3},
		},
		Limits: []certify.LimitPoint{
			{StepSize: 1, Share: 0.1, Bound: 8, Own: 3, Measured: 2},
			{StepSize: 9, Share: 0.9, Bound: 4, Own: 2, Measured: 1},
		},
	}
	u := &certifyUnit{
		Stability: make([]certifiedOutput, len(certifiedProbs)), Runs: []certifiedRun{run},
		Flight: certifiedFlight{
			Pairs:     []certifiedPair{{Time: 3, Changed: 2}},
			Filters:   []certifiedFilter{{"wide", 3, 0.5, 1.5}},
			Sequences: []certifiedSequence{{"graphs a step old", certify.SequenceReport{Steps: 50}}},
			Runs:      []certifiedRun{run}, Limited: []int{7},
		},
	}
	for k := range u.Stability {
		u.Stability[k] = certifiedOutput{Measured: 1, Certificate: 2 + float64(k)}
	}
	o := studytest.Options(t.TempDir())
	r := certifyResult(sourceloc.From(o), robots.From(o), u)
	var page bytes.Buffer
	if err := errors.Join(r.WriteText(&page, 0), Certify.WriteMarkdown(&page, r, "")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"no optimum", "2 of 6", "0.999000", "∞", "Theorem 1 does not apply there", "all 0, so that Theorem 1 says nothing",
		"7 of 720 components", "C_L = 0.5",
	} {
		if !strings.Contains(strings.Join(strings.Fields(page.String()), " "), want) {
			t.Errorf("the page does not say %q:\n%s", want, page.String())
		}
	}
	limit := r.Charts[1]
	mark := limit.Curves[len(limit.Curves)-1]
	if limit.Name != "certify-limit" || !mark.Reference || mark.X[0] != 10 || mark.X[1] != 10 || mark.Y[0] != 1 || mark.Y[1] != 8 {
		t.Errorf("got %+v, want the safe step size 10 marked from 1 to 8", mark)
	}
	var svg bytes.Buffer
	if err := limit.WriteSVG(&svg); err != nil || svg.Len() == 0 {
		t.Errorf("the chart is not drawn: %v", err)
	}
}
