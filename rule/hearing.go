package rule

import (
	"errors"
	"fmt"
	"math"
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
// be what the node itself has at that hop.
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
	Scale  float64   `json:"scale,omitempty"`  // of values where Σ is not known; 0 means 1
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

// hearingRidge keeps directions that training hardly saw from being stretched
// without bound, as a share of each value's own mean square.
const hearingRidge = 1e-3

// patterns is how many maps from what was heard to features a node remembers, one
// for each set of values that were missing.
const patterns = 4

// ear turns rows of a Hearing into features. It belongs to one node.
type ear struct {
	*Hearing
	sigma []float64 // Σ', p×p; nil without a moment
	white []float64 // T

	maps []heardMap // the latest in use first
	key  heardSet   // of the row at hand
	v, z []float64  // v with 0 for what is missing, and z̃

	heard, lost []int     // what is in the map that is being made
	l, b        []float64 // and factors for it
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

// newEar returns what turns rows of h into features.
func newEar(h *Hearing) (*ear, error) {
	if err := h.Validate(); err != nil {
		return nil, err
	}
	p := h.Size()
	a := &ear{Hearing: h, v: make([]float64, p), z: make([]float64, p)}
	if h.Moment == nil {
		return a, nil
	}
	a.sigma = slices.Clone(h.Moment)
	for k := range p {
		d := &a.sigma[k*p+k]
		*d += float64(hearingRidge * *d)
		if *d == 0 { // a value that was always 0
			*d = 1
		}
	}
	l := slices.Clone(a.sigma)
	if !cholesky(l, p) {
		return nil, errors.New("rule: hearing: the matrix given as second moment is not the moment of any values: it has a negative eigenvalue")
	}
	a.white = invertLower(l, p)
	return a, nil
}

// features returns z̃ of a row, with NaN where a value was not heard. It belongs
// to the ear.
func (a *ear) features(row []float32) []float64 {
	p := len(a.v)
	a.key = 0
	for k, v := range row[:p-1] {
		a.v[k] = float64(v)
		if v != v {
			a.v[k] = 0
			a.key |= 1 << k
		}
	}
	a.v[p-1] = 1
	if a.white == nil {
		a.plain()
		return a.z
	}
	if a.key == 0 {
		for k := range a.z {
			a.z[k] = dot(a.white[k*p:k*p+k+1], a.v)
		}
		return a.z
	}
	w := a.at(a.key)
	for k := range a.z {
		a.z[k] = dot(w[k*p:(k+1)*p], a.v)
	}
	return a.z
}

// plain is features without a moment.
func (a *ear) plain() {
	scale := a.Scale
	if scale == 0 {
		scale = 1
	}
	last := len(a.v) - 1
	for k := range last {
		v := a.v[k]
		if a.key.has(k) { // what the node itself has at that hop
			e := k - a.Inputs
			v = a.v[(e/a.Features%a.Hops+1)*a.Features+e%a.Features]
		}
		a.z[k] = v / scale
	}
	a.z[last] = 1
}

// at returns the map for a set of missing values, and makes it if it is not
// among the latest.
func (a *ear) at(missing heardSet) []float64 {
	for k := range a.maps {
		if a.maps[k].missing == missing {
			found := a.maps[k]
			copy(a.maps[1:k+1], a.maps[:k])
			a.maps[0] = found
			return found.w
		}
	}
	p := len(a.v)
	if len(a.maps) < patterns {
		a.maps = append(a.maps, heardMap{w: make([]float64, p*p)})
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
func (a *ear) conditional(w []float64, missing heardSet) {
	p := len(a.v)
	if a.l == nil { // most nodes of most networks lose nobody
		a.heard, a.lost, a.l, a.b = make([]int, 0, p), make([]int, 0, p), make([]float64, p*p), make([]float64, p)
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
	l, b := a.l[:n*n], a.b[:n]
	for r, i := range heard {
		for c, j := range heard {
			l[r*n+c] = a.sigma[i*p+j]
		}
	}
	cholesky(l, n) // a part of a positive definite matrix is one
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
		solveLower(l, b)
		for k := m; k < p; k++ { // T is lower triangular
			t := a.white[k*p+m]
			for r, i := range heard {
				w[k*p+i] += float64(t * b[r])
			}
		}
	}
}

// cholesky writes L with L Lᵀ = A over A, n×n by rows; above the diagonal it
// leaves what there was. It returns false if A is not positive definite. Every
// operation rounds, so that all machines get the same bits.
func cholesky(a []float64, n int) bool {
	for i := range n {
		for j := range i + 1 {
			sum := a[i*n+j]
			for k := range j {
				sum -= float64(a[i*n+k] * a[j*n+k])
			}
			if i > j {
				a[i*n+j] = sum / a[j*n+j]
				continue
			}
			if !(sum > 0) {
				return false
			}
			a[i*n+i] = math.Sqrt(sum)
		}
	}
	return true
}

// invertLower returns L⁻¹, which is lower triangular as well.
func invertLower(l []float64, n int) []float64 {
	t := make([]float64, n*n)
	for c := range n {
		t[c*n+c] = 1 / l[c*n+c]
		for i := c + 1; i < n; i++ {
			sum := 0.0
			for k := c; k < i; k++ {
				sum -= float64(l[i*n+k] * t[k*n+c])
			}
			t[i*n+c] = sum / l[i*n+i]
		}
	}
	return t
}

// solveLower solves L Lᵀ x = b in place.
func solveLower(l, b []float64) {
	n := len(b)
	for i := range n {
		sum := b[i]
		for k := range i {
			sum -= float64(l[i*n+k] * b[k])
		}
		b[i] = sum / l[i*n+i]
	}
	for i := n - 1; i >= 0; i-- {
		sum := b[i]
		for k := i + 1; k < n; k++ {
			sum -= float64(l[k*n+i] * b[k])
		}
		b[i] = sum / l[i*n+i]
	}
}
