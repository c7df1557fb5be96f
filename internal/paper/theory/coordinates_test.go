package theory

import (
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/crown"
	"github.com/wdgnn/wdgnn/internal/vector"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// In the coordinates of this package a step of online learning is a plain
// gradient step on the Problem, with and without the bias, whatever the schedule:
// learners of package online and Descend go the same way.
//
// Reference: Section 3, eq. (7) and (9).
func TestCoordinatesAreThoseOfLearners(t *testing.T) {
	const nodes, steps, ridge = 8, 15, 0.02
	fixed := rule.StepSize{Value: 0.05}
	decaying := rule.StepSize{Schedule: rule.Decaying, Value: 0.1, Steps: 3}
	for _, c := range []struct {
		name                string
		bias, classes, more bool // taps and bias; cross-entropy; distributed
		size                rule.StepSize
	}{
		{"squared error", false, false, false, fixed},
		{"cross-entropy, bias", true, true, false, fixed},
		{"squared error, distributed", false, false, true, fixed},
		{"cross-entropy, distributed", false, true, true, fixed},
		{"squared error, decaying", false, false, false, decaying},
		{"cross-entropy, decaying, bias", true, true, false, decaying},
		{"squared error, distributed, decaying", false, false, true, decaying},
		{"cross-entropy, distributed, decaying, bias", true, true, true, decaying},
	} {
		t.Run(c.name, func(t *testing.T) {
			rng := newRand(70)
			m, err := gnn.NewRandom(gnn.Config{
				In: 2, Features: 4, Outputs: 3, Wide: &gnn.WideConfig{Order: 2}, Deep: []gnn.LayerConfig{{Order: 1, Features: 4, Activation: gnn.Tanh}},
			}, rng)
			if err != nil {
				t.Fatal(err)
			}
			cfg, how := online.Config{Nodes: nodes}, rule.Config{StepSize: c.size, Ridge: ridge}
			if c.bias {
				how.Retrain = rule.RetrainTapsAndBias
			}
			coords, err := NewCoordinates(m, c.bias)
			if err != nil {
				t.Fatal(err)
			}
			g := graph.Ring(nodes)
			s, err := graph.ShiftSpectral.Of(g)
			if err != nil {
				t.Fatal(err)
			}
			w, err := graph.Metropolis(g)
			if err != nil {
				t.Fatal(err)
			}
			mixer, err := NewMixer(w)
			if err != nil {
				t.Fatal(err)
			}
			observer, err := online.NewObserver(m, cfg)
			if err != nil {
				t.Fatal(err)
			}
			var learner online.Learner
			if c.more {
				learner, err = online.NewConsensus(observer, how)
			} else {
				learner, err = online.NewCentralized(observer, how)
			}
			if err != nil {
				t.Fatal(err)
			}
			kind := Quadratic
			if c.classes {
				kind = CrossEntropy
			}
			var costs []*Problem
			var local [][]*Problem
			var mixers []*Mixer
			var path [][][]float64
			y := mat.NewDense(nodes, 3, nil)
			for step := range steps {
				x, target := mat.NewDense(nodes, 2, nil), mat.NewDense(nodes, 3, nil)
				labels := make([]int32, nodes)
				for i := range x.Data {
					x.Data[i] = float32(rng.NormFloat64())
				}
				for i := range target.Data {
					target.Data[i] = float32(rng.NormFloat64())
				}
				for i := range labels {
					labels[i] = int32(rng.IntN(3))
				}
				z := mat.NewDense(nodes, 6, nil)
				var shifter gnn.Shifter
				shifter.Shift(z, s, x)
				m.Forward(y, &gnn.Input{Shift: s, Shifted: z}, new(gnn.Tape))
				all := coords.Problem(kind, ridge)
				var each []*Problem
				for i := range nodes {
					row := Row{
						Input: coords.Input(z.Row(i)), Base: crown.Signal(y.View(i, 0, 1, 3)), Target: crown.Signal(target.View(i, 0, 1, 3)),
						Label: int(labels[i]), Share: 1,
					}
					one := coords.Problem(kind, ridge)
					one.Rows = []Row{row}
					each = append(each, one)
					row.Share = 1.0 / nodes
					all.Rows = append(all.Rows, row)
				}
				costs, local, mixers = append(costs, all), append(local, each), append(mixers, mixer)
				var at [][]float64
				switch l := learner.(type) {
				case *online.Centralized:
					at = append(at, coords.Of(l.Params()))
				case *online.Consensus:
					for i := range nodes {
						at = append(at, coords.Of(l.Params(i)))
					}
				}
				path = append(path, at)
				if err := learner.Observe(graph.Sample{Time: step, Shift: s, Mixing: w, Signal: x}); err != nil {
					t.Fatal(err)
				}
				var j loss.Loss = loss.MSE{Target: target}
				if c.classes {
					j = loss.CrossEntropy{Labels: labels}
				}
				if err := learner.Update(j); err != nil {
					t.Fatal(err)
				}
			}
			start := make([]float64, len(path[0][0]))
			want := make([][][]float64, 0, steps)
			if c.more {
				all := make([][]float64, nodes)
				for i := range all {
					all[i] = start
					mine := make([]*Problem, steps)
					for t := range mine {
						mine[t] = local[t][i]
					}
					for t, p := range stepped(c.size, mine) {
						local[t][i] = p
					}
				}
				want = DescendTogether(local, mixers, all, 1)
			} else {
				for _, v := range Descend(stepped(c.size, costs), start, 1) {
					want = append(want, [][]float64{v})
				}
			}
			for i, got := range path[steps-1] {
				if d := distance(got, want[steps-1][i]); d > 1e-4*vector.Norm(got) || vector.Norm(got) == 0 {
					t.Errorf("node %d: after %d steps %v away from where it should be, at %v", i, steps-1, d, vector.Norm(got))
				}
			}
		})
	}
}

// stepped returns costs scaled by the steps that package rule takes on them.
func stepped(size rule.StepSize, costs []*Problem) []*Problem {
	sizes := StepSizes(size, len(costs))
	out := make([]*Problem, len(costs))
	for i, p := range costs {
		out[i] = p.Scaled(sizes[i])
	}
	return out
}
