package box

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/data"
)

// seriesFiles is a series of readings with what goes with it, as wdgnn online reads
// them.
type seriesFiles struct {
	series *data.Series
	graphs *data.SensorGraphs
	truths []float32 // T·N, NaN unknown; nil: the readings
	first  uint64    // the step of the first row
	from   uint64    // the first step that sensors have not read yet
	unlike error     // by how much it is unlike that of training; nil if it is not
}

// loadSeries reads the files of a stream of readings. What is wrong with them is said
// before anything is opened.
func (b *Box) loadSeries(p *agent.Plan) (*seriesFiles, error) {
	w, spec := &b.World, p.Forecast
	s, err := data.LoadSeries(b.abs(w.Series), data.SeriesOptions{
		Every: spec.Interval, Origin: spec.Origin, Missing: spec.Missing, Names: spec.Sensors,
	})
	if err != nil {
		return nil, fmt.Errorf("world: %w", err)
	}
	if want := 1 + spec.Extras; s.Features != want {
		return nil, fmt.Errorf("world: %s: %d numbers per reading, the model was trained with %d", w.Series, s.Features, want)
	}
	if last := slices.Max(b.nodes); int(last) >= s.Nodes {
		return nil, fmt.Errorf("world: %s: readings of %d sensors, and host %d has node %d; nodes count from 0, newcomers come last",
			w.Series, s.Nodes, b.Host, last)
	}
	f := &seriesFiles{series: s, unlike: spec.Unlike(s.Values, s.Nodes)}
	if errors.Is(f.unlike, forecast.ErrUnits) && !w.AnyUnits {
		return nil, fmt.Errorf("world: %s: %w; any_units: true, under world, takes them", w.Series, f.unlike)
	}
	if err := f.place(spec, p.Replayed.Sensors); err != nil {
		return nil, fmt.Errorf("world: %s: %w", w.Series, err)
	}
	if w.Truths != "" {
		if f.truths, err = data.LoadAnswers(b.abs(w.Truths), s, spec.Missing); err != nil {
			return nil, fmt.Errorf("world: %w", err)
		}
	}
	if f.graphs, err = b.sensorGraphs(s); err != nil {
		return nil, fmt.Errorf("world: %w", err)
	}
	return f, nil
}

// sensorGraphs returns the links of a series: those of a file, or those of training,
// where newcomers have none.
func (b *Box) sensorGraphs(s *data.Series) (*data.SensorGraphs, error) {
	trained, err := b.model.SensorGraph()
	if err != nil {
		return nil, err
	}
	if b.World.Graph != "" {
		return data.LoadSensorGraph(data.SensorGraph{Graph: b.abs(b.World.Graph), Directed: trained != nil && trained.Directed()}, s)
	}
	if trained == nil {
		return nil, errors.New("the model file holds no links between its sensors; name a graph")
	}
	wide, err := widened(trained, s.Nodes)
	return &data.SensorGraphs{Graphs: []*graph.Graph{wide}}, err
}

// widened returns g with nodes more that have no links, if it has fewer.
func widened(g *graph.Graph, nodes int) (*graph.Graph, error) {
	if g.Nodes() >= nodes {
		return g, nil
	}
	var edges []graph.Edge
	for i := range g.Nodes() {
		heard, weights := g.Adjacency().Row(i)
		for k, j := range heard {
			if g.Directed() || int(j) < i {
				edges = append(edges, graph.Edge{From: int(j), To: i, Weight: float64(weights[k])})
			}
		}
	}
	return graph.FromEdges(nodes, edges, g.Directed())
}

// place puts the series on the clock of the model, and leaves out what its sensors
// have read before. A series without times follows what they have read.
func (f *seriesFiles) place(spec *forecast.Spec, read []forecast.Memory) (err error) {
	for i := range read {
		if read[i].Started {
			f.from = max(f.from, read[i].Step+1)
		}
	}
	if f.first = max(f.from, spec.Steps); f.series.Interval > 0 && spec.Interval > 0 {
		if f.first, err = spec.At(f.series.Start); err != nil {
			return err
		}
	}
	f.from = max(f.from, f.first)
	if f.from-f.first >= uint64(f.series.Steps) {
		return fmt.Errorf("the sensors of the model have read all of its %d steps; give readings that follow", f.series.Steps)
	}
	return nil
}

// say logs what was done to the files, and what is strange about them.
func (f *seriesFiles) say(log *slog.Logger) {
	for _, note := range f.series.Notes {
		log.Info("series: " + note)
	}
	if f.unlike != nil {
		log.Warn("series: " + f.unlike.Error())
	}
	if known := f.from - f.first; known > 0 {
		log.Info("series: its first steps are left out: the sensors of the model have read them", "steps", known)
	}
}

// readings is a world of a series. A box says what its own sensors read, and with it
// what the truth is, where a file tells it apart.
type readings struct {
	*seriesFiles
	config *Config
	nodes  []agent.NodeID // of this box
	out    *outbox
	lines  chan *host.Line
	halt   chan struct{}
}

// newReadings returns a world of readings for the given nodes of this box.
func (c *Config) newReadings(f *seriesFiles, nodes []agent.NodeID, out *outbox) *readings {
	return &readings{seriesFiles: f, config: c, nodes: nodes, out: out, lines: make(chan *host.Line, 4), halt: make(chan struct{})}
}

// Lines implements [host.World].
func (r *readings) Lines() <-chan *host.Line { return r.lines }

// Act implements [host.World].
func (r *readings) Act(a *host.Answer) error {
	text, err := a.AppendText(nil)
	if err != nil {
		return err
	}
	return r.out.put(text)
}

// Lost returns how many answers could not be written.
func (r *readings) Lost() uint64 { return r.out.lost.Load() }

// start begins with the row of step next, by a clock that counts rows.
func (r *readings) start(next uint64) error {
	row := max(next, r.from) - r.first
	go r.send(row, r.config.newClock(row))
	return nil
}

func (r *readings) stop() { close(r.halt) }

// send sends the rows from next on.
func (r *readings) send(next uint64, k *clock) {
	defer close(r.lines)
	var sent *graph.Graph
	for row := k.first(next); row < uint64(r.series.Steps); row = k.first(row + 1) {
		if !k.wait(row, r.halt) {
			return
		}
		g := r.graphs.At(int(row))
		select {
		case r.lines <- r.line(int(row), g, g != sent):
			sent = g
		case <-r.halt:
			return
		}
	}
	k.end(r.halt)
}

// line returns what is sent at a row; links only where they may have changed.
func (r *readings) line(row int, g *graph.Graph, links bool) *host.Line {
	l := &host.Line{Time: r.first + uint64(row), Nodes: make([]host.NodeLine, len(r.nodes))}
	step := r.series.Step(row)
	for k, node := range r.nodes {
		n := &l.Nodes[k]
		n.Node, n.Row = node, step.Row(int(node))
		if r.truths != nil {
			n.Target = host.Numbers{r.truths[row*r.series.Nodes+int(node)]}
		}
		if links {
			n.SetLinks(agent.LinksOf(nil, g.Adjacency(), int(node)))
		}
	}
	return l
}
