package rule_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
)

// alone is what a node hears that hears nobody else.
func alone(n *rule.Node) *rule.Heard {
	h := &rule.Heard{Weights: []float32{1}, Rows: []int32{0}}
	for _, v := range n.Vectors() {
		h.Vectors = append(h.Vectors, mat.NewDense(1, len(v), v))
	}
	return h
}

// restored returns a node with parameters x.
func restored(t *testing.T, f *rule.Basis, c *rule.Config, rows int, x []float32) *rule.Node {
	t.Helper()
	n := rule.NewNode(rule.NodeConfig{Basis: f, Config: c, Rows: rows})
	if err := n.Restore(rule.NewState(0, rule.Vectors{x}), 0); err != nil {
		t.Fatal(err)
	}
	return n
}

// A node mixes its row as the whole network does in one product, to the bit.
func TestMixHasBitsOfWholeNetwork(t *testing.T) {
	rng := random.Stream(9, "mix")
	for _, width := range []int{1, 5, 30, 48} {
		const nodes = 9
		var entries []mat.Entry
		for i := range nodes {
			for j := range nodes {
				if i == j || rng.Float64() < 0.4 {
					entries = append(entries, mat.Entry{Row: i, Col: j, Val: rng.Float32()})
				}
			}
		}
		w := must[*mat.CSR](t)(mat.FromEntries(nodes, nodes, entries))
		x := matrix(rng, nodes, width)
		want := mat.NewDense(nodes, width, nil)
		mat.Serial.SpMM(want, w, x)
		for i := range nodes {
			col, val := w.Row(i)
			h := rule.Heard{Weights: val, Rows: col, Vectors: []mat.Dense{x}}
			got := make([]float32, width)
			h.Mix(got, 0)
			if !slices.Equal(got, want.Row(i)) {
				t.Errorf("row %d of %d numbers: %v, want %v", i, width, got, want.Row(i))
			}
			h.Mixed = [][]float32{want.Row(i)}
			h.Mix(got, 0)
			if !slices.Equal(got, want.Row(i)) || h.Len() != len(col) || &h.Vector(0, 0)[0] != &x.Row(int(col[0]))[0] {
				t.Errorf("row %d mixed beforehand: %v, want %v", i, got, want.Row(i))
			}
		}
	}
}

// Neighbours that send numbers which are not finite, costs that explode and
// parameters beyond the limit end in ErrDiverged; the node stays as it was and
// goes on.
func TestDivergence(t *testing.T) {
	f := must[*rule.Basis](t)(rule.NewBasis(bases["readout"]))
	z, base := mat.NewDense(1, 3, []float32{1, 2, 3}), mat.NewDense(1, 2, []float32{1, 1})
	good := loss.MSE{Target: mat.NewDense(1, 2, []float32{3, -4})}
	for name, c := range map[string]struct {
		heard  float32
		target float32
		limit  float64
	}{
		"NaN": {heard: float32(math.NaN())}, "Inf": {heard: float32(math.Inf(-1))},
		"large": {heard: 3e38}, "cost": {target: 1e38}, "limit": {target: 10, limit: 1e-2},
	} {
		config := rule.Config{StepSize: rule.StepSize{Value: 0.01}, Limit: c.limit}
		n := restored(t, f, &config, 1, make([]float32, f.Len()))
		before := fmt.Sprint(n.State(0))
		heard := &rule.Heard{Weights: []float32{1, 1}, Rows: []int32{0, 1}, Vectors: []mat.Dense{mat.NewDense(2, f.Len(), nil)}}
		for e := range heard.Vectors[0].Row(1) {
			heard.Vectors[0].Row(1)[e] = c.heard
		}
		n.Observe(z, base, []int32{0}, loss.MSE{Target: mat.NewDense(1, 2, []float32{c.target, 0})})
		if err := n.Step(heard); !errors.Is(err, rule.ErrDiverged) {
			t.Fatalf("%s: error %v, want ErrDiverged", name, err)
		}
		n.Cancel()
		if after := fmt.Sprint(n.State(0)); after != before {
			t.Errorf("%s: memory %s, want %s", name, after, before)
		}
		config.Limit = 0
		n.Observe(z, base, []int32{0}, good)
		if err := n.Step(alone(n)); err != nil {
			t.Fatalf("%s: the next step: %v", name, err)
		}
		n.Commit()
		if n.Steps() != 1 || f.Distance(n.Params(), nil) == 0 {
			t.Errorf("%s: the next step did not count", name)
		}
	}
}

// jumps is a cost that is neither local nor targeted.
type jumps struct{}

func (jumps) Eval(dy, y mat.Dense) float64 { return 0 }

func TestCheck(t *testing.T) {
	both := bases["readout"]
	both.Newton = true
	f := must[*rule.Basis](t)(rule.NewBasis(both))
	for _, c := range []struct {
		config rule.Config
		j      loss.Loss
		want   string
	}{
		{rule.Config{}, jumps{}, ""},
		{rule.Config{}, nil, "no cost"},
		{rule.Own().Ungated(), jumps{}, "needs the cost of every node"},
	} {
		err := rule.NewNode(rule.NodeConfig{Basis: f, Config: &c.config, Rows: 1}).Check(c.j)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%T under %+v: error %v, want %q", c.j, c.config, err, c.want)
		}
	}
}
