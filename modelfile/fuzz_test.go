package modelfile

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Whatever the bytes, Decode returns; what it accepts, it writes so that it
// reads the same again.
func FuzzDecode(f *testing.F) {
	small := encoded(f, smallModel(f))
	f.Add(small)
	for _, c := range architectures {
		f.Add(encoded(f, randomModel(f, c)))
	}
	f.Add(replaced(f, small, `\"order\":1`, `\"order\":4000000000000`))
	f.Add(replaced(f, small, `"shape":[2,2]`, `"shape":[4]`))
	f.Add(replaced(f, small, `"dtype":"F32","shape":[2,2]`, `"dtype":"F64","shape":[1,2]`))
	f.Fuzz(func(t *testing.T, file []byte) {
		m, err := decode(file)
		if err != nil {
			return
		}
		once := encoded(t, m)
		again, err := decode(once)
		if err != nil {
			t.Fatalf("what was read is written as a file that is refused: %v", err)
		}
		if !sameBits(m.Network.Params.Flat, again.Network.Params.Flat) || !sameExtra(m.Extra, again.Extra) {
			t.Fatal("what was read is written as another model")
		}
		if !bytes.Equal(once, encoded(t, again)) {
			t.Fatal("the same model, other bytes")
		}
	})
}

// corpus adds the files of testdata.
func corpus(f *testing.F, add func(name string, file []byte)) {
	paths, err := filepath.Glob(filepath.Join("testdata", "*.np[yz]"))
	if err != nil || len(paths) == 0 {
		f.Fatalf("%d files, %v", len(paths), err)
	}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		add(p, b)
	}
}

func FuzzLoadArray(f *testing.F) {
	corpus(f, func(name string, file []byte) { f.Add(file, filepath.Ext(name) == ".npz") })
	f.Fuzz(func(t *testing.T, file []byte, zipped bool) {
		a, err := readArrayBytes(file, zipped, "")
		if err != nil {
			return
		}
		n := 1
		for _, d := range a.Shape {
			n *= d
		}
		if n != a.Len() {
			t.Fatalf("shape %v of %d values", a.Shape, a.Len())
		}
		if v, err := a.Float32s(); err == nil && len(v) != n {
			t.Fatalf("got %d values of %d", len(v), n)
		}
		if v, err := a.Int32s(); err == nil && len(v) != n {
			t.Fatalf("got %d values of %d", len(v), n)
		}
	})
}

func FuzzLoadGraph(f *testing.F) {
	endings := []string{".csv", ".tsv", ".txt", ".npz", ".npy"}
	corpus(f, func(name string, file []byte) {
		f.Add(file, uint8(slices.Index(endings, filepath.Ext(name))), uint8(0), true)
	})
	for _, text := range []string{"src,dst,weight,time\n0,1,1,0\n1,2,0.5,3\n", "0,1\n1,0\n", "# c\n0,1,2\r\n\n2,1,1e3\n", "0 1\n1\t2\n"} {
		for i := range 3 {
			f.Add([]byte(text), uint8(i), uint8(5), false)
		}
	}
	f.Fuzz(func(t *testing.T, file []byte, ending, nodes uint8, directed bool) {
		o := GraphOptions{Nodes: int(nodes), Directed: directed}
		g, err := readGraph(bytes.NewReader(file), int64(len(file)), endings[int(ending)%len(endings)], "", o)
		if err != nil {
			return
		}
		graphs := g.Steps
		if g.Graph != nil {
			graphs = append(graphs, g.Graph)
		}
		edges := 0
		for _, s := range graphs {
			edges += s.Edges()
			if s.Nodes() != g.Nodes || s.Directed() != directed {
				t.Fatalf("%v in a file of %d nodes", s, g.Nodes)
			}
		}
		if edges == 0 && g.Steps != nil || (g.Graph == nil) == (g.Steps == nil) {
			t.Fatalf("got %+v with %d edges", g, edges)
		}
	})
}
