package crown

import (
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/internal/vector"
)

// Terms of nodes' own, for themselves and for neighbours, are bounded with the rest:
// no noise and no lie of a neighbour moves an answer out of its bounds.
func TestCrownOfTermsHolds(t *testing.T) {
	rng := newRand(51)
	for k := range 300 {
		nodes := 3 + rng.IntN(6)
		n := randomNetwork(rng)
		f := randomFilter(rng, "wide", n.In, n.Features, 3, true)
		n.Wide = &f
		s := shiftOf(nodes, randomGraph(rng, nodes, false))
		x := randomSignal(rng, nodes*n.In)
		node := rng.IntN(nodes)
		var terms []Term
		links, _ := s.Row(node)
		for _, j := range append([]int32{int32(node)}, links...) {
			for hop := 1; hop <= 2; hop++ {
				terms = append(terms, Term{int(j), hop, randomSignal(rng, n.In*n.Outputs)})
			}
		}
		n.GiveTerms(node, terms, randomSignal(rng, n.Outputs))
		check := func(what string, b []Interval, y []float64) {
			for c := range b {
				if v := y[node*n.Outputs+c]; v < b[c].Low || v > b[c].High {
					t.Fatalf("instance %d, %s: output %d is %v, want within %v", k, what, c, v, b[c])
				}
			}
		}
		size := math.Pow(10, -2+2*rng.Float64())
		noisy := NewCrown(n, s, []int{node}, Noise{}).Case(x)
		bounds := noisy.Bounds(node, size)
		for range 5 {
			moved := randomNoise(rng, L2, len(x), size)
			vector.Axpy(moved, 1, x)
			_, y := n.run(s, moved, nil)
			check("noise", bounds, y)
		}
		from := noisy.outputs(node)
		for c, found := range noisy.Moved(node, size, from) {
			if most := noisy.Move(node, size, from)[c]; found > most {
				t.Fatalf("instance %d: output %d moves by %v, want at most %v", k, c, found, most)
			}
		}
		if len(links) == 0 {
			continue
		}
		lieTo(t, k, n, s, x, node, int(links[rng.IntN(len(links))]), check)
	}
}

// lieTo has node v send random rows and checks the answers of a node.
func lieTo(t *testing.T, k int, n *Network, s *Shift, x []float64, node, v int, check func(string, []Interval, []float64)) {
	t.Helper()
	rng := newRand(uint64(1000 + k))
	input := max(n.wideOrder(), n.Order(0))
	exchanges := input
	for l := 1; l < len(n.Deep); l++ {
		exchanges += n.Order(l)
	}
	most := make([]float64, exchanges)
	for e := range most {
		most[e] = rng.Float64()
	}
	lying := NewLiarCrown(n, s, []int{node}, Liar{Rows: []int{v}, Most: most}).Case(x)
	bounds := lying.Bounds(node, 1)
	for range 5 {
		sent := map[[3]int][]float64{}
		lie := func(j, layer, hop, features int) []float64 {
			at := [3]int{j, layer, hop}
			if sent[at] == nil {
				sent[at] = randomSignal(rng, features)
				vector.Scale(sent[at], most[min(layer, 1)*input+hop]/vector.Norm(sent[at]))
			}
			return sent[at]
		}
		y := told(n, s, x, v, lie)
		shifts := toldShifts(n, s, x, v, lie)
		row := y[node*n.Outputs : (node+1)*n.Outputs]
		for _, term := range n.terms[node].list {
			z := shifts[term.Hop][term.Node*n.In : (term.Node+1)*n.In]
			if term.Node == v {
				z = lie(node, 0, term.Hop, n.In)
			}
			AddProduct(row, z, term.Weights, n.In, n.Outputs)
		}
		vector.Axpy(row, 1, n.terms[node].bias)
		check("lie", bounds, y)
	}
}
