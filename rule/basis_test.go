package rule_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	dense "gonum.org/v1/gonum/mat"

	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
)

// bases are the maps behind the taps that tests run over: 3 inputs, 4
// features.
var bases = map[string]rule.BasisConfig{
	"readout":        {Inputs: 3, Features: 4, Gain: 0.5, Readout: matrix(random.Stream(1, "readout"), 4, 2)},
	"no readout":     {Inputs: 3, Features: 4, Gain: 1},
	"bias":           {Inputs: 3, Features: 4, Gain: 2, Bias: true, Readout: matrix(random.Stream(2, "readout"), 4, 2)},
	"more outputs":   {Inputs: 3, Features: 4, Gain: 1, Readout: matrix(random.Stream(3, "readout"), 4, 6)},
	"rank deficient": {Inputs: 3, Features: 4, Gain: 1, Readout: mat.NewDense(4, 2, []float32{1, 2, 0, 0, -1, -2, 3, 6})},
	"zero gain":      {Inputs: 3, Features: 4, Readout: matrix(random.Stream(4, "readout"), 4, 2)},
}

func matrix(rng *rand.Rand, rows, cols int) mat.Dense {
	a := mat.NewDense(rows, cols, nil)
	for i := range a.Data {
		a.Data[i] = float32(rng.NormFloat64())
	}
	return a
}

// omega returns Ω = α_W R.
func omega(c rule.BasisConfig) *dense.Dense {
	outputs := c.Features
	if !c.Readout.Empty() {
		outputs = c.Readout.Cols
	}
	o := dense.NewDense(c.Features, outputs, nil)
	o.Apply(func(g, k int, _ float64) float64 {
		switch {
		case !c.Readout.Empty():
			return float64(c.Gain) * float64(c.Readout.At(g, k))
		case g == k:
			return float64(c.Gain)
		}
		return 0
	}, o)
	return o
}

func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// large returns float32 values as a float64 matrix.
func large(v []float32, rows, cols int) *dense.Dense {
	a := dense.NewDense(rows, cols, nil)
	for e, x := range v {
		a.Set(e/cols, e%cols, float64(x))
	}
	return a
}

// near checks that values agree within tolerance of the largest.
func near(t *testing.T, what string, got []float32, want dense.Matrix, tolerance float64) {
	t.Helper()
	rows, cols := want.Dims()
	if len(got) != rows*cols {
		t.Fatalf("%s: %d values, want %d×%d", what, len(got), rows, cols)
	}
	size := max(1, dense.Max(want), -dense.Min(want))
	for e, g := range got {
		if w := want.At(e/cols, e%cols); !(math.Abs(float64(g)-w) <= tolerance*size) {
			t.Fatalf("%s: element (%d,%d) is %v, want %v", what, e/cols, e%cols, g, w)
		}
	}
}

// basis returns Q and R of a basis, which Taps and Effect show.
func basis(c rule.BasisConfig, f *rule.Basis) (q, r *dense.Dense) {
	rows := f.TapsLen() / c.Features
	width := f.Len() / rows
	q, r = dense.NewDense(c.Features, width, nil), dense.NewDense(width, f.Outputs(), nil)
	for k := range width {
		x := make([]float32, f.Len())
		x[k] = 1 // the first row of 𝒜
		taps, effect := make([]float32, f.TapsLen()), make([]float64, rows*f.Outputs())
		f.Taps(taps, make([]float32, f.TapsLen()), x)
		for g := range c.Features {
			q.Set(g, k, float64(taps[g]))
		}
		f.Effect(effect, x)
		r.SetRow(k, effect[:f.Outputs()])
	}
	return q, r
}

// The coordinates are orthonormal and span what Ω lets through: QᵀQ = I, and
// Q R = Ω, with as many columns as Ω has independent ones.
func TestCoordinatesAreOrthonormal(t *testing.T) {
	rank := map[string]int{"readout": 2, "no readout": 4, "bias": 2, "more outputs": 4, "rank deficient": 1, "zero gain": 1}
	for name, c := range bases {
		f := must[*rule.Basis](t)(rule.NewBasis(c))
		q, r := basis(c, f)
		var one, all dense.Dense
		one.Mul(q.T(), q)
		all.Mul(q, r)
		_, width := q.Dims()
		if width != rank[name] {
			t.Errorf("%s: %d columns, want %d", name, width, rank[name])
		}
		identity := dense.NewDense(width, width, nil)
		for k := range width {
			identity.Set(k, k, 1)
		}
		if !dense.EqualApprox(&one, identity, 1e-6) || !dense.EqualApprox(&all, omega(c), 1e-6) {
			t.Errorf("%s: QᵀQ is %v, QR is %v, want I and %v", name, dense.Formatted(&one), dense.Formatted(&all), dense.Formatted(omega(c)))
		}
	}
}

// Taps, Distance and Predict are 𝒜† + xQᵀ, ‖(a-b)Qᵀ‖ and y† + z(𝒜 - 𝒜†)Ω.
func TestBasis(t *testing.T) {
	for name, c := range bases {
		t.Run(name, func(t *testing.T) {
			rng := random.Stream(5, name)
			f := must[*rule.Basis](t)(rule.NewBasis(c))
			rows := c.Inputs
			if c.Bias {
				rows++
			}
			o := omega(c)
			_, outputs := o.Dims()
			q, _ := basis(c, f)
			_, width := q.Dims()
			if f.Inputs() != 3 || f.Outputs() != outputs || f.Len() != rows*width || width > outputs || f.TapsLen() != rows*4 {
				t.Fatalf("%d inputs, %d outputs, %d parameters, %d taps", f.Inputs(), f.Outputs(), f.Len(), f.TapsLen())
			}
			a, b, start := matrix(rng, rows, width), matrix(rng, rows, width), matrix(rng, rows, 4)
			taps := make([]float32, rows*4)
			f.Taps(taps, start.Data, a.Data)
			var moved, apart, diff dense.Dense
			moved.Mul(large(a.Data, rows, width), q.T())
			var want dense.Dense
			want.Add(large(start.Data, rows, 4), &moved)
			near(t, "taps", taps, &want, 1e-6)

			diff.Sub(large(a.Data, rows, width), large(b.Data, rows, width))
			apart.Mul(&diff, q.T())
			for got, want := range map[float64]float64{
				f.Distance(a.Data, nil): dense.Norm(&moved, 2), f.Distance(a.Data, b.Data): dense.Norm(&apart, 2),
			} {
				if math.Abs(got-want) > 1e-6*(1+want) {
					t.Errorf("distance %v, want %v", got, want)
				}
			}

			z, base := matrix(rng, 1, 3), matrix(rng, 1, outputs)
			y := make([]float32, outputs)
			f.Predict(y, base.Data, z.Data, a.Data, make([]float64, outputs))
			in := large(append(z.Clone().Data, 1)[:rows], 1, rows)
			var change, out dense.Dense
			change.Mul(in, &moved)
			out.Mul(&change, o)
			out.Add(&out, large(base.Data, 1, outputs))
			near(t, "output", y, &out, 1e-6)
		})
	}
}

func TestBasisComplains(t *testing.T) {
	for want, c := range map[string]rule.BasisConfig{
		"nothing to retrain":    {Features: 4},
		"4×2 behind 3 features": {Inputs: 1, Features: 3, Readout: mat.NewDense(4, 2, nil)},
		"is not finite":         {Inputs: 1, Features: 1, Gain: float32(math.Inf(1))},
		"1 taps at the start":   {Inputs: 2, Features: 2, Gain: 1, Start: []float32{1}},
	} {
		if _, err := rule.NewBasis(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// The second moment is the mean of [z 1]ᵀ[z 1], however the data come.
func TestMoment(t *testing.T) {
	z := matrix(random.Stream(6, "moment"), 40, 5) // only three columns count
	var whole, parts rule.SecondMoment
	whole.Add(z, 3)
	parts.Add(z.View(0, 0, 0, 5), 3)
	parts.Add(z.View(0, 0, 13, 5), 3)
	parts.Add(z.View(13, 0, 27, 5), 3)
	var zz dense.Dense
	one := dense.NewDense(40, 4, nil)
	one.Apply(func(i, k int, _ float64) float64 {
		if k == 3 {
			return 1
		}
		return float64(z.At(i, k))
	}, one)
	zz.Mul(one.T(), one)
	for e := range 16 {
		want := zz.At(e/4, e%4) / 40
		if math.Abs(whole.Mean[e]-want) > 1e-12 || math.Abs(parts.Mean[e]-want) > 1e-12 {
			t.Fatalf("element %d is %v and in parts %v, want %v", e, whole.Mean[e], parts.Mean[e], want)
		}
	}
	if whole.Count != 40 || parts.Count != 40 || whole.Validate() != nil || parts.Validate() != nil {
		t.Errorf("%v and %v observations; %v, %v", whole.Count, parts.Count, whole.Validate(), parts.Validate())
	}
}

func TestMomentComplains(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]struct {
		m    rule.SecondMoment
		want string
	}{
		"empty":     {rule.SecondMoment{}, "0 inputs"},
		"too few":   {rule.SecondMoment{Inputs: 1, Mean: []float64{1, 0, 1}}, "3 numbers, want 4"},
		"NaN":       {rule.SecondMoment{Inputs: 1, Mean: []float64{1, nan, nan, 1}}, "NaN"},
		"lopsided":  {rule.SecondMoment{Inputs: 1, Mean: []float64{1, 2, 0, 1}}, "symmetric"},
		"negative":  {rule.SecondMoment{Inputs: 1, Mean: []float64{-1, 0, 0, 1}}, "diagonal"},
		"no moment": {rule.SecondMoment{Inputs: 2, Mean: []float64{1, 2, 0, 2, 1, 0, 0, 0, 1}}, "negative eigenvalue"},
	} {
		fc := rule.BasisConfig{Inputs: max(c.m.Inputs, 1), Features: 1, Gain: 1, Newton: true, Moment: &c.m}
		if _, err := rule.NewBasis(fc); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
}
