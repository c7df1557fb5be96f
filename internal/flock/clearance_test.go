package flock

import (
	"context"
	"testing"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// Learning from distances lowers how much velocities differ and does not let
// robots collide more often than the controller as trained does, in single
// flights and carried from flight to flight. From velocities alone they collide.
func TestDistancesKeepRobotsApart(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: it trains a controller and flies 480 flights, which takes 10 s; run without -short", t.Name())
	}
	world := flocking.Default()
	world.Robots, world.NearCap = 20, 30 // a small team learns as much in less time
	trained, err := recipe.Imitate(context.Background(), recipe.Imitation{
		World: world, Seed: 12, Flights: 200, Epochs: 30, Shift: graph.ShiftRowStochastic, Dagger: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	world.Robots = 50
	c := &Controller{Model: trained.Model, Shift: trained.Shift, NearCap: world.NearCap}
	fly := func(mode Online, cost Cost, carry bool) (learned, frozen Summary) {
		t.Helper()
		p := Plan{World: world, Seed: 5, Flights: 40, Online: mode, Cost: cost, Gamma: 0.2, Clip: 1, Carry: carry}
		r, err := p.Fly(context.Background(), c, nil)
		if err != nil {
			t.Fatal(err)
		}
		learned, frozen = r.Learned.Mean(), r.Frozen.Mean()
		t.Logf("%s, from %s, carried %v: total %.1f, as trained %.1f; steps with a collision %d, as trained %d of %d",
			mode, r.Plan.Cost, carry, learned.Total, frozen.Total, learned.Crashed, frozen.Crashed, frozen.Steps)
		return learned, frozen
	}
	for _, way := range []struct {
		mode  Online
		carry bool
	}{{OnlineDistributed, false}, {OnlineDistributed, true}, {OnlineCentralized, true}} {
		learned, frozen := fly(way.mode, "", way.carry)
		if learned.Total > 0.98*frozen.Total {
			t.Errorf("%s, carried %v: velocity variation %.1f, want less than %.1f as trained", way.mode, way.carry, learned.Total, frozen.Total)
		}
		if learned.Crashed > frozen.Crashed {
			t.Errorf("%s, carried %v: %d steps with a collision, want at most %d as trained", way.mode, way.carry, learned.Crashed, frozen.Crashed)
		}
	}
	if learned, frozen := fly(OnlineDistributed, CostVelocities, true); learned.Crashed < 5*frozen.Crashed {
		t.Errorf("from velocities: %d steps with a collision, want many more than %d", learned.Crashed, frozen.Crashed)
	}
}
