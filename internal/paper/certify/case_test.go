package certify

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/random"
)

// streamGraph has six nodes in a ring; at time 8 node 4 is cut off, at time 12
// it is back.
const streamGraph = "src,dst,time\n" +
	"0,1,0\n1,2,0\n2,3,0\n3,4,0\n4,5,0\n5,0,0\n" +
	"0,1,8\n1,2,8\n2,3,8\n5,0,8\n" +
	"0,1,12\n1,2,12\n2,3,12\n3,4,12\n4,5,12\n5,0,12\n"

// onlineCase is a model and a folder with a stream of 20 steps on six nodes, two
// features.
type onlineCase struct {
	*testing.T
	dir   string
	model *modelfile.Model
}

func newOnlineCase(t *testing.T, task config.Task, delayed bool) *onlineCase {
	t.Helper()
	f := &onlineCase{T: t, dir: t.TempDir()}
	net, err := gnn.NewRandom(gnn.Config{
		In: 2, Features: 4, Outputs: 3, Wide: &gnn.WideConfig{Order: 2},
		Deep: []gnn.LayerConfig{{Order: 1, Features: 4}, {Order: 1, Features: 4}},
	}, random.Stream(1, "model"))
	if err != nil {
		t.Fatal(err)
	}
	f.model = &modelfile.Model{Network: net, Meta: modelfile.Meta{
		Shift: graph.ShiftSymmetric, Task: string(task),
		Delayed: delayed, Nodes: []int{4, 1},
	}}
	rng := random.Stream(1, "signals")
	signals := make([]float32, 20*6*2)
	for i := range signals {
		signals[i] = float32(rng.NormFloat64())
	}
	s, err := graph.ShiftSymmetric.Of(graph.Ring(6))
	if err != nil {
		t.Fatal(err)
	}
	recipe.PutMoment(f.model, online.InputMoment(net, s, mat.NewDense(len(signals)/2, 2, signals), f.model.Meta.Nodes, nil, nil))
	f.text("g.csv", streamGraph)
	f.save("x.npy", []int{20, 6, 2}, signals)
	var targets []float32
	if task == config.Classify {
		for t := range 20 {
			targets = append(targets, float32(t%3), float32(t%4-1)) // node 1 has no label at every fourth step
		}
		f.save("y.npy", []int{20, 2}, targets)
		return f
	}
	for i := range 20 * 6 * 3 {
		targets = append(targets, float32(math.Sin(float64(i))))
	}
	f.save("y.npy", []int{20, 6, 3}, targets)
	return f
}

func (f *onlineCase) text(name, content string) {
	f.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, name), []byte(content), 0o644); err != nil {
		f.Fatal(err)
	}
}

func (f *onlineCase) save(name string, shape []int, values []float32) {
	f.Helper()
	if err := modelfile.SaveArray(filepath.Join(f.dir, name), shape, values); err != nil {
		f.Fatal(err)
	}
}

// floats reads an array of the folder.
func (f *onlineCase) floats(name string) []float32 {
	f.Helper()
	a, err := modelfile.LoadArray(filepath.Join(f.dir, name))
	if err != nil {
		f.Fatal(err)
	}
	values, err := a.Float32s()
	if err != nil {
		f.Fatal(err)
	}
	return values
}

// config returns the configuration of the case with settings.
func (f *onlineCase) config(settings string) *config.Config {
	f.Helper()
	f.text("c.yaml", "online: {stream: {graph: g.csv, signals: x.npy, targets: y.npy}, "+settings+"}\n")
	c, err := config.Load(filepath.Join(f.dir, "c.yaml"))
	if err != nil {
		f.Fatal(err)
	}
	return c
}

// adapted returns what a distributed run leaves: a model whose nodes have taps of
// their own.
func (f *onlineCase) adapted(settings string) *modelfile.Model {
	f.Helper()
	run, err := lifecycle.NewOnlineRun(f.config(settings), f.model, false)
	if err != nil {
		f.Fatal(err)
	}
	defer run.Close()
	err = run.Play(context.Background(), func() error { return nil }, func(lifecycle.OnlineStep) error { return nil })
	if err != nil {
		f.Fatal(err)
	}
	file, err := run.File("test")
	if err != nil {
		f.Fatal(err)
	}
	var b bytes.Buffer
	if err := modelfile.Encode(&b, file); err != nil {
		f.Fatal(err)
	}
	m, err := modelfile.Decode(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		f.Fatal(err)
	}
	return m
}
