package lifecycle

import (
	"errors"
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/data"
	"github.com/wdgnn/wdgnn/modelfile"
)

// SeriesFiles names a series that a forecast model is to meet.
type SeriesFiles struct {
	Series   string
	Answers  string // what the readings should have been; empty means the readings
	Graph    string // empty means the links that the model file holds
	Directed bool
	AnyUnits bool // do not refuse readings that are far outside what training saw

	training bool    // it is the series that the model was trained on
	past     bool    // play what the model has met already
	from     *uint64 // the first step to play, of a run that goes on; nil means what the model has not seen
}

// streamFiles returns those of a configuration.
func streamFiles(c *config.Config) SeriesFiles {
	path, directed := c.StreamGraph()
	f := SeriesFiles{
		Series: c.Abs(c.Online.Stream.Series), Answers: pathOf(c, c.Online.Stream.Answers), Graph: pathOf(c, path), Directed: directed,
	}
	if c.Online.Stream.Series == "" && c.Forecast != nil {
		f.training = true
		f.Series = c.Abs(c.Forecast.Series)
		if f.Answers == "" {
			f.Answers = pathOf(c, c.Forecast.Answers)
		}
	}
	return f
}

// errSeen says that a model has met all of a series already.
var errSeen = errors.New("the model has seen all of this series")

// loadReadings reads a series for a model: columns by the names of its sensors, times
// on its grid. Rows that the model has met already, in training or in an earlier run,
// are not played again.
func loadReadings(m *modelfile.Model, spec *forecast.Spec, f SeriesFiles) (*readings, error) {
	o := data.SeriesOptions{Every: spec.Interval, Origin: spec.Origin, Missing: spec.Missing, Names: spec.Sensors}
	s, err := data.LoadSeries(f.Series, o)
	if err != nil {
		return nil, err
	}
	if want := 1 + spec.Extras; s.Features != want {
		return nil, fmt.Errorf("%s: %d numbers per reading, the model was trained with %d", f.Series, s.Features, want)
	}
	var told []float32
	if f.Answers != "" {
		if told, err = data.LoadAnswers(f.Answers, s, spec.Missing); err != nil {
			return nil, err
		}
	}
	g, err := linksOf(m, s, f)
	if err != nil {
		return nil, err
	}
	return placed(m, spec, s, told, g, f)
}

// linksOf returns the links of a series: those of a file, or those that the model
// file holds, where newcomers have none.
func linksOf(m *modelfile.Model, s *data.Series, f SeriesFiles) (*data.SensorGraphs, error) {
	if f.Graph != "" {
		return data.LoadSensorGraph(data.SensorGraph{Graph: f.Graph, Directed: f.Directed}, s)
	}
	g, err := linksOfModel(m, s.Nodes)
	if err != nil {
		return nil, err
	}
	return &data.SensorGraphs{Graphs: []*graph.Graph{g}}, nil
}

// linksOfModel returns the links that a model file holds, among so many nodes.
func linksOfModel(m *modelfile.Model, nodes int) (*graph.Graph, error) {
	g, err := m.SensorGraph()
	switch {
	case err != nil:
		return nil, err
	case g == nil:
		return nil, errors.New("the model file holds no links between its sensors; name a graph")
	case g.Nodes() < nodes:
		return widened(g, nodes)
	}
	return g, nil
}

// widened returns g with more nodes, without links.
func widened(g *graph.Graph, nodes int) (*graph.Graph, error) {
	return graph.FromEdges(nodes, edgesOf(g, nodes), g.Directed())
}

// narrowed returns g without all but the first nodes; they may be all.
func narrowed(g *graph.Graph, nodes int) (*graph.Graph, error) {
	if g.Nodes() == nodes {
		return g, nil
	}
	return graph.FromEdges(nodes, edgesOf(g, nodes), g.Directed())
}

// edgesOf returns the links between the first nodes.
func edgesOf(g *graph.Graph, nodes int) (edges []graph.Edge) {
	a := g.Adjacency()
	for i := range min(nodes, a.Rows) {
		columns, weights := a.Row(i)
		for k, j := range columns {
			if int(j) < nodes && (g.Directed() || int(j) < i) {
				edges = append(edges, graph.Edge{From: int(j), To: i, Weight: float64(weights[k])})
			}
		}
	}
	return edges
}

// placed puts a series on the clock of a model and drops what is not to be played.
func placed(
	m *modelfile.Model, spec *forecast.Spec, s *data.Series, told []float32, g *data.SensorGraphs, f SeriesFiles,
) (*readings, error) {
	unlike := spec.Unlike(s.Values, s.Nodes)
	if errors.Is(unlike, forecast.ErrUnits) && !f.AnyUnits {
		return nil, fmt.Errorf("%s: %w", f.Series, unlike)
	}
	memory, err := m.Sensors()
	if err != nil {
		return nil, err
	}
	seen := seenBy(memory)
	first := max(seen, spec.Steps)
	switch {
	case s.Interval > 0 && spec.Interval > 0:
		if first, err = spec.At(s.Start); err != nil {
			return nil, err
		}
	case f.training:
		first = 0
	}
	from := first
	switch {
	case f.from != nil:
		from = *f.from
	case seen > first && !f.past:
		from = seen
	}
	if from < first || from-first >= uint64(s.Steps) {
		return nil, fmt.Errorf("%s: %w, which ends at %s", f.Series, errSeen, stepName(spec, first+uint64(s.Steps)-1))
	}
	drop := int(from - first)
	r := newReadings(spec, s.Part(drop, s.Steps), after(told, drop*s.Nodes), graphsAfter(g, drop))
	if !f.training && (s.Interval > 0) != (spec.Interval > 0) {
		s.Notes = append(s.Notes, fmt.Sprintf("the model and the series do not both have times: rows are counted from %s on, "+
			"after what the model was trained on", stepName(spec, first)))
	}
	r.first, r.again, r.notes = from, f.past, slices.Clone(s.Notes)
	if g.Note != "" {
		r.notes = append(r.notes, g.Note)
	}
	if unlike != nil {
		r.notes = append(r.notes, unlike.Error())
	}
	if drop > 0 {
		r.notes = append(r.notes, fmt.Sprintf("the model knows the first %d of %d steps already; played from %s on",
			drop, s.Steps, stepName(spec, from)))
	}
	if near := seen > 0 && seen <= from && from-seen < uint64(spec.Lags); !near && f.from == nil && s.Steps < spec.Lags {
		return nil, fmt.Errorf("%s: %d readings of every sensor; the model reads the last %d: give it at least as many",
			f.Series, s.Steps, spec.Lags)
	}
	return r, nil
}

// seenBy returns the first step that sensors have not met.
func seenBy(memory []forecast.Memory) (step uint64) {
	for i := range memory {
		if memory[i].Started {
			step = max(step, memory[i].Step+1)
		}
	}
	return step
}

// after returns values without the first n; nil stays nil.
func after(values []float32, n int) []float32 {
	if values == nil {
		return nil
	}
	return values[n:]
}

// graphsAfter returns graphs without those of the first n rows.
func graphsAfter(g *data.SensorGraphs, n int) *data.SensorGraphs {
	if len(g.Graphs) == 1 || n == 0 {
		return g
	}
	return &data.SensorGraphs{Graphs: g.Graphs[min(n, len(g.Graphs)-1):], Note: g.Note}
}

// stepName names a step for people.
func stepName(spec *forecast.Spec, step uint64) string {
	if at := clockOf(spec, step); at != "" {
		return at
	}
	return fmt.Sprintf("step %d", step)
}
