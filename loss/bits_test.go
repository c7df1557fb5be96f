package loss_test

import (
	"hash/crc32"
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
)

// Values and gradients have these bits on every architecture. Cross-entropy is
// not in the list: its bits are those of the family of kernel sets.
func TestSameBitsEverywhere(t *testing.T) {
	const rows, cols = 40, 9
	rng := generator()
	uniform := func() mat.Dense { // -2 ≤ v < 2, without rounding
		a := mat.NewDense(rows, cols, nil)
		for i := range a.Data {
			a.Data[i] = rng.Float32()*4 - 2
		}
		return a
	}
	y, target, sign := uniform(), uniform(), signs(rng, rows, cols)
	dy := mat.NewDense(rows, cols, nil)
	for _, c := range []struct {
		name  string
		eval  func() float64
		value uint64
		grad  uint32
	}{
		{"MSE", func() float64 { return loss.MSE{Target: target}.Eval(dy, y) }, 0x4008ed10a5e2bc9d, 0x35a4c1e7},
		{"L1", func() float64 { return loss.L1{Target: target}.Eval(dy, y) }, 0x3ff741fc22d82d82, 0xcf26034e},
		{"SmoothL1", func() float64 { return loss.SmoothL1{Target: target, Threshold: 0.7}.Eval(dy, y) }, 0x3ff24019ea0f67b6, 0xd31386d5},
		{"Hinge", func() float64 { return loss.Hinge{Target: sign}.Eval(dy, y) }, 0x3ff316e5bdddddde, 0x47f0c786},
		{"Ridge", func() float64 { return loss.Ridge{Strength: 0.3}.Eval(dy.Data, y.Data) }, 0x40538ca79cf418e5, 0xb02504ed},
		{"Huber", func() float64 { return loss.Huber{Target: target, Delta: 0.7}.Eval(dy, y) }, 0x3fe98cf10d2f206d, 0xe63a6178},
	} {
		if got := math.Float64bits(c.eval()); got != c.value {
			t.Errorf("%s: value bits %#x, want %#x", c.name, got, c.value)
		}
		if got := checksum(dy.Data); got != c.grad {
			t.Errorf("%s: gradient checksum %#x, want %#x", c.name, got, c.grad)
		}
	}
}

func checksum(v []float32) uint32 {
	var b []byte
	for _, x := range v {
		u := math.Float32bits(x)
		b = append(b, byte(u), byte(u>>8), byte(u>>16), byte(u>>24))
	}
	return crc32.ChecksumIEEE(b)
}
