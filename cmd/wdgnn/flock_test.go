package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/internal/flock"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

func TestFlockUsage(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"--robots 0", exitUsage, "--robots is 0"},
		{"--radius -1", exitUsage, "--radius is -1"},
		{"--robots 5 --stop 5@1s", exitUsage, "want 0 to 4"},
		{"--stop x@1s", exitUsage, "want ROBOT@TIME"},
		{"--stop 1@soon", exitUsage, "want ROBOT@TIME"},
		{"--delay -1", exitUsage, "--delay is -1"},
		{"--flights 0", exitUsage, "--flights is 0"},
		{"--near-cap -3", exitUsage, "--near-cap is -3"},
		{"--train-epochs 0", exitUsage, "--epochs is 0"},
		{"a b", exitUsage, "one model at a time"},
		{"nothing.safetensors", exitFailure, "nothing.safetensors"},
	} {
		args := append([]string{"flock", "--out", out}, strings.Fields(c.args)...)
		code, _, stderr := exec(context.Background(), args...)
		if code != c.code || !strings.Contains(stderr, c.want) || !strings.Contains(stderr, "Try: wdgnn flock") {
			t.Errorf("wdgnn flock %s: exit code %d and %q, want %d and %q", c.args, code, stderr, c.code, c.want)
		}
	}
}

func TestFlockInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	code, _, stderr := exec(ctx, "flock", "--out", t.TempDir())
	if code != exitInterrupted || !strings.Contains(stderr, "wdgnn: interrupted") {
		t.Errorf("exit code %d and %q, want %d and word of the interruption", code, stderr, exitInterrupted)
	}
}

// On a terminal the view is four lines that are drawn over.
func TestFlightView(t *testing.T) {
	plan := flock.Plan{World: flocking.Default(), Flights: 2, Online: flock.OnlineDistributed}
	plan.World.Robots, plan.World.DurationSeconds = 5, 0.02
	s, err := flocking.New(plan.World, random.Stream(1, "view"))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	view := newFlightView(&b, &plan)
	view.wide = 80
	for range 2 {
		if err := view.show(context.Background(), flock.Instant{Flight: 1, Swarm: s, Learner: still{}, Expert: 0.5}); err != nil {
			t.Fatal(err)
		}
		if err := s.Step(make([][2]float64, 5)); err != nil {
			t.Fatal(err)
		}
	}
	view.end()
	text := b.String()
	if n := strings.Count(text, "\n"); n != 8 || strings.Count(text, "\x1b[4A") != 1 {
		t.Errorf("got %d lines, want twice 4 drawn over each other: %q", n, text)
	}
	for _, want := range []string{"flight 2/2", "0.01 of 0.02 s", "learned ", "expert     0.5000", "█", "closest", "drift 0.250"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %q", want, text)
		}
	}
	if view.paused <= 0 {
		t.Error("the view took no time for people to watch")
	}
}

// still is a learner of which only the drift is asked.
type still struct{ online.Learner }

func (still) Drift() online.Drift { return online.Drift{Moved: 0.25} }
