package box_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/data"
	"github.com/wdgnn/wdgnn/internal/snapshot"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/transport"
)

// hills is a model that forecasts six springs, and a week that follows: spring c dies
// in it, and a seventh joins.
type hills struct {
	dir   string
	model *modelfile.Model
}

const (
	hillSprings = 6
	hillSteps   = 24 * 8
	hillLater   = 24 * 3
	hillJoins   = 20 // rows of the week after which the newcomer has links
	hillDies    = 30
)

var hillStart = time.Date(2031, 5, 4, 0, 0, 0, 0, time.UTC)

// springs returns a table of readings, of the steps from the given one on.
func springs(from, steps, sensors int, spoil func(row, i int, v string) string) string {
	rng := random.Stream(3, "springs", from)
	var b strings.Builder
	b.WriteString("time")
	for i := range sensors {
		fmt.Fprintf(&b, ",%c", 'a'+i)
	}
	for row := range steps {
		fmt.Fprintf(&b, "\n%s", hillStart.Add(time.Duration(from+row)*time.Hour).Format(time.DateTime))
		for i := range sensors {
			v := 12 + 2*float64(i) + 3*math.Sin(2*math.Pi*float64(from+row)/24+float64(i)/4) + 0.3*rng.NormFloat64()
			text := fmt.Sprintf("%.2f", v)
			if rng.IntN(25) == 0 {
				text = ""
			}
			if spoil != nil {
				text = spoil(row, i, text)
			}
			b.WriteString("," + text)
		}
	}
	return b.String() + "\n"
}

// newHills trains the model and writes the week.
func newHills(t testing.TB) *hills {
	t.Helper()
	h := &hills{dir: t.TempDir()}
	h.write(t, "readings.csv", springs(0, hillSteps, hillSprings, nil))
	h.write(t, "links.csv", "src,dst,weight\na,b,1\nb,c,0.5\nc,d,1\nd,e,2\ne,f,1\nf,a,1\n")
	h.write(t, "config.yaml", `
seed: 5
out: run
forecast: {series: readings.csv, graph: links.csv, lags: 4, horizons: [1, 3], unit: "°C", split: {valid: 0.2, test: 0}}
model:
  wide: {order: 2}
  deep: [{order: 1, features: 6}, {order: 1, features: 6}]
train: {epochs: 4, batch_size: 16, adam: {step_size: 0.01}}
`)
	h.model = trained(t, filepath.Join(h.dir, "config.yaml"))
	check(t, modelfile.Save(filepath.Join(h.dir, "model.safetensors"), h.model))
	h.later(t, nil)
	h.write(t, "later_links.csv", h.links(hillLater))
	return h
}

func (h *hills) time(row int) string {
	return hillStart.Add(time.Duration(hillSteps+row) * time.Hour).Format(time.DateTime)
}

// later writes the week, which a test may spoil further.
func (h *hills) later(t testing.TB, spoil func(row, i int, v string) string) {
	t.Helper()
	h.write(t, "later.csv", springs(hillSteps, hillLater, hillSprings+1, func(row, i int, v string) string {
		switch {
		case i == hillSprings && row < hillJoins:
			v = ""
		case i == 2 && row >= hillDies:
			v = "-500"
		}
		if spoil != nil {
			v = spoil(row, i, v)
		}
		return v
	}))
}

func (h *hills) write(t testing.TB, name, text string) {
	t.Helper()
	check(t, os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o644))
}

// config is that of a box with all springs, or of one of two.
func (h *hills) config(t testing.TB, id, hosts int, more string) *box.Config {
	t.Helper()
	who, bus := "hosts: {0: {nodes: 0-6}}", "{kind: none}"
	if hosts == 2 {
		who, bus = "hosts: {0: {nodes: 0-2}, 1: {nodes: 3-6}}", "{kind: tcp}"
	}
	name := fmt.Sprintf("agent-%d-of-%d.yaml", id, hosts)
	h.write(t, name, fmt.Sprintf(`
run: springs
host: %d
%s
model: model.safetensors
bus: %s
world: {kind: stream, series: later.csv, graph: later_links.csv}
%s
`, id, who, bus, more))
	c, err := box.Read(filepath.Join(h.dir, name))
	check(t, err)
	return c
}

// answersOf returns forecasts by step and node.
func answersOf(t testing.TB, lines []byte) map[[2]uint64]host.Output {
	t.Helper()
	all := map[[2]uint64]host.Output{}
	for line := range bytes.Lines(lines) {
		var a host.Answer
		check(t, json.Unmarshal(line, &a))
		if a.Error != "" {
			t.Errorf("step %d: %s", a.Time, a.Error)
		}
		for _, o := range a.Outputs {
			all[[2]uint64{a.Time, uint64(o.Node)}] = o
		}
	}
	return all
}

// forecasts returns those of one process, as wdgnn online makes them, with intervals.
func (h *hills) forecasts(t testing.TB) map[[2]uint64]host.Output {
	t.Helper()
	spec, err := h.model.Forecast()
	check(t, err)
	series, err := data.LoadSeries(filepath.Join(h.dir, "later.csv"), data.SeriesOptions{
		Every: spec.Interval, Origin: spec.Origin, Missing: spec.Missing, Names: spec.Sensors,
	})
	check(t, err)
	graphs, err := data.LoadSensorGraph(data.SensorGraph{Graph: filepath.Join(h.dir, "later_links.csv")}, series)
	check(t, err)
	network, learner, states := h.process(t, spec, series.Nodes)
	all, y := map[[2]uint64]host.Output{}, mat.NewDense(series.Nodes, 2, nil)
	rows, truths := mat.NewDense(series.Nodes, spec.Inputs(), nil), make([]float32, series.Nodes)
	for row := range series.Steps {
		g, step := graphs.At(row), uint64(hillSteps+row)
		network.Read(rows, step, series.Step(row), nil, g.Adjacency())
		welcome(t, spec, network, learner, states, g)
		network.Truths(truths)
		learner.Tell(step, truths)
		shift, err := h.model.Meta.Shift.Of(g)
		check(t, err)
		w, err := graph.Metropolis(g)
		check(t, err)
		check(t, learner.Observe(graph.Sample{Time: int(step), Signal: rows, Shift: shift, Mixing: w}))
		check(t, learner.Predict(y))
		for i := range series.Nodes {
			s := network.Sensor(i)
			if s == nil {
				continue
			}
			o := host.Output{Sensor: series.Names[i]}
			for c, v := range y.Row(i) {
				low, high := learner.Bounds(i)[c].Interval(v)
				o.Value, o.Intervals = append(o.Value, s.Units(v)), append(o.Intervals, host.Interval{Low: s.Units(low), High: s.Units(high)})
			}
			all[[2]uint64{step, uint64(i)}] = o
		}
		check(t, learner.Update(nil))
	}
	return all
}

// process returns sensors and learners that begin with what the model file remembers.
func (h *hills) process(t testing.TB, spec *forecast.Spec, nodes int) (*forecast.Network, *online.Forecaster, []rule.State) {
	t.Helper()
	memory, err := h.model.Sensors()
	check(t, err)
	trained, err := h.model.SensorGraph()
	check(t, err)
	var edges []graph.Edge
	for i := range trained.Nodes() {
		heard, weights := trained.Adjacency().Row(i)
		for k, j := range heard {
			if int(j) < i {
				edges = append(edges, graph.Edge{From: int(j), To: i, Weight: float64(weights[k])})
			}
		}
	}
	wide, err := graph.FromEdges(nodes, edges, false)
	check(t, err)
	network := forecast.NewNetwork(spec, nodes)
	check(t, network.Restore(memory, wide.Adjacency()))
	s, found, err := snapshot.Of(h.model)
	if check(t, err); !found || len(s.Nodes) != hillSprings {
		t.Fatalf("the model file holds what %d springs learned, want %d", len(s.Nodes), hillSprings)
	}
	mean, count, _ := h.model.Moment()
	observer, err := online.NewObserver(h.model.Network, online.Config{
		Nodes: nodes, HopByHop: true, Moment: &rule.SecondMoment{Inputs: mean.Rows - 1, Mean: mean.Data, Count: count},
	})
	check(t, err)
	settings := rule.Settings{Preset: "season"}
	r, err := settings.For(rule.Facts{Bias: true, Forecast: true}).Config(false, nil)
	check(t, err)
	sigma := make([][]float64, nodes)
	for i := range spec.Norms {
		sigma[i] = spec.Norms[i].Sigma
	}
	learner, err := online.NewForecaster(observer, r, rule.SeasonTask{
		Season: spec.Season, Horizons: spec.Horizons, Lagged: spec.Lagged(h.model.Network.Config.Wide.Order),
	}, sigma)
	check(t, err)
	check(t, learner.Begin(s.Nodes))
	return network, learner, s.Nodes
}

// welcome lets the newcomer join in the first step in which it hears a spring of
// training.
func welcome(t testing.TB, spec *forecast.Spec, n *forecast.Network, f *online.Forecaster, states []rule.State, g *graph.Graph) {
	t.Helper()
	if n.Sensor(hillSprings) == nil || f.Joined(hillSprings) {
		return
	}
	heard, weights := g.Adjacency().Row(hillSprings)
	var near []int
	var from []rule.State
	var shares []float64
	for k, j := range heard {
		near, from, shares = append(near, int(j)), append(from, states[j]), append(shares, float64(weights[k]))
	}
	norm, _ := spec.Newcomer(near, weights)
	check(t, f.Join(hillSprings, norm.Sigma, f.Average(from, shares)))
}

func sameForecasts(t testing.TB, got, want map[[2]uint64]host.Output) {
	t.Helper()
	if len(got) != len(want) || len(want) < 100 {
		t.Errorf("got %d forecasts, want %d", len(got), len(want))
	}
	for at, w := range want {
		g := got[at]
		if fmt.Sprint(g.Value, g.Intervals, g.Sensor) != fmt.Sprint(w.Value, w.Intervals, w.Sensor) {
			t.Fatalf("step %d, node %d: got %v %v of %q, want %v %v of %q",
				at[0], at[1], g.Value, g.Intervals, g.Sensor, w.Value, w.Intervals, w.Sensor)
		}
	}
}

// A model that forecasts and a series of readings, in one box, in two that talk over
// tcp, and in one that is stopped after a day: the forecasts are those of one process,
// bit for bit, with a spring that dies and one that joins. Other readings later change
// no forecast before.
func TestSeries(t *testing.T) {
	h := newHills(t)
	want := h.forecasts(t)
	t.Run("one box", func(t *testing.T) {
		sameForecasts(t, answersOf(t, run(t, h.config(t, 0, 1, "learn: {}"))), want)
	})
	t.Run("two boxes", func(t *testing.T) {
		addresses := freeAddresses(t, 2)
		var boxes []*box.Config
		for id := range 2 {
			c := h.config(t, id, 2, "learn: {preset: auto}\npace: {deadline: 20s, linger: 500ms}")
			for k, a := range addresses {
				p := c.Hosts[transport.HostID(k)]
				p.Address = a
				c.Hosts[transport.HostID(k)] = p
			}
			boxes = append(boxes, c)
		}
		sameForecasts(t, answersOf(t, run(t, boxes...)), want)
	})
	t.Run("another future", func(t *testing.T) {
		const known = 40
		h.later(t, func(row, i int, v string) string {
			if row >= known {
				return fmt.Sprint(9 + (row*i)%7)
			}
			return v
		})
		got := answersOf(t, run(t, h.config(t, 0, 1, "learn: {}")))
		changed := 0
		for at, w := range want {
			same := fmt.Sprint(got[at].Value, got[at].Intervals) == fmt.Sprint(w.Value, w.Intervals)
			if at[0] < hillSteps+known && !same {
				t.Fatalf("step %d, node %d: got %v, want %v whatever comes later", at[0], at[1], got[at], w)
			}
			if !same {
				changed++
			}
		}
		if changed == 0 {
			t.Error("another future changes nothing at all")
		}
	})
	t.Run("stopped and started", func(t *testing.T) {
		h.later(t, nil)
		whole, err := os.ReadFile(filepath.Join(h.dir, "later.csv"))
		check(t, err)
		lines := bytes.SplitAfter(whole, []byte("\n"))
		c := h.config(t, 0, 1, "learn: {}\nstate: state")
		var all []byte
		for _, rows := range []int{24, 45, hillLater} {
			h.write(t, "later.csv", string(bytes.Join(lines[:1+rows], nil)))
			h.write(t, "later_links.csv", h.links(rows))
			all = append(all, run(t, c)...)
		}
		sameForecasts(t, answersOf(t, all), want)
	})
}

// links returns those of the first rows: a file may not name times after the last.
func (h *hills) links(rows int) string {
	out := "src,dst,weight,time\n"
	for row, links := range map[int]string{0: "a-b b-c c-d d-e e-f f-a", hillJoins: "a-b b-c d-e e-f f-a g-b g-d", 50: "a-b c-d d-e f-a g-b"} {
		if row >= rows {
			continue
		}
		for _, l := range strings.Fields(links) {
			out += fmt.Sprintf("%c,%c,%d,%s\n", l[0], l[2], 1+int(l[0]-'a')%3, h.time(row))
		}
	}
	return out
}

// Rules that learn when all truths of an answer are known, and none, forecast too.
func TestSeriesByOtherRules(t *testing.T) {
	h := newHills(t)
	want := len(h.forecasts(t))
	for _, learn := range []string{
		"", "learn: {preset: own}", "learn: {preset: paper, step_size: {value: 0.1}}", "learn: {gate: off, coverage: 0}",
	} {
		got := answersOf(t, run(t, h.config(t, 0, 1, learn)))
		if len(got) != want {
			t.Errorf("%q: got %d forecasts, want %d", learn, len(got), want)
		}
		for at, o := range got {
			if !mat.Finite(o.Value...) || math.Abs(float64(o.Value[0])) > 60 {
				t.Fatalf("%q: step %d, node %d: got %v", learn, at[0], at[1], o.Value)
			}
		}
	}
}

// What does not go together is refused before anything is opened, with what to try.
func TestSeriesRefused(t *testing.T) {
	h := newHills(t)
	h.write(t, "early.csv", springs(0, 24, hillSprings+1, nil))
	h.write(t, "few.csv", strings.ReplaceAll(springs(hillSteps, 24, hillSprings, nil), "time,a,", "time,x,"))
	h.write(t, "other.csv", springs(hillSteps, hillLater, hillSprings+1, func(row, i int, v string) string { return "9" + v }))
	for _, c := range []struct{ was, is, want string }{
		{"series: later.csv", "series: other.csv", "6 of 6 sensors are far outside what training saw"},
		{"series: later.csv, graph", "signals: later.csv, graph", "give its stream as a series of readings, world.series"},
		{"series: later.csv", "series: early.csv", "have read all of its 24 steps; give readings that follow"},
		{"series: later.csv", "series: few.csv", `"a"`},
		{"series: later.csv", "series: later.csv, signals: x.npy", "world.series is in place of signals and targets"},
		{"series: later.csv, graph", "truths: later.csv, graph", "world.truths and any_units are those of a series"},
		{"nodes: 0-6", "nodes: 0-7", "readings of 7 sensors, and host 0 has node 7"},
		{"learn: {}", "learn: {season: {taps: -1}}", "what node 0 remembers of its season does not fit"},
		{"graph: later_links.csv", "truths: early.csv, graph: none.csv", "none.csv"},
	} {
		h.config(t, 0, 1, "learn: {}")
		file := filepath.Join(h.dir, "agent-0-of-1.yaml")
		text, err := os.ReadFile(file)
		check(t, err)
		check(t, os.WriteFile(file, bytes.Replace(text, []byte(c.was), []byte(c.is), 1), 0o644))
		config, err := box.Read(file)
		check(t, err)
		refused(t, config, c.want)
	}
	c := h.config(t, 0, 1, "learn: {}")
	c.World.Series, c.World.AnyUnits = "other.csv", true
	text, err := box.Describe(c)
	if err != nil || !strings.Contains(text, "are they in other units") {
		t.Errorf("any_units: got %v and\n%s", err, text)
	}
}

// Describe says what is forecast, and from when on.
func TestDescribeSeries(t *testing.T) {
	h := newHills(t)
	text, err := box.Describe(h.config(t, 0, 1, "learn: {}"))
	check(t, err)
	for _, want := range []string{
		"forecast 6 sensors, 1h and 3h ahead, in °C; nodes here that were not in training: 1",
		"learn    season, ", "world    a series of 72 steps of 7 sensors, from 2031-05-12 00:00:00; answers to stdout",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("got\n%s\nwant %q in it", text, want)
		}
	}
}

// Lines name springs; the log and reports name those that broke, and the step that follows what sensors have read.
func TestLinesOfReadings(t *testing.T) {
	h := newHills(t)
	c := h.config(t, 0, 1, "learn: {}")
	c.World = box.World{Kind: box.WorldLines}
	var in strings.Builder
	for row := range 20 {
		const line = `{"time":%d,"nodes":[{"sensor":"a","row":[12.%d]},{"sensor":"b","row":[null]},{"node":2,"row":[-900]}]}`
		fmt.Fprintf(&in, line+"\n", hillSteps+row, row%7)
	}
	var out syncBuffer
	var log bytes.Buffer
	var last *host.Report
	s := box.Streams{In: strings.NewReader(in.String()), Out: &out, Log: slog.New(slog.NewTextHandler(&log, nil))}
	s.Given.Report, s.Given.Every = func(r *host.Report) { last = r }, time.Hour
	check(t, box.Run(t.Context(), c, s))
	got := answersOf(t, []byte(out.String()))
	if len(got) != 60 || got[[2]uint64{hillSteps, 1}].Sensor != "b" {
		t.Errorf("got %d forecasts, and those of %+v, want 60 and b", len(got), got[[2]uint64{hillSteps, 1}])
	}
	if !strings.Contains(log.String(), `level=WARN msg="a sensor is broken`) || !strings.Contains(log.String(), "sensor=c node=2") {
		t.Errorf("the log says\n%s", log.String())
	}
	if last == nil || last.BrokenSensors != 1 || last.Broken[0].Sensor != "c" {
		t.Errorf("got %+v, want c to be broken", last)
	}
	if next := fmt.Sprintf(" next=%d\n", hillSteps); !strings.Contains(log.String(), next) || last.Next != hillSteps+20 {
		t.Errorf("the box ends before step %d and says\n%s\nwant %d, and %q", last.Next, log.String(), hillSteps+20, next)
	}
}

// A world of readings that never speaks of links: sensors hear whom they heard in training, as
// with a series that has no graph of its own.
func TestLinesWithoutLinks(t *testing.T) {
	h := newHills(t)
	c := h.config(t, 0, 1, "learn: {}")
	c.World.Graph = ""
	want := answersOf(t, run(t, c))
	later, err := os.ReadFile(filepath.Join(h.dir, "later.csv"))
	check(t, err)
	var in strings.Builder
	for row, line := range strings.Split(strings.TrimSpace(string(later)), "\n")[1:] {
		fmt.Fprintf(&in, `{"time":%d,"nodes":[`, hillSteps+row)
		for i, v := range strings.Split(line, ",")[1:] {
			if v == "" {
				v = "null"
			}
			fmt.Fprintf(&in, `%s{"node":%d,"row":[%s]}`, strings.Repeat(",", min(i, 1)), i, v)
		}
		in.WriteString("]}\n")
	}
	c = h.config(t, 0, 1, "learn: {}")
	c.World = box.World{Kind: box.WorldLines}
	var out syncBuffer
	check(t, box.Run(t.Context(), c, box.Streams{In: strings.NewReader(in.String()), Out: &out}))
	got := answersOf(t, []byte(out.String()))
	for at, o := range got { // lines have no names for newcomers
		if o.Sensor == "" {
			t.Errorf("node %d has no name", at[1])
		}
	}
	sameForecasts(t, got, want)
}
