package rule

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	dense "github.com/wdgnn/wdgnn/mat"
)

// SecondMoment gathers the second moment of the shifted inputs,
//
//	Σ = mean of [z 1]ᵀ [z 1]
//
// over the observations of training. It is what a whitening is made from, and
// belongs in the model file. The zero SecondMoment is empty.
//
// The mean is not taken off: outputs are linear in 𝒜 with inputs z as they are,
// so the curvature of a squared error in 𝒜 is that of zᵀz. The 1 behind z is the
// input of the bias.
type SecondMoment struct {
	Inputs int       `json:"inputs"` // (K+1)·F
	Count  float64   `json:"count"`  // observations
	Mean   []float64 `json:"mean"`   // Σ, (Inputs+1)×(Inputs+1), by rows

	// Heard says what single nodes heard in training, each with a moment of its
	// own; nil if nobody computed it. Nodes that are not in it hear with one
	// common scale; see Hearing.
	Heard map[int]*Hearing `json:"heard,omitempty"`
}

// Add takes in the first inputs columns of every row of z.
func (m *SecondMoment) Add(z dense.Dense, inputs int) {
	n := inputs + 1
	if m.Mean == nil {
		m.Inputs, m.Mean = inputs, make([]float64, n*n)
	}
	if m.Inputs != inputs || z.Cols < inputs {
		panic(fmt.Sprintf("rule: SecondMoment: %d of %d columns after %d", inputs, z.Cols, m.Inputs))
	}
	if z.Rows == 0 {
		return
	}
	sum := make([]float64, n*n)
	v := make([]float64, n)
	for i := range z.Rows {
		for k, x := range z.Row(i)[:inputs] {
			v[k] = float64(x)
		}
		v[inputs] = 1
		for a, va := range v {
			for b, vb := range v {
				sum[a*n+b] += float64(va * vb)
			}
		}
	}
	total := m.Count + float64(z.Rows)
	for e := range m.Mean {
		m.Mean[e] = (float64(m.Mean[e]*m.Count) + sum[e]) / total
	}
	m.Count = total
}

// Validate reports what is wrong with a moment that came from outside.
func (m *SecondMoment) Validate() error {
	n := m.Inputs + 1
	if m.Inputs < 1 || len(m.Mean) != n*n {
		return fmt.Errorf("rule: a second moment of %d inputs with %d numbers, want %d", m.Inputs, len(m.Mean), n*n)
	}
	for a := range n {
		for b := range n {
			v := m.Mean[a*n+b]
			if math.IsNaN(v) || math.IsInf(v, 0) || v != m.Mean[b*n+a] || (a == b && v < 0) {
				return fmt.Errorf("rule: second moment: element (%d,%d) is %v; want finite numbers, symmetric, with a diagonal ≥ 0", a, b, v)
			}
		}
	}
	for i, h := range m.Heard {
		if err := h.Validate(); err != nil {
			return fmt.Errorf("%w: node %d", err, i)
		}
	}
	return nil
}

// Whitening is the metric in which a step is taken. Shifts of one signal are
// almost collinear, and the readout stretches some directions far more than
// others, so plain gradient descent is nearly blind to most directions. A
// whitened step is
//
//	𝒜 ← 𝒜 - γ P_L ∇J P_R      P_L = (Σ + 1e-4 diag Σ)⁻¹     P_R = (ΩΩᵀ)⁺
//
// with the Σ of training; in the coordinates of package rule x ← x - γ P_L zᵀdy R⁺.
// Both are the same at every node, so mixing commutes with them: in the
// coordinates P_L^-½ 𝒜 P_R^-½ it is eq. (9) as it stands. That is why Σ is that of
// training and not of what a node has seen: with a metric of its own at each node
// they would not step down any common cost.
//
// Deviation: the paper steps along the plain gradient.
type Whitening struct {
	inputs int
	left   []float64 // P_L
	sigma  []float64 // Σ
	root   []float64 // L, Σ = L Lᵀ
}

// whiteningRidge keeps directions that training hardly saw from being stretched
// without bound. It is a share of each input's own mean square, so that units
// of inputs do not matter.
const whiteningRidge = 1e-4

// NewWhitening returns the whitening of a second moment, for the taps alone or
// for taps and bias.
func NewWhitening(m *SecondMoment, bias bool) (*Whitening, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	n := m.Inputs
	if bias {
		n++
	}
	sigma := mat.NewSymDense(n, nil)
	for a := range n {
		for b := a; b < n; b++ {
			v := m.Mean[a*(m.Inputs+1)+b]
			if a == b {
				v += float64(whiteningRidge * v)
				if v == 0 { // an input that was always 0
					v = 1
				}
			}
			sigma.SetSym(a, b, v)
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(sigma) {
		return nil, errors.New("rule: the matrix given as second moment of the inputs is not the moment of any: it has a negative eigenvalue")
	}
	var inverse mat.SymDense
	if err := chol.InverseTo(&inverse); err != nil {
		return nil, fmt.Errorf("rule: second moment: %w", err)
	}
	w := &Whitening{inputs: n, left: make([]float64, n*n), sigma: make([]float64, n*n)}
	for a := range n {
		for b := range n {
			w.sigma[a*n+b] = m.Mean[a*(m.Inputs+1)+b]
			w.left[a*n+b] = inverse.At(a, b)
		}
	}
	w.root = lowerRoot(w.sigma, n)
	return w, nil
}

// apply writes row a of P_L g to dst, g rows×C.
func (w *Whitening) apply(dst, g []float64, a int) {
	n := w.inputs
	clear(dst)
	for b, p := range w.left[a*n : (a+1)*n] {
		for c, v := range g[b*len(dst) : (b+1)*len(dst)] {
			dst[c] += float64(p * v)
		}
	}
}

// length returns z P_L zᵀ.
func (w *Whitening) length(z []float64) float64 {
	sum := 0.0
	for a, va := range z {
		for b, vb := range z {
			sum += float64(va * float64(w.left[a*w.inputs+b]*vb))
		}
	}
	return sum
}

// largestEigenvalue returns that of R Rᵀ, R n×m by rows.
func largestEigenvalue(r []float64, n, m int) (float64, error) {
	sym := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			sym.SetSym(i, j, dot(r[i*m:(i+1)*m], r[j*m:(j+1)*m]))
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(sym, false) {
		return 0, errors.New("no eigenvalues were found")
	}
	return max(eigen.Values(nil)[n-1], 0), nil
}
