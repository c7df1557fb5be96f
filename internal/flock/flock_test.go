package flock

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// someController brakes, and its deep part disturbs it a little.
func someController(t *testing.T) *Controller {
	t.Helper()
	m, err := gnn.NewRandom(gnn.Config{
		In: flocking.Features, Features: 8, Outputs: 2,
		Wide: &gnn.WideConfig{Order: 2}, Deep: []gnn.LayerConfig{{Order: 2, Features: 8, Activation: gnn.Tanh}},
	}, random.Stream(1, "controller"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tap := range m.Params.Wide.Taps {
		tap.Zero()
	}
	for c := range 2 {
		for g := range 8 {
			m.Params.Readout.Weight.Set(g, c, 0.1)
		}
		m.Params.Readout.Weight.Set(c, c, 1)
		m.Params.Readout.Weight.Set(c, 1-c, 0)
		m.Params.Wide.Taps[0].Set(c, c, -1)
	}
	return &Controller{Model: m, Shift: graph.ShiftRowStochastic}
}

// somePlan is a short flight of few robots.
func somePlan() Plan {
	p := Plan{World: flocking.Default(), Seed: 3, Flights: 1}
	p.World.Robots, p.World.DurationSeconds = 12, 0.3
	return p
}

func fly(t *testing.T, p Plan) *Result {
	t.Helper()
	r, err := p.Fly(context.Background(), someController(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A flight is recorded step by step, and the expert's is beside it.
func TestFly(t *testing.T) {
	p, steps := somePlan(), 0
	r, err := p.Fly(context.Background(), someController(t), func(m Instant) error {
		if m.Swarm.Time() != steps || m.Flight != 0 || !(m.Expert > 0) {
			t.Errorf("step %d: got time %d of flight %d, expert %v", steps, m.Swarm.Time(), m.Flight, m.Expert)
		}
		steps++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	tape := r.Recording
	flown, led := tape.Learned.Variation, tape.Expert.Variation
	if steps != 30 || len(tape.Frames) != 30 || len(tape.Moved) != 30 || len(flown) != 30 || len(led) != 30 {
		t.Errorf("got %d steps watched, %d frames, %d drifts, want 30 of each", steps, len(tape.Frames), len(tape.Moved))
	}
	if flown[0] != led[0] {
		t.Errorf("the expert starts at variation %v, the controller at %v, want the same start", led[0], flown[0])
	}
	if r.Frozen != nil || r.Drift.Moved != 0 {
		t.Errorf("nothing is learned, got drift %v", r.Drift)
	}
	if !(flown[29] < flown[0]) {
		t.Errorf("velocity variation went from %v to %v, want less", flown[0], flown[29])
	}
}

// The taps of one flight are there in the next if they are carried, and are
// not otherwise.
func TestCarry(t *testing.T) {
	for _, way := range []Plan{
		{Online: OnlineCentralized},
		{Online: OnlineDistributed},
		{Online: OnlineCentralized, Cost: CostVelocities},
		{Online: OnlineDistributed, Cost: CostVelocities},
	} {
		p, mode := somePlan(), way.Online+" "+Online(way.Cost)
		p.Online, p.Cost, p.Gamma, p.Flights = way.Online, way.Cost, 0.5, 3
		alone := fly(t, p)
		p.Carry = true
		carried := fly(t, p)
		if alone.Learned.Flights[0] != carried.Learned.Flights[0] {
			t.Errorf("%s: first flights differ: %+v, %+v", mode, alone.Learned.Flights[0], carried.Learned.Flights[0])
		}
		if alone.Learned.Flights[2] == carried.Learned.Flights[2] {
			t.Errorf("%s: third flights are the same, carried or not", mode)
		}
		if alone.Frozen == nil || alone.Frozen.Flights[2] != carried.Frozen.Flights[2] {
			t.Errorf("%s: the controller as trained must not depend on what is carried", mode)
		}
		if carried.Drift.Steps != 90 || alone.Drift.Steps != 30 || !(carried.Drift.Moved > 0) {
			t.Errorf("%s: got drifts %+v carried, %+v alone, want 90 and 30 steps", mode, carried.Drift, alone.Drift)
		}
	}
}

func TestFaultsAreCounted(t *testing.T) {
	p := somePlan()
	stops := []flocking.Stop{{Robot: 3, Step: 10}, {Robot: 5, Step: 20, Part: flocking.PartActuator}}
	p.World.Faults = flocking.Faults{Stops: stops, MessageLoss: 0.3, DelaySteps: 2}
	r := fly(t, p)
	n := r.Learned.Mean().Counts
	if n.Idle != 20+10 || n.Blind != 2 || n.Muted == 0 {
		t.Errorf("got %+v, want 30 idle actions, 2 blind steps, some muted messages", n)
	}
	if share := float64(n.Lost) / float64(n.Messages); !(share > 0.2 && share < 0.4) {
		t.Errorf("got %d of %d messages lost, want about 3 in 10", n.Lost, n.Messages)
	}
	for _, f := range r.Recording.Frames {
		for _, pair := range f.Links {
			if f.Step >= 10 && (pair[0] == 3 || pair[1] == 3) {
				t.Fatalf("step %d: a link of robot 3, whose radio is out", f.Step)
			}
		}
	}
}

func TestSameSeedSameBytes(t *testing.T) {
	p := somePlan()
	p.Online, p.Gamma = OnlineDistributed, 0.1
	p.World.Faults.MessageLoss = 0.2
	var texts [3]bytes.Buffer
	for k := range texts {
		if k == 2 {
			p.Seed++
		}
		if err := fly(t, p).WriteJSON(&texts[k]); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(texts[0].Bytes(), texts[1].Bytes()) {
		t.Error("the same plan gave two texts")
	}
	if bytes.Equal(texts[0].Bytes(), texts[2].Bytes()) {
		t.Error("another seed gave the same text")
	}
	if !json.Valid(texts[0].Bytes()) {
		t.Error("not JSON")
	}
}

func TestPlanValidate(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Plan)
		want   string
	}{
		{"no robots", func(p *Plan) { p.World.Robots = 0 }, "robots is 0"},
		{"negative radius", func(p *Plan) { p.World.CommRadiusMeters = -1 }, "comm_radius_meters is -1"},
		{"no flights", func(p *Plan) { p.Flights = 0 }, "flights is 0"},
		{"unknown learning", func(p *Plan) { p.Online = "swarm" }, `online is "swarm", want off, centralized or distributed`},
		{"unknown cost", func(p *Plan) { p.Cost = "speed" }, `cost is "speed", want distances or velocities`},
		{"no step", func(p *Plan) { p.Online = OnlineDistributed }, "gamma is 0"},
		{"carry nothing", func(p *Plan) { p.Carry = true }, "carry keeps what is learned"},
		{"a robot that is not there", func(p *Plan) { p.World.Faults.Stops = []flocking.Stop{{Robot: 12}} }, "robot 12, want 0 to 11"},
		{
			"a stop after the end", func(p *Plan) { p.World.Faults.Stops = []flocking.Stop{{Step: 30}} },
			"robot 0 stops at step 30, and a flight has 30 steps",
		},
		{"certain loss", func(p *Plan) { p.World.Faults.MessageLoss = 1 }, "message_loss is 1"},
		{"a step that is not a number", func(p *Plan) { p.Online, p.Gamma = OnlineCentralized, math.NaN() }, "gamma is NaN"},
	} {
		p := somePlan()
		c.change(&p)
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
		if _, err := p.Fly(context.Background(), someController(t), nil); err == nil {
			t.Errorf("%s: it flies", c.name)
		}
	}
}

func TestTransfer(t *testing.T) {
	p := somePlan()
	p.World.DurationSeconds = 0.02
	plans := p.Worlds(true)
	if len(plans) != 9 || plans[5].World.Robots != 1000 || plans[6].World.CommRadiusMeters != 1.5 || plans[6].World.Robots != 12 {
		t.Fatalf("got %d plans", len(plans))
	}
	told := 0
	list, err := someController(t).Transfer(context.Background(), p.Worlds(false), func(int, Transfer) { told++ })
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 8 || told != 8 || list[4].Robots != 400 || list[7].Radius != 3 || len(list[4].Result.Expert.Flights) != 1 {
		t.Errorf("got %d worlds, %d told", len(list), told)
	}
}
