package lifecycle

import (
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// What does not fit is said with the file and what to do.
func TestOnlineRefuses(t *testing.T) {
	ones := func(n int) []float32 { return make([]float32, n) }
	for _, c := range []struct {
		name   string
		change func(f *onlineCase)
		extra  string
		want   string
	}{
		{"more nodes", func(f *onlineCase) { f.text("g.csv", "0,1\n5,6\n") }, "", "g.csv: line 2: no node 6 among 6"},
		{"fewer nodes", func(f *onlineCase) { f.save("x.npy", []int{20, 3, 2}, ones(120)) }, "", "on 3 nodes, and node 4 is to be read"},
		{"features", func(f *onlineCase) { f.save("x.npy", []int{20, 6, 3}, ones(360)) }, "", "have 3 features, the model reads 2"},
		{"no steps", func(f *onlineCase) { f.save("x.npy", []int{0, 6, 2}, nil) }, "", "want steps×nodes×features"},
		{"dimensions", func(f *onlineCase) { f.save("x.npy", []int{5, 4, 6, 2}, ones(240)) }, "", "want steps×nodes×features"},
		{
			"class", func(f *onlineCase) { f.save("y.npy", []int{20, 2}, append(ones(39), 7)) }, "",
			"y.npy: label 7, number 39 of the file, is not among 3 classes that count from 0",
		},
		{"targets", func(f *onlineCase) { f.save("y.npy", []int{19, 2}, ones(38)) }, "", "targets of shape [19 2]"},
		{"no label", func(f *onlineCase) { f.save("y.npy", []int{20}, slices.Repeat([]float32{-1}, 20)) }, "", "nothing to learn from"},
		{"late graph", func(f *onlineCase) { f.text("g.csv", "0,1,1,20\n") }, "", "links at time 20, but the stream ends with step 19"},
		{
			"later graph", func(f *onlineCase) { f.text("g.csv", streamGraph+"0,1,9999\n") }, "",
			"g.csv: it has links at time 9999, but the stream ends with step 19",
		},
		{"no first graph", func(f *onlineCase) { f.text("g.csv", "0,1,1,3\n") }, "", "no links at time 0"},
		{"no wide part", func(f *onlineCase) {
			f.model.Network, _ = gnn.New(gnn.Config{In: 2, Features: 4, Outputs: 3, Deep: []gnn.LayerConfig{{Order: 1, Features: 4}}})
		}, "", "no wide part"},
		{"bad moment", func(f *onlineCase) { f.model.Precise["online.moment"].Data[1]++ }, "", "tensor online.moment"},
		{"no bias", func(f *onlineCase) {
			f.model.Network, _ = gnn.New(gnn.Config{In: 2, Features: 4, Outputs: 3, NoBias: true, Wide: &gnn.WideConfig{Order: 2}})
		}, "retrain: taps+bias", "no bias to retrain"},
		{"task", func(f *onlineCase) { f.model.Meta.Task = "ponder" }, "", `the task of the model is "ponder"`},
		{
			"damaged", func(f *onlineCase) { f.model.Meta.Online = `{"mode":"distributed","nodes":6}` }, "",
			"does not hold what is needed to go on",
		},
		{"nonsense", func(f *onlineCase) { f.model.Meta.Online = `{"mode":"upside down"}` }, "", "makes no sense"},
		{"not JSON", func(f *onlineCase) { f.model.Meta.Online = `{` }, "", "cannot be read"},
		{"misspelt", func(f *onlineCase) {}, "rigde: 3", `unknown key "online.rigde"; did you mean "ridge"?`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newOnlineCase(t, config.Classify, false)
			c.change(f)
			settings := c.extra
			if settings == "" {
				settings = "preset: paper"
			}
			if _, err := f.run(f.model, settings); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// Directed links have no Metropolis weights; nodes that do not mix need none.
func TestOnlineDirected(t *testing.T) {
	f := newOnlineCase(t, config.Classify, false)
	f.model.Meta.Shift = graph.ShiftRowStochastic
	run := func(preset string) error {
		f.text("c.yaml", "online: {stream: {graph: g.csv, signals: x.npy, targets: y.npy, directed: true}, preset: "+preset+"}\n")
		c, err := config.Load(filepath.Join(f.dir, "c.yaml"))
		if err != nil {
			return err
		}
		r, err := NewOnlineRun(c, f.model, false)
		if err == nil {
			r.Close()
		}
		return err
	}
	if err := run("paper"); err == nil || !strings.Contains(err.Error(), "directed") {
		t.Errorf("got %v, want that the graph is directed", err)
	}
	if err := run("own"); err != nil {
		t.Error(err)
	}
}

// Another mode, rule or network cannot go on where a model was left.
func TestOnlineGoOnRefuses(t *testing.T) {
	f := newOnlineCase(t, config.Classify, false)
	r := f.start(f.model, "preset: paper")
	f.play(r, 3)
	saved := f.decode(f.bytes(r))
	own := f.start(f.model, "preset: own")
	f.play(own, 3)
	if _, err := f.run(f.decode(f.bytes(own)), "preset: paper, retrain: taps+bias"); err == nil ||
		!strings.Contains(err.Error(), "not those of a node that learns by its rule") {
		t.Errorf("own, then paper: got %v, want that it cannot", err)
	}
	for _, c := range []struct{ settings, want string }{
		{"mode: centralized, preset: paper", "has learned in mode distributed, the configuration says centralized"},
		{"preset: paper, retrain: taps+bias", "1×18 parameters, this node has 1×21"},
	} {
		if _, err := f.run(saved, c.settings); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.settings, err, c.want)
		}
	}
	state, err := AdaptationOf(saved)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.start(saved, "preset: paper, ridge: 0.5").Resume(state,
		r.Predictions); err == nil || !strings.Contains(err.Error(), "another configuration") {
		t.Errorf("got %v, want that the configuration is another", err)
	}
	f.save("y.npy", []int{20}, make([]float32, 20))
	if err := f.start(saved, "preset: paper").Resume(state, r.Predictions); err == nil || !strings.Contains(err.Error(), "another stream") {
		t.Errorf("got %v, want that the stream is another", err)
	}
}

// State that a damaged file holds gives an error, never a panic.
func TestSnapshotDamaged(t *testing.T) {
	f := newOnlineCase(t, config.Classify, true)
	for settings, names := range map[string][]string{
		"preset: paper": {"online.state.length", "online.state.values", "online.delay.0"},
		"preset: own":   {"online.state.length", "online.state.values"},
	} {
		r := f.start(f.model, settings)
		f.play(r, 7)
		whole := f.bytes(r)
		for _, name := range names {
			for _, how := range []string{"missing", "short", "odd"} {
				m := f.decode(whole)
				damage(m, name, how)
				_, err := f.run(m, settings)
				if err == nil && !(name == "online.delay.0" && how != "short") {
					if how == "odd" { // other numbers are still numbers
						continue
					}
					t.Errorf("%s: %s is %s: no error", settings, name, how)
				}
			}
		}
	}
}

func damage(m *modelfile.Model, name, how string) {
	if x, ok := m.Precise[name]; ok {
		switch how {
		case "missing":
			delete(m.Precise, name)
		case "short":
			m.Precise[name] = modelfile.Float64s{Rows: 1, Cols: 1, Data: x.Data[:1]}
		default:
			x.Data[0] = -0.5
		}
		return
	}
	x := m.Extra[name]
	switch how {
	case "missing":
		delete(m.Extra, name)
	case "short":
		m.Extra[name] = mat.NewDense(1, 1, x.Row(0)[:1])
	default:
		x.Row(0)[0]++
	}
}

// Tensors of single nodes that nobody understands are not passed over.
func TestNodeTapsUnknown(t *testing.T) {
	f := newOnlineCase(t, config.Classify, false)
	f.model.Extra = map[string]mat.Dense{"node.2.deep.1.tap.0": f.model.Network.Params.Deep[0].Taps[0]}
	if _, err := NodeTapsOf(f.model); err == nil || !strings.Contains(err.Error(), "node.2.deep.1.tap.0") {
		t.Errorf("got %v, want the name of the tensor", err)
	}
}

// The moment is the mean of [z 1]ᵀ[z 1] over samples and nodes read, on one
// graph and along trajectories, and survives the model file.
func TestMoment(t *testing.T) {
	f := newOnlineCase(t, config.Classify, true)
	net, x := f.model.Network, f.floats("x.npy")
	file, err := modelfile.LoadGraph(filepath.Join(f.dir, "g.csv"), modelfile.GraphOptions{Nodes: 6})
	if err != nil {
		t.Fatal(err)
	}
	var shifts []*mat.CSR
	for range 20 {
		s, err := graph.ShiftSymmetric.Of(file.Steps[0])
		if err != nil {
			t.Fatal(err)
		}
		shifts = append(shifts, s)
	}
	var read []int
	want := new(rule.SecondMoment)
	delayed, y := gnn.Delayed{Model: net}, mat.NewDense(6, 3, nil)
	for t := range 20 {
		delayed.Predict(y, shifts[t], mat.NewDense(6, 2, x[t*12:(t+1)*12]))
		z := mat.NewDense(2, 6, nil)
		for r, i := range []int{4, 1} {
			copy(z.Row(r), delayed.Shifted().Row(i))
			read = append(read, t*6+i)
		}
		want.Add(z, 6)
		delayed.Advance()
	}
	got := online.InputMoment(net, graph.SpaceTime(shifts), mat.NewDense(120, 2, x), read, nil, nil)
	if got.Inputs != 6 || got.Count != 40 {
		t.Fatalf("%d inputs, %v observations, want 6 and 40", got.Inputs, got.Count)
	}
	for e, v := range want.Mean {
		if math.Abs(v-got.Mean[e]) > 1e-12 {
			t.Fatalf("element %d is %v, want %v", e, got.Mean[e], v)
		}
	}
	m := &modelfile.Model{Network: net, Meta: f.model.Meta}
	recipe.PutMoment(m, got)
	path := filepath.Join(f.dir, "m.safetensors")
	if err := modelfile.Save(path, m); err != nil {
		t.Fatal(err)
	}
	loaded, err := modelfile.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	back, err := recipe.MomentOf(loaded)
	if err != nil || !reflect.DeepEqual(back, got) {
		t.Errorf("got %+v and %v, want %+v", back, err, got)
	}
}
