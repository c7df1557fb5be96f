package crown

import (
	"math"

	"github.com/wdgnn/wdgnn/internal/vector"
)

// unknown is what answers read and nobody knows.
type unknown interface {
	// spread returns the largest change of a functional that unknowns of size 1 make.
	spread(f *functional, a *answer) float64

	// enter lists where messages of a liar come into a cone, block the
	// coefficients of its row of one exchange there, and width how many numbers
	// each of them has.
	enter(c *cone) []entry
	block(taint []float64, e, layer, hop int) []float64
	width() int

	// inputs returns the sizes of inputs that are nothing but unknowns of size 1,
	// most that of a number that a liar sends, and sizes what these add to sums.
	inputs(n int) []float64
	most(layer, hop int) float64
	sizes() feed

	// len returns how many numbers are unknown in a cone, steepest those of a size
	// at which a functional is least, and enact what a network reads with them.
	len(a *answer) int
	steepest(f *functional, a *answer, size float64) []float64
	enact(x []float64, a *answer, v []float64) ([]float64, feed)
}

// entry is a message of a liar to a node of a cone.
type entry struct {
	local  int // the node that hears it
	weight float64
}

// Norm is how noise is measured.
type Norm uint8

const (
	L2   Norm = iota // ‖Δ‖ = (Σ Δ²)^½, over all sensors and features together
	LInf             // max |Δ|, of every sensor and feature by itself
)

func (n Norm) String() string {
	if n == LInf {
		return "linf"
	}
	return "l2"
}

// Noise is what may be added to a signal: any Δ ∘ Weights with ‖Δ‖ ≤ ε.
type Noise struct {
	Norm    Norm
	Weights []float64 // N×F by rows: what noise of 1 adds to an input, 0 where there is none; nil for 1 everywhere
}

// spread returns the dual norm of the coefficients of the noise.
func (n *Noise) spread(f *functional, a *answer) float64 {
	features := a.features
	largest, sum := 0.0, 0.0
	for m, i := range a.cone.nodes {
		for g, v := range f.x[m*features : (m+1)*features] {
			if n.Weights != nil {
				v *= n.Weights[i*features+g]
			}
			if n.Norm == LInf {
				sum += math.Abs(v)
			} else {
				largest = max(largest, math.Abs(v))
				sum += v * v
			}
		}
	}
	if n.Norm == LInf {
		return sum
	}
	if sum < 1e-280 || math.IsInf(sum, 0) { // squares left the range of float64
		return largest * math.Sqrt(float64(len(f.x)))
	}
	return math.Sqrt(sum)
}

func (n *Noise) enter(*cone) []entry                      { return nil }
func (n *Noise) block([]float64, int, int, int) []float64 { return nil }
func (n *Noise) width() int                               { return 0 }

func (n *Noise) most(int, int) float64 { return 0 }
func (n *Noise) sizes() feed           { return nil }

func (n *Noise) inputs(inputs int) []float64 {
	if n.Weights != nil {
		return absolute(n.Weights)
	}
	one := make([]float64, inputs)
	for i := range one {
		one[i] = 1
	}
	return one
}

// size returns ‖Δ‖.
func (n *Noise) size(v []float64) float64 {
	if n.Norm == L2 {
		return vector.Norm(v)
	}
	most := 0.0
	for _, x := range v {
		most = max(most, math.Abs(x))
	}
	return most
}

func (n *Noise) len(a *answer) int { return len(a.cone.nodes) * a.features }

// gradient writes the coefficients of Δ to dst.
func (n *Noise) gradient(dst []float64, f *functional, a *answer) []float64 {
	copy(dst, f.x)
	if n.Weights != nil {
		for m, i := range a.cone.nodes {
			for g := range a.features {
				dst[m*a.features+g] *= n.Weights[i*a.features+g]
			}
		}
	}
	return dst
}

// steepest returns the Δ of the given size at which f is least.
func (n *Noise) steepest(f *functional, a *answer, size float64) []float64 {
	v := n.gradient(make([]float64, len(f.x)), f, a)
	if n.Norm == LInf {
		for i, g := range v {
			switch {
			case g > 0:
				v[i] = -size
			case g < 0:
				v[i] = size
			}
		}
		return v
	}
	if length := vector.Norm(v); length > 0 {
		vector.Scale(v, -size/length)
	}
	return v
}

// enact returns the signal x of a cone with the noise v.
func (n *Noise) enact(x []float64, a *answer, v []float64) ([]float64, feed) {
	out := append([]float64(nil), v...)
	if n.Weights != nil {
		n.gradient(out, &functional{x: v}, a)
	}
	vector.Axpy(out, 1, x)
	return out, nil
}
