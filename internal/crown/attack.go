package crown

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/wdgnn/wdgnn/internal/vector"
)

// attack looks for unknowns that change the answer of one node, by gradients: what
// it finds is possible, and stands beside what Crown proves to be impossible.
type attack struct {
	c   *Crown
	a   *answer
	net *Network
	x   []float64 // the signal in the cone
	at  []int     // 0, 1, …
	s   scratch
}

func (k *Case) attack(node int) *attack {
	c := k.crown
	t := &attack{c: c, net: c.net, a: k.answer(node)}
	for i := range t.a.cone.nodes {
		t.at = append(t.at, i)
	}
	t.x = t.a.cone.gather(k.x, c.net.In)
	return t
}

// outputs returns the outputs of the node for unknowns v, and the pre-activations:
// those of the last layer at the node alone, where nobody reads others.
func (t *attack) outputs(v []float64) (pre [][]float64, y []float64) {
	x, fed := t.c.unknown.enact(t.x, t.a, v)
	n, s := t.net, t.a.cone.shift
	u := make([]float64, n.Features)
	for i := range u {
		u[i] = n.GainBias
	}
	order := n.wideOrder()
	if len(n.Deep) == 1 {
		order = max(order, n.Order(0))
	}
	input, signal := t.row(t.a.powers, x, n.In, order, 0, v), x
	if n.Wide != nil {
		vector.Axpy(u, n.GainWide, n.Wide.sum(input, 1))
	}
	z, rows := input, 1
	for l := range n.Deep {
		layer, last := &n.Deep[l], l == len(n.Deep)-1
		switch {
		case last && l > 0:
			z, rows = t.row(t.a.powers, x, layer.In, n.Order(l), l, v), 1
		case !last:
			z, rows = shifted(s, x, layer.In, n.Order(l), l, fed), s.nodes
		}
		h := layer.sum(z, rows)
		pre = append(pre, h)
		x = append([]float64(nil), h...)
		activate(layer.Activation, x)
	}
	if len(n.Deep) > 0 {
		vector.Axpy(u, n.GainDeep, x)
	}
	y = n.readOut(u)
	t.overhear(y, signal, v)
	return pre, y
}

// overhear adds the node's terms of its own to y.
func (t *attack) overhear(y, x, v []float64) {
	for _, o := range t.a.heard {
		var z []float64
		if o.direct < 0 {
			z = t.row(o.powers, x, t.net.In, o.Hop, 0, v)[o.Hop]
		} else {
			z = t.c.unknown.block(v, o.direct, 0, o.Hop)
		}
		AddProduct(y, z, o.Weights, t.net.In, len(y))
	}
	if bias := t.net.terms[t.a.node].bias; bias != nil {
		vector.Axpy(y, 1, bias)
	}
}

// row returns Z_0, …, Z_K of one node, by its rows of Sᵏ.
func (t *attack) row(powers [][]float64, x []float64, features, order, layer int, v []float64) [][]float64 {
	var out [][]float64
	for k := range order + 1 {
		z := make([]float64, features)
		for m, p := range powers[k] {
			if p != 0 {
				vector.Axpy(z, p, x[m*features:(m+1)*features])
			}
		}
		for e, in := range t.a.enter {
			for hop := range k {
				vector.Axpy(z, in.weight*powers[k-1-hop][in.local], t.c.unknown.block(v, e, layer, hop))
			}
		}
		out = append(out, z)
	}
	return out
}

// slope returns qᵀy as a linear function near the point of pre-activations pre.
func (t *attack) slope(pre [][]float64, q []float64) *functional {
	f := t.s.begin(t.c, t.a)
	t.c.pull(f, t.a, t.c.goal(q), t.tangents(pre), &t.s)
	return f
}

// tangents returns the activations as their tangents at the given pre-activations,
// by places in the cone; of the last layer only those of the node are set.
func (t *attack) tangents(pre [][]float64) *insides {
	in := &insides{at: t.at}
	for l := range t.net.Deep {
		layer, at := &t.net.Deep[l], 0
		ln := make([]lines, len(t.at)*layer.Out)
		if l == len(t.net.Deep)-1 {
			at = t.a.cone.self * layer.Out
		}
		for i, h := range pre[l] {
			ln[at+i] = relax(layer.Activation, h, h)
		}
		in.layers = append(in.layers, inside{lines: ln})
	}
	return in
}

// Steps and restarts of a search.
const (
	diveSteps    = 12
	diveRestarts = 3
)

// dive looks for the unknowns of the given size that make qᵀy least, and returns
// them with the least value: it repeats the step that would be best if the network
// were linear, whole and then half way, from 0 and from random points. It stops at
// the first value below enough.
func (t *attack) dive(q []float64, size, enough float64) (best []float64, least float64) {
	rng := rand.New(rand.NewPCG(0x617474616b, uint64(t.a.node)))
	least = math.Inf(1)
	for start := range diveRestarts {
		v := make([]float64, t.c.unknown.len(t.a))
		if start > 0 {
			v = t.c.unknown.steepest(t.random(rng), t.a, size)
		}
		for step := range diveSteps {
			pre, y := t.outputs(v)
			if value := vector.Dot(q, y); value < least {
				best, least = append(best[:0], v...), value
			}
			if least < enough {
				return best, least
			}
			to := t.c.unknown.steepest(t.slope(pre, q), t.a, size)
			share := 1.0
			if step >= diveSteps/3 {
				share = 0.3
			}
			for i := range v {
				v[i] += share * (to[i] - v[i])
			}
		}
	}
	return best, least
}

// random returns a functional with random coefficients.
func (t *attack) random(rng *rand.Rand) *functional {
	f := t.s.begin(t.c, t.a)
	for i := range f.x {
		f.x[i] = rng.NormFloat64()
	}
	for i := range f.taint {
		f.taint[i] = rng.NormFloat64()
	}
	return f
}

// Moved returns how far each output of a node was found to be from the given values,
// with unknowns of the given size.
func (k *Case) Moved(node int, size float64, from []float64) []float64 {
	t := k.attack(node)
	out, q := make([]float64, t.net.Outputs), make([]float64, t.net.Outputs)
	for c := range out {
		q[c] = 1
		_, low := t.dive(q, size, math.Inf(-1))
		q[c] = -1
		_, high := t.dive(q, size, math.Inf(-1))
		q[c] = 0
		out[c] = max(from[c]-low, -high-from[c], 0)
	}
	return out
}

// Exceeds says whether unknowns of the given size were found with which an output of a
// node is farther than a limit from the given values.
func (k *Case) Exceeds(node int, size float64, from []float64, limit float64) bool {
	t := k.attack(node)
	q := make([]float64, t.net.Outputs)
	for c, v := range from {
		for _, sign := range []float64{1, -1} {
			q[c] = sign
			if _, least := t.dive(q, size, sign*v-limit); least < sign*v-limit {
				return true
			}
		}
		q[c] = 0
	}
	return false
}

// Flips says whether unknowns of the given size were found with which a class is
// not the answer of a node.
func (k *Case) Flips(node, class int, size float64) bool {
	t := k.attack(node)
	for _, c := range k.nearest(node, class) {
		if t.flip(class, c, size) != nil {
			return true
		}
	}
	return false
}

// flip returns unknowns of the given size that put class c ahead, nil if none were
// found.
func (t *attack) flip(class, c int, size float64) []float64 {
	q := make([]float64, t.net.Outputs)
	q[class], q[c] = 1, -1
	if v, least := t.dive(q, size, 0); least < 0 {
		return v
	}
	return nil
}

// Found returns the size of the smallest noise that was found to change the answer
// of a node from a class, +Inf if none was: an upper limit of any radius. It tries a size, and
// then ever smaller ones, each beginning anew; whatever changes the class is drawn
// back to where it just does. It is NaN where it is not noise that is unknown.
func (k *Case) Found(node, class int) float64 {
	noise, ok := k.crown.unknown.(*Noise)
	if !ok {
		return math.NaN()
	}
	t, near := k.attack(node), k.nearest(node, class)
	best := math.Inf(1)
	shrink := func(size float64) bool {
		for _, c := range near[:min(len(near), 2)] {
			if v := t.flip(class, c, size); v != nil {
				best = noise.size(v) * t.drawBack(v, class)
				return true
			}
		}
		return false
	}
	size := 2 * k.start(node, class)
	if !(size > 0) || math.IsInf(size, 0) {
		return best
	}
	for range 6 {
		if shrink(size) {
			break
		}
		size *= 2
	}
	for _, share := range []float64{0.75, 0.9, 0.97} {
		for range 8 {
			if math.IsInf(best, 0) || !shrink(share*best) {
				break
			}
		}
	}
	return best
}

// nearest lists the other classes, those that a linear network would reach first
// before the others.
func (k *Case) nearest(node, class int) []int {
	away := k.away(node, class)
	var list []int
	for c, v := range away {
		if !math.IsInf(v, 0) {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(away[a], away[b]) })
	return list
}

// drawBack returns the least share of v found to change the class.
func (t *attack) drawBack(v []float64, class int) float64 {
	low, high := 0.0, 1.0
	part := make([]float64, len(v))
	for range 10 {
		mid := (low + high) / 2
		for i := range v {
			part[i] = mid * v[i]
		}
		if _, y := t.outputs(part); argmax(y) != class {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}

func argmax(y []float64) int {
	best := 0
	for c, v := range y {
		if v > y[best] {
			best = c
		}
	}
	return best
}
