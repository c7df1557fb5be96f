package flocking_test

import (
	"math"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// A robot without actuator coasts and goes on talking; one without radio flies
// and hears nobody; a whole robot does neither.
func TestStops(t *testing.T) {
	c := flocking.Default()
	c.Faults.Stops = []flocking.Stop{
		{Robot: 1, Step: 5, Part: flocking.PartActuator},
		{Robot: 2, Step: 5, Part: flocking.PartRadio},
		{Robot: 3, Step: 5},
	}
	s := newSwarm(t, c, 1)
	flyExpert(t, s, 4)
	if s.Heard().Degree(2) == 0 {
		t.Error("robot 2 is mute before its time")
	}
	flyExpert(t, s, 1)
	before := slices.Clone(s.Velocities())
	flyExpert(t, s, 3)
	for robot, want := range map[int]struct{ coasts, talks bool }{0: {false, true}, 1: {true, true}, 2: {false, false}, 3: {true, false}} {
		if got := s.Velocities()[robot] == before[robot]; got != want.coasts {
			t.Errorf("robot %d coasts: %v, want %v", robot, got, want.coasts)
		}
		if got := s.Heard().Degree(robot) > 0; got != want.talks {
			t.Errorf("robot %d talks: %v, want %v", robot, got, want.talks)
		}
		if s.Graph().Degree(robot) == 0 {
			t.Errorf("robot %d is out of range, want faults to leave Graph alone", robot)
		}
	}
	w, err := s.Mixing()
	if err != nil || w.At(3, 3) != 1 || s.Heard().Directed() {
		t.Errorf("a mute robot has W_ii = %v (%v), want 1", w.At(3, 3), err)
	}
	counts := s.Counts()
	if counts.Idle != 2*3 || counts.Muted == 0 || counts.Lost != 0 {
		t.Errorf("counts are %+v, want 6 idle actions and muted links", counts)
	}
}

// Each direction of each link fails on its own, with probability p.
func TestMessageLoss(t *testing.T) {
	c := flocking.Default()
	c.Faults.MessageLoss = 0.25
	s := newSwarm(t, c, 1)
	oneWay := 0
	for range 50 {
		heard := s.Heard()
		for i := range 50 {
			for _, j := range heard.Neighbors(i) {
				if s.Graph().Adjacency().At(i, int(j)) == 0 {
					t.Fatalf("step %d: %d hears %d, which is out of range", s.Time(), i, j)
				}
				if heard.Adjacency().At(int(j), i) == 0 {
					oneWay++
				}
			}
		}
		flyExpert(t, s, 1)
	}
	counts := s.Counts()
	if got := float64(counts.Lost) / float64(counts.Messages); math.Abs(got-0.25) > 0.02 {
		t.Errorf("%d of %d messages were lost, want about 0.25", counts.Lost, counts.Messages)
	}
	if oneWay == 0 {
		t.Error("messages are always lost both ways")
	}
}

// With a delay of d steps controllers see what there was d steps ago, and
// nothing before.
func TestDelay(t *testing.T) {
	const delay = 3
	c := flocking.Default()
	prompt := newSwarm(t, c, 1)
	c.Faults.DelaySteps = delay
	late := newSwarm(t, c, 1)
	var (
		features [][][flocking.Features]float64
		graphs   []*graph.Graph
	)
	for k := range 12 {
		features = append(features, slices.Clone(prompt.Features()))
		graphs = append(graphs, prompt.Heard().Clone())
		if !late.Graph().Adjacency().Equal(prompt.Graph().Adjacency()) {
			t.Fatalf("step %d: Graph is delayed", k)
		}
		if k < delay {
			if late.Heard().Edges() != 0 || late.Features()[0] != [flocking.Features]float64{} || shiftOf(t, late, graph.ShiftSpectral).NNZ() != 0 {
				t.Errorf("step %d: something is known before the first message", k)
			}
		} else if !slices.Equal(late.Features(), features[k-delay]) || !late.Heard().Adjacency().Equal(graphs[k-delay].Adjacency()) {
			t.Errorf("step %d: what is known is not what there was at step %d", k, k-delay)
		}
		flyExpert(t, prompt, 1)
		flyExpert(t, late, 1)
	}
	if got := late.Counts().Blind; got != delay {
		t.Errorf("%d blind steps, want %d", got, delay)
	}
}

// Without faults nothing is counted but messages.
func TestNoFaults(t *testing.T) {
	s := newSwarm(t, flocking.Default(), 1)
	flyExpert(t, s, 5)
	got := s.Counts()
	if got.Messages == 0 {
		t.Error("no messages were sent")
	}
	got.Messages = 0
	if got != (flocking.Counts{}) {
		t.Errorf("counts are %+v, want nothing but messages", got)
	}
	if s.Heard() != s.Graph() {
		t.Error("Heard is not Graph")
	}
}
