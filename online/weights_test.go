package online_test

import (
	"math"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
)

// Weights that sum to less than 1 are refused as are those that sum to more, and
// those that are no numbers; what float32 rounds is not.
func TestSumsOfMixingWeights(t *testing.T) {
	b := newBig(t, 20, 1)
	for _, c := range []struct {
		off  float64 // what is added to the weight that node 7 gives itself
		fine bool
	}{{0, true}, {5e-5, true}, {-5e-5, true}, {2e-4, false}, {-2e-4, false}, {-0.1, false}, {0.1, false}, {math.NaN(), false}} {
		l := newConsensus(t, b.model, online.Config{Nodes: b.nodes}, plain(0.1))
		sample := b.samples[0]
		w := &mat.CSR{Rows: b.nodes, Cols: b.nodes, RowPtr: sample.Mixing.RowPtr, Col: sample.Mixing.Col}
		for i := range b.nodes {
			col, val := sample.Mixing.Row(i)
			for e, j := range col {
				v := val[e]
				if i == 7 && j == 7 {
					v += float32(c.off)
				}
				w.Val = append(w.Val, v)
			}
		}
		sample.Mixing = w
		must(t, l.Observe(sample))
		if err := l.Update(b.labels(0)); c.fine != (err == nil) ||
			!c.fine && !strings.Contains(err.Error(), "row 7 of the mixing matrix sums to") {
			t.Errorf("a sum that is off by %v: got %v, want an error: %v", c.off, err, !c.fine)
		}
	}
}

// Of equal scores the first is the answer, whatever comes before or after.
func TestMeterTakesFirstOfEquals(t *testing.T) {
	for answer, scores := range [][]float32{{3, 3, 2, 3}, {1, 3, 2, 3}, {1, 2, 3, 3}, {1, 2, 2, 3}} {
		for label := range scores {
			var m online.Meter
			m.Watch(mat.NewDense(1, 4, scores), loss.CrossEntropy{Labels: []int32{int32(label)}})
			if m.Right == 1 != (label == answer) || m.Asked != 1 {
				t.Errorf("%v: label %d: %d right of %d, want the answer %d", scores, label, m.Right, m.Asked, answer)
			}
		}
	}
}
