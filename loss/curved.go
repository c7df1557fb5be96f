package loss

import (
	"fmt"

	"github.com/wdgnn/wdgnn/mat"
)

// Curved is a Targeted cost whose second derivatives are known, for learners that
// step by them. Outputs are float64 here: such a step asks for differences of
// costs that float32 cannot tell apart. Every operation rounds, and exponentials
// are those of package mat: all architectures get the same bits.
//
// The losses of this package are Curved. Of others a second-order learner takes
// differences of the gradient.
type Curved interface {
	Targeted

	// EvalCurved returns the cost of the row y, and overwrites g with its gradient
	// and h with its Hessian. A cost whose gradient jumps has the corner rounded off.
	//
	//	g, y: C values   h: C×C, by rows
	EvalCurved(g, h, y []float64, target []float32) float64

	// Information overwrites h, C×C, with what the answer says of the outputs: how
	// much surer of them it makes. It is the Hessian, but for costs that are linear
	// far from the target. Those are flat there in second derivatives and not in what
	// they tell: of them it is the curvature of the parabola that touches the cost at
	// y and is nowhere below, as in iteratively reweighted least squares.
	Information(h, y []float64, target []float32)
}

// EvalCurved implements [Curved]. With p = softmax(y) and label c the gradient is
// p - e_c and the Hessian diag(p) - ppᵀ.
func (l CrossEntropy) EvalCurved(g, h, y []float64, target []float32) float64 {
	c := int32(target[0])
	if uint(c) >= uint(len(y)) {
		panic(fmt.Sprintf("loss: CrossEntropy: target %v for an output with %d columns", target[0], len(y)))
	}
	logSum := softmax(g, y)
	spread(h, g)
	g[c]--
	return logSum - y[c]
}

// Information implements [Curved]: it is the Hessian, whatever the label.
func (l CrossEntropy) Information(h, y []float64, _ []float32) {
	p := h[:len(y)]
	softmax(p, y)
	spread(h, p)
}

// softmax writes the probabilities of y to p and returns the logarithm of the sum
// of exponentials.
func softmax(p, y []float64) (logSum float64) {
	largest, sum := y[0], 0.0
	for _, v := range y {
		largest = max(largest, v)
	}
	for k, v := range y {
		p[k] = mat.Exp(v - largest)
		sum += p[k]
	}
	for k := range p {
		p[k] /= sum
	}
	return largest + mat.Log(sum)
}

// spread writes diag(p) - ppᵀ to h, the last element first: p may be its first
// row.
func spread(h, p []float64) {
	n := len(p)
	for a := n - 1; a >= 0; a-- {
		pa := p[a]
		for b := n - 1; b >= 0; b-- {
			pb := p[b]
			h[a*n+b] = -float64(pa * pb)
			if a == b {
				h[a*n+b] = float64(pa * (1 - pa))
			}
		}
	}
}

// bend is the cost of one element at a distance d from where it is 0: its value,
// slope and second derivative, and the information of its answer.
type bend func(d float64) (value, slope, second, information float64)

// curve gathers the bends of a row; its cost is their mean.
func curve(g, h, y []float64, target []float32, of bend) float64 {
	n, sum := len(y), 0.0
	clear(h)
	for j, v := range y {
		if target[j] != target[j] {
			g[j] = 0
			continue
		}
		value, slope, second, _ := of(v - float64(target[j]))
		sum += value
		g[j], h[j*n+j] = slope/float64(n), second/float64(n)
	}
	return sum / float64(n)
}

// inform gathers the information of a row.
func inform(h, y []float64, target []float32, of bend) {
	n := len(y)
	clear(h)
	for j, v := range y {
		if target[j] != target[j] {
			continue
		}
		_, _, _, information := of(v - float64(target[j]))
		h[j*n+j] = information / float64(n)
	}
}

func parabola(d float64) (value, slope, second, information float64) {
	return float64(d * d), 2 * d, 2, 2
}

// rounded returns the bend of a slope that is 1 farther than delta from 0, times
// scale.
func rounded(delta, scale float64) bend {
	return func(d float64) (value, slope, second, information float64) {
		far := max(d, -d)
		if far < delta {
			return float64(scale * float64(float64(d*d)/(2*delta))), float64(scale * (d / delta)), scale / delta, scale / delta
		}
		slope = scale
		if d < 0 {
			slope = -scale
		}
		return float64(scale * (far - float64(delta/2))), slope, 0, scale / far
	}
}

// EvalCurved implements [Curved].
func (l MSE) EvalCurved(g, h, y []float64, target []float32) float64 {
	return curve(g, h, y, target, parabola)
}

// Information implements [Curved].
func (l MSE) Information(h, y []float64, target []float32) { inform(h, y, target, parabola) }

// EvalCurved implements [Curved].
func (l SmoothL1) EvalCurved(g, h, y []float64, target []float32) float64 {
	return curve(g, h, y, target, rounded(l.delta(), 1))
}

// Information implements [Curved].
func (l SmoothL1) Information(h, y []float64, target []float32) {
	inform(h, y, target, rounded(l.delta(), 1))
}

// EvalCurved implements [Curved].
func (l Huber) EvalCurved(g, h, y []float64, target []float32) float64 {
	return curve(g, h, y, target, rounded(l.delta(), l.delta()))
}

// Information implements [Curved].
func (l Huber) Information(h, y []float64, target []float32) {
	inform(h, y, target, rounded(l.delta(), l.delta()))
}

// corner is the width over which Hinge's corner at the margin, and L1's at the
// target, is rounded off for learners that need second derivatives. The cost
// changes by 0.05 at most.
const corner = 0.1

// EvalCurved implements [Curved], with the corner at the margin rounded off: a
// parabola where 0.9 < t y < 1.
func (l Hinge) EvalCurved(g, h, y []float64, target []float32) float64 {
	n, sum := len(y), 0.0
	clear(h)
	for j, v := range y {
		if target[j] != target[j] {
			g[j] = 0
			continue
		}
		value, slope, second, _ := shorter(1 - float64(float64(target[j])*v))
		sum += value
		g[j], h[j*n+j] = float64(-slope*float64(target[j]))/float64(n), second/float64(n)
	}
	return sum / float64(n)
}

// Information implements [Curved].
func (l Hinge) Information(h, y []float64, target []float32) {
	n := len(y)
	clear(h)
	for j, v := range y {
		if target[j] != target[j] {
			continue
		}
		_, _, _, information := shorter(1 - float64(float64(target[j])*v))
		h[j*n+j] = information / float64(n)
	}
}

// shorter is the bend of what is missing to the margin.
func shorter(short float64) (value, slope, second, information float64) {
	switch {
	case short <= 0:
		return 0, 0, 0, 0
	case short < corner:
		return float64(short*short) / (2 * corner), short / corner, 1 / corner, 1 / corner
	}
	return short - corner/2, 1, 0, 1 / short
}
