package data

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/loss"
)

// Labels of every accepted shape end up at the rows of their nodes.
func TestLabelShapes(t *testing.T) {
	const none = loss.NoLabel
	for _, c := range []struct {
		name    string
		graph   string
		signals []int
		targets []int
		read    []int
		want    []int32
	}{
		{"per sample", line, []int{2, 4, 1}, []int{2}, nil, []int32{0, 0, 0, 0, 1, 1, 1, 1}},
		{"per sample, some read", line, []int{2, 4, 1}, []int{2}, []int{3, 1}, []int32{0, 0, 1, 1}},
		{"per node", line, []int{2, 4}, []int{2, 4}, nil, []int32{0, 1, 2, 0, 1, 2, 0, 1}},
		{"per node, some read", line, []int{2, 4}, []int{2, 4, 1}, []int{3, 1}, []int32{0, 1, 1, 2}},
		{"per node read", line, []int{2, 4}, []int{2, 2}, []int{3, 1}, []int32{0, 1, 2, 0}},
		{"trajectory per node", timed, []int{1, 3, 4, 1}, []int{1, 3, 4}, nil, []int32{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2}},
		{"one trajectory, one node read", timed, []int{3, 4, 1}, []int{3, 1}, []int{2}, []int32{
			none, none, 0, none, none, none, 1, none, none, none, 2, none,
		}},
		{"trajectories, per sample", timed, []int{2, 3, 4, 1}, []int{2}, []int{0}, []int32{
			0, none, none, none, 0, none, none, none, 0, none, none, none,
			1, none, none, none, 1, none, none, none, 1, none, none, none,
		}},
		{"steps without edges at the end", timed, []int{4, 4, 1}, []int{4, 4}, nil, []int32{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFolder(t)
			f.text("g.csv", c.graph)
			f.array("x.npy", 7, c.signals...)
			f.array("y.npy", 3, c.targets...)
			got, err := f.targets(TargetFiles{Classify: true, Outputs: 3, Read: c.read})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Labels, c.want) {
				t.Errorf("labels %v, want %v", got.Labels, c.want)
			}
		})
	}
}

// regression reads y.npy as values and returns what is known, in words.
func (f folder) regression(ask TargetFiles) string {
	f.Helper()
	got, err := f.targets(ask)
	if err != nil {
		f.Fatal(err)
	}
	return fmt.Sprint(got.Values.Data, got.Mask)
}

func TestValuesAndMask(t *testing.T) {
	f := newFolder(t)
	f.text("g.csv", line)
	f.array("x.npy", 7, 2, 4, 3)
	f.array("y.npy", 100, 2, 4, 2)
	f.array("m.npy", 2, 2, 4)
	got := f.regression(TargetFiles{Mask: f.path("m.npy"), Read: []int{3, 2}})
	if want := "[6 7 0 0 14 15 0 0] [true false true false]"; got != want {
		t.Errorf("values and mask %s, want %s", got, want)
	}
}

// A target that is not judged, because a mask hides it or nobody reads its
// node, may be NaN; what is kept of it is 0, also where rows stay where they are.
func TestHiddenTargetsMayBeMissing(t *testing.T) {
	f := newFolder(t)
	f.text("g.csv", line)
	f.array("x.npy", 7, 2, 4, 3)
	f.array("m.npy", 2, 2, 4)
	nan := float32(math.NaN())
	f.values("y.npy", []int{2, 4, 1}, nan, 1, nan, 3, nan, nan, nan, 7)
	for _, c := range []struct {
		ask  TargetFiles
		want string
	}{
		{TargetFiles{Mask: f.path("m.npy"), Read: []int{3, 2}}, "[3 0 7 0] [true false true false]"},
		{TargetFiles{Read: []int{3}}, "[3 7] [true true]"},
	} {
		if got := f.regression(c.ask); got != c.want {
			t.Errorf("values and mask %s, want %s", got, c.want)
		}
	}
	f.values("y.npy", []int{2, 4, 1}, nan, 1, nan, 3, nan, 5, nan, 7)
	got := f.regression(TargetFiles{Mask: f.path("m.npy")})
	if want := "[0 1 0 3 0 5 0 7] [false true false true false true false true]"; got != want {
		t.Errorf("values and mask %s, want %s", got, want)
	}
}

// Values that a hinge loss cannot take are refused with the file.
func TestSigns(t *testing.T) {
	f := newFolder(t)
	f.text("g.csv", line)
	f.array("x.npy", 7, 2, 4, 3)
	f.array("y.npy", 2, 2, 4)
	_, err := f.targets(TargetFiles{Loss: loss.Hinge{}})
	f.refused(err, "y.npy: loss: Hinge: 4 targets out of range: the first is 0 in row 0, column 0, want 1 or -1")
}
