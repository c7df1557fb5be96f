package mat_test

import (
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/mat"
)

func TestArgmax(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		values []float32
		want   int
	}{
		{nil, 0},
		{[]float32{-3}, 0},
		{[]float32{1, 3, 2}, 1},
		{[]float32{1, 3, 3}, 1}, // the first of equals
		{[]float32{-2, nan, -1}, 2},
		{[]float32{nan, 1}, 0},
	} {
		if got := mat.Argmax(c.values); got != c.want {
			t.Errorf("Argmax(%v): got %d, want %d", c.values, got, c.want)
		}
	}
	if got := mat.Argmax([]float64{0, 1e-300}); got != 1 {
		t.Errorf("Argmax of float64: got %d, want 1", got)
	}
}

func TestFinite(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		values []float64
		want   bool
	}{
		{nil, true},
		{[]float64{0, -1, math.MaxFloat64, math.SmallestNonzeroFloat64}, true},
		{[]float64{0, math.NaN()}, false},
		{[]float64{inf, 0}, false},
		{[]float64{-inf}, false},
	} {
		if got := mat.Finite(c.values...); got != c.want {
			t.Errorf("Finite(%v): got %t, want %t", c.values, got, c.want)
		}
	}
	if mat.Finite(float32(1), float32(inf)) {
		t.Error("Finite of an infinite float32: got true, want false")
	}
}
