package rule_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	dense "gonum.org/v1/gonum/mat"

	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
)

// A window of m steps costs the mean over those of the last m that brought a
// cost, of the mean over their rows; its gradient is zᵀdyRᵀ, whitened P_L zᵀdyR⁺,
// and clipped as long as the taps' gradient.
func TestWindow(t *testing.T) {
	const steps, rows = 12, 3
	for name, fc := range bases {
		for _, m := range []int{1, 2, 5} {
			for _, whiten := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, m = %d, whitened %t", name, m, whiten), func(t *testing.T) {
					rng := random.Stream(7, name, m)
					moment := new(rule.SecondMoment)
					moment.Add(matrix(rng, 50, 3), 3)
					fc := fc
					if whiten {
						fc.Whitening = must[*rule.Whitening](t)(rule.NewWhitening(moment, fc.Bias))
					}
					f := must[*rule.Basis](t)(rule.NewBasis(fc))
					outputs, inputs := f.Outputs(), f.TapsLen()/4
					_, root := basis(fc, f)
					var cost float64
					var got []float32
					config := rule.Config{Window: m, Ridge: 0.1, Rule: probe{func(j float64, g []float32, _ rule.Cost) { cost, got = j, slices.Clone(g) }}}
					x := matrix(rng, 1, f.Len())
					n := restored(t, f, &config, rows, x.Data)
					type seen struct {
						z, base, target mat.Dense
						mask            []bool
					}
					var all []seen
					for k := range steps {
						s := seen{matrix(rng, rows, 3), matrix(rng, rows, outputs), matrix(rng, rows+2, outputs), make([]bool, rows+2)}
						for r := range rows {
							s.mask[r+2] = k%4 != 2 && (k+r)%3 != 0
						}
						all = append(all, s)
						n.Observe(s.z, s.base, []int32{2, 3, 4}, loss.MSE{Target: s.target, Mask: s.mask})
						if err := n.Step(alone(n)); err != nil {
							t.Fatal(err)
						}
						n.Commit()
						wantJ, wantG := 0.0, dense.NewDense(inputs, outputs, nil)
						held := 0
						for _, s := range all[max(0, k+1-m):] {
							if slices.Contains(s.mask, true) {
								held++
							}
						}
						for _, s := range all[max(0, k+1-m):] {
							carrying := 0
							for _, on := range s.mask {
								if on {
									carrying++
								}
							}
							for r := range rows {
								if !s.mask[r+2] {
									continue
								}
								y, dy := make([]float32, outputs), make([]float32, outputs)
								f.Predict(y, s.base.Row(r), s.z.Row(r), x.Data, make([]float64, outputs))
								share := 1 / float64(held*carrying)
								wantJ += share * loss.MSE{Target: s.target}.EvalNode(r+2, dy, y)
								var g dense.Dense
								in := large(append(slices.Clone(s.z.Row(r)), 1)[:inputs], 1, inputs)
								g.Mul(in.T(), large(dy, 1, outputs))
								g.Scale(share, &g)
								wantG.Add(wantG, &g)
							}
						}
						var direction, ridge dense.Dense
						if whiten {
							wantG.Mul(inverseMoment(moment, inputs), wantG)
							direction.Mul(wantG, inverseOf(t, root))
						} else {
							direction.Mul(wantG, root.T())
						}
						ridge.Scale(0.1, large(x.Data, inputs, f.Len()/inputs))
						direction.Add(&direction, &ridge)
						if math.Abs(cost-wantJ) > 1e-5*(1+wantJ) {
							t.Fatalf("step %d: cost %v, want %v", k, cost, wantJ)
						}
						near(t, fmt.Sprintf("step %d: gradient", k), got, &direction, 1e-4)
					}
				})
			}
		}
	}
}

// inverseMoment returns (Σ + 1e-4 diag Σ)⁻¹ of the first n inputs.
func inverseMoment(m *rule.SecondMoment, n int) *dense.Dense {
	s := dense.NewDense(n, n, nil)
	s.Apply(func(i, k int, _ float64) float64 {
		v := m.Mean[i*(m.Inputs+1)+k]
		if i == k {
			v *= 1 + 1e-4
			if v == 0 {
				v = 1
			}
		}
		return v
	}, s)
	if err := s.Inverse(s); err != nil {
		panic(err)
	}
	return s
}

// inverseOf returns R⁺ from the singular values of R.
func inverseOf(t *testing.T, r *dense.Dense) *dense.Dense {
	t.Helper()
	var svd dense.SVD
	if !svd.Factorize(r, dense.SVDThin) {
		t.Fatal("no singular values")
	}
	var u, v dense.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	rows, cols := r.Dims()
	p := dense.NewDense(cols, rows, nil)
	values := svd.Values(nil)
	for k, s := range values {
		if s > 1e-6*values[0] {
			p.Apply(func(i, j int, p float64) float64 { return p + v.At(i, k)*u.At(j, k)/s }, p)
		}
	}
	return p
}

// Inputs that were always 0 in training, and copies of each other, have a
// whitening; the first step as they are, the second share a step.
func TestWhiteningOfPoorData(t *testing.T) {
	z := mat.NewDense(20, 3, nil)
	rng := random.Stream(8, "poor")
	for i := range z.Rows {
		v := float32(rng.NormFloat64())
		copy(z.Row(i), []float32{v, 0, v})
	}
	m := new(rule.SecondMoment)
	m.Add(z, 3)
	w := must[*rule.Whitening](t)(rule.NewWhitening(m, false))
	f := must[*rule.Basis](t)(rule.NewBasis(rule.BasisConfig{Inputs: 3, Features: 1, Gain: 1, Whitening: w}))
	var got []float32
	config := rule.Config{Rule: probe{func(_ float64, g []float32, _ rule.Cost) { got = slices.Clone(g) }}}
	n := rule.NewNode(rule.NodeConfig{Basis: f, Config: &config, Rows: 1})
	n.Observe(mat.NewDense(1, 3, []float32{1, 1, 1}),
		mat.NewDense(1, 1, nil), []int32{0}, loss.MSE{Target: mat.NewDense(1, 1, []float32{-0.5})})
	if err := n.Step(alone(n)); err != nil {
		t.Fatal(err)
	}
	want := dense.NewDense(3, 1, []float64{1, 1, 1})
	want.Mul(inverseMoment(m, 3), want)
	near(t, "direction", got, want, 1e-6)
	if got[1] != 1 {
		t.Errorf("the input that was always 0 steps by %v, want 1", got[1])
	}
}

// Gradients of the taps that are longer than ClipNorm are shortened to it.
func TestClip(t *testing.T) {
	f := must[*rule.Basis](t)(rule.NewBasis(bases["readout"]))
	for _, limit := range []float64{0, 1e-3, 1e9} {
		var got []float32
		config := rule.Config{ClipNorm: limit, Rule: probe{func(_ float64, g []float32, _ rule.Cost) { got = slices.Clone(g) }}}
		n := rule.NewNode(rule.NodeConfig{Basis: f, Config: &config, Rows: 1})
		n.Observe(mat.NewDense(1, 3, []float32{1, 2, 3}),
			mat.NewDense(1, 2, nil), []int32{0}, loss.MSE{Target: mat.NewDense(1, 2, []float32{3, -4})})
		if err := n.Step(alone(n)); err != nil {
			t.Fatal(err)
		}
		if length := f.Distance(got, nil); limit == 1e-3 != (math.Abs(length-limit) < 1e-9) {
			t.Errorf("a gradient of length %v under a limit of %v", length, limit)
		}
	}
}

// A window holds targets of one kind: another kind of cost starts it anew.
func TestAnotherKindOfCost(t *testing.T) {
	f := must[*rule.Basis](t)(rule.NewBasis(bases["readout"]))
	config := rule.Config{Window: 4}
	n := rule.NewNode(rule.NodeConfig{Basis: f, Config: &config, Rows: 1})
	observe := func(j loss.Loss) {
		t.Helper()
		n.Observe(mat.NewDense(1, 3, []float32{1, 2, 3}), mat.NewDense(1, 2, nil), []int32{0}, j)
		if err := n.Step(alone(n)); err != nil {
			t.Fatal(err)
		}
		n.Commit()
	}
	labels, squares := loss.CrossEntropy{Labels: []int32{1}}, loss.MSE{Target: mat.NewDense(1, 2, nil)}
	for k, c := range []struct {
		j    loss.Loss
		want string
	}{
		{labels, "[1]"},
		{labels, "[1 1]"},
		{squares, "[1]"},
		{squares, "[1 1]"},
		{loss.CrossEntropy{Labels: []int32{loss.NoLabel}}, "[0]"},
		{labels, "[0 1]"},
	} {
		observe(c.j)
		if got := fmt.Sprint(n.Memory().Counts); got != c.want {
			t.Errorf("step %d: the window holds %s, want %s", k, got, c.want)
		}
	}
	n.Reset()
	if m := n.Memory(); len(m.Counts) != 0 || m.Steps != 0 {
		t.Errorf("after Reset the node remembers %+v", m)
	}
}
