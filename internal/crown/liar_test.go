package crown

import (
	"math"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/internal/vector"
)

// lies says what a node sends to node j at a layer and hop.
type lies func(j, layer, hop, features int) []float64

// hears returns X and its shifts where node v sends rows of its own to everybody.
func (lie lies) hears(s *Shift, x []float64, v, features, layer, order int) [][]float64 {
	all := [][]float64{x}
	for k := range order {
		out := make([]float64, len(x))
		for j := range s.nodes {
			col, val := s.Row(j)
			for e, m := range col {
				row := all[k][int(m)*features : (int(m)+1)*features]
				if int(m) == v && j != v {
					row = lie(j, layer, k, features)
				}
				vector.Axpy(out[j*features:(j+1)*features], val[e], row)
			}
		}
		all = append(all, out)
	}
	return all
}

func toldShifts(n *Network, s *Shift, x []float64, v int, lie lies) [][]float64 {
	return lie.hears(s, x, v, n.In, 0, max(n.wideOrder(), n.Order(0)))
}

// told computes the outputs of a network hop by hop where node v lies.
func told(n *Network, s *Shift, x []float64, v int, lie lies) []float64 {
	input := toldShifts(n, s, x, v, lie)
	u := make([]float64, s.nodes*n.Features)
	for i := range u {
		u[i] = n.GainBias
	}
	if n.Wide != nil {
		vector.Axpy(u, n.GainWide, n.Wide.sum(input, s.nodes))
	}
	h := x
	for l := range n.Deep {
		z := input
		if l > 0 {
			z = lie.hears(s, h, v, n.Deep[l].In, l, n.Order(l))
		}
		h = n.Deep[l].sum(z, s.nodes)
		activate(n.Deep[l].Activation, h)
	}
	if len(n.Deep) > 0 {
		vector.Axpy(u, n.GainDeep, h)
	}
	return n.readOut(u)
}

// Whatever a neighbour sends that is accepted, answers stay within their bounds, and
// what the attack finds is possible.
func TestLiarCrownHolds(t *testing.T) {
	rng := newRand(41)
	flipped, held := 0, 0
	for k := range instances() / 10 {
		nodes := 3 + rng.IntN(8)
		n := randomNetwork(rng)
		s := shiftOf(nodes, randomGraph(rng, nodes, rng.IntN(3) == 0))
		x := randomSignal(rng, nodes*n.In)
		v := rng.IntN(nodes)
		node := (v + 1 + rng.IntN(nodes-1)) % nodes
		exchanges := max(n.wideOrder(), n.Order(0))
		for l := 1; l < len(n.Deep); l++ {
			exchanges += n.Order(l)
		}
		most := make([]float64, exchanges)
		for e := range most {
			most[e] = math.Pow(10, -1+2*rng.Float64())
		}
		first := []int{0, max(n.wideOrder(), n.Order(0))} // exchange of a layer
		crown := NewLiarCrown(n, s, []int{node}, Liar{Rows: []int{v}, Most: most})
		kase := crown.Case(x)
		bounds := kase.Bounds(node, 1)
		for range 6 {
			y := told(n, s, x, v, func(j, layer, hop, features int) []float64 {
				r := randomSignal(rng, features)
				vector.Scale(r, most[first[layer]+hop]/vector.Norm(r))
				return r
			})
			for c, b := range bounds {
				if got := y[node*n.Outputs+c]; got < b.Low || got > b.High {
					t.Fatalf("instance %d: output %d is %v, want within %v", k, c, got, b)
				}
			}
		}
		if n.Outputs < 2 {
			continue
		}
		honest := n.Forward(s, x)
		class := argmax(honest[node*n.Outputs : (node+1)*n.Outputs])
		holds, flips := kase.Margin(node, class, 1) > 0, kase.Flips(node, class, 1)
		if holds && flips {
			t.Fatalf("instance %d: an answer that cannot be flipped was", k)
		}
		if holds {
			held++
		}
		if flips {
			flipped++
		}
	}
	if least := instances() / 500; flipped < least || held < least {
		t.Errorf("%d answers flipped and %d held, want %d of each at least", flipped, held, least)
	}
}

// A linear model's bound is the sum over what is sent of its largest norm times the
// norm of its coefficients, and the attack reaches it.
func TestLiarCrownIsExactForLinearModels(t *testing.T) {
	f := Filter{In: 1, Out: 1, Taps: [][]float64{{1}, {2}, {4}}}
	n := &Network{In: 1, Features: 1, Outputs: 1, GainWide: 1, GainDeep: 1, Wide: &f}
	s := shiftOf(3, []float64{0, 0.5, 0, 0.5, 0, 0.5, 0, 0.5, 0}) // a path 0 - 1 - 2
	kase := NewLiarCrown(n, s, []int{0, 2}, Liar{Rows: []int{1}, Most: []float64{3, 5}}).Case([]float64{1, 7, 1})
	// Node 0 has its own value 1, hears r_0 and r_1 with weight ½: y = 1 + 2·½ r_0 + 4·½ r_1.
	want := 3.0 + 2*5
	if b := kase.Bounds(0, 1)[0]; !near(b.High-1, want, 1e-4) || b.High-1 < want || !near(1-b.Low, want, 1e-4) {
		t.Errorf("bounds %v, want 1 ± %v", b, want)
	}
	if got := kase.Moved(0, 1, []float64{1})[0]; !near(got, want, 1e-12) {
		t.Errorf("the attack moves the answer by %v, want %v", got, want)
	}
	joint := NewLiarCrown(n, s, []int{0}, Liar{Rows: []int{1}, Most: []float64{3, 4}, Joint: true}).Case([]float64{1, 7, 1})
	// One message no longer than 5 with the coefficients (1, 2).
	if got, want := joint.Moved(0, 1, []float64{1})[0], 5*math.Sqrt(5); !near(got, want, 1e-12) {
		t.Errorf("one message moves the answer by %v, want %v", got, want)
	}
	if b := joint.Bounds(0, 1)[0]; !near(b.High, 1+5*math.Sqrt(5), 1e-4) {
		t.Errorf("bounds of one message %v", b)
	}
	heavy := Liar{Rows: []int{1}, Most: []float64{3, 5}, Weight: func(j int, s float64) float64 { return 2 * s }}
	if b := NewLiarCrown(n, s, []int{0}, heavy).Case([]float64{1, 7, 1}).Bounds(0, 1)[0]; !near(b.High-1, 2*want, 1e-4) {
		t.Errorf("with twice the weight bounds are %v, want 1 ± %v", b, 2*want)
	}
}

// A node that no message of the liar reaches keeps its answer.
func TestLiarOutOfReach(t *testing.T) {
	rng := newRand(42)
	n := randomNetwork(rng)
	n.Deep = nil
	f := randomFilter(rng, "wide", n.In, n.Features, 1, true)
	n.Wide = &f
	line := make([]float64, 25)
	for i := range 4 {
		line[i*5+i+1], line[(i+1)*5+i] = 0.5, 0.5
	}
	s := shiftOf(5, line)
	x := randomSignal(rng, 5*n.In)
	kase := NewLiarCrown(n, s, []int{4}, Liar{Rows: []int{0}, Most: []float64{100}}).Case(x)
	y := n.Forward(s, x)[4*n.Outputs:]
	if m := slices.Max(kase.Move(4, 1, y)); m > 1e-3 {
		t.Errorf("an answer out of reach moves by %v", m)
	}
}
