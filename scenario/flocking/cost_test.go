package flocking_test

import (
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// after returns a copy of s, one step with action u later.
func after(t *testing.T, s *flocking.Swarm, u mat.Dense) *flocking.Swarm {
	t.Helper()
	c := s.Config()
	next := start(t, c, s.Positions(), s.Velocities())
	if err := next.StepDense(u); err != nil {
		t.Fatal(err)
	}
	return next
}

// flying returns a swarm in mid-flight in which the actuator of robot 3 is out,
// and an action of which some components saturate.
func flying(t *testing.T) (*flocking.Swarm, mat.Dense) {
	t.Helper()
	s := newSwarm(t, robots(30), 5)
	flyExpert(t, s, 10)
	c := s.Config()
	c.Faults.Stops = []flocking.Stop{{Robot: 3, Part: flocking.PartActuator}}
	return start(t, c, s.Positions(), s.Velocities()), actions(30, random.Stream(2, "actions"))
}

// costOf evaluates a cost of the next state by flying there.
type costOf func(next *flocking.Swarm) float64

// checkSlope compares du with the difference quotient of the simulator. The
// costs are quadratic in u, so a wide central difference is exact.
func checkSlope(t *testing.T, s *flocking.Swarm, u mat.Dense, du []float32, i int, cost costOf) {
	t.Helper()
	const h = 1.0 / 64
	for d := range 2 {
		at := u.At(i, d)
		u.Set(i, d, at+h)
		up := cost(after(t, s, u))
		u.Set(i, d, at-h)
		down := cost(after(t, s, u))
		u.Set(i, d, at)
		want := (up - down) / (2 * h)
		if math.Abs(float64(at)) == 10 {
			continue // a kink of the clamp
		}
		if got := float64(du[d]); math.Abs(got-want) > 1e-6*math.Abs(want)+1e-10 {
			t.Errorf("robot %d, component %d, action %v: gradient %v, want %v", i, d, at, got, want)
		}
		if math.Abs(float64(at)) > 10 && du[d] != 0 {
			t.Errorf("robot %d, component %d, action %v: gradient %v, want 0 beyond the clamp", i, d, at, du[d])
		}
	}
}

// The cost of an action is the velocity variation that the simulator then
// shows, and its gradient is the slope of that.
// Reference: Section 6.2, Online learning; Section 3, eq. (7).
func TestVariationIsTheSimulators(t *testing.T) {
	s, u := flying(t)
	var j flocking.Variation
	j.Reset(s)
	du := mat.NewDense(30, 2, nil)
	got := j.Eval(du, u)
	if want := after(t, s, u).VelocityVariation(); !closeTo(got, want, 1e-14) {
		t.Errorf("cost %v, want %v", got, want)
	}
	if value := j.Eval(mat.Dense{}, u); value != got {
		t.Errorf("cost %v without a gradient, want %v", value, got)
	}
	for i := range 30 {
		checkSlope(t, s, u, du.Row(i), i, (*flocking.Swarm).VelocityVariation)
	}
}

// variance is J_i: the variance of velocities over robot i and those that it
// heard before the step.
func variance(i int, neighbors []int32, v [][2]float64) float64 {
	group := append([]int32{int32(i)}, neighbors...)
	n := float64(len(group))
	var mean [2]float64
	for _, k := range group {
		mean[0] += v[k][0] / n
		mean[1] += v[k][1] / n
	}
	sum := 0.0
	for _, k := range group {
		sum += math.Pow(v[k][0]-mean[0], 2)/n + math.Pow(v[k][1]-mean[1], 2)/n
	}
	return sum
}

// The local cost is the variance that the simulator then shows around a robot,
// and its gradient the slope with respect to the robot's own action.
// Reference: Section 6.2, Online learning; Section 3, eq. (8).
func TestNeighborhoodIsTheSimulators(t *testing.T) {
	s, u := flying(t)
	var j flocking.Neighborhood
	j.Reset(s, u)
	next := after(t, s, u).Velocities()
	du, row := mat.NewDense(30, 2, nil), make([]float32, 2)
	mean := 0.0
	total := j.Eval(du, u)
	for i := range 30 {
		neighbors := s.Heard().Neighbors(i)
		got, want := j.EvalNode(i, row, u.Row(i)), variance(i, neighbors, next)
		mean += got / 30
		if !closeTo(got, want, 1e-12) {
			t.Errorf("robot %d: cost %v, want %v", i, got, want)
		}
		if value := j.EvalNode(i, nil, u.Row(i)); value != got {
			t.Errorf("robot %d: cost %v without a gradient, want %v", i, value, got)
		}
		checkSlope(t, s, u, row, i, func(next *flocking.Swarm) float64 { return variance(i, neighbors, next.Velocities()) })
		for d := range 2 {
			if got, want := float64(du.At(i, d)), float64(row[d])/30; !closeTo(got, want, 1e-9) {
				t.Errorf("robot %d, component %d: gradient of the mean %v, want %v", i, d, got, want)
			}
		}
	}
	if !closeTo(total, mean, 1e-12) {
		t.Errorf("cost %v, want the mean of the local costs, %v", total, mean)
	}
}

// A robot that hears nobody has nothing to learn from.
func TestNeighborhoodOfOne(t *testing.T) {
	s := start(t, robots(2), [][2]float64{{0, 0}, {9, 0}}, [][2]float64{{1, 0}, {5, 0}})
	u := mat.NewDense(2, 2, []float32{1, 2, 3, 4})
	var j flocking.Neighborhood
	j.Reset(s, u)
	du := []float32{7, 7}
	if got := j.EvalNode(0, du, u.Row(0)); got != 0 || du[0] != 0 || du[1] != 0 {
		t.Errorf("cost %v with gradient %v, want 0", got, du)
	}
}

// Costs survive the step that they judge, and steps against their gradient
// lower them.
func TestCostsOutliveTheStep(t *testing.T) {
	s, u := flying(t)
	var (
		global flocking.Variation
		local  flocking.Neighborhood
	)
	global.Reset(s)
	local.Reset(s, u)
	for name, j := range map[string]loss.Loss{"Variation": &global, "Neighborhood": &local} {
		du := mat.NewDense(30, 2, nil)
		before := j.Eval(du, u)
		flyExpert(t, s, 1)
		if again := j.Eval(mat.Dense{}, u); again != before {
			t.Errorf("%s: cost %v after a step, want %v", name, again, before)
		}
		better := u.Clone()
		for k := range better.Data {
			better.Data[k] -= 100 * du.Data[k]
		}
		if got := j.Eval(mat.Dense{}, better); got >= before {
			t.Errorf("%s: cost %v after a gradient step, want less than %v", name, got, before)
		}
	}
	wantPanic(t, "Variation", func() { global.Eval(mat.Dense{}, mat.NewDense(29, 2, nil)) })
	wantPanic(t, "Variation", func() { global.Eval(mat.NewDense(30, 1, nil), u) })
	wantPanic(t, "Neighborhood", func() { local.EvalNode(30, nil, u.Row(0)) })
	wantPanic(t, "Neighborhood", func() { local.Reset(s, mat.NewDense(3, 2, nil)) })
}
