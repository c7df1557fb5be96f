package rule

import (
	"errors"
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/mat"
)

// frame is the coordinates in which a second-order learner works: features of
// size 1 that are hardly correlated, and outputs that the taps can reach.
//
//	z̃ = T [z 1]ᵀ               T = L⁻¹, p×p
//	y = y† + Eᵀ Yᵀ z̃           Y: p×r   E: r×C, orthonormal rows that span those of R
//	x = Tᵀ Y E R⁺               the same in the coordinates of nodes
//
// A ridge on Y is then one on what outputs change by.
type frame struct {
	p, r, outputs int

	lower []float64 // L, p×p; nil without a moment
	white []float64 // T
	reach []float64 // E, r×C; nil if it is I
	back  []float64 // E R⁺, r×width
	width int

	ear *listener // of a node that hears its neighbours one by one: the features are its own
}

// newFrame returns the frame of a basis whose R has the given factors.
func newFrame(f *Basis, q *factors, m *SecondMoment) (*frame, error) {
	g := &frame{p: f.rows, r: q.r, outputs: f.outputs, width: f.width}
	if q.r == 0 { // the taps reach no output
		return g, nil
	}
	inverse := q.inverse()
	if q.r == q.m {
		g.back = inverse
	} else {
		t := factorize(q.transposed(), q.m, q.r, 0)
		g.r, g.reach = t.r, t.q
		g.back = make([]float64, g.r*f.width)
		for a := range g.r {
			row := g.reach[a*q.m : (a+1)*q.m]
			for w := range f.width {
				for c, e := range row {
					g.back[a*f.width+w] += float64(e * inverse[c*f.width+w])
				}
			}
		}
	}
	if m == nil {
		return g, nil
	}
	var err error
	_, g.lower, g.white, err = whiten(m, f.rows, whiteningRidge)
	return g, err
}

// whiten returns Σ + ridge diag Σ of the first n rows of a moment, its L and L⁻¹.
func whiten(m *SecondMoment, n int, ridge float64) (sigma, lower, inverse []float64, err error) {
	if err := m.Validate(); err != nil {
		return nil, nil, nil, err
	}
	if n > m.Inputs+1 {
		return nil, nil, nil, fmt.Errorf("rule: a second moment of %d inputs for %d rows of taps", m.Inputs, n)
	}
	sigma = make([]float64, n*n)
	for a := range n {
		for b := range n {
			sigma[a*n+b] = m.Mean[a*(m.Inputs+1)+b]
		}
		if v := &sigma[a*n+a]; *v == 0 { // an input that was always 0
			*v = 1
		} else {
			*v += float64(ridge * *v)
		}
	}
	lower = make([]float64, n*n)
	if !cholesky(lower, sigma, n) {
		return nil, nil, nil, errors.New("rule: the matrix given as second moment of inputs has a negative eigenvalue: it is the moment of none")
	}
	inverse = make([]float64, n*n)
	for b := range n {
		for a := b; a < n; a++ {
			sum := 0.0
			if a == b {
				sum = 1
			}
			for k := b; k < a; k++ {
				sum -= float64(lower[a*n+k] * inverse[k*n+b])
			}
			inverse[a*n+b] = sum / lower[a*n+a]
		}
	}
	return sigma, lower, inverse, nil
}

// features writes z̃ to dst, p values. Without a moment all are divided by scale.
// raw has room for p values.
func (g *frame) features(dst, raw []float64, z []float32, scale float64) {
	if g.ear != nil {
		g.ear.features(dst, z, scale)
		return
	}
	raw[g.p-1] = 1 // of the bias; an input overwrites it if that is not retrained
	for k, v := range z[:min(len(z), g.p)] {
		raw[k] = float64(v)
	}
	if g.white == nil {
		for k, v := range raw {
			dst[k] = v / scale
		}
		return
	}
	for a := range dst {
		dst[a] = dot(g.white[a*g.p:a*g.p+a+1], raw[:a+1])
	}
}

// scaleOf returns the root of the mean square of an observation's features, 1 if
// all are 0: what features are divided by where no moment is known.
func (g *frame) scaleOf(raw []float64) float64 {
	if s := math.Sqrt(dot(raw, raw) / float64(len(raw))); s > 0 && mat.Finite(s) {
		return s
	}
	return 1
}

// params writes x = Tᵀ Y E R⁺ to x. mean holds Y by outputs, r rows of p values;
// scratch has room for r·p values.
func (g *frame) params(x []float32, mean, scratch []float64, scale float64) {
	if g.ear != nil {
		g.ear.taps(g, x, mean, scale)
		return
	}
	for a := range g.r {
		row, out := mean[a*g.p:(a+1)*g.p], scratch[a*g.p:(a+1)*g.p]
		for k := range out {
			if g.white == nil {
				out[k] = row[k] / scale
				continue
			}
			sum := 0.0
			for j := k; j < g.p; j++ {
				sum += float64(g.white[j*g.p+k] * row[j])
			}
			out[k] = sum
		}
	}
	for k := range g.p {
		for w := range g.width {
			sum := 0.0
			for a := range g.r {
				sum += float64(scratch[a*g.p+k] * g.back[a*g.width+w])
			}
			x[k*g.width+w] = float32(sum)
		}
	}
}

// outputsOf writes y† + Eᵀ η to y.
func (g *frame) outputsOf(y []float64, base []float32, eta []float64) {
	if g.reach == nil {
		for c, b := range base {
			y[c] = float64(b) + eta[c]
		}
		return
	}
	for c, b := range base {
		sum := 0.0
		for a, e := range eta {
			sum += float64(e * g.reach[a*g.outputs+c])
		}
		y[c] = float64(b) + sum
	}
}
