package theory

import (
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/internal/crown"
	"github.com/wdgnn/wdgnn/internal/vector"
)

// Kind is the cost of a row of outputs.
type Kind int

// The costs whose constants are known in closed form.
const (
	Quadratic    Kind = iota // (1/C) Σ_j (y_j - t_j)², as loss.MSE
	CrossEntropy             // log Σ_j exp y_j - y_c, as loss.CrossEntropy
)

// Row is one output that carries a cost.
type Row struct {
	Input  []float64 // z, what the taps read: [X SX … SᴷX] at one node, P numbers
	Base   []float64 // y†, the output with the taps as trained, C numbers
	Target []float64 // t, C numbers, of a Quadratic
	Label  int       // c, of a CrossEntropy
	Share  float64   // weight of the row in J, positive
}

// Problem is J_t of eq. (6) as a function of the retrained taps, in orthonormal
// coordinates w of the space in which gradients lie:
//
//	𝒜 = 𝒜† + w Qᵀ      y_r = y†_r + z_r w Γ^½      Γ = ΩᵀΩ, Ω = α_W R
//	J(w) = Σ_r share_r J_r(y_r) + (λ/2) ‖w‖²
//
//	w: P×C by rows   ‖w - w'‖ = ‖𝒜 - 𝒜'‖
//
// A gradient step on 𝒜 is a gradient step on w with the same step size, so that
// all distances and constants are those of 𝒜.
type Problem struct {
	Kind            Kind
	Inputs, Outputs int // P, C
	Rows            []Row
	Root            []float64 // Γ^½, C×C, symmetric; nil stands for I
	Ridge           float64   // λ ≥ 0
}

// Len returns P·C.
func (p *Problem) Len() int { return p.Inputs * p.Outputs }

// Mean returns (1/N) Σ_i J_i of eq. (8) for the costs of N nodes, which must be
// of one kind and shape. A node without rows costs nothing.
func Mean(local []*Problem) *Problem {
	m := &Problem{Kind: local[0].Kind, Inputs: local[0].Inputs, Outputs: local[0].Outputs, Root: local[0].Root}
	share := 1 / float64(len(local))
	for _, p := range local {
		if p.Kind != m.Kind || p.Inputs != m.Inputs || p.Outputs != m.Outputs {
			panic(fmt.Sprintf("theory: Mean: a cost of %d×%d beside one of %d×%d", p.Inputs, p.Outputs, m.Inputs, m.Outputs))
		}
		m.Ridge += share * p.Ridge
		for _, r := range p.Rows {
			r.Share *= share
			m.Rows = append(m.Rows, r)
		}
	}
	return m
}

// output writes y†_r + z_r w Γ^½ to y.
func (p *Problem) output(y []float64, r *Row, w, scratch []float64) {
	v := scratch[:p.Outputs]
	clear(v)
	for k, z := range r.Input {
		if z != 0 {
			vector.Axpy(v, z, w[k*p.Outputs:(k+1)*p.Outputs])
		}
	}
	copy(y, r.Base)
	if p.Root == nil {
		vector.Axpy(y, 1, v)
		return
	}
	for a, x := range v {
		vector.Axpy(y, x, p.Root[a*p.Outputs:(a+1)*p.Outputs])
	}
}

// cost returns J_r and overwrites y by its gradient.
func (p *Problem) cost(y []float64, r *Row) float64 {
	if p.Kind == Quadratic {
		sum := 0.0
		for j, t := range r.Target {
			d := y[j] - t
			sum += d * d
			y[j] = 2 * d / float64(p.Outputs)
		}
		return sum / float64(p.Outputs)
	}
	largest := math.Inf(-1)
	for _, v := range y {
		largest = max(largest, v)
	}
	right, sum := y[r.Label], 0.0
	for j, v := range y {
		y[j] = math.Exp(v - largest)
		sum += y[j]
	}
	for j := range y {
		y[j] /= sum
	}
	y[r.Label]--
	return math.Log(sum) + largest - right
}

// Eval returns J(w) and overwrites gradient, P·C values, by ∇J(w); nil asks for
// the value alone.
func (p *Problem) Eval(gradient, w []float64) float64 {
	y, scratch := make([]float64, p.Outputs), make([]float64, p.Outputs)
	clear(gradient)
	sum := 0.0
	for i := range p.Rows {
		r := &p.Rows[i]
		p.output(y, r, w, scratch)
		sum += r.Share * p.cost(y, r)
		if gradient == nil {
			continue
		}
		d := y
		if p.Root != nil {
			clear(scratch)
			for a, v := range y {
				vector.Axpy(scratch, v, p.Root[a*p.Outputs:(a+1)*p.Outputs])
			}
			d = scratch
		}
		for k, z := range r.Input {
			if z != 0 {
				vector.Axpy(gradient[k*p.Outputs:(k+1)*p.Outputs], r.Share*z, d)
			}
		}
	}
	if p.Ridge != 0 {
		size := vector.Norm(w)
		sum += p.Ridge / 2 * size * size
		if gradient != nil {
			vector.Axpy(gradient, p.Ridge, w)
		}
	}
	return sum
}

// Gradient returns ∇J(w).
func (p *Problem) Gradient(w []float64) []float64 {
	g := make([]float64, p.Len())
	p.Eval(g, w)
	return g
}

// Terms returns the size of the terms that ∇J(w) sums, which is what rounding goes
// by, however much of them cancels:
//
//	Σ_r share_r κ ‖z_r‖ ‖Γ^½‖ (‖y†_r‖ + ‖y_r‖ + ‖t_r‖) + λ‖w‖
//
//	κ = 2/C of a Quadratic; 1 of a CrossEntropy, for which ‖t_r‖ is 1
func (p *Problem) Terms(w []float64) float64 {
	y, scratch := make([]float64, p.Outputs), make([]float64, p.Outputs)
	kappa, root := 1.0, 1.0
	if p.Kind == Quadratic {
		kappa = 2 / float64(p.Outputs)
	}
	if p.Root != nil {
		root = spectralNorm(p.Root, p.Outputs, p.Outputs)
	}
	sum := p.Ridge * vector.Norm(w)
	for i := range p.Rows {
		r := &p.Rows[i]
		p.output(y, r, w, scratch)
		target := 1.0
		if p.Kind == Quadratic {
			target = vector.Norm(r.Target)
		}
		sum += r.Share * kappa * vector.Norm(r.Input) * root * (vector.Norm(r.Base) + vector.Norm(y) + target)
	}
	return sum
}

// Rounds bounds what float64 rounds of a step of size step from w to next, with those that
// mix with it no longer than most: with γ_n of the longest sum, of so many terms more,
//
//	γ_n (‖w‖ + ‖next‖ + most + step (Terms(w) + 4 Ĉ ‖w‖))      Ĉ = SmoothBound, for terms that cancel within outputs
func (p *Problem) Rounds(w, next []float64, step, most float64, terms int) (float64, error) {
	smooth, err := p.SmoothBound()
	if err != nil {
		return 0, err
	}
	size := vector.Norm(w) + vector.Norm(next) + most + step*(p.Terms(w)+4*smooth*vector.Norm(w))
	return crown.Gamma(len(p.Rows)+p.Inputs+p.Outputs+terms+12, 0x1p-53) * size, nil
}
