package mat_test

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/wdgnn/wdgnn/mat"
)

// units returns how many numbers lie between got and want, 0 for the same.
func units(got, want float64) int64 {
	d := int64(math.Float64bits(got)) - int64(math.Float64bits(want))
	return max(d, -d)
}

// TestExpLog compares with package math, which is within one unit of the truth:
// both may be off by one, in opposite directions.
func TestExpLog(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200000 {
		x := 1400*rng.Float64() - 700
		if got, want := mat.Exp(x), math.Exp(x); units(got, want) > 2 {
			t.Fatalf("Exp(%v): got %v, want %v", x, got, want)
		}
		x = rng.NormFloat64()
		if got, want := mat.Exp(x), math.Exp(x); units(got, want) > 2 {
			t.Fatalf("Exp(%v): got %v, want %v", x, got, want)
		}
		y := math.Exp(600*rng.Float64() - 300)
		if got, want := mat.Log(y), math.Log(y); units(got, want) > 2 {
			t.Fatalf("Log(%v): got %v, want %v", y, got, want)
		}
	}
	inf := math.Inf(1)
	for _, c := range []struct{ got, want float64 }{
		{mat.Exp(0), 1},
		{mat.Exp(-inf), 0},
		{mat.Exp(inf), inf},
		{mat.Exp(710), inf},
		{mat.Exp(-746), 0},
		{mat.Exp(-740), math.Exp(-740)},
		{mat.Log(1), 0},
		{mat.Log(0), -inf},
		{mat.Log(inf), inf},
		{mat.Log(5e-324), -744.4400719213812},
	} {
		if c.got != c.want {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
	if !math.IsNaN(mat.Log(-1)) || !math.IsNaN(mat.Exp(math.NaN())) || !math.IsNaN(mat.Log(math.NaN())) {
		t.Errorf("got %v, %v and %v, want NaN", mat.Log(-1), mat.Exp(math.NaN()), mat.Log(math.NaN()))
	}
}

// TestExpLogBits asserts the bits, which are those of every architecture.
func TestExpLogBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	h := fnv.New64a()
	for range 20000 {
		x := float64(80*rng.Float64()) - 40 // rounded twice on all of them
		for _, v := range []float64{mat.Exp(x), mat.Log(x * x)} {
			h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
		}
	}
	if got, want := h.Sum64(), uint64(0x5948b12c06d0fbd4); got != want {
		t.Errorf("hash %#x, want %#x", got, want)
	}
}

func BenchmarkExp(b *testing.B) {
	x, sum := 0.1, 0.0
	for b.Loop() {
		sum += mat.Exp(x)
		x = -x
	}
	_ = sum
}
