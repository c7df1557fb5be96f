package swarm

import (
	"fmt"
	"iter"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/flock"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/scenario/flocking"
	"github.com/wdgnn/wdgnn/scenario/sourceloc"
)

// Task is what a swarm works on: a model, how its nodes learn, and the world; see
// NewSourceTask and NewFlockTask.
type Task struct {
	Nodes  int
	Strict bool // neighbours are dropped for the rest of a step, not for one hop; see agent.Plan
	World  World

	// Graph holds every link that there may ever be; nil means that anybody
	// may meet anybody. whole holds those that were lost for good as well.
	Graph, whole *graph.Graph

	name  string // sourceloc, flocking, or the task of a model of one's own
	model *modelfile.Model
	rule  rule.Config
	cost  host.Cost

	// moment is the second moment of the inputs in training, for rules that
	// learn by second derivatives; the model file holds it too.
	moment *rule.SecondMoment

	// Of a model of one's own, on a stream: the nodes that are asked, ascending,
	// nil meaning those of the model; how their earlier answers turned out; λmax
	// that shifts are divided by, 0 if they are not; and what all nodes begin with,
	// nil if with the model.
	read   []int
	scores func(node int) [][]float64
	scale  float64
	seed   *online.Snapshot
}

// delay returns by how many steps nodes are told late what their answers cost. Those
// that forecast are told nothing: truths come with readings.
func (t *Task) delay() int {
	if _, forecasts := t.World.(*seriesWorld); forecasts {
		return 0
	}
	return t.rule.Delay
}

// observed returns how the model is observed in one process.
func (t *Task) observed() online.Config {
	c := online.Config{Nodes: t.Nodes, Moment: t.moment, Read: t.read, Delayed: t.model.Meta.Delayed, Scores: t.scores}
	if c.Read == nil {
		c.Read = t.model.Meta.Nodes
	}
	return c
}

// sourceWorld is source localization on graphs that lose links: one graph after
// the other serves renew signals.
type sourceWorld struct {
	*sourceloc.Stream
	graphs []*graph.Graph
	renew  int
	now    *graph.Graph

	sources []int // where pulses start
}

// NewSourceTask returns source localization with the given signals left out of
// training, over a network in which each link is lost with probability p; after
// renew signals other links are lost, never if renew is 0.
func NewSourceTask(l *recipe.Localized, r rule.Config, signals, renew int, p float64) (*Task, error) {
	var graphs []*graph.Graph
	count := 1
	if renew > 0 {
		count = (signals + renew - 1) / renew
	}
	for k := range count {
		g, err := l.Subgraph(k, p)
		if err != nil {
			return nil, err
		}
		graphs = append(graphs, g)
	}
	values, labels := l.Test(signals)
	stream, err := l.World.NewStreamOver(l.Model.Meta.Shift.Of, graphs, renew, values, labels)
	if err != nil {
		return nil, err
	}
	possible := l.World.Graph
	if renew == 0 {
		possible = graphs[0]
	}
	return &Task{
		name: "sourceloc", model: l.Model, Nodes: l.World.Graph.Nodes(), rule: r, moment: l.Moment, cost: host.CrossEntropy,
		Graph: possible, whole: l.World.Graph, World: &sourceWorld{Stream: stream, graphs: graphs, renew: renew, sources: l.World.Sources},
	}, nil
}

// NewFlockTask returns a flight of robots by a controller that learns from what
// each robot pays.
func NewFlockTask(
	c *flock.Controller, world flocking.Config, cost flocking.Cost, r rule.Config, seed uint64, version string,
) (*Task, error) {
	world.NearCap = c.NearCap
	w, err := newFlockWorld(world, c.Shift, cost, seed)
	if err != nil {
		return nil, err
	}
	return &Task{
		name: "flocking", model: c.File(seed, version), Nodes: world.Robots, rule: r, cost: host.Gradient, World: w,
	}, nil
}

// Samples implements [online.World].
func (w *sourceWorld) Samples() iter.Seq[graph.Sample] {
	return func(yield func(graph.Sample) bool) {
		for sample := range w.Stream.Samples() {
			w.now = w.graphs[0]
			if w.renew > 0 {
				w.now = w.graphs[sample.Time/w.renew%len(w.graphs)]
			}
			if !yield(sample) {
				return
			}
		}
	}
}

// Graph implements [World].
func (w *sourceWorld) Graph() *graph.Graph { return w.now }

// Near implements [World]: links only fail.
func (w *sourceWorld) Near() *graph.Graph { return nil }

// flockWorld is robots in flight, as an online learner sees them.
type flockWorld struct {
	*flocking.Stream
	swarm *flocking.Swarm
	near  graph.Builder
}

// newFlockWorld returns a flight of c.DurationSeconds.
func newFlockWorld(c flocking.Config, shift graph.Shift, cost flocking.Cost, seed uint64) (*flockWorld, error) {
	s, err := flocking.New(c, random.Stream(seed, "start"))
	if err != nil {
		return nil, err
	}
	stream, err := flocking.NewStream(s, shift, cost)
	if err != nil {
		return nil, err
	}
	return &flockWorld{Stream: stream, swarm: s}, nil
}

// Graph implements [World].
func (w *flockWorld) Graph() *graph.Graph { return w.swarm.Heard() }

// nearFactor is how much farther than the radius robots are listened for: two
// robots need seven steps at least to cross the difference, at top speed.
const nearFactor = 1.2

// Near implements [World].
func (w *flockWorld) Near() *graph.Graph {
	g, err := w.near.Geometric(w.swarm.Positions(), nearFactor*w.swarm.Config().CommRadiusMeters)
	if err != nil {
		panic(fmt.Sprintf("swarm: %v", err))
	}
	return g
}
