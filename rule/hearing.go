package rule

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
)

// MostHeard is the largest number of features of a node that weights its
// neighbours one by one. Its matrices have the square of that, and a node with
// more of them would have to be told more answers than most ever are.
const MostHeard = 64

// HeardHops returns up to which hop a node weights what its neighbours say one by
// one, 0 for none: the first two, as far as a model whose inputs are shifted
// order times sends them.
func HeardHops(order int) int { return max(min(2, order-1), 0) }

// Hearing says which values a node weights one by one: its own shifted inputs,
// and of every neighbour that it had in training the values that this one sends
// anyway,
//
//	v = [z_i ; [SᵏX]_j for j in Neighbors, k = 1 … Hops ; 1]      p values
//
// and how they are scaled. With the second moment Σ of v in training they are made
// white, and those that were not heard are replaced by their conditional mean:
//
//	z̃ = T v      T = L⁻¹, L Lᵀ = Σ + 1e-3 diag Σ = Σ'
//	v_m = Σ'_mo Σ'_oo⁻¹ v_o      m: not heard   o: heard
//
// A 0 in the place of a lost value would be taken for a measurement, and be the
// largest change that the node ever saw. The ridge matters to both: rows of S make
// [Sᵏ⁺¹X]_i a sum of the [SᵏX]_j, so Σ is singular, and without it a lost
// neighbour would be found by subtracting all others from a sum that no longer
// holds it.
//
// Without a moment all values are divided by one scale, and a lost one is taken to
// be what the node itself has at that hop. The scale is a tenth of the root mean
// square of the node's inputs: shifts of one signal are almost collinear, and what
// tells answers apart is much smaller than they are.
//
// Deviation: eq. (3) gives one tap to all neighbours at a distance. A node that
// weights them one by one gives up permutation equivariance in what it learns
// online; the model as trained keeps it.
type Hearing struct {
	Inputs    int   `json:"inputs"`    // (K+1)·F of z
	Features  int   `json:"features"`  // F
	Hops      int   `json:"hops"`      // at most 2; see HeardHops
	Neighbors []int `json:"neighbors"` // ascending

	Moment []float64 `json:"moment,omitempty"` // Σ, p×p by rows; nil if it is not known
	Scale  float64   `json:"scale,omitempty"`  // where Σ is not known; 0 means that of the first row
}

// Len returns the number of values of a row: those of v without the 1.
func (h *Hearing) Len() int { return h.Inputs + len(h.Neighbors)*h.Hops*h.Features }

// Size returns p.
func (h *Hearing) Size() int { return h.Len() + 1 }

// Row writes a row to dst, Len values: z_i, then hops 1 to Hops of each neighbour.
// heard returns [SᵏX]_j of the e-th of them, or nil if it was not heard, which is
// written as NaN.
func (h *Hearing) Row(dst, z []float32, heard func(e, k int) []float32) {
	at := copy(dst, z[:h.Inputs])
	for e := range h.Neighbors {
		for k := 1; k <= h.Hops; k++ {
			to := dst[at : at+h.Features]
			if v := heard(e, k); v != nil {
				copy(to, v)
			} else {
				for f := range to {
					to[f] = float32(math.NaN())
				}
			}
			at += h.Features
		}
	}
}

// Validate reports what is wrong with a hearing that came from outside.
func (h *Hearing) Validate() error {
	switch {
	case h.Inputs < 1 || h.Features < 1 || h.Hops < 0 || h.Hops > 2 || h.Inputs < (h.Hops+1)*h.Features:
		return fmt.Errorf("rule: hearing: %d inputs of %d features and %d hops", h.Inputs, h.Features, h.Hops)
	case h.Size() > MostHeard:
		return fmt.Errorf("rule: hearing: %d neighbours make %d features, want at most %d; try newton", len(h.Neighbors), h.Size(), MostHeard)
	case !(h.Scale >= 0) || math.IsInf(h.Scale, 0):
		return fmt.Errorf("rule: hearing: a scale of %v", h.Scale)
	}
	for e, j := range h.Neighbors {
		if j < 0 || e > 0 && j <= h.Neighbors[e-1] {
			return fmt.Errorf("rule: hearing: neighbours %v, want each once, in ascending order", h.Neighbors)
		}
	}
	if h.Moment == nil {
		return nil
	}
	m := SecondMoment{Inputs: h.Len(), Mean: h.Moment}
	return m.Validate()
}

// ear is a Hearing with what its moment says. It is read-only.
type ear struct {
	*Hearing
	sigma []float64 // Σ', p×p; nil without a moment
	white []float64 // T
}

// hearingRidge keeps features that training hardly saw from being stretched
// without bound: a share of each one's mean square. There are more of them than of
// taps, and fewer rows to know them from.
const hearingRidge = 1e-3

// newEar returns the ear of a hearing.
func newEar(h *Hearing) (*ear, error) {
	if err := h.Validate(); err != nil {
		return nil, err
	}
	a := &ear{Hearing: h}
	if h.Moment == nil {
		return a, nil
	}
	var err error
	m := SecondMoment{Inputs: h.Len(), Mean: h.Moment}
	if a.sigma, _, a.white, err = whiten(&m, h.Size(), hearingRidge); err != nil {
		return nil, err
	}
	return a, nil
}

// commonScale is the share of the root mean square of inputs that values are
// divided by where no moment is known.
const commonScale = 0.1

// CommonScale returns the scale of values of which no more is known than the
// second moment of the inputs of all nodes; 0 if they were all 0.
func (m *SecondMoment) CommonScale() float64 {
	sum := 0.0
	for k := range m.Inputs {
		sum += m.Mean[k*(m.Inputs+1)+k]
	}
	return commonScale * math.Sqrt(sum/float64(m.Inputs))
}

// scaleOf returns the scale of values where the first row is all that is known.
func (a *listener) scaleOf(row []float32) float64 {
	if a.Scale > 0 {
		return a.Scale
	}
	sum := 0.0
	for _, v := range row[:a.Inputs] {
		sum += float64(float64(v) * float64(v))
	}
	if s := commonScale * math.Sqrt(sum/float64(a.Inputs)); s > 0 {
		return s
	}
	return 1
}

// patterns is how many maps from what was heard to features a node remembers, one
// for each set of values that were missing.
const patterns = 4

// listener turns rows of an ear into features. It belongs to one node.
type listener struct {
	*ear
	maps []heardMap // the latest in use first
	v    []float64  // with 0 for what is missing
	sum  []float64  // a row of x

	heard, lost []int     // what is in the map that is being made
	part, l, b  []float64 // and factors for it
}

// heardSet is a set of values, by place in v.
type heardSet uint64

func (s heardSet) has(k int) bool { return s>>k&1 != 0 }

// heardMap is z̃ = W v where the values of missing are not heard: T with the
// conditional mean in it. Columns of missing values are 0.
type heardMap struct {
	missing heardSet
	w       []float64 // p×p
}

// features writes z̃ of a row, with NaN where a value was not heard, to dst, p
// values. A row that was made before the node met its neighbours ends early.
// Without a moment all values are divided by scale.
func (a *listener) features(dst []float64, row []float32, scale float64) {
	p := len(a.v)
	missing := heardSet(0)
	for k := range p - 1 {
		a.v[k] = 0
		if k < len(row) && row[k] == row[k] {
			a.v[k] = float64(row[k])
		} else {
			missing |= 1 << k
		}
	}
	a.v[p-1] = 1
	switch {
	case a.white == nil:
		a.plain(dst, missing, scale)
	case missing == 0:
		multiply(dst, a.white, a.v)
	default:
		multiply(dst, a.at(missing), a.v)
	}
}

// plain is features without a moment.
func (a *listener) plain(dst []float64, missing heardSet, scale float64) {
	last := len(a.v) - 1
	for k, v := range a.v[:last] {
		if missing.has(k) { // what the node itself has at that hop
			e := k - a.Inputs
			v = a.v[(e/a.Features%a.Hops+1)*a.Features+e%a.Features]
		}
		dst[k] = v / scale
	}
	dst[last] = 1
}

// at returns the map for a set of missing values, and makes it if it is not
// among the latest.
func (a *listener) at(missing heardSet) []float64 {
	for k := range a.maps {
		if a.maps[k].missing == missing {
			found := a.maps[k]
			copy(a.maps[1:k+1], a.maps[:k])
			a.maps[0] = found
			return found.w
		}
	}
	if len(a.maps) < patterns {
		a.maps = append(a.maps, heardMap{w: make([]float64, len(a.white))})
	}
	last := len(a.maps) - 1
	w := a.maps[last].w
	copy(a.maps[1:], a.maps[:last])
	a.maps[0] = heardMap{missing, w}
	a.conditional(w, missing)
	return w
}

// conditional writes T with the conditional means of missing values in it to w:
// W_o = T_o + T_m Σ'_mo Σ'_oo⁻¹.
func (a *listener) conditional(w []float64, missing heardSet) {
	p := len(a.v)
	if a.l == nil { // most nodes of most networks lose nobody
		a.heard, a.lost = make([]int, 0, p), make([]int, 0, p)
		a.part, a.l, a.b = make([]float64, p*p), make([]float64, p*p), make([]float64, p)
	}
	heard, lost := a.heard[:0], a.lost[:0]
	for k := range p {
		if missing.has(k) {
			lost = append(lost, k)
		} else {
			heard = append(heard, k)
		}
	}
	n := len(heard)
	part, l, b := a.part[:n*n], a.l[:n*n], a.b[:n]
	for r, i := range heard {
		for c, j := range heard {
			part[r*n+c] = a.sigma[i*p+j]
		}
	}
	cholesky(l, part, n) // a part of a positive definite matrix is one
	clear(w)
	for k := range p {
		for c := range k + 1 {
			if !missing.has(c) {
				w[k*p+c] = a.white[k*p+c]
			}
		}
	}
	for _, m := range lost {
		for r, i := range heard {
			b[r] = a.sigma[m*p+i]
		}
		forward(l, b)
		backward(l, b)
		for k := m; k < p; k++ { // T is lower triangular
			t := a.white[k*p+m]
			for r, i := range heard {
				w[k*p+i] += float64(t * b[r])
			}
		}
	}
}

// hearing returns the frame of a node that hears by e: that of the network in
// outputs, with the node's own features.
func (g *frame) hearing(e *ear) *frame {
	own := *g
	own.p, own.lower, own.white = e.Size(), nil, nil
	own.ear = &listener{ear: e, v: make([]float64, own.p), sum: make([]float64, g.width)}
	return &own
}

// taps is params of a node that hears: the part of Y that belongs to the node's
// own shifted inputs and, where x has a row for it, to the 1.
func (a *listener) taps(g *frame, x []float32, mean []float64, scale float64) {
	for k := range len(x) / g.width {
		at := k
		if k == a.Inputs {
			at = g.p - 1
		}
		clear(a.sum)
		for c := range g.r {
			t := a.back(at, mean[c*g.p:(c+1)*g.p], scale)
			for w, v := range g.back[c*g.width : (c+1)*g.width] {
				a.sum[w] += float64(t * v)
			}
		}
		for w, v := range a.sum {
			x[k*g.width+w] = float32(v)
		}
	}
}

// back returns element k of Tᵀ y.
func (a *listener) back(k int, y []float64, scale float64) float64 {
	p := len(a.v)
	switch {
	case a.white == nil && k == p-1:
		return y[k]
	case a.white == nil:
		return y[k] / scale
	}
	sum := 0.0
	for j := k; j < p; j++ {
		sum += float64(a.white[j*p+k] * y[j])
	}
	return sum
}

// Hearing returns what the node weights one by one, nil if it does not: its
// observations are rows of it. It is not changed.
func (n *Node) Hearing() *Hearing {
	if n.newton == nil || n.newton.frame.ear == nil {
		return nil
	}
	return n.newton.frame.ear.Hearing
}

// Unmet says whether the node is to weight its neighbours one by one and does not
// know which.
func (n *Node) Unmet() bool {
	return n.basis.common != nil && n.newton != nil && n.newton.frame.ear == nil && !n.newton.knows()
}

// Meet tells an unmet node its neighbours, ascending. If they are too many, or
// none, it stays as it is, and learns taps and bias from the first answer on. It
// belongs before Observe.
func (n *Node) Meet(neighbors []int) {
	if !n.Unmet() || len(neighbors) == 0 {
		return
	}
	h := *n.basis.common
	if h.Neighbors = slices.Clone(neighbors); h.Size() <= MostHeard {
		n.listen(&ear{Hearing: &h})
	}
}

// like says whether two nodes heard the same in training, or neither did.
func (a *ear) like(o *ear) bool {
	return a == nil && o == nil || a != nil && o != nil && reflect.DeepEqual(a.Hearing, o.Hearing)
}

// listen makes the node hear by e.
func (n *Node) listen(e *ear) {
	links, linked := n.newton.now.links, n.newton.now.linked
	n.newton = newNewton(n.basis.frame.hearing(e), n.config)
	n.newton.now.links, n.newton.now.linked = links, linked
}

// frameFor returns the frame of the node if it remembers that it heard the given
// neighbours, none if it did not.
func (n *Node) frameFor(heard []int) (*frame, error) {
	f := n.basis
	if e := f.ears[n.number]; e != nil {
		if !slices.Equal(e.Neighbors, heard) {
			return nil, fmt.Errorf("rule: memory: of a node that heard %v; by the model it heard %v in training", heard, e.Neighbors)
		}
		return f.frame.hearing(e), nil
	}
	switch {
	case len(heard) == 0:
		return f.frame, nil
	case f.common == nil:
		return nil, errors.New("rule: memory: of a node that weights its neighbours one by one, this one does not")
	}
	h := *f.common
	h.Neighbors = slices.Clone(heard)
	e, err := newEar(&h)
	if err != nil {
		return nil, err
	}
	return f.frame.hearing(e), nil
}
