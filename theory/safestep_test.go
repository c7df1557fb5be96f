package theory

import (
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// spy is eq. (9) with γ = 0 that notes the curvature by which an automatic step
// is chosen.
type spy struct{ seen *[]float64 }

func (spy) Sent() int { return 1 }
func (spy) Kept() int { return 0 }

func (s spy) Step(next rule.State, step *rule.Step) {
	step.Heard.Mix(next[0], 0)
	*s.seen = append(*s.seen, step.Cost.Curvature())
}

// The automatic step size of package rule is a share of 2/C_s, with a bound of
// C_s that a node can compute in passing. It is never below the C_s of this
// package, so the step is never beyond the safe one.
//
// Reference: Theorem 2.
func TestAutomaticStepIsSafe(t *testing.T) {
	rng := newRand(80)
	const nodes = 6
	m, err := gnn.NewRandom(gnn.Config{In: 2, Features: 4, Outputs: 3, Wide: &gnn.WideConfig{Order: 2}}, rng)
	if err != nil {
		t.Fatal(err)
	}
	coords, err := NewCoordinates(m, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := graph.ShiftSpectral.Of(graph.Ring(nodes))
	if err != nil {
		t.Fatal(err)
	}
	observer, err := online.NewObserver(m, online.Config{Nodes: nodes})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []Kind{Quadratic, CrossEntropy} {
		var seen []float64
		learner, err := online.NewConsensus(observer, rule.Config{Rule: spy{&seen}, Ridge: 0.1})
		if err != nil {
			t.Fatal(err)
		}
		x, target, labels := mat.NewDense(nodes, 2, nil), mat.NewDense(nodes, 3, nil), make([]int32, nodes)
		for i := range x.Data {
			x.Data[i] = float32(rng.NormFloat64())
		}
		if err := learner.Observe(graph.Sample{Shift: s, Signal: x}); err != nil {
			t.Fatal(err)
		}
		var j loss.Loss = loss.MSE{Target: target}
		if kind == CrossEntropy {
			j = loss.CrossEntropy{Labels: labels}
		}
		if err := learner.Update(j); err != nil {
			t.Fatal(err)
		}
		z := mat.NewDense(nodes, 6, nil)
		var shifter gnn.Shifter
		shifter.Shift(z, s, x)
		for i, bound := range seen {
			p := coords.Problem(kind, 0.1)
			p.Rows = []Row{{Input: coords.Input(z.Row(i)), Base: make([]float64, 3), Target: make([]float64, 3), Share: 1}}
			c, err := p.Curvature()
			if err != nil {
				t.Fatal(err)
			}
			if bound < c.Smooth*(1-1e-6) || bound > 1.001*c.Smooth {
				t.Errorf("kind %v, node %d: package rule says %v, want C_s = %v, which one row makes exact", kind, i, bound, c.Smooth)
			}
		}
		if len(seen) != nodes {
			t.Errorf("kind %v: got the curvature of %d nodes, want %d", kind, len(seen), nodes)
		}
	}
}

// The network of Section 6.1 on 50 nodes, all of Theorem 1.
func BenchmarkStability(b *testing.B) {
	rng := newRand(81)
	m, err := gnn.NewRandom(gnn.Config{
		In: 1, Features: 32, Outputs: 5, Wide: &gnn.WideConfig{Order: 5},
		Deep: []gnn.LayerConfig{{Order: 5, Features: 32}, {Order: 5, Features: 32}},
	}, rng)
	if err != nil {
		b.Fatal(err)
	}
	a := randomGraph(rng, 50, false)
	s, sHat := shiftOf(50, a), shiftOf(50, perturb(rng, a, 50, false))
	for b.Loop() {
		p, err := NewPair(s, sHat)
		if err != nil {
			b.Fatal(err)
		}
		NewStability(NewNetwork(m), p)
	}
}
