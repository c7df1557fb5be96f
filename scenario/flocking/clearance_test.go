package flocking_test

import (
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// clearance is J_i written out: v is the velocity of robot i after its action,
// everything else as robot i senses it before.
func clearance(s *flocking.Swarm, i int, v [2]float64) float64 {
	const weight, seconds = 10, 0.3
	margin := s.Config().RepulsionRadiusMeters / 2
	velocities := [][2]float64{v}
	p, cost := s.Positions()[i], 0.0
	for _, k := range s.Heard().Neighbors(i) {
		q, w := s.Positions()[k], s.Velocities()[k]
		velocities = append(velocities, w)
		d := math.Hypot(p[0]-q[0], p[1]-q[1])
		closing := -((p[0]-q[0])*(v[0]-w[0]) + (p[1]-q[1])*(v[1]-w[1])) / d
		cost += weight * math.Pow(math.Max(0, closing-(d-margin)/seconds), 2)
	}
	n := float64(len(velocities))
	var mean [2]float64
	for _, w := range velocities {
		mean[0] += w[0] / n
		mean[1] += w[1] / n
	}
	for _, w := range velocities {
		cost += math.Pow(w[0]-mean[0], 2) + math.Pow(w[1]-mean[1], 2)
	}
	return cost / n
}

// The cost that knows distances is its formula at the velocity that the simulator
// then shows, and its gradient is the slope of that.
func TestClearanceIsItsFormula(t *testing.T) {
	s, u := flying(t)
	var j flocking.Clearance
	j.Reset(s)
	du, row := mat.NewDense(30, 2, nil), make([]float32, 2)
	mean, near := 0.0, 0
	total := j.Eval(du, u)
	var alone flocking.Neighborhood
	alone.Reset(s, mat.NewDense(30, 2, nil))
	for i := range 30 {
		got := j.EvalNode(i, row, u.Row(i))
		mean += got / 30
		if want := clearance(s, i, after(t, s, u).Velocities()[i]); !closeTo(got, want, 1e-12) {
			t.Errorf("robot %d: cost %v, want %v", i, got, want)
		}
		if value := j.EvalNode(i, nil, u.Row(i)); value != got {
			t.Errorf("robot %d: cost %v without a gradient, want %v", i, value, got)
		}
		if got > 1.01*alone.EvalNode(i, nil, u.Row(i)) {
			near++
		}
		checkClearanceSlope(t, s, u, row, i)
		for d := range 2 {
			if got, want := float64(du.At(i, d)), float64(row[d])/30; !closeTo(got, want, 1e-6) {
				t.Errorf("robot %d, component %d: gradient of the mean %v, want %v", i, d, got, want)
			}
		}
	}
	if !closeTo(total, mean, 1e-12) {
		t.Errorf("cost %v, want the mean of the local costs, %v", total, mean)
	}
	if near < 3 || near > 27 {
		t.Errorf("distances matter to %d of 30 robots, want some and not all", near)
	}
}

// checkClearanceSlope compares du with the difference quotient of the formula,
// which is quadratic but for the kinks in its slope.
func checkClearanceSlope(t *testing.T, s *flocking.Swarm, u mat.Dense, du []float32, i int) {
	t.Helper()
	const h = 1e-4 // of a velocity, in metres per second
	v := after(t, s, u).Velocities()[i]
	for d := range 2 {
		up, down := v, v
		up[d] += h
		down[d] -= h
		want := s.Config().SampleSeconds * (clearance(s, i, up) - clearance(s, i, down)) / (2 * h)
		if math.Abs(float64(u.At(i, d))) > 10 || i == 3 { // beyond the clamp; the actuator is out
			want = 0
		}
		if got := float64(du[d]); math.Abs(got-want) > 1e-5*math.Abs(want)+1e-7 {
			t.Errorf("robot %d, component %d: gradient %v, want %v", i, d, got, want)
		}
	}
}

// Between any two actions that robots can do, the cost lies below its chord.
func TestClearanceIsConvex(t *testing.T) {
	s, _ := flying(t)
	var j flocking.Clearance
	j.Reset(s)
	rng := random.Stream(3, "chords")
	for range 2000 {
		a, b, middle := make([]float32, 2), make([]float32, 2), make([]float32, 2)
		for d := range 2 {
			a[d], b[d] = 20*rng.Float32()-10, 20*rng.Float32()-10
			middle[d] = (a[d] + b[d]) / 2
		}
		i := rng.IntN(30)
		at, chord := j.EvalNode(i, nil, middle), (j.EvalNode(i, nil, a)+j.EvalNode(i, nil, b))/2
		if at > chord*(1+1e-9) {
			t.Fatalf("robot %d: cost %v between %v and %v, want at most %v", i, at, a, b, chord)
		}
	}
}

// No action costs more than the gate allows for: (1+δ) times another, and what
// their distance and the curvature say.
func TestClearanceCurvature(t *testing.T) {
	s, _ := flying(t)
	var j flocking.Clearance
	j.Reset(s)
	rng := random.Stream(4, "pairs")
	tightest := 0.0
	for range 20000 {
		a, b := make([]float32, 2), make([]float32, 2)
		far := 0.0
		for d := range 2 {
			a[d], b[d] = 24*rng.Float32()-12, 24*rng.Float32()-12
			far += math.Pow(float64(a[d]-b[d]), 2)
		}
		i, delta := rng.IntN(30), math.Exp(3*rng.NormFloat64())
		got, other := j.EvalNode(i, nil, a), j.EvalNode(i, nil, b)
		bound := (1+delta)*other + j.Curvature(2)/2*(1+1/delta)*far
		if got > bound*(1+1e-9) {
			t.Fatalf("robot %d: %v costs %v, %v costs %v: want at most %v with δ = %v", i, a, got, b, other, bound, delta)
		}
		tightest = max(tightest, got/bound)
	}
	if tightest < 0.5 {
		t.Errorf("costs came up to %.2f of the bound, want a bound that says something", tightest)
	}
}

// Robots that fly side by side too close are told to part; the paper's cost has
// nothing to say to them.
func TestClearanceParts(t *testing.T) {
	s := start(t, robots(2), [][2]float64{{0, 0}, {0.2, 0}}, [][2]float64{{1, 0}, {1, 0}})
	u := mat.NewDense(2, 2, nil)
	var paper flocking.Neighborhood
	paper.Reset(s, u)
	var j flocking.Clearance
	j.Reset(s)
	du := make([]float32, 2)
	if paper.EvalNode(0, du, u.Row(0)) != 0 || du[0] != 0 || du[1] != 0 {
		t.Errorf("gradient %v of the velocities, want 0", du)
	}
	if cost := j.EvalNode(0, du, u.Row(0)); !(cost > 0 && du[0] > 0 && du[1] == 0) {
		t.Errorf("robot 0, left of the other: cost %v with gradient %v, want a step to the left", cost, du)
	}
	if j.EvalNode(1, du, u.Row(1)); !(du[0] < 0 && du[1] == 0) {
		t.Errorf("robot 1, right of the other: gradient %v, want a step to the right", du)
	}
}

// Who hears nobody has nothing to learn from, and robots in one place cost what
// velocities do.
func TestClearanceAtItsEnds(t *testing.T) {
	s := start(t, robots(3), [][2]float64{{0, 0}, {9, 0}, {9.0001, 0}}, [][2]float64{{1, 0}, {5, 0}, {4, 0}})
	u := mat.NewDense(3, 2, nil)
	var j flocking.Clearance
	j.Reset(s)
	du := []float32{7, 7}
	if got := j.EvalNode(0, du, u.Row(0)); got != 0 || du[0] != 0 || du[1] != 0 {
		t.Errorf("alone: cost %v with gradient %v, want 0", got, du)
	}
	if got := j.EvalNode(1, du, u.Row(1)); !closeTo(got, 0.25, 1e-12) || !(du[0] > 0) {
		t.Errorf("in one place: cost %v with gradient %v, want 0.25 and a slope of the velocities", got, du)
	}
	wantPanic(t, "Clearance", func() { j.Eval(mat.Dense{}, mat.NewDense(2, 2, nil)) })
	wantPanic(t, "Clearance", func() { j.EvalNode(3, nil, u.Row(0)) })
}
