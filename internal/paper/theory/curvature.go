package theory

import (
	"math"

	"github.com/wdgnn/wdgnn/internal/vector"
)

// Curvature are the constants of Assumption 2 for one cost.
type Curvature struct {
	Smooth float64 // C_s: no eigenvalue of ∇²J is larger, anywhere
	Convex float64 // C_c: none is smaller, anywhere; 0 means that J is not strongly convex

	// Rank is that of the space in which J changes at all, Dim that of the
	// retrained taps as far as gradients reach. Where Rank < Dim and there is no
	// ridge, strong convexity fails in Dim - Rank directions.
	Rank, Dim int

	// Reduced is the smallest eigenvalue that is not 0 of the Hessian of a
	// Quadratic without its ridge: J is that strongly convex in the directions
	// that the data reach. For a CrossEntropy it is 0: the Hessian fades far
	// from the optimum.
	Reduced float64
}

// Curvature computes the constants of Assumption 2. With M = Σ share z zᵀ the
// Hessian of a Quadratic is (2/C) M ⊗ Γ + λI, whose eigenvalues are products.
// That of a CrossEntropy is below ½ M ⊗ Γ + λI, and as w grows it approaches
// λI, so that without a ridge C_c = 0.
func (p *Problem) Curvature() (Curvature, error) {
	if len(p.Rows) == 0 {
		return Curvature{Smooth: p.Ridge, Convex: p.Ridge, Dim: p.Len()}, nil
	}
	m, err := eigenvalues(p.moment(), p.Inputs)
	if err != nil {
		return Curvature{}, err
	}
	gamma, err := p.readoutValues()
	if err != nil {
		return Curvature{}, err
	}
	c := Curvature{Dim: p.Inputs * rankOf(gamma), Rank: rankOf(m) * rankOf(gamma)}
	top := max(m[len(m)-1], 0) * max(gamma[len(gamma)-1], 0)
	if p.Kind == CrossEntropy {
		c.Smooth, c.Convex = top/2+p.Ridge, p.Ridge
		c.Rank = rankOf(m) * p.scoresRank()
		return c, nil
	}
	k := 2 / float64(p.Outputs)
	c.Smooth, c.Convex = k*top+p.Ridge, p.Ridge
	if c.Rank == p.Len() {
		c.Convex += k * m[0] * gamma[0]
	}
	if c.Rank > 0 {
		c.Reduced = k * m[len(m)-rankOf(m)] * gamma[len(gamma)-rankOf(gamma)]
	}
	if c.Dim == c.Rank && c.Dim > 0 {
		c.Convex = max(c.Convex, c.Reduced+p.Ridge) // directions that no gradient has do not count
	}
	return c, nil
}

// moment returns M = Σ share z zᵀ.
func (p *Problem) moment() []float64 {
	n := p.Inputs
	m := make([]float64, n*n)
	for _, r := range p.Rows {
		for a, v := range r.Input {
			if v != 0 {
				vector.Axpy(m[a*n:(a+1)*n], r.Share*v, r.Input)
			}
		}
	}
	for a := range n { // rounding apart, symmetric
		for b := range a {
			m[b*n+a] = m[a*n+b]
		}
	}
	return m
}

// readoutValues returns the eigenvalues of Γ, ascending.
func (p *Problem) readoutValues() ([]float64, error) {
	n := p.Outputs
	if p.Root == nil {
		one := make([]float64, n)
		for i := range one {
			one[i] = 1
		}
		return one, nil
	}
	return eigenvalues(square(p.Root, n), n)
}

// scoresRank returns the rank of Γ^½ on differences of scores, which are all
// that a CrossEntropy sees.
func (p *Problem) scoresRank() int {
	n := p.Outputs
	d := make([]float64, n*n)
	for i := range n {
		for j := range n {
			root := 0.0
			if p.Root != nil {
				root = p.Root[i*n+j]
			} else if i == j {
				root = 1
			}
			d[i*n+j] = root
		}
		mean := 0.0
		for _, v := range d[i*n : (i+1)*n] {
			mean += v / float64(n)
		}
		for j := range n {
			d[i*n+j] -= mean
		}
	}
	values, err := eigenvalues(square(d, n), n)
	if err != nil {
		return 0
	}
	return rankOf(values)
}

// square returns A Aᵀ of an n×n matrix.
func square(a []float64, n int) []float64 {
	out := make([]float64, n*n)
	for i := range n {
		for j := range n {
			out[i*n+j] = vector.Dot(a[i*n:(i+1)*n], a[j*n:(j+1)*n])
		}
	}
	return out
}

// rankTolerance is the share of the largest eigenvalue below which one counts
// as 0: what float32 inputs leave of it.
const rankTolerance = 1e-11

// rankOf counts the eigenvalues, ascending, that are not 0.
func rankOf(values []float64) int {
	rank, top := 0, values[len(values)-1]
	for _, v := range values {
		if v > rankTolerance*top && v > 0 {
			rank++
		}
	}
	return rank
}

// Lipschitz returns a bound of ‖∇J(w)‖ for all ‖w‖ ≤ radius, the constant L of
// Assumption 2. That of a CrossEntropy without ridge does not depend on the
// radius; a Quadratic is not Lipschitz on the whole space.
func (p *Problem) Lipschitz(radius float64) (float64, error) {
	if p.Kind == Quadratic {
		c, err := p.Curvature()
		return vector.Norm(p.Gradient(make([]float64, p.Len()))) + c.Smooth*radius, err
	}
	gamma, err := p.readoutValues()
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for _, r := range p.Rows {
		sum += r.Share * vector.Norm(r.Input)
	}
	return math.Sqrt(2*max(gamma[len(gamma)-1], 0))*sum + p.Ridge*radius, nil
}

// Contraction returns m_t = max(|1 - γ C_s|, |1 - γ C_c|), by which a gradient
// step shrinks the distance to the optimum at least.
func (c Curvature) Contraction(gamma float64) float64 {
	return max(math.Abs(1-gamma*c.Smooth), math.Abs(1-gamma*c.Convex))
}

// SafeStep returns 2/C_s: Theorem 2 applies to every step size below, and to
// none above. It is +Inf where J is flat.
func (c Curvature) SafeStep() float64 { return 2 / c.Smooth }
