package modelfile

import (
	"bytes"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
)

// architectures are one of each kind.
var architectures = map[string]gnn.Config{
	"filter": {In: 2, Features: 3, Wide: &gnn.WideConfig{Order: 2}},
	"gnn":    {In: 1, Features: 4, Outputs: 2, Deep: []gnn.LayerConfig{{Order: 2, Features: 5}, {Order: 1, Features: 4}}},
	"leaky": {
		In: 2, Features: 3, Outputs: 2, Wide: &gnn.WideConfig{Order: 3},
		Deep: []gnn.LayerConfig{{Order: 1, Features: 6, Activation: gnn.LeakyReLU}, {Order: 3, Features: 3, Activation: gnn.Tanh}},
	},
	"no bias": {
		In: 3, Features: 2, Outputs: 1, NoBias: true, Wide: &gnn.WideConfig{Order: 1},
		Deep: []gnn.LayerConfig{{Order: 4, Features: 2, Activation: gnn.Tanh}},
	},
	"no readout": {
		In: 1, Features: 2, Wide: &gnn.WideConfig{Order: 4, StartZero: true},
		Deep: []gnn.LayerConfig{{Order: 0, Features: 2, Activation: gnn.Identity}},
	},
	"gains": {
		In: 1, Features: 1, FixedGains: true, Gains: gnn.Gains{Wide: 0.25, Deep: 0.75, Bias: -1}, Wide: &gnn.WideConfig{},
		Deep: []gnn.LayerConfig{{Order: 1, Features: 1}},
	},
}

// randomModel returns a model whose numbers are all drawn, gains included.
func randomModel(tb testing.TB, c gnn.Config) *Model {
	tb.Helper()
	n, err := gnn.New(c)
	if err != nil {
		tb.Fatal(err)
	}
	rng := random.Stream(7, "modelfile")
	for i := range n.Params.Flat {
		n.Params.Flat[i] = float32(rng.NormFloat64() / 2)
	}
	return &Model{Network: n, Meta: Meta{Shift: graph.ShiftSymmetric, Task: "classify", Seed: 7, Version: "v1.2.3"}}
}

// smallModel returns a model of 8 numbers with everything that a file can hold.
func smallModel(tb testing.TB) *Model {
	m := randomModel(tb, gnn.Config{In: 1, Features: 1, Outputs: 1, Wide: &gnn.WideConfig{Order: 1}})
	m.Meta.Nodes = []int{3, 1}
	m.Meta.Delayed = true
	m.Extra = map[string]mat.Dense{
		"online.whiten.left": mat.NewDense(2, 2, []float32{1, 2, 3, 4}),
		"node.7.wide.tap.0":  mat.NewDense(1, 1, []float32{5}),
		"node.7.wide.bias":   mat.NewDense(1, 1, []float32{6}),
	}
	return m
}

func encoded(tb testing.TB, m *Model) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := Encode(&b, m); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func decode(file []byte) (*Model, error) { return Decode(bytes.NewReader(file), int64(len(file))) }

// sameBits says whether two slices hold the same numbers, signs of 0 included.
func sameBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}

func sameExtra(a, b map[string]mat.Dense) bool {
	return maps.EqualFunc(a, b, func(x, y mat.Dense) bool {
		return x.Rows == y.Rows && x.Cols == y.Cols && sameBits(x.Clone().Data, y.Clone().Data)
	})
}

// wantError fails unless err mentions all parts, in this order.
func wantError(tb testing.TB, err error, parts ...string) {
	tb.Helper()
	if err == nil {
		tb.Errorf("got no error, want one with %q", parts)
		return
	}
	rest := err.Error()
	for _, p := range parts {
		_, after, ok := strings.Cut(rest, p)
		if !ok {
			tb.Errorf("got error %q, want it to mention %q", err, parts)
			return
		}
		rest = after
	}
}
