package theory

import (
	"math"

	gmat "gonum.org/v1/gonum/mat"

	"github.com/wdgnn/wdgnn/internal/vector"
)

// ellipsoids bounds the norm of a product of linear maps with an activation between
// each two, ‖A_m D_{m-1} A_{m-1} ⋯ D_1 A_1‖ over all diagonal D with entries between
// 0 and 1. If what enters an activation lies in the ellipsoid {B y: ‖y‖ ≤ 1}, then
// with U = B Bᵀ and any diagonal Θ with 2Θ ≻ U what leaves it lies in that of
//
//	Q = Θ (2Θ - U)⁻¹ Θ
//
// because v = Du has v_k (u_k - v_k) ≥ 0 for every k, so that vᵀΘ⁻¹v ≤ vᵀΘ⁻¹u and
//
//	vᵀQ⁻¹v = 2 vᵀΘ⁻¹v - vᵀΘ⁻¹UΘ⁻¹v ≤ 2 yᵀ(BᵀΘ⁻¹v) - ‖BᵀΘ⁻¹v‖² ≤ ‖y‖²
//
// Any Θ gives a bound; begin and descend look for those that give a small one.
type ellipsoids struct {
	maps  []*gmat.Dense // A_1, …, A_m
	theta [][]float64   // ln of the diagonals of Θ_1, …, Θ_{m-1}
}

// shape is the ellipsoid behind an activation, Q = diag(own) + F Fᵀ.
type shape struct {
	own    []float64 // nil means 0
	factor *gmat.Dense
}

// worstCondition is the largest condition number of 2I - C Cᵀ with which a bound counts,
// and margin what is added to it: float64 rounds about their product with 1e-16.
const (
	worstCondition = 1e6
	margin         = 1e-8
)

// enter returns B of what A makes of an ellipsoid; nil stands for the unit ball.
func (s *shape) enter(a *gmat.Dense) *gmat.Dense {
	if s == nil {
		return a
	}
	rows, cols := a.Dims()
	_, k := s.factor.Dims()
	if s.own == nil {
		b := gmat.NewDense(rows, k, nil)
		b.Mul(a, s.factor)
		return b
	}
	b := gmat.NewDense(rows, cols+k, nil)
	b.Slice(0, rows, cols, cols+k).(*gmat.Dense).Mul(a, s.factor)
	for i := range rows {
		to, from := b.RawRowView(i), a.RawRowView(i)
		for j, v := range from {
			to[j] = v * math.Sqrt(s.own[j])
		}
	}
	return b
}

// leave returns the ellipsoid behind the activation, nil if 2Θ - U is not safely
// positive definite. With C = Θ^-½ B it is Θ^½ (2I - C Cᵀ)⁻¹ Θ^½, or, where B has
// fewer columns than rows,
//
//	(2I - C Cᵀ)⁻¹ = I/2 + C (2I - CᵀC)⁻¹ Cᵀ/2
func leave(b *gmat.Dense, theta []float64) *shape {
	n, k := b.Dims()
	c := gmat.NewDense(n, k, nil)
	for i := range n {
		to, s := c.RawRowView(i), math.Exp(-theta[i]/2)
		for j, v := range b.RawRowView(i) {
			to[j] = s * v
		}
	}
	size := min(n, k)
	inner := gmat.NewSymDense(size, nil)
	if k < n {
		inner.SymOuterK(-1, c.T())
	} else {
		inner.SymOuterK(-1, c)
	}
	for i := range size {
		inner.SetSym(i, i, inner.At(i, i)+2)
	}
	var root gmat.Cholesky
	if !root.Factorize(inner) || root.Cond() > worstCondition {
		return nil
	}
	var lower gmat.TriDense
	root.LTo(&lower)
	for i := range size {
		if v := lower.At(i, i); v*v*worstCondition < 2 { // all of it is small
			return nil
		}
	}
	var inverse gmat.TriDense
	if err := inverse.InverseTri(&lower); err != nil {
		return nil
	}
	out := &shape{factor: gmat.NewDense(n, size, nil)}
	if k < n {
		out.factor.Mul(c, inverse.T())
		out.factor.Scale(math.Sqrt(0.5), out.factor)
		out.own = make([]float64, n)
	} else {
		out.factor.Copy(inverse.T())
	}
	for i := range n {
		s := math.Exp(theta[i] / 2)
		row := out.factor.RawRowView(i)
		vector.Scale(row, s)
		if k < n {
			out.own[i] = s * s / 2
		}
	}
	return out
}

// multiply returns Q x.
func (s *shape) multiply(x []float64) []float64 {
	n, k := s.factor.Dims()
	half, out := gmat.NewVecDense(k, nil), make([]float64, n)
	half.MulVec(s.factor.T(), gmat.NewVecDense(n, x))
	gmat.NewVecDense(n, out).MulVec(s.factor, half)
	for i, v := range s.own {
		out[i] += v * x[i]
	}
	return out
}

// bound returns the bound and its relative slope by every ln θ; +Inf where some 2Θ - U is
// not positive definite. With z a direction of the last ellipsoid's longest axes and
//
//	g_{m-1} = A_mᵀ z      h_i = (2Θ_i - U_i)⁻¹ Θ_i g_i = Θ_i⁻¹ Q_i g_i      g_{i-1} = A_iᵀ h_i
//
// the slope of its squared length by θ_{i,k} is 2 h_{i,k} (g_{i,k} - h_{i,k}). Axes nearly
// as long as the longest count too, or steps would shorten one at the cost of another.
func (e *ellipsoids) bound() (float64, [][]float64) {
	shapes, b := e.shapes()
	if b == nil {
		return math.Inf(1), nil
	}
	values, axes := longest(b)
	if values == nil {
		return math.Inf(1), nil
	}
	last := len(e.maps) - 1
	slopes, sum := make([][]float64, last), 0.0
	for i, theta := range e.theta {
		slopes[i] = make([]float64, len(theta))
	}
	for j, v := range values {
		weight := math.Exp(60 * (v/values[0] - 1))
		if weight < 1e-3 {
			break
		}
		sum += weight
		h := axes[j]
		for i := last; i > 0; i-- {
			g := make([]float64, len(e.theta[i-1]))
			gmat.NewVecDense(len(g), g).MulVec(e.maps[i].T(), gmat.NewVecDense(len(h), h))
			h = shapes[i-1].multiply(g)
			for k, t := range e.theta[i-1] {
				h[k] *= math.Exp(-t)
				slopes[i-1][k] += weight * h[k] * (g[k] - h[k]) * math.Exp(t) / values[0]
			}
		}
	}
	for _, s := range slopes {
		vector.Scale(s, 1/sum)
	}
	return math.Sqrt(values[0]) * (1 + margin), slopes
}

// shapes returns the ellipsoids behind the activations and B behind the last map, nil
// where there is none.
func (e *ellipsoids) shapes() (all []*shape, b *gmat.Dense) {
	var at *shape
	for i, a := range e.maps {
		b = at.enter(a)
		if i == len(e.maps)-1 {
			break
		}
		if at = leave(b, e.theta[i]); at == nil {
			return nil, nil
		}
		all = append(all, at)
	}
	return all, b
}

// longest returns the squared lengths of the axes of {B y}, the longest first, and
// their directions; none where they cannot be told.
func longest(b *gmat.Dense) (values []float64, axes [][]float64) {
	n, k := b.Dims()
	size := min(n, k)
	gram := make([]float64, size*size)
	full := gmat.NewDense(size, size, gram)
	if k < n {
		full.Mul(b.T(), b)
	} else {
		full.Mul(b, b.T())
	}
	e, err := eigen(gram, size)
	if err != nil || !(e.values[size-1] > 0) || math.IsInf(e.values[size-1], 0) {
		return nil, nil
	}
	for j := size - 1; j >= 0; j-- {
		axis := e.vectors[j*size : (j+1)*size]
		if k < n {
			long := make([]float64, n)
			gmat.NewVecDense(n, long).MulVec(b, gmat.NewVecDense(size, axis))
			if axis = long; e.values[j] > 0 {
				vector.Scale(axis, 1/math.Sqrt(e.values[j]))
			}
		}
		values, axes = append(values, max(e.values[j], 0)), append(axes, axis)
	}
	return values, axes
}
