package mat_test

import (
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
)

// A row is summed in float32, one term after the other: doc/deviations.md says
// what that costs at a hub with many neighbours.
func TestHubRounding(t *testing.T) {
	for _, c := range []struct {
		neighbors    int
		equal, mixed float64 // largest relative errors
	}{
		{1_000, 1.5e-5, 1e-6},
		{10_000, 1.2e-4, 5e-6},
		{100_000, 1.2e-3, 1e-5},
		{1_000_000, 1.1e-2, 1e-4},
	} {
		for _, weight := range []float64{1, 1 / float64(c.neighbors), 1 / math.Sqrt(float64(c.neighbors))} {
			s := hub(t, c.neighbors, float32(weight))
			for _, v := range []float32{0.1, 0.7, 1} {
				if got := hubError(s, func() float32 { return v }); got > c.equal {
					t.Errorf("%d neighbours of %v, weight %.3g: the sum errs by %.3g, want at most %.3g", c.neighbors, v, weight, got, c.equal)
				}
			}
			if got := hubError(s, random.Stream(1, "hub").Float32); got > c.mixed {
				t.Errorf("%d neighbours within [0, 1], weight %.3g: the sum errs by %.3g, want at most %.3g", c.neighbors, weight, got, c.mixed)
			}
		}
	}
}

// hub returns the row of a node with n neighbours of the same weight.
func hub(t *testing.T, n int, weight float32) *mat.CSR {
	t.Helper()
	column, values := make([]int32, n), make([]float32, n)
	for j := range n {
		column[j], values[j] = int32(j), weight
	}
	s, err := mat.NewCSR(1, n, []int{0, n}, column, values)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// hubError returns by which part s x differs from float64, for an x that is
// drawn.
func hubError(s *mat.CSR, draw func() float32) float64 {
	x, y, exact := mat.NewDense(s.Cols, 1, nil), mat.NewDense(1, 1, nil), 0.0
	for j := range s.Cols {
		x.Data[j] = draw()
		exact += float64(s.Val[j]) * float64(x.Data[j])
	}
	mat.Serial.SpMM(y, s, x)
	return math.Abs(float64(y.Data[0])-exact) / math.Abs(exact)
}
