package online_test

import (
	"math"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
)

// What a node hears in training is its own shifted inputs and those of its
// neighbours, hops 1 and 2; a node with too many neighbours has no moment.
func TestHearEach(t *testing.T) {
	rng := random.Stream(5, "hear")
	const nodes, samples, in = 40, 30, 2
	var edges []graph.Edge
	for j := 1; j < nodes; j++ {
		edges = append(edges, graph.Edge{From: 0, To: j, Weight: 1}) // a hub
		edges = append(edges, graph.Edge{From: j, To: 1 + j%(nodes-1), Weight: 0.5})
	}
	g, err := graph.FromEdges(nodes, edges, false)
	if err != nil {
		t.Fatal(err)
	}
	s, err := graph.ShiftLaplacian.Of(g) // with a diagonal
	if err != nil {
		t.Fatal(err)
	}
	m, err := gnn.NewRandom(gnn.Config{In: in, Features: 3, Wide: &gnn.WideConfig{Order: 3}}, rng)
	if err != nil {
		t.Fatal(err)
	}
	signals := mat.NewDense(samples*nodes, in, nil)
	for k := range signals.Data {
		signals.Data[k] = float32(rng.NormFloat64())
	}
	read := []int{0, 3, 7}
	moment := online.InputMoment(m, s, signals, read, nil)
	online.HearEach(moment, m, s, signals, read, nil)
	if len(moment.Heard) != 2 || moment.Heard[3] == nil || moment.Heard[7] == nil {
		t.Fatalf("got %d nodes, want 3 and 7 and not the hub", len(moment.Heard))
	}
	if err := moment.Validate(); err != nil {
		t.Fatal(err)
	}
	h := moment.Heard[3]
	if want := []int{0, 2, 4}; !slices.Equal(h.Neighbors, want) || h.Hops != 2 || h.Inputs != 8 || h.Size() != 8+3*2*2+1 {
		t.Fatalf("got %+v, want neighbours %v, two hops of two features", h, want)
	}
	p := h.Size()
	want := make([]float64, p*p)
	z := mat.NewDense(nodes, 4*in, nil)
	for k := range samples {
		new(gnn.Shifter).Shift(z, s, signals.View(k*nodes, 0, nodes, in))
		v := []float64{}
		for _, x := range z.Row(3) {
			v = append(v, float64(x))
		}
		for _, j := range h.Neighbors {
			for _, x := range z.Row(j)[in : 3*in] {
				v = append(v, float64(x))
			}
		}
		v = append(v, 1)
		for a := range p {
			for b := range p {
				want[a*p+b] += v[a] * v[b] / samples
			}
		}
	}
	for e := range want {
		if math.Abs(h.Moment[e]-want[e]) > 1e-9*(1+math.Abs(want[e])) {
			t.Fatalf("moment of node 3, element %d: got %v, want %v", e, h.Moment[e], want[e])
		}
	}
	for a := range moment.Inputs { // of the node alone it is the mean that all nodes read share
		sum := 0.0
		for _, i := range read[1:] {
			sum += moment.Heard[i].Moment[a*moment.Heard[i].Size()+a]
		}
		if !(sum >= 0 && sum <= 3*moment.Mean[a*(moment.Inputs+1)+a]*(1+1e-9)) {
			t.Errorf("input %d: mean squares of single nodes add up to %v, want at most three times the mean of all", a, sum)
		}
	}
}

// Where a model sends no hop that is its neighbour's own sum there is nothing to
// hear.
func TestHearEachOfShortFilters(t *testing.T) {
	s := mat.CSR{Rows: 1, Cols: 1, RowPtr: []int{0, 0}}
	for order, want := range []int{0, 0, 1} {
		m, err := gnn.NewRandom(gnn.Config{In: 1, Features: 1, Wide: &gnn.WideConfig{Order: order}}, random.Stream(1, "hear"))
		if err != nil {
			t.Fatal(err)
		}
		moment := online.InputMoment(m, &s, mat.NewDense(4, 1, []float32{1, 2, 3, 4}), nil, nil)
		if online.HearEach(moment, m, &s, mat.NewDense(4, 1, []float32{1, 2, 3, 4}), nil, nil); len(moment.Heard) != want {
			t.Errorf("order %d: got %d nodes that hear, want %d", order, len(moment.Heard), want)
		}
	}
	online.HearEach(nil, &gnn.WideDeep{}, &s, mat.Dense{}, nil, nil) // without a wide part there is no moment
	if rule.HeardHops(1) != 0 {
		t.Error("a filter of order 1 sends inputs alone")
	}
}
