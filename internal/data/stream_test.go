package data

import (
	"math"
	"slices"
	"testing"
)

// stream names g.csv, x.npy and y.npy for a model of one feature and five
// classes.
func (f folder) stream() StreamFiles {
	return StreamFiles{
		Graph: f.path("g.csv"), Signals: f.path("x.npy"), Features: 1,
		TargetFiles: TargetFiles{Targets: f.path("y.npy"), Classify: true, Outputs: 5, Read: []int{3, 1}},
	}
}

// newStreamFolder holds a stream of six steps on four nodes whose links change
// at step 2.
func newStreamFolder(t *testing.T) folder {
	f := newFolder(t)
	f.text("g.csv", "src,dst,time\n0,1,0\n1,2,0\n2,3,0\n0,1,2\n")
	f.array("x.npy", 7, 6, 4)
	f.array("y.npy", 5, 6, 2)
	return f
}

// A graph holds until the next that the file names; with delays a step that is
// not named has no links. Without targets none is known.
func TestStreamGraphs(t *testing.T) {
	for _, delayed := range []bool{false, true} {
		f := newStreamFolder(t)
		files := f.stream()
		files.Delayed, files.Targets = delayed, ""
		s, err := LoadStream(files)
		if err != nil {
			t.Fatal(err)
		}
		var edges []int
		for step := range s.Steps {
			edges = append(edges, s.Graph(step).Edges())
		}
		want := []int{3, 3, 1, 1, 1, 1}
		if delayed {
			want = []int{3, 0, 1, 0, 0, 0}
		}
		if !slices.Equal(edges, want) || s.Changes != 2 {
			t.Errorf("delayed %v: %v edges by step and %d graphs, want %v and 2", delayed, edges, s.Changes, want)
		}
		if s.Labels != nil || s.Mask != nil {
			t.Errorf("delayed %v: labels %v and mask %v without targets, want none", delayed, s.Labels, s.Mask)
		}
	}
}

// The targets of a stream are those of the nodes read, in their order.
func TestStreamTargets(t *testing.T) {
	f := newStreamFolder(t)
	f.array("y.npy", 5, 6, 4)
	s, err := LoadStream(f.stream())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.Labels[:4], []int32{3, 1, 2, 0}; !slices.Equal(got, want) {
		t.Errorf("labels of nodes 3 and 1 at steps 0 and 1 are %v, want %v", got, want)
	}
}

// What does not fit is refused as a whole, with the file and the place.
func TestStreamRefuses(t *testing.T) {
	nan := float32(math.NaN())
	classes := func(third float32) func(f folder, _ *StreamFiles) {
		return func(f folder, _ *StreamFiles) { f.values("y.npy", []int{6}, 0, 1, third, 3, 4, -1) }
	}
	for _, c := range []struct {
		name   string
		change func(f folder, s *StreamFiles)
		want   string
	}{
		{
			"a class 7 of 5", classes(7),
			"y.npy: label 7, number 2 of the file, is not among 5 classes that count from 0",
		},
		{"a class below -1", classes(-2), "y.npy: label -2, number 2"},
		{"half a class", classes(2.5), "value at [2] is 2.5; want an integer"},
		{"NaN for a class", classes(nan), "value at [2] is NaN; want an integer"},
		{"no class", func(f folder, _ *StreamFiles) { f.values("y.npy", []int{6}, -1, -1, -1, -1, -1, -1) }, "there is nothing to learn from"},
		{
			"links after the end", func(f folder, _ *StreamFiles) { f.text("g.csv", "src,dst,time\n0,1,0\n0,1,9999\n") },
			"g.csv: it has links at time 9999, but the stream ends with step 5",
		},
		{"links too late", func(f folder, _ *StreamFiles) { f.text("g.csv", "src,dst,time\n0,1,1\n") }, "no links at time 0"},
		{"values", func(_ folder, s *StreamFiles) { s.Classify = false }, "y.npy: 1 values per node, want 5"},
		{
			"steps", func(f folder, _ *StreamFiles) { f.array("y.npy", 5, 7, 2) },
			"y.npy: targets of shape [7 2], want 6, one class per sample, or 6×4, or 6×2 for the nodes read",
		},
		{"signals", func(f folder, _ *StreamFiles) { f.array("x.npy", 5, 24) }, "want steps×nodes×features"},
		{"features", func(_ folder, s *StreamFiles) { s.Features = 2 }, "x.npy: signals of shape [6 4] have 1 features, the model reads 2"},
		{"nodes", func(_ folder, s *StreamFiles) { s.Nodes = 5 }, "are on 4 nodes, data.nodes says 5"},
		{"read", func(_ folder, s *StreamFiles) { s.Read = []int{4} }, "on 4 nodes, and node 4 is to be read; nodes count from 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newStreamFolder(t)
			files := f.stream()
			c.change(f, &files)
			_, err := LoadStream(files)
			f.refused(err, c.want)
		})
	}
}

// Of a stream of which some nodes are kept there is what there is of them in the
// whole: signals, targets, and the links that they hear.
func TestStreamKeeps(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(f folder, s *StreamFiles)
		keep   []int
		read   []int
	}{
		{"labels of the nodes read", func(folder, *StreamFiles) {}, []int{1, 2}, []int{1}},
		{"labels of all nodes", func(f folder, _ *StreamFiles) { f.array("y.npy", 5, 6, 4) }, []int{0, 3}, []int{3}},
		{"one label for all", func(f folder, _ *StreamFiles) { f.values("y.npy", []int{6}, 0, 1, 2, 3, 4, -1) }, []int{1}, []int{1}},
		{"nobody who is read", func(folder, *StreamFiles) {}, []int{0}, []int{}},
		{"values", func(f folder, s *StreamFiles) {
			f.array("y.npy", 3, 6, 4, 5)
			s.Classify, s.Read = false, nil
		}, []int{1, 3}, []int{1, 3}},
		{"one graph", func(f folder, _ *StreamFiles) { f.text("g.csv", "src,dst\n0,1\n1,2\n2,3\n") }, []int{0}, []int{}},
		{"a node that is not there", func(folder, *StreamFiles) {}, []int{3, 9}, []int{3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newStreamFolder(t)
			files := f.stream()
			c.change(f, &files)
			whole, err := LoadStream(files)
			if err != nil {
				t.Fatal(err)
			}
			files.Keep = c.keep
			part, err := LoadStream(files)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(part.Read, c.read) || part.Steps != whole.Steps || part.Nodes != whole.Nodes {
				t.Fatalf("got nodes %v read in %d steps of %d, want %v in %d of %d",
					part.Read, part.Steps, part.Nodes, c.read, whole.Steps, whole.Nodes)
			}
			for step := range whole.Steps {
				for k, i := range part.Kept {
					if got, want := part.Signals.Row(part.Place(step, k)), whole.Signals.Row(whole.Place(step, i)); !slices.Equal(got, want) {
						t.Errorf("step %d, node %d: got signals %v, want %v", step, i, got, want)
					}
					if got, want := part.Graph(step).Neighbors(i), whole.Graph(step).Neighbors(i); !slices.Equal(got, want) {
						t.Errorf("step %d, node %d: got neighbours %v, want %v", step, i, got, want)
					}
				}
				for r, i := range part.Read {
					got, want := part.target(step*len(part.Read)+r), whole.target(step*len(whole.Read)+slices.Index(whole.Read, i))
					if !slices.Equal(got, want) {
						t.Errorf("step %d, node %d: got target %v, want %v", step, i, got, want)
					}
				}
			}
		})
	}
}

// target returns what a row of targets says.
func (s *Stream) target(row int) []float32 {
	switch {
	case s.Labels != nil:
		return []float32{float32(s.Labels[row])}
	case s.Mask != nil && s.Mask[row]:
		return s.Values.Row(row)
	}
	return nil
}

// A number of a signal that is none is named as the file has it.
func TestStreamKeepsNames(t *testing.T) {
	f := newStreamFolder(t)
	values := make([]float32, 24)
	values[4+3] = float32(math.NaN()) // of step 1, node 3
	f.values("x.npy", []int{6, 4}, values...)
	files := f.stream()
	files.Keep = []int{1, 3}
	_, err := LoadStream(files)
	f.refused(err, "value at [1, 3] is NaN")
}
