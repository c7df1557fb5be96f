package data

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/modelfile"
)

// folder is a place for the files of one test.
type folder struct {
	*testing.T
	dir string
}

func newFolder(t *testing.T) folder { return folder{t, t.TempDir()} }

func (f folder) path(name string) string { return filepath.Join(f.dir, name) }

func (f folder) text(name, content string) {
	f.Helper()
	if err := os.WriteFile(f.path(name), []byte(content), 0o644); err != nil {
		f.Fatal(err)
	}
}

func (f folder) values(name string, shape []int, values ...float32) {
	f.Helper()
	if err := modelfile.SaveArray(f.path(name), shape, values); err != nil {
		f.Fatal(err)
	}
}

// array writes 0, 1, 2, … modulo m.
func (f folder) array(name string, m int, shape ...int) {
	f.Helper()
	n := 1
	for _, d := range shape {
		n *= d
	}
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(i % m)
	}
	f.values(name, shape, values...)
}

// observed reads g.csv and x.npy.
func (f folder) observed() *Observed {
	f.Helper()
	o, err := Load(Files{Graph: f.path("g.csv"), Signals: f.path("x.npy")})
	if err != nil {
		f.Fatal(err)
	}
	return o
}

// targets reads y.npy for the signals of x.npy.
func (f folder) targets(ask TargetFiles) (*Targets, error) {
	f.Helper()
	o := f.observed()
	ask.Targets = f.path("y.npy")
	return o.Targets(&o.Signals, ask)
}

// refused checks that an error says what is wrong.
func (f folder) refused(err error, want string) {
	f.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		f.Errorf("got %v, want %q in it", err, want)
	}
}

const (
	line  = "src,dst\n0,1\n1,2\n2,3\n"
	timed = "src,dst,weight,time\n0,1,1,0\n1,2,1,1\n2,3,1,2\n"
)

// Signals fit the graph that they are on, or it is said why not.
func TestLoadRefuses(t *testing.T) {
	for _, c := range []struct {
		name, graph string
		signals     []int
		nodes       int
		want        string
	}{
		{"no nodes", line, []int{4}, 0, "x.npy: signals of shape [4], want samples×nodes×features"},
		{"nothing", line, []int{0, 4}, 0, "x.npy: signals of shape [0 4] hold nothing"},
		{"another number", line, []int{2, 4}, 5, "are on 4 nodes, but the graph is said to have 5"},
		{"too few nodes", line, []int{2, 3}, 0, "g.csv: line 4: no node 3 among 3"},
		{"no time", line, []int{2, 3, 4, 1}, 0, "want samples×4×features: the graph has 4 nodes and no time column"},
		{"no steps", timed, []int{3, 4}, 0, "want samples×steps×4×features"},
		{"fewer steps", timed, []int{2, 4, 1}, 0, "the graph has a time column with 3 steps and 4 nodes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFolder(t)
			f.text("g.csv", c.graph)
			f.array("x.npy", 7, c.signals...)
			_, err := Load(Files{Graph: f.path("g.csv"), Signals: f.path("x.npy"), Nodes: c.nodes})
			f.refused(err, c.want)
		})
	}
}

// Further samples are on the same graph and have as many features.
func TestMore(t *testing.T) {
	f := newFolder(t)
	f.text("g.csv", line)
	f.array("x.npy", 7, 2, 4, 3)
	f.array("more.npy", 7, 5, 4, 3)
	o := f.observed()
	s, err := o.More(f.path("more.npy"))
	if err != nil {
		t.Fatal(err)
	}
	if s.Samples != 5 || s.Rows.Rows != 20 || s.Rows.Cols != 3 {
		t.Errorf("%d samples in %d×%d, want 5 in 20×3", s.Samples, s.Rows.Rows, s.Rows.Cols)
	}
	f.array("more.npy", 7, 5, 4, 2)
	_, err = o.More(f.path("more.npy"))
	f.refused(err, "more.npy: signals of shape [5 4 2] have 2 features, those to train on 3")
}
