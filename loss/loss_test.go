package loss_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
)

// Values worked out by hand.
func TestValues(t *testing.T) {
	one := func(v ...float32) mat.Dense { return mat.NewDense(len(v), 1, v) }
	two := func(v ...float32) mat.Dense { return mat.NewDense(len(v)/2, 2, v) }
	cases := []struct {
		name string
		loss loss.Loss
		y    mat.Dense
		want float64
		grad []float32
	}{
		{
			"cross-entropy of equal scores",
			loss.CrossEntropy{Labels: []int32{1, 0}},
			two(3, 3, -1, -1), math.Ln2,
			[]float32{0.25, -0.25, -0.25, 0.25},
		},
		{"cross-entropy of scores too large for exp", loss.CrossEntropy{Labels: []int32{0}}, two(1000, 0), 0, []float32{0, 0}},
		{"cross-entropy of a sure mistake", loss.CrossEntropy{Labels: []int32{1}}, two(1000, 0), 1000, []float32{1, -1}},
		{"squares", loss.MSE{Target: two(1, 2, 3, 4)}, two(1, 4, 3, 3), (4 + 1) / 4.0, []float32{0, 1, 0, -0.5}},
		{"squares of one row of two", loss.MSE{Target: two(1, 2, 3, 4), Mask: []bool{false, true}}, two(1, 4, 3, 3), 0.5, []float32{0, 0, 0, -1}},
		{"absolutes", loss.L1{Target: two(1, 2, 3, 4)}, two(1, 4, 2, 4.5), (2 + 1 + 0.5) / 4, []float32{0, 0.25, -0.25, 0.25}},
		{
			"absolutes, of three rows half of one known and nothing of one",
			loss.L1{Target: two(1, 2, nan, nan, nan, 4)},
			two(0, 4, 9, 9, 9, 3), (1 + 2 + 1) / 4.0,
			[]float32{-0.25, 0.25, 0, 0, 0, -0.25},
		},
		{"squares of what is known", loss.MSE{Target: two(1, nan, 3, 4)}, two(2, 9, 3, 6), (1 + 4) / 4.0, []float32{0.5, 0, 0, 1}},
		{
			"near, far and at the threshold",
			loss.SmoothL1{Target: one(0, 0, 0, 0)},
			one(0.5, 3, -3, -1),
			(0.125 + 2.5 + 2.5 + 0.5) / 4,
			[]float32{0.125, 0.25, -0.25, -0.25},
		},
		{"a threshold of 2", loss.SmoothL1{Target: one(0, 0), Threshold: 2}, one(1, 3), (0.25 + 2) / 2, []float32{0.25, 0.5}},
		{"the usual delta", loss.Huber{Target: one(0, 0)}, one(1, -3), (0.5 + 1.345*(3-0.6725)) / 2, []float32{0.5, -0.6725}},
		{"near and far at a delta of 2", loss.Huber{Target: one(0, 0), Delta: 2}, one(1, -3), (0.5 + 4) / 2, []float32{0.5, -1}},
		{
			"inside, on and outside the margin",
			loss.Hinge{Target: one(1, -1, 1, -1)},
			one(0.5, -1, 2, 1),
			(0.5 + 0 + 0 + 2) / 4,
			[]float32{-0.25, 0, 0, 0.25},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dy := normal(generator(), c.y.Rows, c.y.Cols) // must be overwritten
			if got := c.loss.Eval(dy, c.y); math.Abs(got-c.want) > 1e-7 {
				t.Errorf("J = %v, want %v", got, c.want)
			}
			for i, want := range c.grad {
				if got := dy.Data[i]; math.Abs(float64(got-want)) > 1e-7 {
					t.Errorf("gradient %d: got %v, want %v", i, got, want)
				}
			}
		})
	}
}

// Huber is δ times SmoothL1, to the bit where δ is 1.
func TestHuberAndSmoothL1(t *testing.T) {
	rng := generator()
	target, y := normal(rng, 9, 4), normal(rng, 9, 4)
	for _, delta := range []float32{0.25, 1, 2} {
		got, want := mat.NewDense(9, 4, nil), mat.NewDense(9, 4, nil)
		j := loss.Huber{Target: target, Delta: delta}.Eval(got, y)
		scaled := float64(delta) * loss.SmoothL1{Target: target, Threshold: delta}.Eval(want, y)
		for i := range want.Data {
			want.Data[i] *= delta
		}
		if j != scaled || !slices.Equal(got.Data, want.Data) { // powers of 2 round nothing
			t.Errorf("δ = %v: J = %v, want %v; gradient %v, want %v", delta, j, scaled, got.Data, want.Data)
		}
	}
}

func TestRidge(t *testing.T) {
	r, params, grad := loss.Ridge{Strength: 0.5}, []float32{1, -2, 3}, []float32{10, 20, 30}
	if got, want := r.Eval(grad, params), 3.5; got != want {
		t.Errorf("penalty %v, want %v", got, want)
	}
	if want := []float32{10.5, 19, 31.5}; !slices.Equal(grad, want) {
		t.Errorf("gradient %v, want %v: the penalty's is added", grad, want)
	}
	if got, want := r.Eval(nil, params), 3.5; got != want {
		t.Errorf("value alone: %v, want %v", got, want)
	}
	if got := r.Eval(nil, []float32{1, nan}); !math.IsNaN(got) {
		t.Errorf("penalty on NaN: %v", got)
	}
}

// The gradient of every loss agrees with central differences, for the whole
// output and for each row.
func TestGradient(t *testing.T) {
	const step, tolerance = 1e-2, 2e-4
	slope := func(value func() float64, v *float32) float64 {
		at := *v
		defer func() { *v = at }()
		*v = at + step
		up, high := float64(*v), value()
		*v = at - step
		down, low := float64(*v), value()
		return (high - low) / (up - down)
	}
	for _, s := range samples() {
		t.Run(s.name, func(t *testing.T) {
			y := s.y
			awayFromKinks(s, 2*step)
			dy := normal(generator(), y.Rows, y.Cols)
			s.loss.Eval(dy, y)
			di := make([]float32, y.Cols)
			for i := range y.Rows {
				s.loss.EvalNode(i, di, y.Row(i))
				for j := range y.Cols {
					v := &y.Row(i)[j]
					want := slope(func() float64 { return s.loss.Eval(mat.Dense{}, y) }, v)
					if got := float64(dy.At(i, j)); math.Abs(got-want) > tolerance {
						t.Errorf("dY[%d,%d] = %v, want %v", i, j, got, want)
					}
					want = slope(func() float64 { return s.loss.EvalNode(i, nil, y.Row(i)) }, v)
					if got := float64(di[j]); math.Abs(got-want) > tolerance {
						t.Errorf("row %d: dy[%d] = %v, want %v", i, j, got, want)
					}
				}
			}
		})
	}
}

// awayFromKinks moves outputs away from where the formula of a loss changes:
// a difference across such a place is no derivative.
func awayFromKinks(s sample, by float32) {
	var target mat.Dense
	var kinks func(t float32) []float32
	switch l := s.loss.(type) {
	case loss.Hinge:
		target = l.Target
		kinks = func(t float32) []float32 { return []float32{t} }
	case loss.L1:
		target = l.Target
		kinks = func(t float32) []float32 { return []float32{t} }
	case loss.SmoothL1:
		delta := l.Threshold
		if delta == 0 {
			delta = 1
		}
		target = l.Target
		kinks = func(t float32) []float32 { return []float32{t - delta, t + delta} }
	case loss.Huber:
		delta := l.Delta
		if delta == 0 {
			delta = 1.345
		}
		target = l.Target
		kinks = func(t float32) []float32 { return []float32{t - delta, t + delta} }
	}
	for i := range target.Rows {
		for j, t := range target.Row(i) {
			v := &s.y.Row(i)[j]
			for _, kink := range kinks(t) {
				if *v > kink-by && *v < kink+by {
					*v += 2 * by
				}
			}
		}
	}
}

// The global cost is the mean of the local ones, and so is its gradient.
// Reference: Section 3, eq. (8).
func TestMeanOfLocals(t *testing.T) {
	for _, s := range samples() {
		t.Run(s.name, func(t *testing.T) {
			dy := mat.NewDense(s.y.Rows, s.y.Cols, nil)
			got := s.loss.Eval(dy, s.y)
			sum, carrying := 0.0, 0
			locals := mat.NewDense(s.y.Rows, s.y.Cols, nil)
			for i := range s.y.Rows {
				ji := s.loss.EvalNode(i, locals.Row(i), s.y.Row(i))
				if alone := s.loss.EvalNode(i, nil, s.y.Row(i)); alone != ji {
					t.Errorf("row %d: value alone %v, with a gradient %v", i, alone, ji)
				}
				if s.carries(i) {
					sum, carrying = sum+ji, carrying+1
				}
			}
			if want := sum / float64(carrying); got != want {
				t.Errorf("J = %v, mean of the J_i %v", got, want)
			}
			if alone := s.loss.Eval(mat.Dense{}, s.y); alone != got {
				t.Errorf("value alone %v, with a gradient %v", alone, got)
			}
			for i, d := range locals.Data {
				want := float64(d) / float64(carrying)
				if got := float64(dy.Data[i]); math.Abs(got-want) > 1e-7 {
					t.Errorf("gradient %d: got %v, want %v", i, got, want)
				}
			}
		})
	}
}

// Mean makes of EvalNode what Eval is where every row carries a loss.
func TestMean(t *testing.T) {
	for _, s := range samples() {
		if s.mask != nil {
			continue
		}
		got, want := mat.NewDense(s.y.Rows, s.y.Cols, nil), mat.NewDense(s.y.Rows, s.y.Cols, nil)
		if j, eval := loss.Mean(got, s.y, s.loss), s.loss.Eval(want, s.y); j != eval {
			t.Errorf("%s: got %v, want %v", s.name, j, eval)
		}
		if j, eval := loss.Mean(mat.Dense{}, s.y, s.loss), s.loss.Eval(mat.Dense{}, s.y); j != eval {
			t.Errorf("%s: value alone: got %v, want %v", s.name, j, eval)
		}
		for e, d := range want.Data {
			if math.Abs(float64(got.Data[e]-d)) > 1e-7 {
				t.Errorf("%s: gradient %d: got %v, want %v", s.name, e, got.Data[e], d)
			}
		}
	}
}

// A row without a loss costs nothing, has gradient 0, and whatever its output
// holds, changes nothing elsewhere.
func TestMaskedRows(t *testing.T) {
	for _, s := range samples() {
		if s.mask == nil {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			want := s.loss.Eval(mat.Dense{}, s.y)
			y, dy := s.y.Clone(), normal(generator(), s.y.Rows, s.y.Cols)
			for i := range y.Rows {
				if !s.carries(i) {
					y.Set(i, 0, nan)
				}
			}
			if got := s.loss.Eval(dy, y); got != want {
				t.Errorf("J = %v, want %v", got, want)
			}
			zero := make([]float32, y.Cols)
			for i := range y.Rows {
				if s.carries(i) {
					continue
				}
				if got := dy.Row(i); !slices.Equal(got, zero) {
					t.Errorf("row %d: gradient %v, want 0", i, got)
				}
				di := slices.Repeat([]float32{7}, y.Cols)
				if got := s.loss.EvalNode(i, di, y.Row(i)); got != 0 || !slices.Equal(di, zero) {
					t.Errorf("row %d alone: J_i = %v, gradient %v, want 0", i, got, di)
				}
			}
		})
	}
}

// Without a row that carries a loss J is 0, and so is its gradient.
func TestNothingToJudge(t *testing.T) {
	y, target := normal(generator(), 2, 3), mat.NewDense(2, 3, nil)
	none := []bool{false, false}
	for _, l := range []loss.Loss{
		loss.CrossEntropy{Labels: []int32{loss.NoLabel, loss.NoLabel}},
		loss.MSE{Target: target, Mask: none},
		loss.L1{Target: target, Mask: none},
		loss.L1{Target: mat.NewDense(2, 3, slices.Repeat([]float32{nan}, 6))},
		loss.SmoothL1{Target: target, Mask: none},
		loss.Hinge{Target: target, Mask: none},
		loss.Huber{Target: target, Mask: none},
	} {
		dy := normal(generator(), 2, 3)
		if got := l.Eval(dy, y); got != 0 || !slices.Equal(dy.Data, make([]float32, 6)) {
			t.Errorf("%T: J = %v, gradient %v, want 0", l, got, dy.Data)
		}
	}
	for _, l := range []loss.Loss{loss.CrossEntropy{}, loss.MSE{}, loss.L1{}, loss.SmoothL1{}, loss.Hinge{}, loss.Huber{}} {
		if got := l.Eval(mat.Dense{}, mat.Dense{}); got != 0 {
			t.Errorf("%T of nothing: %v, want 0", l, got)
		}
	}
	if got := (loss.MSE{Target: mat.NewDense(2, 0, nil)}).Eval(mat.Dense{}, mat.NewDense(2, 0, nil)); got != 0 {
		t.Errorf("MSE of rows without columns: %v, want 0", got)
	}
}

// All losses are convex in the output, which makes the online problem convex.
// Reference: Section 3, eq. (6).
func TestConvex(t *testing.T) {
	rng := generator()
	for _, s := range samples() {
		t.Run(s.name, func(t *testing.T) {
			value := func(y mat.Dense) float64 { return s.loss.Eval(mat.Dense{}, y) }
			for range 50 {
				a, b := normal(rng, s.y.Rows, s.y.Cols), normal(rng, s.y.Rows, s.y.Cols)
				mat.Serial.Scale(b, 3)
				u := rng.Float32()
				y := mat.NewDense(a.Rows, a.Cols, nil)
				mat.Serial.Blend(y, 1-u, a, u, b, 0)
				got, chord := value(y), float64(1-u)*value(a)+float64(u)*value(b)
				if got > chord+1e-5 {
					t.Errorf("J = %v between, above the chord %v", got, chord)
				}
			}
		})
	}
}

// Numbers going bad show in J and never panic.
func TestNotFinite(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, s := range samples() {
		t.Run(s.name, func(t *testing.T) {
			for j := range s.y.Cols {
				y, dy := s.y.Clone(), mat.NewDense(s.y.Rows, s.y.Cols, nil)
				y.Set(2, j, nan)
				if got := s.loss.Eval(dy, y); !math.IsNaN(got) {
					t.Errorf("J of an output with NaN in column %d: %v", j, got)
				}
				if got := s.loss.EvalNode(2, nil, y.Row(2)); !math.IsNaN(got) {
					t.Errorf("J_i of an output with NaN in column %d: %v", j, got)
				}
				for _, v := range []float32{inf, -inf, math.MaxFloat32, -math.MaxFloat32} {
					y.Set(2, j, v)
					s.loss.Eval(dy, y)
				}
			}
		})
	}
}

func TestPanics(t *testing.T) {
	d := func(rows, cols int) mat.Dense { return mat.NewDense(rows, cols, nil) }
	row := make([]float32, 2)
	cases := []struct {
		want string
		call func()
	}{
		{"loss: CrossEntropy: gradient 2×3 of an output 3×2", func() { loss.CrossEntropy{Labels: make([]int32, 3)}.Eval(d(2, 3), d(3, 2)) }},
		{"loss: CrossEntropy: 2 labels for an output 3×2", func() { loss.CrossEntropy{Labels: make([]int32, 2)}.Eval(mat.Dense{}, d(3, 2)) }},
		{
			"loss: CrossEntropy: label 2 in row 1 of an output with 2 columns",
			func() { loss.CrossEntropy{Labels: []int32{0, 2}}.Eval(mat.Dense{}, d(2, 2)) },
		},
		{
			"loss: CrossEntropy: label -2 in row 0 of an output with 2 columns",
			func() { loss.CrossEntropy{Labels: []int32{-2}}.EvalNode(0, nil, row) },
		},
		{"loss: CrossEntropy: row 1 of 1", func() { loss.CrossEntropy{Labels: []int32{0}}.EvalNode(1, nil, row) }},
		{"loss: CrossEntropy: gradient of 1 values, output of 2", func() { loss.CrossEntropy{Labels: []int32{0}}.EvalNode(0, row[:1], row) }},
		{"loss: MSE: target 2×2 for an output 3×2", func() { loss.MSE{Target: d(2, 2)}.Eval(mat.Dense{}, d(3, 2)) }},
		{"loss: MSE: mask of 3 rows, target 2×2", func() { loss.MSE{Target: d(2, 2), Mask: make([]bool, 3)}.Eval(mat.Dense{}, d(2, 2)) }},
		{"loss: MSE: row -1 of 2", func() { loss.MSE{Target: d(2, 2)}.EvalNode(-1, nil, row) }},
		{"loss: MSE: target 2×3 for a row of 2", func() { loss.MSE{Target: d(2, 3)}.EvalNode(0, nil, row) }},
		{"loss: SmoothL1: gradient 2×1 of an output 2×2", func() { loss.SmoothL1{Target: d(2, 2)}.Eval(d(2, 1), d(2, 2)) }},
		{"loss: SmoothL1: threshold -1", func() { loss.SmoothL1{Target: d(2, 2), Threshold: -1}.Eval(mat.Dense{}, d(2, 2)) }},
		{"loss: Hinge: target 2×2 for an output 2×1", func() { loss.Hinge{Target: d(2, 2)}.Eval(mat.Dense{}, d(2, 1)) }},
		{"loss: Hinge: mask of 1 rows, target 2×2", func() { loss.Hinge{Target: d(2, 2), Mask: make([]bool, 1)}.EvalNode(0, nil, row) }},
		{"loss: Huber: target 2×2 for an output 3×2", func() { loss.Huber{Target: d(2, 2)}.Eval(mat.Dense{}, d(3, 2)) }},
		{"loss: Huber: row 2 of 2", func() { loss.Huber{Target: d(2, 2)}.EvalNode(2, nil, row) }},
		{"loss: Huber: delta -1", func() { loss.Huber{Target: d(2, 2), Delta: -1}.EvalTarget(nil, row, row) }},
		{"loss: Mean: gradient 2×1 of an output 2×2", func() { loss.Mean(d(2, 1), d(2, 2), loss.MSE{Target: d(2, 2)}) }},
		{"loss: Ridge: gradient of 1 values, 2 parameters", func() { loss.Ridge{}.Eval(row[:1], row) }},
	}
	for _, c := range cases {
		t.Run(c.want, func(t *testing.T) {
			defer func() {
				if got := recover(); got != c.want {
					t.Errorf("panic %v, want %q", got, c.want)
				}
			}()
			c.call()
		})
	}
}

func TestValidate(t *testing.T) {
	d := func(v ...float32) mat.Dense { return mat.NewDense(len(v), 1, v) }
	inf := float32(math.Inf(1))
	cases := []struct {
		name string
		err  error
		want string // a part of the message; empty means no error
	}{
		{"labels", loss.CrossEntropy{Labels: []int32{0, 2, loss.NoLabel}}.Validate(3), ""},
		{
			"label too large", loss.CrossEntropy{Labels: []int32{0, 3, -2}}.Validate(3),
			"2 of 3 labels out of range: the first is 3 in row 1, want 0 to 2 or -1",
		},
		{"no classes", loss.CrossEntropy{}.Validate(0), "0 classes"},
		{"targets", loss.MSE{Target: d(1, 2)}.Validate(), ""},
		{"bad target that nobody reads", loss.MSE{Target: d(1, nan), Mask: []bool{true, false}}.Validate(), ""},
		{"a target that is not known", loss.MSE{Target: d(1, nan)}.Validate(), ""},
		{"bad target", loss.MSE{Target: d(1, -inf)}.Validate(), "the first is -Inf in row 1, column 0"},
		{"bad target of l1", loss.L1{Target: d(1, inf)}.Validate(), "L1: 1 targets out of range: the first is +Inf in row 1"},
		{"mask", loss.MSE{Target: d(1), Mask: []bool{}}.Validate(), "mask of 0 rows"},
		{"threshold", loss.SmoothL1{Target: d(inf), Threshold: nan}.Validate(), "threshold NaN"},
		{"threshold and target", loss.SmoothL1{Target: d(inf), Threshold: nan}.Validate(), "1 targets out of range"},
		{"delta", loss.Huber{Target: d(1), Delta: inf}.Validate(), "Huber: delta +Inf, want a finite number ≥ 0"},
		{"a target out of reach", loss.Huber{Target: d(1, inf)}.Validate(), "Huber: 1 targets out of range: the first is +Inf in row 1"},
		{"signs", loss.Hinge{Target: d(1, -1)}.Validate(), ""},
		{"no sign", loss.Hinge{Target: d(1, 0)}.Validate(), "want 1 or -1"},
		{"strength", loss.Ridge{Strength: 0.1}.Validate(), ""},
		{"negative strength", loss.Ridge{Strength: -0.1}.Validate(), "strength -0.1"},
		{"strength that is no number", loss.Ridge{Strength: nan}.Validate(), "strength NaN"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			switch {
			case c.want == "" && c.err != nil:
				t.Errorf("got %v, want no error", c.err)
			case c.want != "" && (c.err == nil || !strings.Contains(c.err.Error(), c.want)):
				t.Errorf("got %v, want it to contain %q", c.err, c.want)
			}
		})
	}
}

func TestNoAllocation(t *testing.T) {
	if raceEnabled {
		t.Skipf("SKIPPED %s: under the race detector a sync.Pool drops what it is given; it runs without -race", t.Name())
	}
	for _, s := range samples() {
		t.Run(s.name, func(t *testing.T) {
			dy := mat.NewDense(s.y.Rows, s.y.Cols, nil)
			di, yi := dy.Row(0), s.y.Row(0)
			for name, call := range map[string]func(){
				"Eval":                func() { s.loss.Eval(dy, s.y) },
				"Eval, value alone":   func() { s.loss.Eval(mat.Dense{}, s.y) },
				"EvalNode":            func() { s.loss.EvalNode(0, di, yi) },
				"EvalNode, its value": func() { s.loss.EvalNode(0, nil, yi) },
			} {
				if got := testing.AllocsPerRun(100, call); got != 0 {
					t.Errorf("%s allocates %v times, want 0", name, got)
				}
			}
		})
	}
	params, grad := make([]float32, 10), make([]float32, 10)
	if got := testing.AllocsPerRun(100, func() { loss.Ridge{Strength: 1}.Eval(grad, params) }); got != 0 {
		t.Errorf("Ridge allocates %v times, want 0", got)
	}
}

// An output of the source localization experiment: 50 nodes, batches of 50,
// 5 classes.
func BenchmarkEval(b *testing.B) {
	const rows, cols = 2500, 5
	rng := generator()
	y, dy := normal(rng, rows, cols), mat.NewDense(rows, cols, nil)
	labels := make([]int32, rows)
	for i := range labels {
		labels[i] = int32(i % cols)
	}
	for _, l := range []struct {
		name string
		loss loss.Loss
	}{
		{"CrossEntropy", loss.CrossEntropy{Labels: labels}},
		{"MSE", loss.MSE{Target: normal(rng, rows, cols)}},
		{"L1", loss.L1{Target: normal(rng, rows, cols)}},
		{"SmoothL1", loss.SmoothL1{Target: normal(rng, rows, cols)}},
		{"Hinge", loss.Hinge{Target: signs(rng, rows, cols)}},
		{"Huber", loss.Huber{Target: normal(rng, rows, cols)}},
	} {
		b.Run(l.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				l.loss.Eval(dy, y)
			}
		})
		b.Run(l.name+"/value", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				l.loss.Eval(mat.Dense{}, y)
			}
		})
	}
}

// A cost kept as a target of numbers is the cost itself, value and gradient,
// in every row that carries one; and steps shorter than 2 over the curvature
// never raise it.
func TestTargeted(t *testing.T) {
	for _, s := range samples() {
		kept, ok := s.loss.(loss.Targeted)
		if !ok {
			t.Errorf("%s is not Targeted", s.name)
			continue
		}
		cols := s.y.Cols
		target, want, got := make([]float32, kept.TargetLen(cols)), make([]float32, cols), make([]float32, cols)
		for i := range s.y.Rows {
			if carries := kept.TargetOf(i, target); carries != s.carries(i) {
				t.Errorf("%s: row %d carries a loss: %v, want %v", s.name, i, carries, s.carries(i))
				continue
			} else if !carries {
				continue
			}
			wantJ := kept.EvalNode(i, want, s.y.Row(i))
			if gotJ := kept.EvalTarget(got, s.y.Row(i), target); gotJ != wantJ || !slices.Equal(got, want) {
				t.Errorf("%s: row %d: %v, gradient %v, want %v, %v", s.name, i, gotJ, got, wantJ, want)
			}
			if gotJ := kept.EvalTarget(nil, s.y.Row(i), target); gotJ != wantJ {
				t.Errorf("%s: row %d without a gradient: %v, want %v", s.name, i, gotJ, wantJ)
			}
			curvature := kept.Curvature(cols)
			if math.IsInf(curvature, 1) {
				continue
			}
			stepped := slices.Clone(s.y.Row(i))
			for j := range stepped {
				stepped[j] -= float32(1.9 / curvature * float64(want[j]))
			}
			if after := kept.EvalTarget(nil, stepped, target); after > wantJ+1e-6 {
				t.Errorf("%s: row %d: a step below 2/C raises the cost from %v to %v", s.name, i, wantJ, after)
			}
		}
	}
}
