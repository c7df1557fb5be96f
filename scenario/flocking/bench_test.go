package flocking_test

import (
	"fmt"
	"testing"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// Stepping, sensing and judging allocate nothing in steady state, and a shift
// the few words of its header.
func TestNoAllocation(t *testing.T) {
	if raceEnabled {
		t.Skipf("SKIPPED %s: the race detector allocates; it runs without -race", t.Name())
	}
	broken := flocking.Default()
	broken.Faults = flocking.Faults{MessageLoss: 0.1, DelaySteps: 2, Stops: []flocking.Stop{{Robot: 1}}}
	for name, c := range map[string]flocking.Config{"sound": flocking.Default(), "broken": broken} {
		s := newSwarm(t, c, 1)
		accel, u := make([][2]float64, 50), actions(50, random.Stream(1, "actions"))
		x, du := mat.NewDense(50, flocking.Features, nil), mat.NewDense(50, 2, nil)
		var (
			global flocking.Variation
			local  flocking.Neighborhood
		)
		round := func() {
			s.Signal(x)
			_, shiftErr := s.Shift(graph.ShiftSpectral)
			s.VelocityVariation()
			s.Closest()
			s.Components()
			global.Reset(s)
			global.Eval(du, u)
			local.Reset(s, u)
			local.Eval(du, u)
			s.Expert(accel)
			if stepErr := s.Step(accel); stepErr != nil || shiftErr != nil {
				t.Fatal(stepErr, shiftErr)
			}
		}
		for range 100 {
			round()
		}
		if got := testing.AllocsPerRun(50, round); got != 1 {
			t.Errorf("%s: %v allocations per step, want 1, the header of the shift", name, got)
		}
	}
}

// A step of the expert: whom robots hear, what they sense, what to do, moving.
func BenchmarkExpertStep(b *testing.B) {
	for _, n := range []int{50, 1000, 10_000} {
		b.Run(fmt.Sprintf("N=%d", n), func(b *testing.B) {
			s, accel := newSwarm(b, robots(n), 1), make([][2]float64, n)
			b.ReportAllocs()
			for b.Loop() {
				if s.Time() == 200 {
					b.StopTimer()
					s = newSwarm(b, robots(n), 1)
					b.StartTimer()
				}
				s.Expert(accel)
				if err := s.Step(accel); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// What a controller and a recorder add to a step.
func BenchmarkParts(b *testing.B) {
	s := newSwarm(b, flocking.Default(), 1)
	flyExpert(b, s, 20)
	accel, u := make([][2]float64, 50), actions(50, random.Stream(1, "actions"))
	du := mat.NewDense(50, 2, nil)
	var (
		global flocking.Variation
		local  flocking.Neighborhood
		flight flocking.Flight
	)
	global.Reset(s)
	local.Reset(s, u)
	for _, c := range []struct {
		name string
		run  func()
	}{
		{"expert", func() { s.Expert(accel) }},
		{"watch", func() { flight = flocking.Flight{}; flight.Watch(s) }},
		{"mixing", func() { _, _ = s.Mixing() }},
		{"variation", func() { global.Reset(s); global.Eval(du, u) }},
		{"neighborhood", func() { local.Reset(s, u); local.Eval(du, u) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.run()
			}
		})
	}
}

func BenchmarkNew(b *testing.B) {
	for _, n := range []int{50, 10_000} {
		b.Run(fmt.Sprintf("N=%d", n), func(b *testing.B) {
			for b.Loop() {
				newSwarm(b, robots(n), 1)
			}
		})
	}
}
