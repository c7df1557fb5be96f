package theory

import (
	"math"
	"math/rand/v2"

	"github.com/wdgnn/wdgnn/internal/crown"
	"github.com/wdgnn/wdgnn/internal/vector"
)

// linear is a linear map from in to out numbers and its adjoint.
type linear struct {
	in, out      int
	apply, adopt func(x []float64) []float64 // y = M x, x = Mᵀ y
}

// FailureProb is the probability that an operator norm which is too large to be
// computed densely comes out too small, over the random vector from which the
// computation begins. The margin that makes it so is part of the norm.
const FailureProb = 1e-12

const (
	denseNorm    = 48 // size up to which Gram matrices are formed
	lanczosSteps = 80
)

// operatorNorm returns an upper bound of ‖M‖, the largest singular value.
//
// A small map is written out as its Gram matrix, and the bound is the norm. For
// a larger one, m steps of Lanczos' method on MᵀM from a direction that is
// uniform on the sphere give θ ≤ ‖M‖², and by Kuczyński and Woźniakowski (SIAM
// J. Matrix Anal. Appl. 13, 1992)
//
//	Pr[ ‖M‖² > θ/(1-η) ]  ≤  1.648 √n exp(-(2m-1) √η)
//
// whatever M is. η is chosen to make the right side FailureProb, so that the
// bound (θ/(1-η))^½ is about 2 % above the norm. The direction comes from a
// fixed seed: the same map gives the same bound.
func operatorNorm(m linear) float64 {
	if min(m.in, m.out) == 0 {
		return 0
	}
	if m.out < m.in {
		m = linear{m.out, m.in, m.adopt, m.apply}
	}
	if m.in <= denseNorm {
		return denseOperatorNorm(m)
	}
	theta, exact, steps := lanczos(m)
	if exact {
		return math.Sqrt(theta)
	}
	root := math.Log(1.648*math.Sqrt(float64(m.in))/FailureProb) / float64(2*steps-1)
	return math.Sqrt(theta / (1 - root*root))
}

// denseOperatorNorm writes m out.
func denseOperatorNorm(m linear) float64 {
	columns := make([]float64, 0, m.in*m.out)
	unit := make([]float64, m.in)
	for j := range m.in {
		unit[j] = 1
		columns = append(columns, m.apply(unit)...)
		unit[j] = 0
	}
	return spectralNorm(columns, m.in, m.out)
}

// lanczos returns the largest Ritz value of MᵀM, and whether it is the largest
// eigenvalue because nothing is left to find. All vectors are kept and every
// new one is made orthogonal to them twice.
func lanczos(m linear) (theta float64, exact bool, steps int) {
	rng := rand.New(rand.NewPCG(0x7468656f7279, uint64(m.in)))
	v := make([]float64, m.in)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	vector.Scale(v, 1/vector.Norm(v))
	var basis [][]float64
	var alpha, beta []float64
	for len(basis) < min(lanczosSteps, m.in) {
		basis = append(basis, v)
		w := m.adopt(m.apply(v))
		alpha = append(alpha, vector.Dot(w, v))
		for range 2 {
			for _, q := range basis {
				vector.Axpy(w, -vector.Dot(w, q), q)
			}
		}
		b := vector.Norm(w)
		if b <= 1e-13*alpha[0] || alpha[0] == 0 {
			exact = true
			break
		}
		beta = append(beta, b)
		vector.Scale(w, 1/b)
		v = w
	}
	k := len(basis)
	t := make([]float64, k*k)
	for i := range k {
		t[i*k+i] = alpha[i]
		if i+1 < k {
			t[i*k+i+1], t[(i+1)*k+i] = beta[i], beta[i]
		}
	}
	values, err := eigenvalues(t, k)
	if err != nil {
		return math.Inf(1), true, k
	}
	return max(values[k-1], 0), exact || k == m.in, k
}

// filterNorm returns ‖H(S)‖. In the eigenbasis of a symmetric S the filter acts
// on each frequency alone, so the norm is the largest of ‖Σ_k λ_iᵏ A_k‖. Values
// are the eigenvalues of S; nil, of a directed or a large graph, asks for the
// bound of operatorNorm.
func filterNorm(f *crown.Filter, s, st *crown.Shift, values []float64) float64 {
	if values == nil {
		t := f.Transposed()
		return operatorNorm(linear{
			s.Nodes() * f.In, s.Nodes() * f.Out,
			func(x []float64) []float64 { return f.Apply(s, x, false) },
			func(y []float64) []float64 { return t.Apply(st, y, false) },
		})
	}
	largest := 0.0
	for _, l := range values {
		largest = max(largest, spectralNorm(f.At(l), f.In, f.Out))
	}
	return largest
}

// changeNorm returns ‖H(Ŝ) - H(S)‖.
func changeNorm(f *crown.Filter, p *Pair) float64 {
	t := f.Transposed()
	return operatorNorm(linear{
		p.Shift.Nodes() * f.In, p.Shift.Nodes() * f.Out,
		func(x []float64) []float64 {
			return difference(f.Apply(p.Perturbed, x, false), f.Apply(p.Shift, x, false))
		},
		func(y []float64) []float64 {
			return difference(t.Apply(p.perturbedT, y, false), t.Apply(p.shiftT, y, false))
		},
	})
}

// difference returns a - b in a.
func difference(a, b []float64) []float64 {
	for i, v := range b {
		a[i] -= v
	}
	return a
}
