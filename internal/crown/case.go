package crown

import (
	"fmt"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/internal/vector"
)

// Interval is what lies between two numbers.
type Interval struct{ Low, High float64 }

// Case is one signal whose answers are bounded. It is not safe for concurrent use.
type Case struct {
	Output []float64 // Ψ(X), N×C by rows, with nothing unknown

	crown *Crown
	x     []float64
	pre   [][]float64 // pre-activations of every layer, N×F_ℓ
	sizes []float64   // |Ψ|(|X|), N×C
	first []float64   // |H_1||X| + |b_1|, N×F_1
	boxes map[float64]*box
	s     scratch
}

// box is what is known of a case for unknowns of one size.
type box struct {
	insides
	size float64
	most []float64 // sizes of the inputs
}

// Case prepares a signal, N×F by rows.
func (c *Crown) Case(x []float64) *Case {
	if len(x) != c.shift.nodes*c.net.In {
		panic(fmt.Sprintf("crown: Case: a signal of %d numbers for %d nodes with %d features", len(x), c.shift.nodes, c.net.In))
	}
	k := &Case{crown: c, x: x, boxes: map[float64]*box{}}
	k.pre, k.Output = c.net.run(c.shift, x, nil)
	pre, sizes := c.round.whole.run(c.round.shift, absolute(x), c.unknown.sizes())
	if k.sizes = sizes; len(pre) > 0 {
		k.first = pre[0]
	}
	return k
}

// Bounds returns bounds of every output of a node where unknowns have at most the
// given size, in float32 as well.
func (k *Case) Bounds(node int, size float64) []Interval {
	out := make([]Interval, k.crown.net.Outputs)
	q := make([]float64, len(out))
	for c := range q {
		q[c] = 1
		out[c].Low = k.least(node, q, size)
		q[c] = -1
		out[c].High = -k.least(node, q, size)
		q[c] = 0
	}
	return out
}

// Move returns how far each output of a node can be from the given values, those
// of the answer as it is.
func (k *Case) Move(node int, size float64, from []float64) []float64 {
	out := make([]float64, len(from))
	for c, b := range k.Bounds(node, size) {
		out[c] = max(b.High-from[c], from[c]-b.Low, 0)
	}
	return out
}

// Margin bounds from below by how much a class of a node is ahead of every other, in
// float32 as well, where unknowns have at most the given size. Above 0 it is the
// answer, whatever the unknowns are. It is not above 0 as soon as one class is not
// known to stay behind.
func (k *Case) Margin(node, class int, size float64) float64 {
	q := make([]float64, k.crown.net.Outputs)
	margin := math.Inf(1)
	q[class] = 1
	for c := range q {
		if c == class {
			continue
		}
		q[c] = -1
		if margin = min(margin, k.least(node, q, size)); !(margin > 0) {
			break
		}
		q[c] = 0
	}
	return margin
}

// least returns a lower bound of qᵀy at a node, in float32 as well.
func (k *Case) least(node int, q []float64, size float64) float64 {
	c, a := k.crown, k.answer(node)
	b := k.box(size)
	var deep []float64
	if layers := len(c.net.Deep); layers > 0 {
		k.bound(b, layers, node)
		deep = b.layers[layers-1].most[node*c.net.Features : (node+1)*c.net.Features]
	}
	f := k.s.begin(c, a) // k.bound used the same memory
	c.pull(f, a, c.goal(q), &b.insides, &k.s)
	for o, e := range c.slack(a, b.most, deep) {
		at := node*len(q) + o
		f.c -= math.Abs(q[o]) * (e + c.round.tiny*(k.sizes[at]+size*c.round.grow[at]))
	}
	return c.worst(f, a, k.x, size)
}

func (k *Case) answer(node int) *answer {
	a := k.crown.read[node]
	if a == nil {
		panic(fmt.Sprintf("crown: node %d is not among those to bound", node))
	}
	return a
}

// mostBoxes is how many sizes are remembered at a time.
const mostBoxes = 24

// box returns what is known for unknowns of one size.
func (k *Case) box(size float64) *box {
	if b := k.boxes[size]; b != nil {
		return b
	}
	if len(k.boxes) == mostBoxes {
		clear(k.boxes)
	}
	b := &box{size: size, most: k.crown.unknown.inputs(len(k.x))}
	vector.Scale(b.most, size)
	for i, x := range k.x {
		b.most[i] += math.Abs(x)
	}
	for _, pre := range k.pre {
		b.layers = append(b.layers, inside{
			lines: make([]lines, len(pre)), error: make([]float64, len(pre)), most: make([]float64, len(pre)),
			ready: make([]bool, k.crown.shift.nodes),
		})
	}
	k.boxes[size] = b
	return b
}

// bound puts lines around the activations of layer ℓ at a node: bounds of its
// pre-activations come from a pass each, on the lines of the layers below.
func (k *Case) bound(b *box, layer, node int) {
	in := &b.layers[layer-1]
	if in.ready[node] {
		return
	}
	in.ready[node] = true
	c := k.crown
	out := c.net.Deep[layer-1].Out
	from, to := node*out, (node+1)*out
	if layer == 1 {
		for g, v := range k.pre[0][from:to] {
			at := from + g
			e := c.round.gamma[0] * (k.first[at] + b.size*c.round.first[at])
			k.enclose(in, layer, at, Interval{v - b.size*c.first[node][g] - e, v + b.size*c.first[node][g] + e}, e)
		}
		return
	}
	a := c.inner[layer-1][node]
	k.below(b, a, layer)
	errors := c.errors(a, layer, b.layers[layer-2].most)
	w := make([]float64, out)
	for g, e := range errors {
		w[g] = 1
		low := k.half(b, a, layer, w) - e
		w[g] = -1
		high := -k.half(b, a, layer, w) + e
		w[g] = 0
		k.enclose(in, layer, from+g, Interval{low, high}, e)
	}
}

// below bounds what the row of a reads of the layer below layer ℓ.
func (k *Case) below(b *box, a *answer, layer int) {
	for m, j := range a.cone.nodes {
		for _, row := range a.sizes[:k.crown.net.Order(layer-1)+1] {
			if row[m] != 0 {
				k.bound(b, layer-1, j)
				break
			}
		}
	}
}

// enclose notes the bounds of one pre-activation, with the error in them.
func (k *Case) enclose(in *inside, layer, at int, over Interval, e float64) {
	sigma := k.crown.net.Deep[layer-1].Activation
	in.lines[at], in.error[at] = relax(sigma, over.Low, over.High), e
	ends := []float64{over.Low, over.High}
	activate(sigma, ends)
	in.most[at] = max(math.Abs(ends[0]), math.Abs(ends[1]))
}

// half returns a lower bound of wᵀh_ℓ at the node of a, without the error of layer ℓ.
func (k *Case) half(b *box, a *answer, layer int, w []float64) float64 {
	f := k.s.begin(k.crown, a)
	k.crown.backward(f, a, layer, w, &b.insides, &k.s)
	return k.crown.worst(f, a, k.x, b.size)
}

// finest is how many radii are tried between a size and its double.
const finest = 32

// Radius returns a size of the unknowns up to which a class stays the answer of a
// node, in float32 as well: the largest 2^(j/32) found by search for which
// Margin is above 0, bounds inside the network recomputed for every one. It is 0 if
// there is none and at most 2^40. Radii of all answers are of the same grid, so that
// answers of one signal share those bounds.
func (k *Case) Radius(node, class int) float64 {
	return k.Largest(k.start(node, class), func(size float64) bool { return k.Margin(node, class, size) > 0 })
}

// Largest returns the largest 2^(j/32) found for which holds says yes, searching
// from start up and down; 0 if not even 0 does.
func (k *Case) Largest(start float64, holds func(float64) bool) float64 {
	const most = 40 * finest
	if !holds(0) {
		return 0
	}
	at := most
	if start > 0 && !math.IsInf(start, 0) {
		at = int(max(min(math.Floor(finest*math.Log2(start)), most), -most))
	}
	size := func(j int) float64 { return math.Exp2(float64(j) / finest) }
	low, high := at, at // low holds, high does not
	if holds(size(at)) {
		for step := finest / 4; ; step *= 2 {
			if high = low + step; high > most {
				return size(low)
			}
			if !holds(size(high)) {
				break
			}
			low = high
		}
	} else {
		for step := finest / 4; ; step *= 2 {
			if low = high - step; low < -most {
				return 0
			}
			if holds(size(low)) {
				break
			}
			high = low
		}
	}
	for high-low > 1 {
		if mid := (low + high) / 2; holds(size(mid)) {
			low = mid
		} else {
			high = mid
		}
	}
	return size(low)
}

// start returns where the search for a radius begins: half the smallest unknown
// that would change the class if the network were linear.
func (k *Case) start(node, class int) float64 { return slices.Min(k.away(node, class)) / 2 }

// away returns, for every class, the size of the unknowns that would put it ahead
// if the network were linear; +Inf for the class itself and those that nothing moves.
func (k *Case) away(node, class int) []float64 {
	n := k.crown.net
	q := make([]float64, n.Outputs)
	out := make([]float64, n.Outputs)
	y := k.Output[node*n.Outputs : (node+1)*n.Outputs]
	for c := range q {
		out[c] = math.Inf(1)
		if c == class {
			continue
		}
		q[class], q[c] = 1, -1
		if spread := k.crown.unknown.spread(k.slope(node, q), k.answer(node)); spread > 0 {
			out[c] = (y[class] - y[c]) / spread
		}
		q[c] = 0
	}
	return out
}

// slope returns qᵀy at a node as the linear function that it is near the signal.
func (k *Case) slope(node int, q []float64) *functional {
	c, a := k.crown, k.answer(node)
	b := k.box(0)
	if layers := len(c.net.Deep); layers > 0 {
		k.bound(b, layers, node)
	}
	f := k.s.begin(c, a)
	c.pull(f, a, c.goal(q), &b.insides, &k.s)
	return f
}
