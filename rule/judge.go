package rule

import (
	"math"

	"github.com/wdgnn/wdgnn/loss"
)

// judge is the cost of one row, with derivatives.
type judge struct {
	classes bool // it is cross-entropy
	curved  loss.Curved
	target  []float32 // of the row, if it is curved

	local     loss.Local // any other cost, whose gradient is differenced
	index     int
	y, dy, up []float32
}

// set makes j the judge of row index of a cost, and says whether that row carries
// one. A Local that is not Targeted is asked whatever it says.
func (j *judge) set(cost loss.Loss, index, outputs int) bool {
	j.curved, j.local, j.index = nil, nil, index
	t, targeted := cost.(loss.Targeted)
	if targeted {
		if n := t.TargetLen(outputs); len(j.target) != n {
			j.target = make([]float32, n)
		}
		if !t.TargetOf(index, j.target) {
			return false
		}
	}
	switch cost.(type) {
	case loss.CrossEntropy, *loss.CrossEntropy:
		j.classes = true
	default:
		j.classes = false
	}
	var ok bool
	if j.curved, ok = cost.(loss.Curved); ok {
		return true
	}
	j.local = cost.(loss.Local)
	if len(j.y) != outputs {
		j.y, j.dy, j.up = make([]float32, outputs), make([]float32, outputs), make([]float32, outputs)
	}
	return true
}

// square says whether the cost is a squared error.
func (j *judge) square() bool {
	switch j.curved.(type) {
	case loss.MSE, *loss.MSE:
		return true
	}
	return false
}

// release drops what belongs to the caller.
func (j *judge) release() { j.curved, j.local = nil, nil }

// curvature returns κ, that of the cost near its target.
func (j *judge) curvature(outputs int) float64 {
	if j.curved != nil {
		if k := j.curved.Curvature(outputs); k > 0 && !math.IsInf(k, 0) {
			return k
		}
	}
	return 1
}

// precision is to how much costs are known: float32 outputs know less.
func (j *judge) precision() float64 {
	if j.curved != nil {
		return 1e-13
	}
	return 1e-7
}

// eval returns the cost of the row y, with gradient g and Hessian h, C×C.
func (j *judge) eval(g, h, y []float64) float64 {
	if j.curved != nil {
		return j.curved.EvalCurved(g, h, y, j.target)
	}
	for c, v := range y {
		j.y[c] = float32(v)
	}
	cost := j.local.EvalNode(j.index, j.dy, j.y)
	for c, v := range j.dy {
		g[c] = float64(v)
	}
	j.differences(h)
	return cost
}

// differences writes central differences of the gradient to h, made symmetric.
// The step is a power of 2, 1/128 of an output or of 1, so that outputs move by
// what is divided by.
func (j *judge) differences(h []float64) {
	n := len(j.y)
	for c, v := range j.y {
		step := float32(1.0 / 128)
		if far := float32(math.Abs(float64(v))); far > 1 && !math.IsInf(float64(far), 0) {
			_, e := math.Frexp(float64(far))
			step = float32(math.Ldexp(step64, e-1))
		}
		j.y[c] = v + step
		j.local.EvalNode(j.index, j.up, j.y)
		j.y[c] = v - step
		j.local.EvalNode(j.index, j.dy, j.y)
		j.y[c] = v
		for d := range n {
			h[d*n+c] = (float64(j.up[d]) - float64(j.dy[d])) / (2 * float64(step))
		}
	}
	for a := range n {
		for b := range a {
			mean := (h[a*n+b] + h[b*n+a]) / 2
			h[a*n+b], h[b*n+a] = mean, mean
		}
	}
}

const step64 = 1.0 / 128

// information writes what the answer says of the outputs at y to h, C×C.
func (j *judge) information(h, y, scratch []float64) {
	if j.curved != nil {
		j.curved.Information(h, y, j.target)
		return
	}
	j.eval(scratch, h, y)
}
