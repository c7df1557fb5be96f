package box_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/conformal"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
)

// Answers of a box carry the sets of online.Consensus, from the first on if the
// model file knows how answers turn out. Node 0 has scores of its own, the others
// those of all nodes.
func TestBoxSets(t *testing.T) {
	for _, late := range []int{0, 2} {
		f := newFixture(t, graph.ShiftRowStochastic, false)
		f.delay = late
		known := &modelfile.Calibration{Nodes: []int{0}}
		var scores []float64
		for k := range 60 {
			scores = append(scores, float64(k)/20-2)
		}
		known.Scores, known.Pooled = [][][]float64{{scores[20:]}}, [][]float64{scores}
		f.model.SetCalibration(known)
		f.save()

		r := f.rule()
		r.Conformal = &conformal.Config{Coverage: 0.9, Classes: true}
		o, err := online.NewObserver(f.model.Network, online.Config{
			Nodes: nodes, HopByHop: true, Scores: func(node int) [][]float64 { return known.Begin(node, f.model.Meta.Nodes) },
		})
		check(t, err)
		l, err := online.NewConsensus(o, r)
		check(t, err)
		var want [][][]int // by step and node
		err = online.Play(t.Context(), mat.NewDense(nodes, classes, nil), l, &revealing{fixture: f}, func(_ int, y mat.Dense, _ loss.Loss) error {
			var sets [][]int
			for i := range nodes {
				var set []int // none while nothing is known
				if b := l.Bounds(i)[0]; !b.Unknown() {
					set = b.Set(nil, y.Row(i))
				}
				sets = append(sets, set)
			}
			want = append(want, sets)
			return nil
		})
		check(t, err)

		c := f.config(0, 1)
		c.State = "state"
		seen, sizes := 0, map[int]int{}
		for line := range bytes.Lines(run(t, f.load(t, c))) {
			var a host.Answer
			check(t, json.Unmarshal(line, &a))
			for _, out := range a.Outputs {
				if got := out.Set; !slices.Equal(got, want[a.Time][out.Node]) {
					t.Fatalf("step %d, node %d: got the set %v, want %v", a.Time, out.Node, got, want[a.Time][out.Node])
				}
				seen++
				sizes[len(out.Set)]++
			}
		}
		if seen != steps*nodes || len(sizes) < 2 {
			t.Errorf("got %d sets, of sizes %v, want %d, not all of one size", seen, sizes, steps*nodes)
		}
	}
}

// Without sets a box answers as ever.
func TestBoxWithoutSets(t *testing.T) {
	f := newFixture(t, graph.ShiftRowStochastic, false)
	c := f.config(0, 1)
	c.Learn.Coverage = new(float64)
	if got := run(t, f.load(t, c)); strings.Contains(string(got), `"set"`) {
		t.Errorf("got a set in %.200s", got)
	}
}
