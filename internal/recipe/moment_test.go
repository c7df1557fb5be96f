package recipe

import (
	"path/filepath"
	"reflect"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/random"
)

// What nodes heard in training comes back from a model file; a file without says
// nothing of it.
func TestMomentsOfNodes(t *testing.T) {
	rng := random.Stream(4, "norms")
	const nodes, samples = 6, 9
	g, err := graph.ErdosRenyi(nodes, 0.6, rng)
	if err != nil {
		t.Fatal(err)
	}
	s, err := graph.ShiftRowStochastic.Of(g)
	if err != nil {
		t.Fatal(err)
	}
	net, err := gnn.NewRandom(gnn.Config{In: 2, Features: 3, Wide: &gnn.WideConfig{Order: 3}}, rng)
	if err != nil {
		t.Fatal(err)
	}
	signals := mat.NewDense(samples*nodes, 2, nil)
	for k := range signals.Data {
		signals.Data[k] = float32(rng.NormFloat64())
	}
	moment := online.InputMoment(net, s, signals, nil, nil, nil)
	for _, each := range []bool{false, true} {
		if each {
			online.HearEach(moment, net, s, signals, nil, nil)
			if len(moment.Heard) != nodes {
				t.Fatalf("got %d nodes that hear, want %d", len(moment.Heard), nodes)
			}
		}
		file := &modelfile.Model{Network: net}
		PutMoment(file, moment)
		path := filepath.Join(t.TempDir(), "model.safetensors")
		if err := modelfile.Save(path, file); err != nil {
			t.Fatal(err)
		}
		loaded, err := modelfile.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := MomentOf(loaded)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, moment) {
			t.Errorf("with what nodes heard %v: got %+v, want %+v", each, got, moment)
		}
	}
}
