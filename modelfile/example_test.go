package modelfile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/random"
)

// inFolder runs f with a folder that exists as long as it runs.
func inFolder(f func(folder string) error) {
	folder, err := os.MkdirTemp("", "modelfile")
	if err == nil {
		defer os.RemoveAll(folder)
		err = f(folder)
	}
	if err != nil {
		fmt.Println(err)
	}
}

// A model goes to disk and comes back.
func Example() {
	inFolder(func(folder string) error {
		network, err := gnn.NewRandom(gnn.Config{
			In: 1, Features: 8, Outputs: 2,
			Wide: &gnn.WideConfig{Order: 3},
			Deep: []gnn.LayerConfig{{Order: 3, Features: 8}},
		}, random.Stream(1, "init"))
		if err != nil {
			return err
		}
		path := filepath.Join(folder, "model.safetensors")
		if err := modelfile.Save(path, &modelfile.Model{
			Network: network,
			Meta:    modelfile.Meta{Shift: graph.ShiftSpectral, Task: "classify", Seed: 1},
			Extra:   map[string]mat.Dense{"node.7.wide.tap.0": mat.NewDense(1, 8, nil)},
		}); err != nil {
			return err
		}
		m, err := modelfile.Load(path)
		if err != nil {
			return err
		}
		fmt.Println(len(m.Network.Params.Flat), "parameters,", m.Meta.Shift, "shift, task", m.Meta.Task)
		fmt.Println(len(m.Extra), "further tensor")
		return nil
	})
	// Output:
	// 101 parameters, spectral shift, task classify
	// 1 further tensor
}

// Arrays in NumPy's format.
func ExampleSaveArray() {
	inFolder(func(folder string) error {
		path := filepath.Join(folder, "signals.npy")
		if err := modelfile.SaveArray(path, []int{2, 3}, []float32{1, 2, 3, 4, 5, 6}); err != nil {
			return err
		}
		a, err := modelfile.LoadArray(path)
		if err != nil {
			return err
		}
		values, err := a.Float32s()
		if err != nil {
			return err
		}
		fmt.Println(a.Shape, a.Type, values)
		return nil
	})
	// Output: [2 3] <f4 [1 2 3 4 5 6]
}

// A network whose links change: an edge list with a time column.
func ExampleLoadGraph() {
	inFolder(func(folder string) error {
		path := filepath.Join(folder, "links.csv")
		const links = "src,dst,time\n0,1,0\n1,2,0\n0,2,2\n"
		if err := os.WriteFile(path, []byte(links), 0o666); err != nil {
			return err
		}
		g, err := modelfile.LoadGraph(path, modelfile.GraphOptions{})
		if err != nil {
			return err
		}
		for t, step := range g.Steps {
			fmt.Printf("t=%d: %v\n", t, step)
		}
		return nil
	})
	// Output:
	// t=0: undirected graph of 3 nodes and 2 edges
	// t=1: undirected graph of 3 nodes and 0 edges
	// t=2: undirected graph of 3 nodes and 1 edges
}

// Mistakes are named with their line.
func ExampleLoadGraph_mistake() {
	inFolder(func(folder string) error {
		path := filepath.Join(folder, "links.csv")
		if err := os.WriteFile(path, []byte("src,dst\n0,1\n1,2\n0,1\n"), 0o666); err != nil {
			return err
		}
		_, err := modelfile.LoadGraph(path, modelfile.GraphOptions{})
		_, what, _ := strings.Cut(err.Error(), "links.csv: ")
		fmt.Println(what)
		return nil
	})
	// Output:
	// line 2 and line 4 are the same edge, 0 → 1; keep one of the two or add their weights
}
