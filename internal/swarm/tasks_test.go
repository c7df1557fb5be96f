package swarm

import (
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/flock"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// robots returns a flight of robots with a controller that has learned nothing
// yet; what it does to them must be the same everywhere.
func robots(t *testing.T) *Task {
	t.Helper()
	m, err := gnn.NewRandom(gnn.Config{
		In: flocking.Features, Features: 8, Outputs: 2, Wide: &gnn.WideConfig{Order: 3}, Deep: []gnn.LayerConfig{{Order: 3, Features: 8}},
	}, random.Stream(3, "init"))
	if err != nil {
		t.Fatal(err)
	}
	world := flocking.Default()
	world.Robots, world.DurationSeconds = 20, 0.4
	c := &flock.Controller{Model: m, Shift: graph.ShiftRowStochastic}
	task, err := NewFlockTask(c, world, flocking.CostClearance, recipe.OnlineFlight(0.05, 1), 3, "test")
	if err != nil {
		t.Fatal(err)
	}
	return task
}

// sources returns source localization after hardly any training.
func sources(t *testing.T) *Task {
	t.Helper()
	l, err := recipe.Localize(t.Context(), recipe.Localization{Seed: 3, Signals: 200, Epochs: 1, Shift: graph.ShiftRowStochastic})
	if err != nil {
		t.Fatal(err)
	}
	task, err := NewSourceTask(l, rule.Neighbours().Ungated(), 30, 10, 0.3)
	if err != nil {
		t.Fatal(err)
	}
	return task
}

// Both tasks on graphs that change have the bits of one learner over every bus: the
// robots fly the same way.
// Reference: Section 6.1 and 6.2, eq. (9) and (24).
func TestTasksSameBits(t *testing.T) {
	for name, build := range map[string]func(*testing.T) *Task{"sourceloc": sources, "flocking": robots} {
		for _, bus := range []string{BusMem, box.BusNATS, box.BusTCP} {
			t.Run(name+" over "+bus, func(t *testing.T) {
				task := build(t)
				r, err := Up(t.Context(), Options{
					Task: task, Run: "task", Hosts: 5, Bus: bus, Dir: t.TempDir(), Verify: true,
					Pace: host.Pace{Deadline: 20 * time.Second, Retry: 20 * time.Millisecond},
				})
				if err != nil {
					t.Fatal(err)
				}
				if !r.Verified.Same() || r.Missing != 0 {
					t.Errorf("%+v; %d answers missing, want the same bits", *r.Verified, r.Missing)
				}
			})
		}
	}
}
