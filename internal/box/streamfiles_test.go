package box_test

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/host"
	"github.com/wdgnn/wdgnn/modelfile"
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
			c.Cost = host.Hinge
			check(t, modelfile.SaveArray(f.path("y.npy"), []int{steps, nodes, classes}, make([]float32, steps*nodes*classes)))
		}, "y.npy: loss: Hinge: 720 targets out of range"},
		{"targets for a slope", func(_ *testing.T, _ *fixture, c *box.Config) { c.Cost = host.Gradient }, "cost is gradient"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t, graph.ShiftSymmetric, true)
			config := f.config(0, 1)
			config.State = "state"
			c.change(t, f, config)
			loaded := f.load(t, config)
			_, err := box.Describe(loaded)
			ran := box.Run(t.Context(), loaded, box.Streams{})
			for what, err := range map[string]error{"Describe": err, "Run": ran} {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s: got %v, want %q in it", what, err, c.want)
				}
			}
			if _, err := os.Stat(f.path("state")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the folder of checkpoints: got %v, want none before the files are read", err)
			}
		})
	}
}
