package online_test

import (
	"math"
	"testing"

	dense "gonum.org/v1/gonum/mat"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
)

// The two features of a readout of condition 1.4e4 are nearly the same. In
// whitened steps, which are long where the readout is weak, nodes still learn as
// in float64: with the map B from inputs to outputs, y = y† + zB, a step is
// B ← B - γ P_L zᵀdy, whatever the readout.
func TestIllConditionedReadoutCostsNoPrecision(t *testing.T) {
	const nodes, steps, gamma = 5, 400, 0.1
	m, err := gnn.New(gnn.Config{In: 1, Features: 2, Outputs: 2, Wide: &gnn.WideConfig{Order: 1}, NoBias: true})
	must(t, err)
	copy(m.Params.Readout.Weight.Data, []float32{1, 1, 1, 1.000286})
	copy(m.Params.Flat, []float32{0.5, 0.25, -0.3, 0.2})
	if c := condition(t, m.Params.Readout.Weight); c < 1.3e4 || c > 1.5e4 {
		t.Fatalf("the readout has condition %v, want about 1.4e4", c)
	}
	rng := random.Stream(1, "ill-conditioned")
	shift, err := graph.ShiftSymmetric.Of(graph.Ring(nodes))
	must(t, err)
	var shifter gnn.Shifter
	moment := new(rule.SecondMoment)
	z, base, y := mat.NewDense(nodes, 2, nil), mat.NewDense(nodes, 2, nil), mat.NewDense(nodes, 2, nil)
	for range 100 {
		shifter.Shift(z, shift, gaussian(rng, nodes, 1))
		moment.Add(z, 2)
	}
	left := inverseMoment(t, moment)
	twin := make([][4]float64, nodes) // B of every node
	l := newConsensus(t, m, online.Config{Nodes: nodes, Moment: moment}, rule.Config{StepSize: rule.StepSize{Value: gamma}, Whiten: true})
	var cost, twinCost, frozen float64
	for k := range steps {
		x := gaussian(rng, nodes, 1)
		shifter.Shift(z, shift, x)
		m.Forward(base, &gnn.Input{Shift: shift, Shifted: z}, new(gnn.Tape))
		target := mat.NewDense(nodes, 2, nil)
		for i := range nodes {
			for c := range 2 { // what it should be, a little off the model as trained, and noise
				target.Set(i, c, base.At(i, c)+0.1*z.At(i, c)+0.3*float32(rng.NormFloat64()))
			}
		}
		j := loss.MSE{Target: target}
		must(t, l.Observe(graph.Sample{Time: k, Shift: shift, Signal: x}))
		must(t, l.Predict(y))
		for i := range nodes {
			for c := range 2 {
				want := float64(base.At(i, c)) + float64(z.At(i, 0))*twin[i][c] + float64(z.At(i, 1))*twin[i][2+c]
				if got := float64(y.At(i, c)); math.Abs(got-want) > 1e-4*(1+math.Abs(want)) {
					t.Errorf("step %d: output %d of node %d is %v, want %v", k, c, i, got, want)
				}
				twinCost += math.Pow(want-float64(target.At(i, c)), 2) / (2 * nodes * steps)
			}
		}
		cost += j.Eval(mat.Dense{}, y) / steps
		frozen += j.Eval(mat.Dense{}, base) / steps
		for i := range nodes {
			descend(&twin[i], z.Row(i), base.Row(i), target.Row(i), left, gamma)
		}
		must(t, l.Update(j))
		if t.Failed() {
			break
		}
	}
	t.Logf("cost %.4f, in float64 %.4f, frozen %.4f", cost, twinCost, frozen)
	if math.Abs(cost-twinCost) > 1e-4*twinCost {
		t.Errorf("the mean cost is %v, want %v", cost, twinCost)
	}
}

// condition returns the ratio of the largest singular value to the smallest.
func condition(t *testing.T, a mat.Dense) float64 {
	t.Helper()
	var svd dense.SVD
	if !svd.Factorize(dense.NewDense(a.Rows, a.Cols, wide(a.Data)), dense.SVDNone) {
		t.Fatal("no singular values")
	}
	return svd.Cond()
}

// inverseMoment returns P_L = (Σ + 1e-4 diag Σ)⁻¹ of two inputs.
func inverseMoment(t *testing.T, m *rule.SecondMoment) *dense.Dense {
	t.Helper()
	sigma := dense.NewDense(2, 2, []float64{m.Mean[0] * (1 + 1e-4), m.Mean[1], m.Mean[3], m.Mean[4] * (1 + 1e-4)})
	var inverse dense.Dense
	must(t, inverse.Inverse(sigma))
	return &inverse
}

// descend is B ← B - γ P_L zᵀdy for the squared error, the mean over outputs.
func descend(b *[4]float64, z, base, target []float32, left *dense.Dense, gamma float64) {
	var dy [2]float64
	for c := range dy {
		dy[c] = float64(base[c]) + float64(z[0])*b[c] + float64(z[1])*b[2+c] - float64(target[c])
	}
	for k := range 2 {
		step := left.At(k, 0)*float64(z[0]) + left.At(k, 1)*float64(z[1])
		for c := range dy {
			b[2*k+c] -= gamma * step * dy[c]
		}
	}
}
