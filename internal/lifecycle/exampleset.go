package lifecycle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/random"
)

// ExampleSet is a small set of data to begin with: 50 nodes in five
// communities.
//
// To classify: a pulse starts at some node and spreads, and five detectors, one
// per community, are to say in which community it started. To regress: nodes
// read a smooth field with noise, and are to say what the field is.
//
// The same task gives the same numbers on every machine.
type ExampleSet struct {
	Graph        string // an edge list
	Signals      []float32
	SignalsShape []int
	Targets      []float32
	TargetsShape []int
	Read         []int

	// A stream to meet afterwards: at step 100 of 400 the network loses a
	// tenth of its links, and what spreads does so over those that are left.
	StreamGraph        string // with a time column
	StreamSignals      []float32
	StreamSignalsShape []int
	StreamTargets      []float32
	StreamTargetsShape []int
}

const (
	exampleCommunities = 5
	exampleMembers     = 10
	exampleNodes       = exampleCommunities * exampleMembers
	exampleSamples     = 600
	exampleSeed        = 1

	exampleSteps  = 400 // of the stream
	exampleLoss   = 100 // the step at which links are lost
	exampleOutage = 0.1
)

// NewExampleSet draws the set for a task.
func NewExampleSet(task config.Task) (*ExampleSet, error) {
	sizes := make([]int, exampleCommunities)
	for c := range sizes {
		sizes[c] = exampleMembers
	}
	rng := random.Stream(exampleSeed, "example graph")
	g, err := graph.UntilConnected(1000, func() (*graph.Graph, error) {
		return graph.SBM(graph.SBMConfig{Sizes: sizes, Intra: 0.6, Inter: 0.03}, rng)
	})
	if err != nil {
		return nil, err
	}
	set := &ExampleSet{Graph: "src,dst\n" + edgeList(g, ""), SignalsShape: []int{exampleSamples, exampleNodes, 1}}
	rng = random.Stream(exampleSeed, "example "+string(task))
	world := spread{g}
	switch task {
	case config.Classify:
		set.TargetsShape = []int{exampleSamples}
		for c := range exampleCommunities {
			set.Read = append(set.Read, c*exampleMembers+exampleMembers/2)
		}
		for range exampleSamples {
			set.pulse(world, rng)
		}
	case config.Regress:
		set.TargetsShape = set.SignalsShape
		for range exampleSamples {
			set.field(world, rng)
		}
	default:
		return nil, fmt.Errorf("no example for task %q", task)
	}
	return set, set.stream(g, task)
}

// stream adds the stream to a set whose network is g.
func (s *ExampleSet) stream(g *graph.Graph, task config.Task) error {
	rest, err := graph.NewOutage(g, random.Stream(exampleSeed, "example outage")).At(exampleOutage)
	if err != nil {
		return err
	}
	s.StreamGraph = "src,dst,time\n" + edgeList(g, ",0") + edgeList(rest, fmt.Sprintf(",%d", exampleLoss))
	rng := random.Stream(exampleSeed, "example stream "+string(task))
	drawn := new(ExampleSet)
	for t := range exampleSteps {
		world := spread{g}
		if t >= exampleLoss {
			world = spread{rest}
		}
		if task == config.Classify {
			drawn.pulse(world, rng)
		} else {
			drawn.field(world, rng)
		}
	}
	s.StreamSignals, s.StreamTargets = drawn.Signals, drawn.Targets
	s.StreamSignalsShape, s.StreamTargetsShape = slices.Clone(s.SignalsShape), slices.Clone(s.TargetsShape)
	s.StreamSignalsShape[0], s.StreamTargetsShape[0] = exampleSteps, exampleSteps
	return nil
}

// pulse adds a sample of the classification.
func (s *ExampleSet) pulse(w spread, rng *rand.Rand) {
	source, steps := rng.IntN(exampleNodes), 2+rng.IntN(4)
	x := make([]float64, exampleNodes)
	x[source] = 10
	for range steps {
		x = w.step(x)
	}
	for _, v := range x {
		s.Signals = append(s.Signals, rounded(v+float64(0.05*rng.NormFloat64())))
	}
	s.Targets = append(s.Targets, float32(source/exampleMembers))
}

// field adds a sample of the regression.
func (s *ExampleSet) field(w spread, rng *rand.Rand) {
	x := make([]float64, exampleNodes)
	for i := range x {
		x[i] = 3 * rng.NormFloat64()
	}
	for range 4 {
		x = w.step(x)
	}
	for _, v := range x {
		s.Signals = append(s.Signals, rounded(v+float64(0.5*rng.NormFloat64())))
		s.Targets = append(s.Targets, rounded(v))
	}
}

// spread moves half of each value on to the neighbours.
type spread struct{ g *graph.Graph }

func (w spread) step(x []float64) []float64 {
	next := make([]float64, len(x))
	for i := range x {
		sum := 0.0
		for _, j := range w.g.Neighbors(i) {
			sum += x[j] / float64(w.g.Degree(int(j)))
		}
		next[i] = (x[i] + sum) / 2
	}
	return next
}

// rounded keeps four digits after the point.
func rounded(v float64) float32 {
	if v < 0 {
		return -rounded(-v)
	}
	return float32(float64(int64(float64(v*1e4)+0.5)) / 1e4)
}

// edgeList writes the edges of an undirected graph without weights, and what
// ends a line.
func edgeList(g *graph.Graph, end string) string {
	var b strings.Builder
	for i := range g.Nodes() {
		for _, j := range g.Neighbors(i) {
			if int(j) > i {
				fmt.Fprintf(&b, "%d,%d%s\n", i, j, end)
			}
		}
	}
	return b.String()
}
