package loss_test

import (
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/loss"
)

// Second derivatives are those of the cost: value and gradient agree with those
// in float32, the Hessian with differences of the gradient, and information is
// never less than the Hessian. Hinge and L1 have their corners rounded off, by
// 0.05 at most.
func TestCurved(t *testing.T) {
	for _, s := range samples() {
		j, ok := s.loss.(loss.Curved)
		if !ok {
			t.Errorf("%s is not Curved", s.name)
			continue
		}
		n := s.y.Cols
		slack := 1e-5
		if math.IsInf(j.Curvature(n), 1) {
			slack = 0.05
		}
		target := make([]float32, j.TargetLen(n))
		for i := range s.y.Rows {
			if !j.TargetOf(i, target) || math.IsNaN(j.EvalTarget(nil, s.y.Row(i), target)) {
				continue
			}
			y := make([]float64, n)
			for c, v := range s.y.Row(i) {
				y[c] = float64(v)
			}
			g, h, info := make([]float64, n), make([]float64, n*n), make([]float64, n*n)
			if got, want := j.EvalCurved(g, h, y, target), j.EvalTarget(nil, s.y.Row(i), target); math.Abs(got-want) > slack*(1+want) {
				t.Errorf("%s: row %d costs %v, want %v", s.name, i, got, want)
			}
			j.Information(info, y, target)
			checkCurve(t, s.name, j, y, g, h, target)
			for c := range n {
				if info[c*n+c] < h[c*n+c] {
					t.Errorf("%s: row %d: information %v, second derivative %v", s.name, i, info[c*n+c], h[c*n+c])
				}
			}
		}
	}
}

// checkCurve compares g and h with central differences at y.
func checkCurve(t *testing.T, name string, j loss.Curved, y, g, h []float64, target []float32) {
	t.Helper()
	const step = 1e-5
	n := len(y)
	above, below, spare := make([]float64, n), make([]float64, n), make([]float64, n*n)
	for c := range n {
		y[c] += step
		up := j.EvalCurved(above, spare, y, target)
		y[c] -= 2 * step
		down := j.EvalCurved(below, spare, y, target)
		y[c] += step
		if want := (up - down) / (2 * step); math.Abs(g[c]-want) > 1e-4 {
			t.Errorf("%s: slope %d is %v, want %v", name, c, g[c], want)
		}
		for d := range n {
			if want := (above[d] - below[d]) / (2 * step); math.Abs(h[d*n+c]-want) > 1e-4 {
				t.Errorf("%s: second derivative (%d,%d) is %v, want %v", name, d, c, h[d*n+c], want)
			}
		}
	}
}
