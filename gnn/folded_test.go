package gnn_test

import (
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
)

// Folding the readout into the wide part changes outputs and gradients, those
// of the signal included, within rounding.
func TestFoldAgrees(t *testing.T) {
	rng := random.Stream(1, "fold")
	g, err := graph.ErdosRenyi(20, 0.3, rng)
	if err != nil {
		t.Fatal(err)
	}
	shift, err := graph.ShiftSpectral.Of(g)
	if err != nil {
		t.Fatal(err)
	}
	wide, layer := &gnn.WideConfig{Order: 2}, gnn.LayerConfig{Order: 3, Features: 8, Activation: gnn.Tanh}
	for name, c := range map[string]gnn.Config{
		"filter": {In: 3, Features: 8, Outputs: 2, Wide: wide},
		"gnn":    {In: 3, Features: 8, Outputs: 2, Deep: []gnn.LayerConfig{layer}},
		"wd-gnn": {
			In: 3, Features: 8, Outputs: 2, Wide: wide, Deep: []gnn.LayerConfig{layer},
			Gains: gnn.Gains{Wide: 0.7, Deep: 1.3, Bias: 0.2},
		},
		"two layers": {In: 3, Features: 8, Outputs: 2, Wide: wide, Deep: []gnn.LayerConfig{{Order: 1, Features: 5}, layer}},
		"no bias":    {In: 3, Features: 8, Outputs: 2, Wide: wide, Deep: []gnn.LayerConfig{layer}, NoBias: true},
		"fixed": {
			In: 3, Features: 8, Outputs: 2, Wide: wide, Deep: []gnn.LayerConfig{layer}, FixedGains: true,
			Gains: gnn.Gains{Wide: 0.7, Deep: 1.3, Bias: 0.2},
		},
		"no readout": {In: 3, Features: 8, Wide: wide, Deep: []gnn.LayerConfig{layer}},
	} {
		m, err := gnn.NewRandom(c, rng)
		if err != nil {
			t.Fatal(err)
		}
		x, dy := mat.NewDense(20, 3, nil), mat.NewDense(20, m.Outputs(), nil)
		for _, a := range []mat.Dense{x, dy} {
			for i := range a.Data {
				a.Data[i] = 2*rng.Float32() - 1
			}
		}
		z := mat.NewDense(20, 3*(m.InputOrder()+1), nil)
		var shifter gnn.Shifter
		shifter.Shift(z, shift, x)
		in := &gnn.Input{Shift: shift, ShiftT: shift.T(), Shifted: z}
		run := func(fold bool) (y, dx mat.Dense, grad []float32) {
			tape := &gnn.Tape{Fold: fold}
			y, dx = mat.NewDense(20, m.Outputs(), nil), mat.NewDense(20, 3, nil)
			p := gnn.NewParams(c, nil)
			for range 2 { // the second pass reuses the tape and adds to the gradient
				m.Forward(y, in, tape)
				m.Backward(&p, dx, dy.Clone(), in, tape)
			}
			return y, dx, p.Flat
		}
		y, dx, grad := run(false)
		yFold, dxFold, gradFold := run(true)
		for what, pair := range map[string][2][]float32{
			"output": {yFold.Data, y.Data}, "signal": {dxFold.Data, dx.Data}, "gradient": {gradFold, grad},
		} {
			for i, got := range pair[0] {
				if want := pair[1][i]; !(math.Abs(float64(got-want)) <= 2e-5*(1+math.Abs(float64(want)))) {
					t.Errorf("%s: %s %d: got %v, want %v", name, what, i, got, want)
					break
				}
			}
		}
	}
}

// A Shifter delays signals as a Delayed does, to the same bits, and as the
// space-time shift of the whole trajectory.
// Reference: Section 6.2, eq. (24).
func TestDelayIsDelayed(t *testing.T) {
	const nodes, features, order, steps = 12, 3, 3, 7
	rng := random.Stream(2, "delay")
	m, err := gnn.NewRandom(gnn.Config{In: features, Features: 4, Wide: &gnn.WideConfig{Order: order}}, rng)
	if err != nil {
		t.Fatal(err)
	}
	var (
		delayed = &gnn.Delayed{Model: m}
		y       = mat.NewDense(nodes, 4, nil)
		shifter gnn.Shifter
		shifts  []*mat.CSR
		all     = mat.NewDense(steps*nodes, features, nil)
		rows    = mat.NewDense(steps*nodes, features*(order+1), nil)
		before  mat.Dense
	)
	for k := range steps {
		g, err := graph.ErdosRenyi(nodes, 0.3, rng)
		if err != nil {
			t.Fatal(err)
		}
		s, err := graph.ShiftSpectral.Of(g)
		if err != nil {
			t.Fatal(err)
		}
		x := all.View(k*nodes, 0, nodes, features)
		for i := range nodes {
			for f := range features {
				x.Set(i, f, rng.Float32())
			}
		}
		z := rows.View(k*nodes, 0, nodes, rows.Cols)
		shifter.Delay(z, s, x, before)
		before = z
		delayed.Predict(y, s, x)
		delayed.Advance()
		shifts = append(shifts, s)
		for i := range nodes {
			for c, want := range delayed.Shifted().Row(i) {
				if got := z.At(i, c); got != want {
					t.Fatalf("step %d, node %d, column %d: got %v, want %v", k, i, c, got, want)
				}
			}
		}
	}
	want := mat.NewDense(rows.Rows, rows.Cols, nil)
	shifter.Shift(want, graph.SpaceTime(shifts), all)
	for i, v := range want.Data {
		if rows.Data[i] != v {
			t.Fatalf("number %d: got %v, want %v of the space-time shift", i, rows.Data[i], v)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a stack of another width: no panic")
		}
	}()
	shifter.Delay(mat.NewDense(nodes, 7, nil), shifts[0], all.View(0, 0, nodes, features), mat.Dense{})
}
