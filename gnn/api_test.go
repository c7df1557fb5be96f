package gnn_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/alloctest"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
)

// A configuration reports every complaint at once.
func TestConfigComplaints(t *testing.T) {
	c := gnn.Config{
		Features: -1, Outputs: -2, Wide: &gnn.WideConfig{Order: -1},
		Deep: []gnn.LayerConfig{{Order: -3, Features: 4, Activation: 9}},
	}
	_, err := gnn.New(c)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"in is 0", "features is -1", "outputs is -2", "wide.order is -1", "deep[0].order is -3", "deep[0].activation",
		"4 features, the model -1",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error %q does not mention %q", err, want)
		}
	}
	for _, c := range []gnn.Config{
		{In: 1, Features: 2},
		{In: 1, Features: 2, Wide: &gnn.WideConfig{}, FixedGains: true},
	} {
		if _, err := gnn.New(c); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
}

// A model that is given the parameters of another answers as the other does.
func TestParamsAssigned(t *testing.T) {
	s, err := graph.ShiftSymmetric.Of(graph.Ring(4))
	if err != nil {
		t.Fatal(err)
	}
	x := mat.NewDense(4, 2, []float32{1, 2, 3, 4, 5, 6, 7, 8})
	for name, c := range architectures {
		c.In = 2
		var answers [2]mat.Dense
		a, b := newModel(t, c, 1), newModel(t, c, 2)
		a.Params = b.Params
		for k, m := range []*gnn.WideDeep{a, b} {
			answers[k] = mat.NewDense(4, m.Outputs(), nil)
			m.Predict(answers[k], s, x)
		}
		if !slices.Equal(answers[0].Data, answers[1].Data) {
			t.Errorf("%s: got %v, want %v", name, answers[0].Data, answers[1].Data)
		}
	}
}

func TestConfigRoundTripsThroughJSON(t *testing.T) {
	for name, c := range architectures {
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var back gnn.Config
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		again, _ := json.Marshal(back)
		if string(again) != string(text) {
			t.Errorf("%s: %s became %s", name, text, again)
		}
	}
	var a gnn.Activation
	if err := a.UnmarshalText([]byte("sigmoid")); err == nil || !strings.Contains(err.Error(), "leaky-relu") {
		t.Errorf("an unknown activation gives %v, want an error that lists the known ones", err)
	}
}

// Windows tile the flat slice in order, and what online learning retrains is
// a prefix.
func TestParamsLayout(t *testing.T) {
	for name, c := range architectures {
		p := gnn.NewParams(c, nil)
		offset := 0
		for _, w := range p.Windows() {
			if w.Offset != offset {
				t.Errorf("%s: %s starts at %d, want %d", name, w.Name, w.Offset, offset)
			}
			offset += w.Len()
			if strings.HasPrefix(w.Name, "wide.") != (w.Offset < p.WideLen()) {
				t.Errorf("%s: %s at %d, the wide part has %d numbers", name, w.Name, w.Offset, p.WideLen())
			}
		}
		if offset != len(p.Flat) {
			t.Errorf("%s: windows hold %d numbers of %d", name, offset, len(p.Flat))
		}
		if c.Wide != nil {
			p.Wide.Taps[c.Wide.Order].Set(0, 0, 42)
			if got := p.Flat[c.Wide.Order*c.In*c.Features]; got != 42 {
				t.Errorf("%s: the last wide tap is not a window of Flat", name)
			}
		}
	}
}

func TestStartZeroLeavesWideAtZero(t *testing.T) {
	c := architectures["wide and deep"]
	c.Wide = &gnn.WideConfig{Order: 1, StartZero: true}
	m := newModel(t, c, 1)
	for i, v := range m.Params.Flat {
		if (i < m.Params.WideLen()) != (v == 0) && i < m.Params.WideLen() {
			t.Fatalf("number %d of the wide part starts at %v", i, v)
		}
	}
	if m.Params.Gain[gnn.GainWide] != 1 || m.Params.Gain[gnn.GainDeep] != 1 || m.Params.Gain[gnn.GainBias] != 0 {
		t.Errorf("gains start at %v, want 1, 1, 0", m.Params.Gain)
	}
}

// Predict is Forward of the shifted signal, one or a batch.
func TestPredictIsForward(t *testing.T) {
	forEachArchitecture(t, func(t *testing.T, m *gnn.WideDeep) {
		for _, batch := range []int{1, 3} {
			w := newWorld(t, random.Stream(4, "predict"), 6, batch, m.Config.In)
			y := mat.NewDense(w.x.Rows, m.Outputs(), nil)
			m.Predict(y, w.s, w.x)
			sameBits(t, "outputs", y, w.output(t, m))
		}
	})
}

// Mistakes of the program panic with a name.
func TestShapeMistakesPanicByName(t *testing.T) {
	m := newModel(t, architectures["wide and deep"], 1)
	w := newWorld(t, random.Stream(1, "panic"), 6, 2, 2)
	in := w.input(t, m)
	for name, f := range map[string]func(){
		"gnn: Forward":   func() { m.Forward(mat.NewDense(3, 2, nil), in, new(gnn.Tape)) },
		"gnn: Predict":   func() { m.Predict(mat.NewDense(12, 3, nil), w.s, w.x) },
		"gnn: NewFilter": func() { gnn.NewFilter(0, 1, 1, true) },
		"gnn: NewParams": func() { gnn.NewParams(m.Config, make([]float32, 3)) },
		"gnn: Filter.Forward": func() {
			gnn.NewFilter(2, 2, 1, true).Forward(mat.NewDense(7, 2, nil), w.s, mat.NewDense(7, 2, nil), new(gnn.FilterTape))
		},
		"gnn: Backward: the gra": func() {
			in := w.input(t, m, 1)
			tape := new(gnn.Tape)
			y := mat.NewDense(2, 2, nil)
			m.Forward(y, in, tape)
			grad := gnn.NewParams(m.Config, nil)
			m.Backward(&grad, mat.NewDense(12, 2, nil), y, in, tape)
		},
	} {
		func() {
			defer func() {
				if r, ok := recover().(string); !ok || !strings.HasPrefix(r, name) {
					t.Errorf("panic is %q, want one that starts with %q", r, name)
				}
			}()
			f()
		}()
	}
	for _, nodes := range [][]int{{}, {6}, {-1}} {
		if _, err := gnn.NewRows(w.s, nodes, 1); err == nil {
			t.Errorf("reading nodes %v of 6 is accepted", nodes)
		}
	}
}

// Passes allocate nothing in steady state.
func TestPassesDoNotAllocate(t *testing.T) {
	for _, threads := range []int{1, 2} {
		e := mat.NewEngine(threads)
		defer e.Close()
		for name, c := range architectures {
			m := newModel(t, c, 1)
			w := newWorld(t, random.Stream(2, name), 8, 4, c.In)
			for _, in := range []*gnn.Input{w.input(t, m), w.input(t, m, 2, 5)} {
				rows := in.Shifted.Rows
				if in.Read != nil {
					rows = in.ReadShifted.Rows
				}
				y, grad, tape := mat.NewDense(rows, m.Outputs(), nil), gnn.NewParams(c, nil), &gnn.Tape{Engine: e}
				run := func() {
					m.Forward(y, in, tape)
					m.Backward(&grad, mat.Dense{}, y, in, tape)
				}
				run()
				if n := alloctest.Steady(threads, run); n > 0 {
					t.Errorf("%s on %d threads: %v allocations per pass", name, threads, n)
				}
			}
		}
	}
}
