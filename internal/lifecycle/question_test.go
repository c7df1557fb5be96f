package lifecycle

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/data"
	"github.com/wdgnn/wdgnn/internal/robust"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
)

// What Lost says of a model whose nodes learned is what Predict says on every graph
// that has lost a link: with taps of the nodes' own, and with weights of neighbours.
func TestQuestionOfAdapted(t *testing.T) {
	for _, heard := range []bool{false, true} {
		f := newOnlineCase(t, config.Classify, false)
		var adapted *modelfile.Model
		if heard {
			_, adapted = f.playHeard(true)
		} else {
			r := f.start(f.model, "preset: paper, gate: off, coverage: 0, step_size: {value: 0.5}")
			f.play(r, -1)
			adapted = f.decode(f.bytes(r))
		}
		own, err := NodeTapsOf(adapted)
		if err != nil || own == nil || (own.Heard() > 0) != heard {
			t.Fatalf("heard %v: taps of %v, %v", heard, own, err)
		}
		links := []string{"0,1", "1,2", "2,3", "3,4", "4,5", "5,0"}
		q, err := QuestionOf(adapted, f.observed(links), nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := q.Lost(context.Background(), robust.LostConfig{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		before := f.answers(adapted, links)
		flips, move := make([]int, len(got.Answers)), make([]float64, len(got.Answers))
		for k := range links {
			after := f.answers(adapted, slices.Delete(slices.Clone(links), k, k+1))
			for a := range after {
				if mat.Argmax(after[a]) != mat.Argmax(before[a]) {
					flips[a]++
				}
				for c, v := range after[a] {
					move[a] = max(move[a], max(float64(v)-float64(before[a][c]), float64(before[a][c])-float64(v)))
				}
			}
		}
		for a, v := range got.Answers {
			if !slices.Equal(v.Values, before[a]) || v.Flips != flips[a] || v.Worst[0].Move != move[a] {
				t.Fatalf("heard %v: answer %d is %v, %d losses flip it and move it by %v; want %v, %d, %v",
					heard, a, v.Values, v.Flips, v.Worst[0].Move, before[a], flips[a], move[a])
			}
		}
		if m := slices.Max(move); m == 0 {
			t.Errorf("heard %v: no loss moves any answer", heard)
		}
	}
}

// observed returns the samples of a case on a graph of the given links.
func (f *onlineCase) observed(links []string) *data.Observed {
	f.Helper()
	f.text("g.csv", strings.Join(links, "\n")+"\n")
	o, err := data.Load(data.Files{Graph: filepath.Join(f.dir, "g.csv"), Signals: filepath.Join(f.dir, "x.npy")})
	if err != nil {
		f.Fatal(err)
	}
	return o
}

// answers returns what Predict says on a graph of the given links.
func (f *onlineCase) answers(m *modelfile.Model, links []string) [][]float32 {
	f.Helper()
	p, err := Predict(context.Background(), m, f.observed(links), nil, 1)
	if err != nil {
		f.Fatal(err)
	}
	var out [][]float32
	for row := range slices.Chunk(p.Values, p.Shape[len(p.Shape)-1]) {
		out = append(out, row)
	}
	return out
}

// A controller is asked what it was asked in a flight: its answers are the
// accelerations that a pilot gives, step by step.
func TestQuestionOfAFlight(t *testing.T) {
	run := prepared(t, `
seed: 2
scenario: flocking
flocking: {robots: 6, duration_seconds: 0.1, train_flights: 2, valid_flights: 1, test_flights: 1, shift: row-stochastic}
model: {features: 4, wide: {order: 2}, deep: [{order: 2, features: 4, activation: tanh}]}
train: {epochs: 1}
`)
	file := run.File("test")
	q, err := QuestionPart(t.Context(), file, run.config, "test")
	if err != nil {
		t.Fatal(err)
	}
	answers, err := q.Answers()
	if err != nil {
		t.Fatal(err)
	}
	if len(answers) != 10*6 || q.Unit != "m/s²" {
		t.Fatalf("%d answers in %q, want those of 6 robots at 10 steps in m/s²", len(answers), q.Unit)
	}
	pilot, y := &gnn.Delayed{Model: file.Network}, mat.NewDense(6, 2, nil)
	for step, g := range q.Graphs {
		s, err := q.Operator.Of(g)
		if err != nil {
			t.Fatal(err)
		}
		pilot.Predict(y, s, q.Signals.View(6*step, 0, 6, q.Signals.Cols))
		pilot.Advance()
		for i := range 6 {
			if got := answers[6*step+i]; !slices.Equal(got.Values, y.Row(i)) || got.Step != step || got.Node != i {
				t.Fatalf("robot %d at step %d: %+v, want %v", i, step, got, y.Row(i))
			}
		}
	}
}

// A forecast is asked in units of its readings.
func TestQuestionOfForecasts(t *testing.T) {
	q := &robust.Question{Graphs: []*graph.Graph{graph.Ring(2)}}
	file := new(modelfile.Model)
	spec := &forecast.Spec{
		Sensors: []string{"north", "south"}, Steps: 9, Unit: "mph", Lags: 2, Horizons: []int{1}, Extras: 1,
		Norms: []forecast.Norm{
			{Scale: 2, ExtraMean: []float64{0}, ExtraScale: []float64{7}, High: 1, Longest: 1, Rough: 1},
			{Scale: 3, ExtraMean: []float64{0}, ExtraScale: []float64{8}, High: 1, Longest: 1, Rough: 1},
		},
	}
	if err := file.SetForecast(spec); err != nil {
		t.Fatal(err)
	}
	if err := setUnits(q, file, nil); err != nil {
		t.Fatal(err)
	}
	if q.Unit != "mph" || q.Name(1) != "south" || !slices.Equal(q.Scale, []float64{2, 3}) ||
		!slices.Equal(q.InputScale, []float64{2, 2, 0, 7, 3, 3, 0, 8}) {
		t.Errorf("got unit %q, names %q, scales %v of outputs and %v of inputs", q.Unit, q.Names, q.Scale, q.InputScale)
	}
	// A series may be without sensors that joined later, but is the one of training.
	for name, c := range map[string]struct {
		sensors []string
		scale   float64
		want    string
	}{
		"the same":        {[]string{"north", "south"}, 2, ""},
		"before a joined": {[]string{"north"}, 2, ""},
		"others":          {[]string{"south"}, 2, "not the same"},
		"more":            {[]string{"north", "south", "west"}, 2, "has 3 sensors, the model knows 2"},
		"another series":  {[]string{"north"}, 2.5, "a scale of 2.5 in training, the model 0 and 2"},
	} {
		series := &forecast.Spec{Sensors: c.sensors, Norms: slices.Clone(spec.Norms)}
		series.Norms[0].Scale = c.scale
		links, err := graph.FromEdges(len(c.sensors), nil, false)
		if err != nil {
			t.Fatal(err)
		}
		q := &robust.Question{Graphs: []*graph.Graph{links}}
		switch err := setUnits(q, file, series); {
		case c.want == "" && (err != nil || q.Unit != "mph" || len(q.Scale) != len(c.sensors) || len(q.InputScale) != 4*len(c.sensors)):
			t.Errorf("%s: got %v, unit %q, %d scales", name, err, q.Unit, len(q.Scale))
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	q.Graphs[0] = graph.Ring(3)
	if err := setUnits(q, file, nil); err == nil || !strings.Contains(err.Error(), "3 nodes") {
		t.Errorf("a graph of 3 nodes: got %v, want that there are 2 sensors", err)
	}
}
