package crown

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/internal/vector"
)

// instances is how many random instances an asserted bound must survive, a
// tenth of them with -short.
func instances() int {
	if testing.Short() {
		return 1000
	}
	return 10_000
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 8)) }

// randomGraph draws a weighted adjacency matrix, n×n, symmetric unless directed,
// divided by its largest row sum.
func randomGraph(rng *rand.Rand, n int, directed bool) []float64 {
	a := make([]float64, n*n)
	p := 0.2 + 0.6*rng.Float64()
	for i := range n {
		for j := range n {
			if i == j || !directed && j < i || rng.Float64() > p && j != i+1 {
				continue
			}
			v := 1.0
			if rng.IntN(2) == 0 {
				v = 0.1 + rng.Float64()
			}
			a[i*n+j] = v
			if !directed {
				a[j*n+i] = v
			}
		}
	}
	largest := 1e-9
	for i := range n {
		sum := 0.0
		for _, v := range a[i*n : (i+1)*n] {
			sum += v
		}
		largest = max(largest, sum)
	}
	vector.Scale(a, 1/largest)
	return a
}

func randomFilter(rng *rand.Rand, name string, in, out, order int, bias bool) Filter {
	f := Filter{Name: name, In: in, Out: out}
	for range order + 1 {
		tap := make([]float64, in*out)
		for i := range tap {
			tap[i] = rng.NormFloat64() / math.Sqrt(float64(in*(order+1)))
		}
		f.Taps = append(f.Taps, tap)
	}
	if bias {
		for range out {
			f.Bias = append(f.Bias, 0.3*rng.NormFloat64())
		}
	}
	return f
}

// randomNetwork draws a network: wide, deep or both, with gains, biases and a
// readout at times.
func randomNetwork(rng *rand.Rand) *Network {
	n := &Network{In: 1 + rng.IntN(2), Features: 1 + rng.IntN(3), GainWide: 1, GainDeep: 1}
	n.Outputs = n.Features
	bias := rng.IntN(2) == 0
	kind := rng.IntN(3)
	if kind != 1 {
		f := randomFilter(rng, "wide", n.In, n.Features, rng.IntN(5), bias)
		n.Wide = &f
	}
	if kind != 0 {
		in, layers := n.In, 1+rng.IntN(2)
		for l := range layers {
			out := n.Features
			if l < layers-1 {
				out = 1 + rng.IntN(3)
			}
			n.Deep = append(n.Deep, Layer{randomFilter(rng, "deep", in, out, rng.IntN(4), bias), gnn.Activation(rng.IntN(4))})
			in = out
		}
	}
	if kind == 2 {
		n.GainWide, n.GainDeep, n.GainBias = rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
	}
	if rng.IntN(2) == 0 {
		n.Outputs = 1 + rng.IntN(3)
		n.Readout, n.Offset = randomSignal(rng, n.Features*n.Outputs), randomSignal(rng, n.Outputs)
	}
	return n
}

func randomSignal(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

// median returns the middle of values.
func median(values []float64) float64 {
	v := slices.Sorted(slices.Values(values))
	return v[len(v)/2]
}

// near says whether a and b agree within a relative error.
func near(a, b, tolerance float64) bool {
	return a == b || math.Abs(a-b) <= tolerance*max(math.Abs(a), math.Abs(b), 1e-300)
}

// shiftOf returns the shift with the given elements, n×n by rows.
func shiftOf(n int, dense []float64) *Shift {
	rowPtr, col, val := []int{0}, []int32(nil), []float64(nil)
	for i := range n {
		for j, v := range dense[i*n : (i+1)*n] {
			if v != 0 {
				col, val = append(col, int32(j)), append(val, v)
			}
		}
		rowPtr = append(rowPtr, len(col))
	}
	return ShiftOf(rowPtr, col, val)
}
