package recipe

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// smallFlight is a short flight of few robots.
func smallFlight() flocking.Config {
	c := flocking.Default()
	c.Robots, c.DurationSeconds = 12, 0.15
	return c
}

func flightOf(t *testing.T, c flocking.Config, seed uint64) *flocking.Swarm {
	t.Helper()
	s, err := flocking.New(c, random.Stream(seed, "flight"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// somePilot is a random WD-GNN whose actions are of the size of real ones.
func somePilot(t *testing.T) *Pilot {
	t.Helper()
	m := FlockSpec{Kind: WideDeep, Order: 3, Features: 8}
	c := m.Architecture()
	c.Wide.StartZero = false
	network, err := gnn.NewRandom(c, random.Stream(4, "pilot"))
	if err != nil {
		t.Fatal(err)
	}
	return &Pilot{Model: network, Shift: graph.ShiftSpectral}
}

// In closed loop, hop by hop, a pilot does what the model computes from the
// recorded flight at once, on its space-time graph, to the last bit.
// Reference: Section 6.2, eq. (24).
func TestClosedLoopIsBatch(t *testing.T) {
	p, s := somePilot(t), flightOf(t, smallFlight(), 1)
	n := s.Config().Robots
	var (
		actions []float32
		shifts  []*mat.CSR
		signals = mat.NewDense(s.Config().Steps()*n, flocking.Features, nil)
	)
	l, err := p.Learner(n)
	if err != nil {
		t.Fatal(err)
	}
	flight, err := p.Fly(context.Background(), s, l, func(s *flocking.Swarm, u mat.Dense) error {
		shift, err := s.Shift(p.Shift)
		if err != nil {
			return err
		}
		kept := *shift
		kept.RowPtr, kept.Col, kept.Val = slices.Clone(shift.RowPtr), slices.Clone(shift.Col), slices.Clone(shift.Val)
		s.Signal(signals.View(len(shifts)*n, 0, n, flocking.Features))
		shifts = append(shifts, &kept)
		actions = append(actions, u.Data...)
		return nil
	})
	if err != nil || len(flight.Variation) != 15 {
		t.Fatalf("%d steps, %v", len(flight.Variation), err)
	}
	z := mat.NewDense(signals.Rows, 4*flocking.Features, nil)
	var shifter gnn.Shifter
	shifter.Shift(z, graph.SpaceTime(shifts), signals)
	want := mat.NewDense(signals.Rows, 2, nil)
	p.Model.Forward(want, &gnn.Input{Shifted: z}, &gnn.Tape{})
	if !slices.Equal(actions, want.Data) {
		t.Error("actions in closed loop are not those of the batch")
	}
	control, err := p.Controller(n)
	if err != nil {
		t.Fatal(err)
	}
	again, err := flocking.Fly(flightOf(t, smallFlight(), 1), control)
	if err != nil || !slices.Equal(again.Variation, flight.Variation) {
		t.Errorf("the controller flies differently (%v)", err)
	}
	if control, err = p.Controller(n); err != nil { // one flies one flight
		t.Fatal(err)
	}
	set := &flightRows{kind: p.Shift, rows: mat.NewDense(z.Rows, z.Cols, nil), targets: mat.NewDense(z.Rows, 2, nil), each: z.Rows}
	if err := set.record(flightOf(t, smallFlight(), 1), 0, control); err != nil || !slices.Equal(set.rows.Data, z.Data) {
		t.Errorf("recorded rows are not those of the flight (%v)", err)
	}
}

// Landing keeps what was learned and forgets what was heard.
func TestLand(t *testing.T) {
	for _, cost := range []flocking.Cost{"", flocking.CostVariation, flocking.CostNeighborhood} {
		p := somePilot(t)
		p.Cost, p.Rule = cost, OnlineFlight(0.05, 1)
		l, err := p.Learner(12)
		if err != nil {
			t.Fatal(err)
		}
		fly := func() []float64 {
			f, err := p.Fly(context.Background(), flightOf(t, smallFlight(), 1), l, nil)
			if err != nil {
				t.Fatal(err)
			}
			return f.Variation
		}
		first := fly()
		moved := l.Drift()
		if err := Land(l); err != nil {
			t.Fatal(err)
		}
		if l.Drift() != moved || (moved.Steps > 0) != (cost != "") {
			t.Errorf("cost %q: drift %+v after landing, want %+v", cost, l.Drift(), moved)
		}
		if second := fly(); slices.Equal(first, second) != (cost == "") {
			t.Errorf("cost %q: the second flight of the same start is the same: %v", cost, cost != "")
		}
	}
}

// A model that was made for something else does not fly.
func TestPilotRefuses(t *testing.T) {
	pilot := func(cost flocking.Cost, c gnn.Config) Pilot { return Pilot{Model: mustModel(t, c), Cost: cost} }
	wide, deep := &gnn.WideConfig{Order: 2}, []gnn.LayerConfig{{Order: 2, Features: 4}}
	for want, p := range map[string]Pilot{
		"from 1 features to 5 outputs": pilot("", gnn.Config{In: 1, Features: 4, Outputs: 5, Wide: wide}),
		"from 6 features to 3 outputs": pilot("", gnn.Config{In: 6, Features: 3, Wide: wide}),
		`no cost is called "price"`:    pilot("price", gnn.Config{In: 6, Features: 4, Outputs: 2, Wide: wide}),
		"no wide part":                 pilot(flocking.CostVariation, gnn.Config{In: 6, Features: 4, Outputs: 2, Deep: deep}),
	} {
		if _, err := p.Learner(10); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that mentions %q", err, want)
		}
	}
	p := somePilot(t)
	p.Shift = graph.Shift(99)
	l, err := p.Learner(12)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Fly(context.Background(), flightOf(t, smallFlight(), 1), l, nil); err == nil {
		t.Error("a flight without a shift: no error")
	}
	l, err = somePilot(t).Learner(5)
	if err != nil {
		t.Fatal(err)
	}
	_, err = somePilot(t).Fly(context.Background(), flightOf(t, smallFlight(), 1), l, nil)
	if err == nil || !strings.Contains(err.Error(), "the network has 5") {
		t.Errorf("a learner of 5 robots flies 12: %v", err)
	}
}

func mustModel(t *testing.T, c gnn.Config) *gnn.WideDeep {
	t.Helper()
	m, err := gnn.NewRandom(c, random.Stream(1, "model"))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A controller is trained in one call: imitation brings velocities together
// faster than doing nothing, to the same bits on one thread and on two.
func TestImitate(t *testing.T) {
	c := smallFlight()
	c.DurationSeconds = 0.5
	for _, dagger := range []bool{false, true} {
		job := Imitation{World: c, Seed: 1, Flights: 40, Epochs: 30, Order: 2, Features: 8, Shift: graph.ShiftRowStochastic, Dagger: dagger}
		p, err := Imitate(context.Background(), job)
		if err != nil {
			t.Fatal(err)
		}
		job.Threads = 2
		same, err := Imitate(context.Background(), job)
		if err != nil || !slices.Equal(same.Model.Params.Flat, p.Model.Params.Flat) {
			t.Errorf("dagger %v: two threads train another model (%v)", dagger, err)
		}
		l, err := p.Learner(c.Robots)
		if err != nil {
			t.Fatal(err)
		}
		flight, err := p.Fly(context.Background(), flightOf(t, c, 9), l, nil)
		if err != nil || !(flight.Final() < 0.9*flight.Variation[0]) {
			t.Errorf("dagger %v: velocity variation ends at %v (%v), began at %v", dagger, flight.Final(), err, flight.Variation[0])
		}
	}
	_, err := Imitate(context.Background(), Imitation{World: c, Profile: "wild", Epochs: -1})
	for _, want := range []string{`no profile is called "wild"`, "epochs is -1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that mentions %q", err, want)
		}
	}
}
