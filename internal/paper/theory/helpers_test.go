package theory

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/internal/crown"
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

// randomNodes draws N: small mostly, 60 at times.
func randomNodes(rng *rand.Rand) int {
	if rng.IntN(100) == 0 {
		return 20 + rng.IntN(41)
	}
	return 2 + rng.IntN(9)
}

// manyNodes draws N: above 10 for one network in seven, up to 60.
func manyNodes(rng *rand.Rand) int {
	switch k := rng.IntN(100); {
	case k < 3:
		return 31 + rng.IntN(30)
	case k < 15:
		return 11 + rng.IntN(20)
	}
	return 2 + rng.IntN(9)
}

// above says whether what was measured is above a bound by more than float64
// rounds.
func above(measured, bound float64) bool { return measured > bound*(1+1e-9)+1e-12 }

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

// perturb returns another matrix on the same nodes: links lost, weights jittered
// or anything symmetric added, by an amount between 1e-6 and 1.
func perturb(rng *rand.Rand, a []float64, n int, directed bool) []float64 {
	b := slices.Clone(a)
	size := math.Pow(10, -6*rng.Float64())
	kind := rng.IntN(3)
	for i := range n {
		for j := range n {
			if !directed && j < i {
				continue
			}
			v := b[i*n+j]
			switch {
			case kind == 0 && rng.Float64() < 0.3:
				v = 0
			case kind == 1:
				v *= 1 + size*rng.NormFloat64()
			case kind == 2:
				v += size * rng.NormFloat64()
			}
			b[i*n+j] = v
			if !directed {
				b[j*n+i] = v
			}
		}
	}
	return b
}

func randomFilter(rng *rand.Rand, name string, in, out, order int, bias bool) crown.Filter {
	f := crown.Filter{Name: name, In: in, Out: out}
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
func randomNetwork(rng *rand.Rand) *crown.Network {
	n := &crown.Network{In: 1 + rng.IntN(2), Features: 1 + rng.IntN(3), GainWide: 1, GainDeep: 1}
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
			f := randomFilter(rng, "deep", in, out, rng.IntN(4), bias)
			n.Deep = append(n.Deep, crown.Layer{Filter: f, Activation: gnn.Activation(rng.IntN(4))})
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

func mustPair(t *testing.T, a, b []float64, n int) *Pair {
	t.Helper()
	p, err := NewPair(shiftOf(n, a), shiftOf(n, b))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// loopedPair returns a random graph and a perturbed one, both with loops of the
// given weight at every node, which keep pairs of eigenvalues from adding up to 0.
func loopedPair(t *testing.T, rng *rand.Rand, n int, weight float64) *Pair {
	t.Helper()
	a := randomGraph(rng, n, false)
	b := perturb(rng, a, n, false)
	for i := range n {
		a[i*n+i] += weight
		b[i*n+i] += weight
	}
	return mustPair(t, a, b, n)
}

// brisk is the effort of tests that certify thousands of networks: a bound holds with
// any Θ.
var brisk = effort{rounds: 1, work: 1e6}

// sometimes is brisk for every twentieth instance, and none for the others, which are
// left with the bounds of chains.
func sometimes(k int) effort {
	if k%20 == 0 {
		return brisk
	}
	return effort{}
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
func shiftOf(n int, dense []float64) *crown.Shift {
	rowPtr, col, val := []int{0}, []int32(nil), []float64(nil)
	for i := range n {
		for j, v := range dense[i*n : (i+1)*n] {
			if v != 0 {
				col, val = append(col, int32(j)), append(val, v)
			}
		}
		rowPtr = append(rowPtr, len(col))
	}
	return crown.ShiftOf(rowPtr, col, val)
}

// ceiling returns what the error never exceeds, with any step sizes:
//
//	max( ‖𝒜_0 - 𝒜*_0‖,  max_t (‖𝒜*_{t+1} - 𝒜*_t‖ + γ‖∇J_t(𝒜*_t)‖ + Rest_t + Round_t)/(1 - m_t) )
//
// With one γ and C_B it is Limit, or where learning began. It is +Inf if a step
// with m_t ≥ 1 has a drift.
func ceiling(t *Tracking) float64 {
	if len(t.Measured) == 0 {
		return math.NaN()
	}
	top := t.Measured[0]
	for _, s := range t.Steps[:len(t.Steps)-1] {
		switch {
		case s.Contraction < 1:
			top = max(top, (s.Drift+s.Left+s.Rest+s.Round)/(1-s.Contraction))
		case s.Contraction > 1 || s.Drift+s.Left+s.Rest+s.Round > 0:
			return math.Inf(1)
		}
	}
	return top
}
