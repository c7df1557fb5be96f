package rule_test

import (
	"math"
	"math/rand/v2"

	dense "gonum.org/v1/gonum/mat"

	"github.com/wdgnn/wdgnn/random"
)

// problem is a regression that a node meets: the model as trained is right about
// the world as it was, y† = z w†, and the world may have changed since.
type problem struct {
	inputs       int
	z            [][]float32
	base, target []float32
	moment       [][]float32 // inputs as in training
}

// gateSteps is how long a problem lasts.
const gateSteps = 400

// drawProblem draws the k-th of the random problems, on scales from 1e-3 to 1e3:
// some sensors are constant or dead, some targets far off, and the world stays,
// has changed before the first step, changes in the middle, or drifts.
func drawProblem(k int) *problem {
	rng := random.Stream(2026, "gate problem", k)
	p := &problem{inputs: 1 + rng.IntN(8)}
	out, in := math.Pow(10, 6*rng.Float64()-3), math.Pow(10, 6*rng.Float64()-3)
	sensor := make([]func() float64, p.inputs)
	for i := range sensor {
		sensor[i] = drawSensor(rng, in)
	}
	trained, moved := draw(rng, p.inputs, out/in), draw(rng, p.inputs, out/in*math.Pow(10, 2*rng.Float64()-1.5))
	other := draw(rng, p.inputs, out/in*math.Pow(10, 2*rng.Float64()-1.5))
	noise := out * math.Pow(10, 2*rng.Float64()-1.5)
	outliers, far := 0.0, math.Pow(10, 1+3*rng.Float64())
	if rng.IntN(4) == 0 {
		outliers = 0.02
	}
	kind := rng.IntN(5)
	died := rng.IntN(2 * p.inputs)
	for range 100 {
		row := make([]float32, p.inputs)
		for i := range row {
			row[i] = float32(sensor[i]())
		}
		p.moment = append(p.moment, row)
	}
	for t := range gateSteps {
		row := make([]float32, p.inputs)
		y, target := 0.0, noise*rng.NormFloat64()
		for i := range row {
			v := sensor[i]()
			if i == died && t > gateSteps/3 {
				v = 0
			}
			row[i] = float32(v)
			w := trained[i]
			y += w * float64(row[i])
			switch {
			case kind == 1, kind == 2 && t > gateSteps/2:
				w += moved[i]
			case kind == 3:
				w += moved[i] * float64(t) / gateSteps
			case kind == 4:
				w += moved[i]
				if t > gateSteps/2 {
					w += other[i]
				}
			}
			target += w * float64(row[i])
		}
		if rng.Float64() < outliers {
			target += noise * far * rng.NormFloat64()
		}
		p.z, p.base, p.target = append(p.z, row), append(p.base, float32(y)), append(p.target, float32(target))
	}
	return p
}

// drawSensor returns one that is dead, constant, or not.
func drawSensor(rng *rand.Rand, scale float64) func() float64 {
	mean := scale * rng.NormFloat64()
	switch rng.IntN(8) {
	case 0:
		return func() float64 { return 0 }
	case 1:
		return func() float64 { return mean }
	}
	return func() float64 { return mean + scale*rng.NormFloat64() }
}

func draw(rng *rand.Rand, n int, scale float64) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = scale * rng.NormFloat64()
	}
	return w
}

// frozen returns what the model as trained costs.
func (p *problem) frozen() float64 {
	sum := 0.0
	for t, y := range p.base {
		d := float64(y) - float64(p.target[t])
		sum += d * d
	}
	return sum
}

// best returns what the best fixed taps cost, chosen in hindsight, least squares
// with a ridge far below what matters.
func (p *problem) best() float64 {
	n := p.inputs
	gram, right := dense.NewSymDense(n, nil), dense.NewVecDense(n, nil)
	for t, z := range p.z {
		e := float64(p.target[t]) - float64(p.base[t])
		for a := range n {
			right.SetVec(a, right.AtVec(a)+float64(z[a])*e)
			for b := a; b < n; b++ {
				gram.SetSym(a, b, gram.At(a, b)+float64(z[a])*float64(z[b]))
			}
		}
	}
	for a := range n {
		gram.SetSym(a, a, gram.At(a, a)*(1+1e-9)+1e-30)
	}
	var chol dense.Cholesky
	var w dense.VecDense
	if !chol.Factorize(gram) || chol.SolveVecTo(&w, right) != nil {
		return p.frozen()
	}
	sum := 0.0
	for t, z := range p.z {
		y := float64(p.base[t])
		for a := range n {
			y += w.AtVec(a) * float64(z[a])
		}
		d := y - float64(p.target[t])
		sum += d * d
	}
	return min(sum, p.frozen())
}
