package theory

import (
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/internal/crown"
	"github.com/wdgnn/wdgnn/internal/vector"
)

// A matrix most of whose eigenvalues are 0, as second moments of fewer rows than
// inputs are, is decomposed like any other, whatever rounding leaves of the zeros.
func TestEigenOfLowRank(t *testing.T) {
	rng := newRand(74)
	const n = 80
	for k := range 120 {
		rank := []int{25, 1, n, 0}[k%4]
		tilt := make([]float64, n*n)
		for i := range n {
			for j := range i + 1 {
				tilt[i*n+j] = rng.NormFloat64() * math.Exp(float64(k%3)*rng.NormFloat64())
			}
		}
		a := make([]float64, n*n)
		for range rank {
			v := make([]float64, n)
			crown.AddProduct(v, randomSignal(rng, n), tilt, n, n)
			for i, x := range v {
				vector.Axpy(a[i*n:(i+1)*n], x, v)
			}
		}
		e, err := eigen(append([]float64(nil), a...), n)
		if err != nil {
			t.Errorf("matrix %d, rank %d: %v", k, rank, err)
			continue
		}
		top := max(e.values[n-1], 1)
		for i, l := range e.values {
			v := e.vectors[i*n : (i+1)*n]
			moved := make([]float64, n)
			crown.AddProduct(moved, v, a, n, n)
			vector.Axpy(moved, -l, v)
			if vector.Norm(moved) > 1e-12*top || math.Abs(vector.Norm(v)-1) > 1e-12 || i < n-rank && math.Abs(l) > 1e-12*top {
				t.Errorf("matrix %d, rank %d: eigenvalue %d is %v, A v off by %v", k, rank, i, l, vector.Norm(moved))
				break
			}
		}
	}
}
