package flocking_test

import (
	"math"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// The position moves by the old velocity and half the acceleration.
// Reference: Section 6.2, eq. (21).
func TestStep(t *testing.T) {
	c := robots(2)
	c.SampleSeconds, c.DurationSeconds = 0.5, 10
	s := start(t, c, [][2]float64{{0, 0}, {5, 5}}, [][2]float64{{1, -2}, {0, 0}})
	step(t, s, [][2]float64{{4, 8}, {0, 0}})
	if got, want := s.Positions()[0], [2]float64{0.5 + 0.5, -1 + 1}; got != want {
		t.Errorf("position is %v, want %v", got, want)
	}
	if got, want := s.Velocities()[0], [2]float64{3, 2}; got != want {
		t.Errorf("velocity is %v, want %v", got, want)
	}
	if got := s.Positions()[1]; got != [2]float64{5, 5} {
		t.Errorf("a robot at rest moved to %v", got)
	}
	if s.Time() != 1 {
		t.Errorf("time is %d, want 1", s.Time())
	}
}

// Each component is clamped to ±10 on its own, with its sign.
func TestSaturation(t *testing.T) {
	s := start(t, robots(2), [][2]float64{{0, 0}, {5, 5}}, make([][2]float64, 2))
	step(t, s, [][2]float64{{-11, 3}, {math.Inf(1), -1e300}})
	want := [][2]float64{{-10 * 0.01, 3 * 0.01}, {10 * 0.01, -10 * 0.01}}
	if got := s.Velocities(); !slices.Equal(got, want) {
		t.Errorf("velocities are %v, want %v", got, want)
	}
	if got := s.Counts().Saturated; got != 3 {
		t.Errorf("%d components were clamped, want 3", got)
	}
}

// A bad action is an error and leaves the swarm where it was.
func TestStepRefusesNaN(t *testing.T) {
	s := newSwarm(t, robots(5), 1)
	before := slices.Clone(s.Positions())
	accel := make([][2]float64, 5)
	accel[3][1] = math.NaN()
	wantError(t, s.Step(accel), "step 0", "robot 3", "NaN")
	if s.Time() != 0 || !slices.Equal(s.Positions(), before) {
		t.Error("a refused action moved the swarm")
	}
	wantPanic(t, "Step: 4 accelerations for 5 robots", func() { _ = s.Step(accel[:4]) })
	wantPanic(t, "StepDense", func() { _ = s.StepDense(mat.NewDense(5, 3, nil)) })
	wantPanic(t, "Expert", func() { s.Expert(accel[:1]) })
	wantPanic(t, "Signal", func() { s.Signal(mat.NewDense(5, 2, nil)) })
}

// A float32 action does what the same numbers do in float64.
func TestStepDense(t *testing.T) {
	a, b := newSwarm(t, robots(20), 1), newSwarm(t, robots(20), 1)
	u := actions(20, random.Stream(1, "actions"))
	accel := make([][2]float64, 20)
	for i := range accel {
		accel[i] = [2]float64{float64(u.At(i, 0)), float64(u.At(i, 1))}
	}
	step(t, a, accel)
	if err := b.StepDense(u); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(a.Velocities(), b.Velocities()) || !slices.Equal(a.Positions(), b.Positions()) {
		t.Error("Step and StepDense differ")
	}
}

// Without repulsion the expert makes velocities approach their mean by the
// factor 1 - N T_s per step, the discrete form of exponential consensus.
// Reference: Section 6.2, eq. (22).
func TestExpertConsensus(t *testing.T) {
	for _, n := range []int{2, 5, 50} {
		c := robots(n)
		c.RepulsionRadiusMeters, c.MaxAccelMPS2 = 0, 1e6
		s := newSwarm(t, c, 1)
		first := s.VelocityVariation()
		for k := range 40 {
			want := first * math.Pow(1-float64(n)*c.SampleSeconds, 2*float64(k))
			if got := s.VelocityVariation(); !closeTo(got, want, 1e-14) || got > 1e-12 && !closeTo(got/want, 1, 1e-9) {
				t.Fatalf("%d robots, step %d: velocity variation %v, want %v", n, k, got, want)
			}
			flyExpert(t, s, 1)
		}
	}
}

// The expert's forces cancel: while nothing saturates, the mean velocity stays.
// Reference: Section 6.2, eq. (22).
func TestExpertKeepsTheMeanVelocity(t *testing.T) {
	c := flocking.Default()
	c.MaxAccelMPS2 = 1e9
	s := newSwarm(t, c, 1)
	mean := func() (m [2]float64) {
		for _, v := range s.Velocities() {
			m[0] += v[0] / 50
			m[1] += v[1] / 50
		}
		return m
	}
	want := mean()
	flyExpert(t, s, 200)
	got := mean()
	for d := range got {
		if !closeTo(got[d], want[d], 1e-9) {
			t.Errorf("mean velocity went from %v to %v", want, got)
		}
	}
}

// The expert against a double loop over all robots, also where robots repel
// each other beyond the communication radius.
// Reference: Section 6.2, eq. (22).
func TestExpertIsTheDoubleLoop(t *testing.T) {
	for _, radius := range []float64{0, 0.5, 1, 2, 3.5} {
		c := flocking.Default()
		c.RepulsionRadiusMeters = radius
		s := newSwarm(t, c, 1)
		got := make([][2]float64, 50)
		for range 20 {
			s.Expert(got)
			p, v := s.Positions(), s.Velocities()
			for i := range got {
				var want [2]float64
				for j := range got {
					dx, dy := p[i][0]-p[j][0], p[i][1]-p[j][1]
					d, force := math.Hypot(dx, dy), 0.0
					if j != i && d < radius {
						force = 2 * (1/math.Pow(d, 4) + 1/math.Pow(d, 2))
					}
					want[0] += v[j][0] - v[i][0] + dx*force
					want[1] += v[j][1] - v[i][1] + dy*force
				}
				for d := range want {
					if w := min(max(want[d], -10), 10); !closeTo(got[i][d], w, 1e-9) {
						t.Fatalf("repulsion radius %v, robot %d: got %v, want %v", radius, i, got[i], want)
					}
				}
			}
			step(t, s, got)
		}
	}
}
