package theory

import (
	"fmt"
	"math"

	gmat "gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"github.com/wdgnn/wdgnn/internal/crown"
	"github.com/wdgnn/wdgnn/internal/vector"
)

// Optimum is 𝒜*_t, in the coordinates of a Problem.
type Optimum struct {
	Exists bool      // the infimum is reached
	Unique bool      // at one place only
	W      []float64 // where; of several, the one nearest to where the search began
	Cost   float64   // J there
	Slope  float64   // ‖∇J‖ there, 0 but for rounding

	// Direction, if the infimum is not reached, is one in which J falls for
	// ever: every row's right score gains on the others', or keeps up. It is nil
	// where no such direction is proven, but the search did not settle either: the
	// gradient fades while w runs away.
	Direction []float64
}

// Missing says in words why there is no optimum, "" if there is one.
func (o *Optimum) Missing() string {
	switch {
	case o.Exists:
		return ""
	case o.Direction != nil:
		return "its samples are separable, the infimum of the cost is at infinity"
	}
	return fmt.Sprintf("the gradient fades, %.2g after %d Newton steps, while the taps run away: "+
		"the infimum is at infinity, or too far off to tell", o.Slope, newtonSteps)
}

const (
	newtonSteps = 100
	mostNewton  = 400 // parameters up to which Hessians are formed
)

// Optimum minimises J, beginning at start, P·C values, which it does not change.
func (p *Problem) Optimum(start []float64) (Optimum, error) {
	if len(start) != p.Len() {
		panic(fmt.Sprintf("theory: Optimum: a start of %d numbers for %d parameters", len(start), p.Len()))
	}
	curvature, err := p.Curvature()
	if err != nil {
		return Optimum{}, err
	}
	o := Optimum{Exists: true, Unique: curvature.Convex > 0, W: append([]float64(nil), start...)}
	switch {
	case len(p.Rows) == 0 && p.Ridge == 0: // flat
	case p.Kind == Quadratic:
		err = p.leastSquares(o.W)
	case p.Len() <= mostNewton:
		err = p.newton(&o, curvature)
	default:
		err = p.quasiNewton(&o, curvature)
	}
	if err != nil {
		return Optimum{}, err
	}
	g := make([]float64, p.Len())
	o.Cost, o.Slope = p.Eval(g, o.W), vector.Norm(g)
	return o, nil
}

// leastSquares moves w to the nearest minimum: w - H⁺∇J(w), with H diagonal in
// the eigenvectors of M and Γ.
func (p *Problem) leastSquares(w []float64) error {
	m, err := eigen(p.moment(), p.Inputs)
	if err != nil {
		return err
	}
	gamma := eigenbasis{make([]float64, p.Outputs), make([]float64, p.Outputs*p.Outputs)}
	if p.Root != nil {
		if gamma, err = eigen(square(p.Root, p.Outputs), p.Outputs); err != nil {
			return err
		}
	} else {
		for i := range p.Outputs {
			gamma.values[i], gamma.vectors[i*p.Outputs+i] = 1, 1
		}
	}
	n, c := p.Inputs, p.Outputs
	left, right := gmat.NewDense(n, n, m.vectors), gmat.NewDense(c, c, gamma.vectors)
	for range 2 { // the second time for rounding
		var g, half gmat.Dense
		half.Mul(left, gmat.NewDense(n, c, p.Gradient(w)))
		g.Mul(&half, right.T())
		smallest := rankTolerance * 2 / float64(c) * max(m.values[n-1], 0) * max(gamma.values[c-1], 0)
		for a := range n {
			for b := range c {
				h := 2 / float64(c) * max(m.values[a], 0) * max(gamma.values[b], 0)
				if h <= smallest {
					h = 0
				}
				if h += p.Ridge; h > 0 {
					g.Set(a, b, g.At(a, b)/h)
				} else {
					g.Set(a, b, 0)
				}
			}
		}
		half.Reset()
		half.Mul(left.T(), &g)
		g.Reset()
		g.Mul(&half, right)
		vector.Axpy(w, -1, g.RawMatrix().Data)
	}
	return nil
}

// newton minimises a CrossEntropy. Where the infimum is at infinity the steps
// settle on a direction in which all margins grow, which proves it.
func (p *Problem) newton(o *Optimum, c Curvature) error {
	n := p.Len()
	g, trial := make([]float64, n), make([]float64, n)
	step := make([]float64, n)
	if p.Ridge == 0 {
		if err := p.oneHot(step); err != nil {
			return err
		}
		if p.falls(step) {
			o.fallsAlong(step)
			return nil
		}
		clear(step)
	}
	for k := range newtonSteps {
		cost := p.Eval(g, o.W)
		if k > 0 && vector.Norm(g) <= 1e-12*(1+c.Smooth) && vector.Norm(step) <= 1e-8*(1+vector.Norm(o.W)) {
			return nil
		}
		h := p.hessian(o.W)
		if err := solveShifted(h, g, step); err != nil {
			return err
		}
		if p.Ridge == 0 && p.falls(step) {
			o.fallsAlong(step)
			return nil
		}
		slope, length := vector.Dot(g, step), 1.0
		if -slope <= 1e-11*(1+math.Abs(cost)) { // too near for values of J to tell: the gradient must
			copy(trial, o.W)
			vector.Axpy(trial, 1, step)
			if vector.Norm(p.Gradient(trial)) >= vector.Norm(g) {
				return nil
			}
			copy(o.W, trial)
			continue
		}
		for range 60 {
			copy(trial, o.W)
			vector.Axpy(trial, length, step)
			if p.Eval(nil, trial) <= cost+1e-4*length*slope {
				break
			}
			length /= 2
		}
		copy(o.W, trial)
	}
	if g := vector.Norm(p.Gradient(o.W)); math.IsNaN(g) || math.IsInf(g, 0) {
		return fmt.Errorf("theory: no optimum: the gradient is %v after %d Newton steps", g, newtonSteps)
	}
	if p.Ridge == 0 { // with a ridge there is an optimum, and bounds know the gradient that is left
		o.Exists, o.Unique = false, false
	}
	return nil
}

// fallsAlong notes that J falls for ever in a direction.
func (o *Optimum) fallsAlong(d []float64) {
	o.Exists, o.Unique, o.Direction = false, false, append([]float64(nil), d...)
	vector.Scale(o.Direction, 1/vector.Norm(d))
}

// oneHot overwrites d by the direction that comes closest to raising the right
// score of every row by 1 and no other. Where rows are independent it does so
// exactly, and proves that they can be separated.
func (p *Problem) oneHot(d []float64) error {
	q := *p
	q.Kind, q.Ridge, q.Rows = Quadratic, 0, nil
	for _, r := range p.Rows {
		r.Base, r.Target = make([]float64, p.Outputs), make([]float64, p.Outputs)
		r.Target[r.Label] = 1
		q.Rows = append(q.Rows, r)
	}
	clear(d)
	return q.leastSquares(d)
}

// solveShifted overwrites step by -(H + τI)⁻¹ g, with a τ that is negligible
// but keeps directions in which J is flat from mattering.
func solveShifted(h *gmat.SymDense, g, step []float64) error {
	n := len(g)
	trace := 0.0
	for i := range n {
		trace += h.At(i, i)
	}
	for tau := 1e-12 * trace; ; tau = max(10*tau, 1e-300) {
		shifted := gmat.NewSymDense(n, nil)
		shifted.CopySym(h)
		for i := range n {
			shifted.SetSym(i, i, h.At(i, i)+tau)
		}
		var factor gmat.Cholesky
		if factor.Factorize(shifted) {
			v := gmat.NewVecDense(n, step)
			if err := factor.SolveVecTo(v, gmat.NewVecDense(n, g)); err == nil || tau > 1e-9*trace {
				vector.Scale(step, -1)
				return nil
			}
		}
		if tau > trace || math.IsNaN(trace) {
			return fmt.Errorf("theory: a Hessian of %d parameters that is not finite or not convex", n)
		}
	}
}

// hessian returns ∇²J(w) of a CrossEntropy: Σ share z zᵀ ⊗ Γ^½ (diag p - ppᵀ)
// Γ^½ + λI.
func (p *Problem) hessian(w []float64) *gmat.SymDense {
	n, c := p.Len(), p.Outputs
	h := make([]float64, n*n)
	y, scratch := make([]float64, c), make([]float64, c)
	for i := range p.Rows {
		r := &p.Rows[i]
		p.output(y, r, w, scratch)
		p.cost(y, r)
		y[r.Label]++ // probabilities
		inner := make([]float64, c*c)
		for a := range c {
			for b := range c {
				inner[a*c+b] = -y[a] * y[b]
			}
			inner[a*c+a] += y[a]
		}
		if p.Root != nil {
			inner = sandwich(p.Root, inner, c)
		}
		for k, zk := range r.Input {
			for l, zl := range r.Input[:k+1] {
				v := r.Share * zk * zl
				if v == 0 {
					continue
				}
				for a := range c {
					vector.Axpy(h[(k*c+a)*n+l*c:(k*c+a)*n+(l+1)*c], v, inner[a*c:(a+1)*c])
				}
			}
		}
	}
	sym := gmat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			sym.SetSym(i, j, h[i*n+j])
		}
		sym.SetSym(i, i, sym.At(i, i)+p.Ridge)
	}
	return sym
}

// sandwich returns R A R of symmetric n×n matrices.
func sandwich(r, a []float64, n int) []float64 {
	half, out := make([]float64, n*n), make([]float64, n*n)
	crown.AddProduct(half, a, r, n, n)
	crown.AddProduct(out, r, half, n, n)
	return out
}

// falls says whether J falls for ever in direction d: the right score of every
// row gains on all others or keeps up with them, and at least one gains. By
// convexity an optimum then does not exist, from wherever one looks.
func (p *Problem) falls(d []float64) bool {
	y, scratch := make([]float64, p.Outputs), make([]float64, p.Outputs)
	zero := make([]float64, p.Outputs)
	least, most := math.Inf(1), 0.0
	for i := range p.Rows {
		r := p.Rows[i]
		r.Base = zero
		p.output(y, &r, d, scratch)
		for j, v := range y {
			if j != r.Label {
				margin := y[r.Label] - v
				least, most = min(least, margin), max(most, margin)
			}
		}
	}
	return most > 1e-8*vector.Norm(d)*p.reach() && least >= -1e-9*most
}

// reach returns the largest ‖z‖, by which margins are measured.
func (p *Problem) reach() float64 {
	largest := 0.0
	for _, r := range p.Rows {
		largest = max(largest, vector.Norm(r.Input))
	}
	return largest
}

// quasiNewton minimises a CrossEntropy of many parameters, which must have a
// ridge: then an optimum exists.
func (p *Problem) quasiNewton(o *Optimum, c Curvature) error {
	if p.Ridge == 0 {
		return fmt.Errorf("theory: a cross-entropy of %d parameters without ridge; whether an optimum exists is decided up to %d",
			p.Len(), mostNewton)
	}
	result, err := optimize.Minimize(optimize.Problem{
		Func: func(w []float64) float64 { return p.Eval(nil, w) },
		Grad: func(g, w []float64) { p.Eval(g, w) },
	}, o.W, &optimize.Settings{GradientThreshold: 1e-9 * (1 + c.Smooth), MajorIterations: 5000}, &optimize.LBFGS{})
	if result == nil {
		return fmt.Errorf("theory: optimum: %w", err)
	}
	copy(o.W, result.X)
	if g := vector.Norm(p.Gradient(o.W)); g > 1e-6*(1+c.Smooth) {
		return fmt.Errorf("theory: no optimum of %d parameters: the gradient is %.3g after %d steps", p.Len(), g, result.MajorIterations)
	}
	return nil
}
