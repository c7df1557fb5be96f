package lifecycle

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/data"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/random"
)

// folder is a place for the files of one configuration.
type folder struct {
	*testing.T
	dir string
}

func newFolder(t *testing.T) folder { return folder{t, t.TempDir()} }

func (f folder) text(name, content string) {
	if err := os.WriteFile(filepath.Join(f.dir, name), []byte(content), 0o644); err != nil {
		f.Fatal(err)
	}
}

// array writes 0, 1, 2, … modulo m.
func (f folder) array(name string, m int, shape ...int) {
	n := 1
	for _, d := range shape {
		n *= d
	}
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(i % m)
	}
	if err := modelfile.SaveArray(filepath.Join(f.dir, name), shape, values); err != nil {
		f.Fatal(err)
	}
}

const (
	line  = "src,dst\n0,1\n1,2\n2,3\n"
	timed = "src,dst,weight,time\n0,1,1,0\n1,2,1,1\n2,3,1,2\n"
)

// Every sample is in one part, with its own targets, and one seed gives one
// split.
func TestDivide(t *testing.T) {
	f := newFolder(t)
	f.text("g.csv", line)
	f.array("x.npy", 1000, 20, 4)
	f.array("y.npy", 20, 20)
	load := func(split string) *Dataset {
		f.text("c.yaml",
			"seed: 3\ndata: {graph: g.csv, signals: x.npy, targets: y.npy, task: classify, split: {valid: 0.25, test: 0.1"+split+"}}\n"+
				"model: {features: 2, wide: {order: 1}}\n")
		c, err := config.Load(filepath.Join(f.dir, "c.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		d, err := loadDataset(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	d := load("")
	var all []int32
	for _, p := range []*Part{d.Train, d.Valid, d.Test} {
		for s := range p.Samples {
			label := p.Labels[4*s]
			if got, want := p.signals.At(4*s, 0), float32(4*label); got != want {
				t.Errorf("sample %d begins with %v, want %v", label, got, want)
			}
			all = append(all, label)
		}
	}
	slices.Sort(all)
	if len(slices.Compact(all)) != 20 || d.Train.Samples != 13 || d.Valid.Samples != 5 || d.Test.Samples != 2 {
		t.Errorf("%d, %d and %d samples, %d different ones; want 13, 5, 2 and 20", d.Train.Samples, d.Valid.Samples, d.Test.Samples, len(all))
	}
	if again := load(""); !slices.Equal(again.Valid.Labels, d.Valid.Labels) || again.Digest() != d.Digest() {
		t.Error("the same seed gives another split")
	}
	if last := load(", in_order: true"); last.Test.Labels[0] != 18 || last.Valid.Labels[0] != 13 {
		t.Errorf("in order the test begins at %d and validation at %d, want 18 and 13", last.Test.Labels[0], last.Valid.Labels[0])
	}
}

// A prediction of a trajectory at one node is what a delayed model says step
// by step.
func TestPredictDelayed(t *testing.T) {
	f := newFolder(t)
	f.text("g.csv", timed)
	f.array("x.npy", 5, 3, 4, 1)
	net, err := gnn.NewRandom(gnn.Config{
		In: 1, Features: 3, Outputs: 2, Wide: &gnn.WideConfig{Order: 2},
		Deep: []gnn.LayerConfig{{Order: 1, Features: 3, Activation: gnn.Tanh}, {Order: 1, Features: 3, Activation: gnn.Tanh}},
	}, random.Stream(1, "init"))
	if err != nil {
		t.Fatal(err)
	}
	o, err := data.Load(data.Files{Graph: filepath.Join(f.dir, "g.csv"), Signals: filepath.Join(f.dir, "x.npy")})
	if err != nil {
		t.Fatal(err)
	}
	m := &modelfile.Model{Network: net, Meta: modelfile.Meta{Shift: graph.ShiftAdjacency, Delayed: true}}
	all, err := Predict(context.Background(), m, o, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	one, err := Predict(context.Background(), m, o, []int{2}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(all.Shape, []int{3, 4, 2}) || !slices.Equal(one.Shape, []int{3, 1, 2}) {
		t.Fatalf("shapes %v and %v, want [3 4 2] and [3 1 2]", all.Shape, one.Shape)
	}
	want := delayedByHand(t, net, o, filepath.Join(f.dir, "g.csv"))
	for step := range 3 {
		for c := range 2 {
			got, single := all.Values[(step*4+2)*2+c], one.Values[step*2+c]
			if w := want[step].At(2, c); got != w || single != w {
				t.Errorf("step %d, output %d: %v and alone %v, want %v", step, c, got, single, w)
			}
		}
	}
}

// delayedByHand runs a model step by step, as nodes would, and returns its
// outputs.
func delayedByHand(t *testing.T, net *gnn.WideDeep, o *data.Observed, path string) []mat.Dense {
	t.Helper()
	file, err := modelfile.LoadGraph(path, modelfile.GraphOptions{})
	if err != nil {
		t.Fatal(err)
	}
	run := gnn.Delayed{Model: net}
	var outputs []mat.Dense
	for step, g := range file.Steps {
		y := mat.NewDense(file.Nodes, net.Outputs(), nil)
		run.Predict(y, g.Adjacency(), o.Rows.View(step*file.Nodes, 0, file.Nodes, 1))
		run.Advance()
		outputs = append(outputs, y)
	}
	return outputs
}

// The example sets are learnable and the same on every machine.
func TestExampleSet(t *testing.T) {
	set, err := NewExampleSet(config.Classify)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(set.Signals); n != 600*50 || len(set.Targets) != 600 {
		t.Errorf("%d signals and %d targets, want 30000 and 600", n, len(set.Targets))
	}
	if got, want := set.Read, []int{5, 15, 25, 35, 45}; !slices.Equal(got, want) {
		t.Errorf("nodes %v are read, want %v as the configuration says", got, want)
	}
	if _, err := NewExampleSet("guess"); err == nil {
		t.Error("a set for no task")
	}
}
