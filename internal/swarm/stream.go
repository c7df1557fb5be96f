package swarm

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/internal/snapshot"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
)

// streamWorld is a stream of files, as wdgnn online plays it.
type streamWorld struct {
	*lifecycle.Stream
	scale float64 // λmax that all shifts are divided by; 0 if they are not
	most  int     // steps that are played
	now   *graph.Graph

	scaled map[*graph.Graph]*mat.CSR
}

// NewStreamTask returns a model at work on the stream of a configuration, with the
// rule that wdgnn online would take: as many steps as are asked for, 0 means all.
// A model that has learned online goes on with what its nodes learned.
func NewStreamTask(c *config.Config, file *modelfile.Model, steps int) (*Task, error) {
	if c.Online != nil && c.Online.Mode != config.Distributed {
		return nil, fmt.Errorf("online.mode is %s, and agents learn each for itself; try online.mode: %s", c.Online.Mode, config.Distributed)
	}
	origin, err := snapshot.OriginOf(file)
	if err != nil {
		return nil, err
	}
	if origin != nil && !origin.Distributed() { // one set of taps learned for all: all begin there
		if file, err = lifecycle.Settled(file); err != nil {
			return nil, err
		}
	}
	r, err := lifecycle.NewOnlineRun(c, file, false)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if r.Rule.Mixes() && c.Online.MixingMatrix != graph.MixingMetropolis {
		return nil, fmt.Errorf("online.mixing_matrix is %v, and agents mix with weights that they find with their neighbours; try %v",
			c.Online.MixingMatrix, graph.MixingMetropolis)
	}
	most := r.Stream.Steps
	if steps > 0 {
		most = min(steps, most)
	}
	t := &Task{name: string(r.Stream.Task), model: file, Nodes: r.Stream.Nodes, rule: r.Rule, cost: costOf(c, r.Stream)}
	if t.Graph, err = everyLink(r.Stream); err != nil {
		return nil, err
	}
	t.whole = t.Graph
	if file.Meta.Forecast != "" {
		t.name = "forecast"
		t.World, err = newSeriesWorld(file, r, most)
		return t, err
	}
	w := &streamWorld{Stream: r.Stream, most: most, scaled: map[*graph.Graph]*mat.CSR{}}
	t.World = w
	_, settings := r.Setup()
	t.moment, t.scores, t.read = settings.Moment, settings.Scores, slices.Sorted(slices.Values(r.Stream.Read))
	if !file.Meta.Shift.Local() {
		w.scale = graph.LargestEigenvalue(w.Stream.Graph(0).Adjacency())
		if t.Graph.Edges() == 0 {
			w.scale = 1 // of nothing
		}
		if !(w.scale > 0) {
			return nil, fmt.Errorf("the shift %v is divided by λmax of the first graph of the stream, which has no links", file.Meta.Shift)
		}
		t.scale = w.scale
	}
	if origin.Distributed() {
		seed := r.Snapshot()
		t.seed = &seed
	}
	return t, nil
}

// Note says in words what was done to the files of a stream, and where agents differ
// from wdgnn online on the same; it is empty if there is nothing to say.
func (t *Task) Note() string {
	if w, ok := t.World.(*seriesWorld); ok {
		return strings.Join(w.run.Stream.Notes(), "\n")
	}
	w, ok := t.World.(*streamWorld)
	if !ok || w.scale == 0 || w.Changes < 2 {
		return ""
	}
	return fmt.Sprintf("links change: agents divide by λmax of the first graph, %.4g, all the time; wdgnn online by that of each", w.scale)
}

// costOf returns what targets of the stream mean.
func costOf(c *config.Config, s *lifecycle.Stream) host.Cost {
	if s.Task == config.Classify {
		return host.CrossEntropy
	}
	return host.Cost(cmp.Or(c.StreamLoss(), string(host.MSE)))
}

// everyLink returns a graph with all links that there ever are in a stream.
func everyLink(s *lifecycle.Stream) (*graph.Graph, error) {
	seen := map[[2]int32]bool{}
	var edges []graph.Edge
	var last *graph.Graph
	for _, g := range s.Graphs {
		if g == last {
			continue
		}
		if g.Directed() {
			return nil, errors.New("the links of the stream have a direction, and agents answer whom they hear; try directed: false")
		}
		last = g
		for _, e := range pairs(g) {
			if !seen[e] {
				seen[e] = true
				edges = append(edges, graph.Edge{From: int(e[0]), To: int(e[1]), Weight: 1})
			}
		}
	}
	return graph.FromEdges(s.Nodes, edges, false)
}

// Samples implements [online.World].
func (w *streamWorld) Samples() iter.Seq[graph.Sample] {
	return func(yield func(graph.Sample) bool) {
		for sample := range w.Stream.Samples() {
			if sample.Time == w.most {
				return
			}
			w.now = w.Stream.Graph(sample.Time)
			if w.scale != 0 {
				sample.Shift = w.shift(w.now)
			}
			if !yield(sample) {
				return
			}
		}
	}
}

// shift returns A / λmax of the first graph: agents have one scale for all.
func (w *streamWorld) shift(g *graph.Graph) *mat.CSR {
	if w.scaled[g] == nil {
		a := g.Adjacency()
		s := &mat.CSR{Rows: a.Rows, Cols: a.Cols, RowPtr: a.RowPtr, Col: a.Col, Val: slices.Clone(a.Val)}
		for e, v := range a.Val {
			s.Val[e] = float32(float64(v) / w.scale)
		}
		w.scaled[g] = s
	}
	return w.scaled[g]
}

// Reveal implements [online.World].
func (w *streamWorld) Reveal(y mat.Dense) loss.Loss { return plain(w.Stream.Reveal(y)) }

// late implements [lateWorld].
func (w *streamWorld) late(delay int) loss.Loss { return plain(w.Stream.Late(delay)) }

// known implements [lateWorld].
func (w *streamWorld) known() bool { return w.Stream.Known() }

// plain returns a cost by value.
func plain(j loss.Loss) loss.Loss {
	if c, ok := j.(*loss.CrossEntropy); ok {
		return *c
	}
	return j
}

// Graph implements [World].
func (w *streamWorld) Graph() *graph.Graph { return w.now }

// Near implements [World]: every link is known.
func (w *streamWorld) Near() *graph.Graph { return nil }
