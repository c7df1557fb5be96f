package theory

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/internal/vector"
)

// randomProblem draws a cost with the given number of rows.
func randomProblem(rng *rand.Rand, kind Kind, inputs, outputs, rows int) *Problem {
	p := &Problem{Kind: kind, Inputs: inputs, Outputs: outputs}
	for range rows {
		p.Rows = append(p.Rows, Row{
			Input: randomSignal(rng, inputs), Base: randomSignal(rng, outputs), Target: randomSignal(rng, outputs),
			Label: rng.IntN(outputs), Share: 1 / float64(rows),
		})
	}
	if rng.IntN(2) == 0 {
		p.Root = make([]float64, outputs*outputs)
		for a := range outputs {
			for b := range a + 1 {
				v := 0.3 * rng.NormFloat64()
				if a == b {
					v++
				}
				p.Root[a*outputs+b], p.Root[b*outputs+a] = v, v
			}
		}
	}
	return p
}

// Gradients and Hessians are those of the cost.
//
// Reference: Section 3, eq. (6).
func TestProblemGradient(t *testing.T) {
	rng := newRand(30)
	for _, kind := range []Kind{Quadratic, CrossEntropy} {
		p := randomProblem(rng, kind, 3, 4, 5)
		p.Ridge = 0.3
		w := randomSignal(rng, p.Len())
		g := p.Gradient(w)
		for k := range w {
			const h = 1e-5
			at := func(d float64) float64 {
				v := append([]float64(nil), w...)
				v[k] += d
				return p.Eval(nil, v)
			}
			if want := (at(h) - at(-h)) / (2 * h); !near(g[k], want, 1e-6) && math.Abs(g[k]-want) > 1e-8 {
				t.Errorf("kind %v, parameter %d: got %v, want %v", kind, k, g[k], want)
			}
		}
		if kind == CrossEntropy {
			h := p.hessian(w)
			v := randomSignal(rng, p.Len())
			const step = 1e-5
			plus, minus := append([]float64(nil), w...), append([]float64(nil), w...)
			vector.Axpy(plus, step, v)
			vector.Axpy(minus, -step, v)
			want := difference(p.Gradient(plus), p.Gradient(minus))
			for i := range want {
				got := 0.0
				for j := range v {
					got += h.At(i, j) * v[j]
				}
				if math.Abs(got-want[i]/(2*step)) > 1e-6 {
					t.Errorf("row %d of the Hessian: got %v, want %v", i, got, want[i]/(2*step))
				}
			}
		}
	}
}

// Between any two points gradients differ by at most C_s times the distance,
// and at least by C_c times it, and no gradient is longer than L.
//
// Reference: Assumption 2.
func TestCurvatureHolds(t *testing.T) {
	rng := newRand(31)
	for k := range instances() {
		kind := Kind(k % 2)
		p := randomProblem(rng, kind, 1+rng.IntN(4), 2+rng.IntN(3), 1+rng.IntN(8))
		if k%3 == 0 {
			p.Ridge = rng.Float64()
		}
		c, err := p.Curvature()
		if err != nil {
			t.Fatal(err)
		}
		a, b := randomSignal(rng, p.Len()), randomSignal(rng, p.Len())
		ga, gb := p.Gradient(a), p.Gradient(b)
		apart, d := distance(ga, gb), distance(a, b)
		inner := 0.0
		for i := range a {
			inner += (ga[i] - gb[i]) * (a[i] - b[i])
		}
		if apart > c.Smooth*d*(1+1e-9) {
			t.Fatalf("case %d: gradients %v apart at distance %v, C_s = %v", k, apart, d, c.Smooth)
		}
		if inner < c.Convex*d*d*(1-1e-9)-1e-12 {
			t.Fatalf("case %d: ⟨Δ∇J, Δw⟩ = %v at distance %v, C_c = %v", k, inner, d, c.Convex)
		}
		l, err := p.Lipschitz(vector.Norm(a))
		if err != nil {
			t.Fatal(err)
		}
		if g := vector.Norm(ga); g > l*(1+1e-9) {
			t.Fatalf("case %d: a gradient of length %v, L = %v", k, g, l)
		}
	}
}

// A quadratic with fewer rows than taps is not strongly convex, and the report
// says in how many directions; a ridge repairs it.
//
// Reference: Assumption 2.
func TestFewRowsAreNotStronglyConvex(t *testing.T) {
	p := randomProblem(newRand(32), Quadratic, 6, 2, 4)
	c, err := p.Curvature()
	if err != nil {
		t.Fatal(err)
	}
	if c.Convex != 0 || c.Rank != 8 || c.Dim != 12 || c.Reduced <= 0 {
		t.Errorf("got %+v, want C_c = 0, rank 8 of 12, and some curvature in the directions of the data", c)
	}
	p.Ridge = 0.5
	if c, err = p.Curvature(); err != nil || c.Convex != 0.5 {
		t.Errorf("with a ridge of 0.5: got %+v, %v", c, err)
	}
}

// The optimum is where the gradient is 0, for both costs; where a quadratic has
// several, it is the nearest.
//
// Reference: Assumption 1.
func TestOptimum(t *testing.T) {
	rng := newRand(33)
	for k := range 300 {
		p := randomProblem(rng, Kind(k%2), 1+rng.IntN(5), 2+rng.IntN(3), 1+rng.IntN(12))
		if p.Kind == CrossEntropy {
			p.Ridge = math.Pow(10, -4*rng.Float64())
		}
		start := randomSignal(rng, p.Len())
		o, err := p.Optimum(start)
		if err != nil {
			t.Fatal(err)
		}
		if !o.Exists || o.Slope > 1e-9 {
			t.Fatalf("case %d: got ‖∇J‖ = %v (exists: %v), want 0", k, o.Slope, o.Exists)
		}
		if p.Kind == Quadratic { // the way there is orthogonal to every flat direction
			way := difference(append([]float64(nil), o.W...), start)
			flat := randomSignal(rng, p.Len())
			q := *p
			q.Rows = nil
			for _, r := range p.Rows {
				r.Base, r.Target = make([]float64, p.Outputs), make([]float64, p.Outputs)
				q.Rows = append(q.Rows, r)
			}
			if err := q.leastSquares(flat); err != nil { // projects onto what costs nothing
				t.Fatal(err)
			}
			if math.Abs(vector.Dot(way, flat)) > 1e-8*(1+vector.Norm(way)*vector.Norm(flat)) {
				t.Fatalf("case %d: the way to the optimum has a part %v in a flat direction", k, vector.Dot(way, flat))
			}
		}
	}
}

// Of one cross-entropy sample with independent inputs no optimum exists: every
// answer can be made better for ever. The direction proves it.
//
// Reference: Assumption 1.
func TestSeparableSampleHasNoOptimum(t *testing.T) {
	rng := newRand(34)
	for k := range 200 {
		p := randomProblem(rng, CrossEntropy, 5, 3, 1+rng.IntN(5))
		if k%2 == 1 { // shifts of one signal are almost collinear
			for r := range p.Rows {
				vector.Scale(p.Rows[r].Input, 1e-3)
				vector.Axpy(p.Rows[r].Input, 1, []float64{1, 0.9, 0.8, 0.8, 0.7})
			}
		}
		o, err := p.Optimum(make([]float64, p.Len()))
		if err != nil {
			t.Fatal(err)
		}
		if o.Exists || len(o.Direction) != p.Len() {
			t.Fatalf("case %d, %d rows for 5 taps: got an optimum of cost %v, want none", k, len(p.Rows), o.Cost)
		}
		far := make([]float64, p.Len())
		last := math.Inf(1)
		for step := range 6 {
			cost := p.Eval(nil, far)
			if cost >= last && cost > 1e-12 {
				t.Fatalf("case %d: the cost does not fall along the direction: %v after %v", k, cost, last)
			}
			last = cost
			vector.Axpy(far, math.Pow(10, float64(step)), o.Direction)
		}
	}
}

// With the same inputs answered differently an optimum exists without a ridge.
//
// Reference: Assumption 1.
func TestContradictingSamplesHaveAnOptimum(t *testing.T) {
	rng := newRand(35)
	for k := range 200 {
		p := randomProblem(rng, CrossEntropy, 3, 3, 4)
		for _, r := range append([]Row(nil), p.Rows...) {
			for c := range 3 {
				r.Label = c
				p.Rows = append(p.Rows, r)
			}
		}
		o, err := p.Optimum(make([]float64, p.Len()))
		if err != nil {
			t.Fatal(err)
		}
		if !o.Exists || o.Slope > 1e-8 {
			t.Fatalf("case %d: got exists %v, ‖∇J‖ %v, want an optimum", k, o.Exists, o.Slope)
		}
	}
}

// A large problem goes to the solver that forms no Hessian, and finds the same.
func TestOptimumOfManyParameters(t *testing.T) {
	p := randomProblem(newRand(36), CrossEntropy, 30, 5, 20)
	p.Ridge = 0.05
	small, err := p.Optimum(make([]float64, p.Len()))
	if err != nil {
		t.Fatal(err)
	}
	c, err := p.Curvature()
	if err != nil {
		t.Fatal(err)
	}
	o := Optimum{W: make([]float64, p.Len())}
	if err := p.quasiNewton(&o, c); err != nil {
		t.Fatal(err)
	}
	if d := distance(o.W, small.W); d > 1e-5*vector.Norm(small.W) {
		t.Errorf("got optima %v apart", d)
	}
}

// halfSeparable returns a cross-entropy of which some rows contradict each other in
// half of the inputs, and the others can be separated by the rest: the infimum is at
// infinity, but no right score gains on all others.
func halfSeparable(seed uint64) *Problem {
	rng := newRand(seed)
	p := randomProblem(rng, CrossEntropy, 5, 4, 6)
	p.Ridge, p.Root = 0, nil
	for i := range p.Rows {
		r := &p.Rows[i]
		if i%3 > 0 {
			clear(r.Input[2:])
		} else {
			r.Label, r.Input[4] = 0, 1
		}
	}
	return p
}

// Where Newton's method runs away while the gradient fades, and no direction of
// separation is proven, that is said instead of an error; with a ridge an optimum
// is found.
//
// Reference: Assumption 1.
func TestGradientFades(t *testing.T) {
	for _, seed := range []uint64{15754, 17399, 17778, 18914, 19314} {
		p := halfSeparable(seed)
		o, err := p.Optimum(make([]float64, p.Len()))
		if err != nil || o.Exists || o.Slope > 1e-10 || o.Missing() == "" {
			t.Errorf("instance %d: got %+v, %v; want no optimum, and why", seed, o, err)
		}
		p.Ridge = 1e-3
		if o, err = p.Optimum(make([]float64, p.Len())); err != nil || !o.Exists || o.Slope > 1e-10 || o.Missing() != "" {
			t.Errorf("instance %d with a ridge: got %+v, %v; want an optimum", seed, o, err)
		}
	}
	for want, o := range map[string]Optimum{
		"": {Exists: true}, "its samples are separable": {Direction: []float64{1}},
		"the gradient fades, 2e-15 after 100 Newton steps": {Slope: 2e-15},
	} {
		if got := o.Missing(); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%+v: got %q, want %q", o, got, want)
		}
	}
}
