package box_test

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/rule"
)

// relabel writes other targets: those of the fixture after a change.
func (f *fixture) relabel(t *testing.T, change func(y []float32)) {
	t.Helper()
	y := make([]float32, len(f.labels))
	for i, label := range f.labels {
		y[i] = float32(label)
	}
	change(y)
	check(t, modelfile.SaveArray(f.path("y.npy"), []int{steps, nodes}, y))
}

// A box refuses the files that wdgnn online refuses, with the same words, before
// it has opened anything.
func TestStreamRefusals(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(t *testing.T, f *fixture, c *box.Config)
		want   string
	}{
		{"a class 7 of 3", func(t *testing.T, f *fixture, _ *box.Config) {
			f.relabel(t, func(y []float32) { y[39] = 7 })
		}, "y.npy: label 7, number 39 of the file, is not among 3 classes that count from 0"},
		{"a class below -1", func(t *testing.T, f *fixture, _ *box.Config) {
			f.relabel(t, func(y []float32) { y[1] = -2 })
		}, "y.npy: label -2, number 1 of the file, is not among 3 classes that count from 0"},
		{"half a class", func(t *testing.T, f *fixture, _ *box.Config) {
			f.relabel(t, func(y []float32) { y[13] = 1.5 })
		}, "y.npy: value at [1, 1] is 1.5; want an integer"},
		{"no class", func(t *testing.T, f *fixture, _ *box.Config) {
			f.relabel(t, func(y []float32) { copy(y, slices.Repeat([]float32{-1}, len(y))) })
		}, "y.npy: every label of the nodes read is -1: there is nothing to learn from"},
		{"links after the end", func(t *testing.T, f *fixture, _ *box.Config) {
			check(t, os.WriteFile(f.path("g.csv"), []byte("src,dst,time\n0,1,0\n0,1,9999\n"), 0o644))
		}, "g.csv: it has links at time 9999, but the stream ends with step 19"},
		{"a node that is read and not there", func(_ *testing.T, f *fixture, _ *box.Config) {
			f.model.Meta.Nodes = []int{3, nodes}
			f.save()
		}, "x.npy: signals of shape [20 12 2] are on 12 nodes, and node 12 is to be read; nodes count from 0"},
		{"values for a hinge", func(t *testing.T, f *fixture, c *box.Config) {
			c.Cost = "hinge"
			check(t, modelfile.SaveArray(f.path("y.npy"), []int{steps, nodes, classes}, make([]float32, steps*nodes*classes)))
		}, "y.npy: loss: Hinge: 720 targets out of range"},
		{"targets for a slope", func(_ *testing.T, _ *fixture, c *box.Config) { c.Cost = host.Gradient }, "cost is gradient"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t, graph.ShiftSymmetric, true)
			config := f.config(0, 1)
			config.State = "state"
			c.change(t, f, config)
			refused(t, f.load(t, config), c.want)
			if _, err := os.Stat(f.path("state")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the folder of checkpoints: got %v, want none before the files are read", err)
			}
		})
	}
}

// Values reach the nodes they are for, whether a file holds those of all nodes or
// of those that the model is read at, in its order. NaN means that nothing is
// known, and a node that is never told anything does not learn.
func TestStreamValues(t *testing.T) {
	f := newFixture(t, graph.ShiftSymmetric, true)
	f.model.Meta.Task, f.model.Meta.Nodes = "regress", []int{4, 1}
	f.save()
	c := f.config(0, 1)
	c.Learn = &rule.Settings{Preset: "own"}
	nan := float32(math.NaN())
	learned := func(state string, rows int, place map[int]int) map[int][]float32 {
		y := slices.Repeat([]float32{nan}, steps*rows*classes)
		for s := range steps {
			copy(y[(s*rows+place[4])*classes:], []float32{1, float32(s), -1})
			copy(y[(s*rows+place[1])*classes:], []float32{1, 1, nan})
		}
		check(t, modelfile.SaveArray(f.path("y.npy"), []int{steps, rows, classes}, y))
		c.State = state
		run(t, f.load(t, c))
		return f.memory(t, state)
	}
	all, some := learned("all", nodes, map[int]int{4: 4, 1: 1}), learned("some", 2, map[int]int{4: 0, 1: 1})
	for node := range nodes {
		if !slices.Equal(all[node], some[node]) {
			t.Errorf("node %d: parameters %v from values of all nodes, %v from those of two; want the same", node, all[node], some[node])
		}
		if moved := !slices.Equal(all[node], all[0]); moved != (node == 4) {
			t.Errorf("node %d: moved is %v, want that of node 4 only", node, moved)
		}
	}
}
