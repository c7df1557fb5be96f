package loss_test

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
)

var nan = float32(math.NaN())

// both is a loss for the whole output and for each row.
type both interface {
	loss.Loss
	loss.Local
}

// sample is one loss with an output for it. Rows 1 and 4 of a masked sample
// carry no loss.
type sample struct {
	name string
	loss both
	y    mat.Dense
	mask []bool // nil where every row carries a loss
}

func generator() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

func normal(rng *rand.Rand, rows, cols int) mat.Dense {
	a := mat.NewDense(rows, cols, nil)
	for i := range a.Data {
		a.Data[i] = float32(rng.NormFloat64())
	}
	return a
}

func signs(rng *rand.Rand, rows, cols int) mat.Dense {
	a := mat.NewDense(rows, cols, nil)
	for i := range a.Data {
		a.Data[i] = float32(2*rng.IntN(2) - 1)
	}
	return a
}

// samples holds every loss of the package, with all rows and masked, and one
// output whose rows do not follow each other in memory.
func samples() []sample {
	const rows, cols = 7, 5
	rng := generator()
	mask := []bool{true, false, true, true, false, true, true}
	labels := []int32{0, 4, 2, 1, 1, 3, 2}
	some := slices.Clone(labels)
	for i, carries := range mask {
		if !carries {
			some[i] = loss.NoLabel
		}
	}
	target, sign := normal(rng, rows, cols), signs(rng, rows, cols)
	y := normal(rng, rows, cols)
	gaps, signGaps := target.Clone(), sign.Clone() // elements that nobody knows, and all of row 3
	for _, g := range []mat.Dense{gaps, signGaps} {
		g.Set(0, 1, nan)
		g.Set(5, 0, nan)
		for j := range cols {
			g.Set(3, j, nan)
		}
	}
	known := []bool{true, true, true, false, true, true, true}
	strided := normal(rng, rows, cols+3).View(0, 2, rows, cols)
	return []sample{
		{"CrossEntropy", loss.CrossEntropy{Labels: labels}, y, nil},
		{"CrossEntropy/masked", loss.CrossEntropy{Labels: some}, y, mask},
		{"CrossEntropy/strided", loss.CrossEntropy{Labels: labels}, strided, nil},
		{"MSE", loss.MSE{Target: target}, y, nil},
		{"MSE/masked", loss.MSE{Target: target, Mask: mask}, y, mask},
		{"MSE/strided", loss.MSE{Target: target}, strided, nil},
		{"MSE/gaps", loss.MSE{Target: gaps}, y, known},
		{"L1", loss.L1{Target: target}, y, nil},
		{"L1/masked", loss.L1{Target: target, Mask: mask}, y, mask},
		{"L1/strided", loss.L1{Target: target}, strided, nil},
		{"L1/gaps", loss.L1{Target: gaps}, y, known},
		{"SmoothL1/gaps", loss.SmoothL1{Target: gaps}, y, known},
		{"Hinge/gaps", loss.Hinge{Target: signGaps}, y, known},
		{"Huber/gaps", loss.Huber{Target: gaps}, y, known},
		{"SmoothL1", loss.SmoothL1{Target: target}, y, nil},
		{"SmoothL1/threshold", loss.SmoothL1{Target: target, Threshold: 0.25}, y, nil},
		{"SmoothL1/masked", loss.SmoothL1{Target: target, Mask: mask}, y, mask},
		{"SmoothL1/strided", loss.SmoothL1{Target: target}, strided, nil},
		{"Hinge", loss.Hinge{Target: sign}, y, nil},
		{"Hinge/masked", loss.Hinge{Target: sign, Mask: mask}, y, mask},
		{"Hinge/strided", loss.Hinge{Target: sign}, strided, nil},
		{"Huber", loss.Huber{Target: target}, y, nil},
		{"Huber/delta", loss.Huber{Target: target, Delta: 0.25}, y, nil},
		{"Huber/masked", loss.Huber{Target: target, Mask: mask}, y, mask},
		{"Huber/strided", loss.Huber{Target: target}, strided, nil},
	}
}

func (s sample) carries(i int) bool { return s.mask == nil || s.mask[i] }
