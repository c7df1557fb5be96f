package gnn_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/alloctest"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
)

// close says whether a and b agree within 1e-5 of the larger of 1 and their
// size.
func close(a, b float32) bool {
	return math.Abs(float64(a)-float64(b)) <= 1e-5*max(1, math.Abs(float64(a)), math.Abs(float64(b)))
}

func allClose(t *testing.T, what string, got, want mat.Dense) {
	t.Helper()
	compare(t, what, got, want, close)
}

func sameBits(t *testing.T, what string, got, want mat.Dense) {
	t.Helper()
	compare(t, what, got, want, func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) })
}

func compare(t *testing.T, what string, got, want mat.Dense, equal func(a, b float32) bool) {
	t.Helper()
	if got.Rows != want.Rows || got.Cols != want.Cols {
		t.Fatalf("%s: got %d×%d, want %d×%d", what, got.Rows, got.Cols, want.Rows, want.Cols)
	}
	for i := range got.Rows {
		for j, v := range got.Row(i) {
			if !equal(v, want.At(i, j)) {
				t.Fatalf("%s: element (%d,%d) is %v, want %v", what, i, j, v, want.At(i, j))
			}
		}
	}
}

// output runs m over the world's batch.
func (w world) output(t testing.TB, m *gnn.WideDeep, nodes ...int) mat.Dense {
	in := w.input(t, m, nodes...)
	rows := in.Shifted.Rows
	if in.Read != nil {
		rows = in.ReadShifted.Rows
	}
	y := mat.NewDense(rows, m.Outputs(), nil)
	m.Forward(y, in, new(gnn.Tape))
	return y
}

func forEachArchitecture(t *testing.T, f func(t *testing.T, m *gnn.WideDeep)) {
	for name, c := range architectures {
		t.Run(name, func(t *testing.T) { f(t, newModel(t, c, 3)) })
	}
}

// A filter is Σ_k Sᵏ X A_k, computed here densely in float64.
// Reference: Section 2, eq. (3).
func TestFilterIsPolynomialOfShift(t *testing.T) {
	rng := random.Stream(5, "polynomial")
	w := newWorld(t, rng, 8, 1, 3)
	f := gnn.NewFilter(3, 2, 4, false)
	for _, tap := range f.Taps {
		tap.CopyFrom(normal(rng, 3, 2))
	}
	got := mat.NewDense(8, 2, nil)
	f.Forward(got, w.s, w.x, new(gnn.FilterTape))

	want := make([]float64, 8*2)
	z := make([]float64, 8*3)
	for i, v := range w.x.Data {
		z[i] = float64(v)
	}
	for _, tap := range f.Taps {
		for i := range 8 {
			for g := range 2 {
				for c := range 3 {
					want[i*2+g] += z[i*3+c] * float64(tap.At(c, g))
				}
			}
		}
		next := make([]float64, 8*3)
		for i := range 8 {
			for j := range 8 {
				for c := range 3 {
					next[i*3+c] += float64(w.s.At(i, j)) * z[j*3+c]
				}
			}
		}
		z = next
	}
	for i, v := range want {
		if !close(got.Data[i], float32(v)) {
			t.Errorf("value %d is %v, want %v", i, got.Data[i], v)
		}
	}
}

// With S = I a filter is the linear map Σ_k A_k of each node's own row.
// Reference: Section 2, eq. (3).
func TestFilterOnIdentityIsLinearMap(t *testing.T) {
	rng := random.Stream(6, "identity")
	var entries []mat.Entry
	for i := range 5 {
		entries = append(entries, mat.Entry{Row: i, Col: i, Val: 1})
	}
	s, err := mat.FromEntries(5, 5, entries)
	if err != nil {
		t.Fatal(err)
	}
	f := gnn.NewFilter(2, 3, 3, false)
	sum := mat.NewDense(2, 3, nil)
	for _, tap := range f.Taps {
		tap.CopyFrom(normal(rng, 2, 3))
		mat.Serial.AddScaled(sum, 1, tap)
	}
	x := normal(rng, 5, 2)
	got, want := mat.NewDense(5, 3, nil), mat.NewDense(5, 3, nil)
	f.Forward(got, s, x, new(gnn.FilterTape))
	mat.Serial.Mul(want, x, sum)
	allClose(t, "filter on the identity", got, want)
}

// A model is the weighted sum of its parts.
// Reference: Section 2, eq. (2).
func TestWideDeepIsSumOfParts(t *testing.T) {
	rng := random.Stream(8, "parts")
	c := gnn.Config{
		In: 2, Features: 4, Wide: &gnn.WideConfig{Order: 2},
		Deep: []gnn.LayerConfig{{Order: 3, Features: 4, Activation: gnn.Tanh}},
	}
	m := newModel(t, c, 4)
	copy(m.Params.Gain, []float32{0.5, 2, 0.25})
	w := newWorld(t, rng, 9, 2, 2)

	wideOnly, deepOnly := c, c
	wideOnly.Deep, deepOnly.Wide = nil, nil
	wide, deep := newModel(t, wideOnly, 0), newModel(t, deepOnly, 0)
	copy(wide.Params.Flat, m.Params.Flat[:m.Params.WideLen()])
	copy(deep.Params.Flat, m.Params.Flat[m.Params.WideLen():])

	a, phi := w.output(t, wide), w.output(t, deep)
	want := mat.NewDense(a.Rows, a.Cols, nil)
	for i := range want.Data {
		want.Data[i] = 0.5*a.Data[i] + 2*phi.Data[i] + 0.25
	}
	allClose(t, "Ψ", w.output(t, m), want)
}

// Renumbering the nodes renumbers the outputs and changes nothing else.
// Reference: Section 4, permutation equivariance.
func TestPermutationEquivariance(t *testing.T) {
	forEachArchitecture(t, func(t *testing.T, m *gnn.WideDeep) {
		rng := random.Stream(9, "permutation")
		const n, b = 10, 3
		w := newWorld(t, rng, n, b, m.Config.In)
		perm := rng.Perm(n) // node i becomes perm[i]
		p := world{b: b, x: mat.NewDense(w.x.Rows, w.x.Cols, nil)}
		var entries []mat.Entry
		for i := range n {
			col, val := w.s.Row(i)
			for e, j := range col {
				entries = append(entries, mat.Entry{Row: perm[i], Col: perm[j], Val: val[e]})
			}
		}
		var err error
		if p.s, err = mat.FromEntries(n, n, entries); err != nil {
			t.Fatal(err)
		}
		permute := func(x mat.Dense) mat.Dense {
			y := mat.NewDense(x.Rows, x.Cols, nil)
			for i := range n {
				y.View(perm[i]*b, 0, b, x.Cols).CopyFrom(x.View(i*b, 0, b, x.Cols))
			}
			return y
		}
		p.x = permute(w.x)
		allClose(t, "permuted output", p.output(t, m), permute(w.output(t, m)))
	})
}

// With the deep part fixed, the output is affine in 𝒜: this is what makes
// online learning a convex problem.
// Reference: Section 3, eq. (6).
func TestOutputIsAffineInWideTaps(t *testing.T) {
	m := newModel(t, architectures["wide and deep"], 5)
	rng := random.Stream(10, "affine")
	w := newWorld(t, rng, 7, 2, m.Config.In)
	wide := m.Params.Flat[:m.Params.WideLen()]
	at := func(a []float32) mat.Dense {
		copy(wide, a)
		return w.output(t, m)
	}
	a0, a1, mid := make([]float32, len(wide)), make([]float32, len(wide)), make([]float32, len(wide))
	for i := range a0 {
		a0[i], a1[i] = float32(rng.NormFloat64()), float32(rng.NormFloat64())
		mid[i] = 0.25*a0[i] + 0.75*a1[i]
	}
	y0, y1 := at(a0), at(a1)
	want := mat.NewDense(y0.Rows, y0.Cols, nil)
	for i := range want.Data {
		want.Data[i] = 0.25*y0.Data[i] + 0.75*y1.Data[i]
	}
	allClose(t, "output between two sets of taps", at(mid), want)
}

// A node that hears its neighbours hop by hop, and does its own arithmetic
// alone, gets the bits of its row of the whole network's output.
// Reference: Section 2, eq. (1) and (3).
func TestNodeAloneHasSameBits(t *testing.T) {
	rng := random.Stream(12, "alone")
	w := newWorld(t, rng, 11, 1, 3)
	f := gnn.NewFilter(3, 5, 4, true)
	for _, tap := range f.Taps {
		tap.CopyFrom(normal(rng, 3, 5))
	}
	copy(f.Bias, normal(rng, 1, 5).Data)
	want := mat.NewDense(11, 5, nil)
	f.Forward(want, w.s, w.x, new(gnn.FilterTape))

	z := w.x.Clone()
	got := mat.NewDense(11, 5, nil)
	for i := range 11 {
		copy(got.Row(i), f.Bias)
	}
	for k, tap := range f.Taps {
		if k > 0 {
			next := mat.NewDense(11, 3, nil)
			for i := range 11 { // node i has its own row of S and its neighbours' last rows
				col, val := w.s.Row(i)
				heard := mat.NewDense(len(col), 3, nil)
				entries := make([]mat.Entry, len(col))
				for e, j := range col {
					copy(heard.Row(e), z.Row(int(j)))
					entries[e] = mat.Entry{Col: e, Val: val[e]}
				}
				own, err := mat.FromEntries(1, len(col), entries)
				if err != nil {
					t.Fatal(err)
				}
				mat.Serial.SpMM(next.View(i, 0, 1, 3), own, heard)
			}
			z = next
		}
		for i := range 11 {
			mat.Serial.AddMul(got.View(i, 0, 1, 5), z.View(i, 0, 1, 3), tap)
		}
	}
	sameBits(t, "rows computed alone", got, want)
}

// The delayed filter is Σ_k S_t ⋯ S_{t-(k-1)} X_{t-k} A_k: step by step, as
// one filter on the space-time shift, and as the formula is written.
// Reference: Section 6.2, eq. (24).
func TestDelayedFilter(t *testing.T) {
	const steps, n, in, out, order = 7, 6, 2, 3, 3
	rng := random.Stream(13, "delayed")
	f := gnn.NewFilter(in, out, order, true)
	for _, tap := range f.Taps {
		tap.CopyFrom(normal(rng, in, out))
	}
	copy(f.Bias, normal(rng, 1, out).Data)
	var shifts []*mat.CSR
	x := normal(rng, steps*n, in)
	for range steps {
		shifts = append(shifts, newWorld(t, rng, n, 1, in).s)
	}

	whole := mat.NewDense(steps*n, out, nil)
	f.Forward(whole, graph.SpaceTime(shifts), x, new(gnn.FilterTape))
	stepped := mat.NewDense(steps*n, out, nil)
	d := gnn.DelayedFilter{Filter: f}
	for range 2 { // the second time after a Reset
		for step := range steps {
			d.Step(stepped.View(step*n, 0, n, out), shifts[step], x.View(step*n, 0, n, in))
		}
		sameBits(t, "step by step", stepped, whole)
		d.Reset()
	}

	formula := mat.NewDense(steps*n, out, nil)
	for step := range steps {
		y := formula.View(step*n, 0, n, out)
		mat.FillRows(y, f.Bias)
		for k := 0; k <= min(order, step); k++ {
			z := x.View((step-k)*n, 0, n, in).Clone()
			for back := k - 1; back >= 0; back-- { // S_{t-(k-1)} acts first, S_t last
				next := mat.NewDense(n, in, nil)
				mat.Serial.SpMM(next, shifts[step-back], z)
				z = next
			}
			mat.Serial.AddMul(y, z, f.Taps[k])
		}
	}
	allClose(t, "the formula", whole, formula)
}

// A whole model on a changing graph gives the same bits step by step as on the
// space-time shift, for any depth.
// Reference: Section 6.2, eq. (24).
func TestDelayedModel(t *testing.T) {
	forEachArchitecture(t, func(t *testing.T, m *gnn.WideDeep) {
		const steps, n = 5, 7
		rng := random.Stream(14, "delayed")
		var shifts []*mat.CSR
		for range steps {
			shifts = append(shifts, newWorld(t, rng, n, 1, 1).s)
		}
		w := world{s: graph.SpaceTime(shifts), x: normal(rng, steps*n, m.Config.In), b: 1}
		want := w.output(t, m)
		got := mat.NewDense(steps*n, m.Outputs(), nil)
		d := gnn.Delayed{Model: m}
		for step := range steps {
			y, xt := got.View(step*n, 0, n, got.Cols), w.x.View(step*n, 0, n, w.x.Cols)
			d.Predict(y, shifts[step], xt)
			d.Predict(y, shifts[step], xt) // predicting changes nothing
			d.Advance()
		}
		sameBits(t, "step by step", got, want)
	})
}

// Computing only the rows that are read changes outputs and gradients by no
// more than rounding.
func TestPrunedEqualsFull(t *testing.T) {
	forEachArchitecture(t, func(t *testing.T, m *gnn.WideDeep) {
		rng := random.Stream(15, "pruned")
		const b = 4
		w := newWorld(t, rng, 12, b, m.Config.In)
		nodes := []int{7, 0, 11}
		full, pruned := w.output(t, m), w.output(t, m, nodes...)
		dFull, dPruned := mat.NewDense(full.Rows, full.Cols, nil), normal(rng, pruned.Rows, pruned.Cols)
		for r, i := range nodes {
			allClose(t, fmt.Sprintf("outputs of node %d", i), pruned.View(r*b, 0, b, pruned.Cols), full.View(i*b, 0, b, full.Cols))
			dFull.View(i*b, 0, b, full.Cols).CopyFrom(dPruned.View(r*b, 0, b, pruned.Cols))
		}
		gFull, gPruned := w.gradient(t, m, dFull), w.gradient(t, m, dPruned, nodes...)
		allClose(t, "gradient", mat.NewDense(1, len(gPruned), gPruned), mat.NewDense(1, len(gFull), gFull))
	})
}

func (w world) gradient(t testing.TB, m *gnn.WideDeep, dy mat.Dense, nodes ...int) []float32 {
	in := w.input(t, m, nodes...)
	var tape gnn.Tape
	m.Forward(mat.NewDense(dy.Rows, dy.Cols, nil), in, &tape)
	grad := gnn.NewParams(m.Config, nil)
	m.Backward(&grad, mat.Dense{}, dy, in, &tape)
	return grad.Flat
}

// A batch gives the bits of its samples one by one, and of the block-diagonal
// graph that holds a copy of the graph per sample.
func TestBatchEqualsOneByOne(t *testing.T) {
	forEachArchitecture(t, func(t *testing.T, m *gnn.WideDeep) {
		rng := random.Stream(16, "batch")
		const n, b = 9, 5
		w := newWorld(t, rng, n, b, m.Config.In)
		batch := w.output(t, m)
		blocks := make([]*mat.CSR, b)
		stacked := mat.NewDense(n*b, m.Config.In, nil)
		for s := range b {
			one := world{s: w.s, x: mat.NewDense(n, m.Config.In, nil), b: 1}
			for i := range n {
				copy(one.x.Row(i), w.x.Row(i*b+s))
				copy(stacked.Row(s*n+i), w.x.Row(i*b+s))
			}
			blocks[s] = w.s
			y := one.output(t, m)
			for i := range n {
				sameBits(t, "one sample", y.View(i, 0, 1, y.Cols), batch.View(i*b+s, 0, 1, y.Cols))
			}
		}
		diagonal := world{s: mat.BlockDiagonal(blocks...), x: stacked, b: 1}
		y := diagonal.output(t, m)
		for s := range b {
			for i := range n {
				sameBits(t, "block diagonal", y.View(s*n+i, 0, 1, y.Cols), batch.View(i*b+s, 0, 1, y.Cols))
			}
		}
	})
}

// Apply gives the bits of Forward, on any number of threads, where blocks of nodes
// are one and where they are several, and allocates nothing.
func TestApplyEqualsForward(t *testing.T) {
	rng := random.Stream(17, "apply")
	for order := range 5 {
		for _, nodes := range []int{9, 1100} {
			w := newWorld(t, rng, nodes, 3, 2)
			f := gnn.NewFilter(2, 4, order, true)
			for _, tap := range f.Taps {
				tap.CopyFrom(normal(rng, 2, 4))
			}
			want, got := mat.NewDense(w.x.Rows, 4, nil), mat.NewDense(w.x.Rows, 4, nil)
			f.Forward(want, w.s, w.x, new(gnn.FilterTape))
			for _, threads := range []int{1, 2, 3, 8} {
				tape := gnn.FilterTape{Engine: mat.NewEngine(threads)}
				got.Zero()
				f.Apply(got, w.s, w.x, &tape)
				sameBits(t, fmt.Sprintf("order %d, %d nodes, %d threads", order, nodes, threads), got, want)
				if n := alloctest.Steady(threads, func() { f.Apply(got, w.s, w.x, &tape) }); n > 0 {
					t.Errorf("order %d, %d nodes, %d threads: got %v allocations, want none", order, nodes, threads, n)
				}
				tape.Engine.Close()
			}
		}
	}
}

// A tape that was copied, as by a slice that grows, serves Apply like the one it was,
// and an output of another shape is refused where Apply is called.
func TestApplyWithACopiedTape(t *testing.T) {
	rng := random.Stream(18, "apply")
	w, f := newWorld(t, rng, 1100, 1, 2), gnn.NewFilter(2, 4, 2, true)
	for _, tap := range f.Taps {
		tap.CopyFrom(normal(rng, 2, 4))
	}
	engine := mat.NewEngine(2)
	defer engine.Close()
	tapes := []gnn.FilterTape{{Engine: engine}}
	want, got := mat.NewDense(w.x.Rows, 4, nil), mat.NewDense(w.x.Rows, 4, nil)
	f.Apply(want, w.s, w.x, &tapes[0])
	tapes = append(tapes, gnn.FilterTape{})
	f.Apply(got, w.s, w.x, &tapes[0])
	sameBits(t, "a copied tape", got, want)
	defer func() {
		if recover() == nil {
			t.Error("got no panic for an output of 3 columns, want one")
		}
	}()
	f.Apply(mat.NewDense(w.x.Rows, 3, nil), w.s, w.x, &tapes[0])
}

// Outputs and gradients have the same bits for any number of threads.
func TestThreadsChangeNothing(t *testing.T) {
	c := gnn.Config{In: 1, Features: 32, Outputs: 5, Wide: &gnn.WideConfig{Order: 5}, Deep: []gnn.LayerConfig{
		{Order: 5, Features: 32}, {Order: 5, Features: 32},
	}}
	m := newModel(t, c, 6)
	s, err := graph.ShiftSpectral.Of(sbm(t))
	if err != nil {
		t.Fatal(err)
	}
	rng := random.Stream(18, "threads")
	w := world{s: s, x: normal(rng, 50*40, 1), b: 40}
	dy := normal(rng, w.x.Rows, 5)
	var wantY, wantG mat.Dense
	for _, threads := range []int{1, 2, 3, 7} {
		e := mat.NewEngine(threads)
		in := w.input(t, m)
		tape := gnn.Tape{Engine: e}
		y := mat.NewDense(w.x.Rows, 5, nil)
		m.Forward(y, in, &tape)
		grad := gnn.NewParams(c, nil)
		m.Backward(&grad, mat.Dense{}, dy, in, &tape)
		e.Close()
		g := mat.NewDense(1, len(grad.Flat), grad.Flat)
		if threads == 1 {
			wantY, wantG = y, g
			continue
		}
		sameBits(t, fmt.Sprintf("outputs on %d threads", threads), y, wantY)
		sameBits(t, fmt.Sprintf("gradients on %d threads", threads), g, wantG)
	}
}
