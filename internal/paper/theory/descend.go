package theory

import (
	"math"

	gmat "gonum.org/v1/gonum/mat"

	"github.com/wdgnn/wdgnn/internal/vector"
)

// gain bounds the norm of the chain of maps, by +Inf where float64 cannot.
func gain(maps []*gmat.Dense, rounds int) float64 {
	e := ellipsoids{maps: trimmed(maps)}
	if e.maps == nil {
		return 0
	}
	if !e.begin() {
		return math.Inf(1)
	}
	return e.descend(rounds)
}

// begin chooses a Θ for every activation: in proportion to how long what enters it is
// in a coordinate, over how much of that coordinate gets to the end,
//
//	θ_{i,k} = c ‖row k of B_i‖ / t_{i,k}      t²_{i,k} = Σ_j [A_{i+1}]²_jk t²_{i+1,j}      t_m = 1
//
// which balances the two factors of ‖A Θ^½‖ ‖Θ^-½ B‖, and c somewhat below where Θ = U
// in the longest direction. It says whether it found one.
func (e *ellipsoids) begin() bool {
	e.theta = nil
	takes := e.takes()
	var at *shape
	for i, a := range e.maps[:len(e.maps)-1] {
		b := at.enter(a)
		theta := make([]float64, len(takes[i]))
		for k, t := range takes[i] {
			theta[k] = math.Log(vector.Norm(b.RawRowView(k)) / t)
		}
		add(theta, math.Log(0.8*scaledNorm(b, theta)))
		if at = leave(b, theta); at == nil {
			add(theta, 0.5)
			if at = leave(b, theta); at == nil {
				return false
			}
		}
		e.theta = append(e.theta, theta)
	}
	return true
}

// takes returns t_1, …, t_{m-1}.
func (e *ellipsoids) takes() [][]float64 {
	last := len(e.maps) - 1
	out := make([][]float64, last)
	for i := last - 1; i >= 0; i-- {
		a := e.maps[i+1]
		rows, cols := a.Dims()
		out[i] = make([]float64, cols)
		for j := range rows {
			weight := 1.0
			if i+1 < last {
				weight = out[i+1][j]
			}
			for k, v := range a.RawRowView(j) {
				out[i][k] = math.Hypot(out[i][k], weight*v)
			}
		}
	}
	return out
}

func add(x []float64, v float64) {
	for i := range x {
		x[i] += v
	}
}

// scaledNorm returns ‖Θ^-½ B‖² or a little less, by the power method.
func scaledNorm(b *gmat.Dense, theta []float64) float64 {
	n, k := b.Dims()
	x, y := make([]float64, n), gmat.NewVecDense(k, nil)
	for i := range x {
		x[i] = vector.Norm(b.RawRowView(i)) * math.Exp(-theta[i]/2)
	}
	for range 30 {
		vector.Scale(x, 1/vector.Norm(x))
		for i := range x {
			x[i] *= math.Exp(-theta[i] / 2)
		}
		y.MulVec(b.T(), gmat.NewVecDense(n, x))
		gmat.NewVecDense(n, x).MulVec(b, y)
		for i := range x {
			x[i] *= math.Exp(-theta[i] / 2)
		}
	}
	return vector.Norm(x)
}

// How descend steps: by a rate at first, of which so much is left after every round
// and after a step too far, with slopes and their squares averaged.
const (
	firstRate  = 0.15
	restRate   = 0.99
	backRate   = 0.7
	meanRate   = 0.2
	squareRate = 0.05
	tinySlope  = 1e-7
)

// descend moves the Θ along their slopes for so many rounds and returns the least
// bound on the way.
func (e *ellipsoids) descend(rounds int) float64 {
	best, slopes := e.bound()
	var mean, square [][]float64
	for _, s := range slopes {
		mean, square = append(mean, make([]float64, len(s))), append(square, make([]float64, len(s)))
	}
	rate := firstRate
	for range rounds {
		before := make([][]float64, len(e.theta))
		for i, theta := range e.theta {
			before[i] = append([]float64(nil), theta...)
			for k, v := range slopes[i] {
				mean[i][k] += meanRate * (v - mean[i][k])
				square[i][k] += squareRate * (v*v - square[i][k])
				theta[k] -= rate * mean[i][k] / (math.Sqrt(square[i][k]) + tinySlope)
			}
		}
		now, next := e.bound()
		if math.IsInf(now, 0) { // too far: back, and a little to the other side
			rate *= backRate
			for i, theta := range e.theta {
				clear(mean[i])
				copy(theta, before[i])
				add(theta, 0.02)
			}
			if now, next = e.bound(); math.IsInf(now, 0) {
				break
			}
		}
		best, slopes = min(best, now), next
		rate *= restRate
	}
	return best
}

// trimmed returns the maps without the coordinates between them that one of the two
// leaves at 0, nil if nothing is left.
func trimmed(maps []*gmat.Dense) []*gmat.Dense {
	out := append([]*gmat.Dense(nil), maps...)
	for i := len(out) - 2; i >= 0; i-- {
		if !cut(out, i, (&ellipsoids{maps: out[i : i+2]}).takes()[0]) {
			return nil
		}
	}
	for i := range len(out) - 1 {
		rows, _ := out[i].Dims()
		lengths := make([]float64, rows)
		for k := range lengths {
			lengths[k] = vector.Norm(out[i].RawRowView(k))
		}
		if !cut(out, i, lengths) {
			return nil
		}
	}
	return out
}

// cut keeps the coordinates between maps i and i+1 whose length is not 0, and says
// whether there are any.
func cut(maps []*gmat.Dense, i int, lengths []float64) bool {
	var keep []int
	for k, v := range lengths {
		if v > 0 {
			keep = append(keep, k)
		}
	}
	if len(keep) == len(lengths) || len(keep) == 0 {
		return len(keep) > 0
	}
	_, cols := maps[i].Dims()
	rows, _ := maps[i+1].Dims()
	a, b := gmat.NewDense(len(keep), cols, nil), gmat.NewDense(rows, len(keep), nil)
	for to, k := range keep {
		a.SetRow(to, maps[i].RawRowView(k))
		for j := range rows {
			b.Set(j, to, maps[i+1].At(j, k))
		}
	}
	maps[i], maps[i+1] = a, b
	return true
}
