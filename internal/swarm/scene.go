package swarm

import (
	"fmt"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/grid"
	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/transport"
)

// Learners of a scene.
const (
	learnerFrozen = iota
	learnerAgents
)

// Scene returns what a swarm of the given options shows on a page.
func Scene(o *Options) live.Scene {
	s := live.Scene{
		Title: grid.Count(o.Task.Nodes, "node") + " on " + grid.Count(o.Hosts, "host"), Task: o.Task.name, Time: "step",
		Learners: []string{"frozen", "agents"}, Looks: []int{live.LookFrozen, live.LookLearning},
		Counters: []live.Counter{
			{Name: "hosts up"},
			{Name: "steps per second"},
			{Name: "rows received per second"},
			{Name: "rows late", Unit: "%"},
			{Name: "frames lost per second"},
			{Name: "answers missing"},
		},
		Controls: controls(o),
	}
	owner := map[agent.NodeID]transport.HostID{}
	for h, nodes := range divide(o) {
		for _, i := range nodes {
			owner[i] = h
		}
	}
	for i := range o.Task.Nodes {
		s.Nodes = append(s.Nodes, fmt.Sprintf("node %d on host %d", i, owner[agent.NodeID(i)]))
		s.Groups = append(s.Groups, int(owner[agent.NodeID(i)]))
	}
	switch {
	case o.Task.cost == host.Gradient:
		flockScene(&s)
	case o.Task.cost == host.CrossEntropy:
		sourceScene(o.Task, &s)
	default:
		valueScene(o.Task, &s)
	}
	if s.Curves[0].Learner == learnerFrozen {
		s.Hero = &live.Hero{Chart: s.Curves[0].Chart, Learner: learnerAgents}
	}
	s.Quantities = append(s.Quantities,
		live.Quantity{Name: "disagreement", Learner: learnerAgents},
		live.Quantity{Name: "steps behind", Learner: -1, Good: "low"},
	)
	if o.Task.rule.Gate != nil {
		s.Quantities = append(s.Quantities, live.Quantity{Name: "answers with what it learned", Learner: learnerAgents, High: 1})
	}
	s.Curves = append(s.Curves,
		live.Curve{Name: "steps per second", Chart: "steps per second", Learner: -1, Note: "How fast the swarm answers."},
		live.Curve{Name: "rows", Chart: "rows received per second", Learner: -1, Note: "A row is what one node tells another in one hop."},
		live.Curve{
			Name: "frames", Chart: "frames lost per second", Learner: -1,
			Note: "A frame is what one host sends another; nobody waits for one that is lost.",
		},
		live.Curve{Name: "rows", Chart: "rows late per second", Learner: -1, Note: "What came after its step was over, and was not used."},
		live.Curve{
			Name: "agents", Chart: "disagreement of the nodes' taps", Learner: learnerAgents, Log: true,
			Note: "How far apart nodes are: small in consensus, large where each has taps of its own.",
		},
	)
	return s
}

func sourceScene(t *Task, s *live.Scene) {
	s.About = "A pulse starts in one of five communities and spreads. Processes that hear their neighbours only " +
		"run the nodes; detectors say where it started, are told, and learn. Kill one: its neighbours carry on."
	drawNetwork(t, s)
	if w, ok := t.World.(*sourceWorld); ok {
		for _, i := range w.sources {
			s.Marks = append(s.Marks, live.Mark{Node: i, Kind: "source"})
		}
	} else {
		s.About = aboutStream
	}
	for _, i := range t.observed().Read {
		s.Marks = append(s.Marks, live.Mark{Node: i, Kind: "detector"})
	}
	s.Quantities = append(s.Quantities,
		live.Quantity{Name: "correctness, last 50 signals", Learner: learnerAgents, Unit: "%", High: 100, Good: "high"},
		live.Quantity{Name: "local loss, last 50 signals", Learner: learnerAgents, High: 2, Good: "low"},
	)
	s.Curves = append(s.Curves,
		live.Curve{
			Name: "frozen", Chart: "right answers, last 100 signals", Learner: learnerFrozen, Unit: "%",
			Note: "How often the detectors are right: more is better." + noteFrozen,
		},
		live.Curve{Name: "agents", Chart: "right answers, last 100 signals", Learner: learnerAgents, Unit: "%"},
	)
}

// noteFrozen says what the model as trained is spared.
const noteFrozen = " Frozen is one process that hears all nodes: it loses no message and no host."

// aboutStream is what is said of a model of one's own.
const aboutStream = "A stream of files is the world. Processes that hear their neighbours only run the nodes; they answer, " +
	"are told what the answers should have been, and learn. Kill one: its neighbours carry on."

// aboutDeployment is what is said of boxes that are looked at.
const aboutDeployment = "Boxes that run the nodes, as they report once a second, and who hears whom. " +
	"This page looks on; it commands nothing."

// drawNetwork puts nodes where their links pull them.
func drawNetwork(t *Task, s *live.Scene) {
	s.Layout, s.Edges = live.LayoutForce, append(s.Edges, pairs(t.whole)...)
}

// valueScene is that of nodes whose answers are numbers.
func valueScene(t *Task, s *live.Scene) {
	s.About = aboutStream
	drawNetwork(t, s)
	s.Quantities = append(s.Quantities, live.Quantity{Name: "local loss, last 50 steps", Learner: learnerAgents, Good: "low"})
	s.Curves = append(s.Curves,
		live.Curve{
			Name: "frozen", Chart: "mean loss, last 500 answers", Learner: learnerFrozen,
			Note: "How wrong answers are: less is better." + noteFrozen,
		},
		live.Curve{Name: "agents", Chart: "mean loss, last 500 answers", Learner: learnerAgents},
	)
}

func flockScene(s *live.Scene) {
	s.About = "Robots keep together. Each is run by a process that hears the robots within its radius only, " +
		"moves by what they say, and goes on learning. Kill one and see what the others do."
	s.Layout = live.LayoutMoving
	s.Quantities = append(s.Quantities, live.Quantity{Name: "local cost", Learner: learnerAgents, Good: "low"})
	s.Curves = append(s.Curves, live.Curve{
		Name: "agents", Chart: "velocity variation", Learner: learnerAgents, Log: true,
		Note: "How much the robots' velocities differ: less is better, and 0 is a team that flies as one.",
	})
}
