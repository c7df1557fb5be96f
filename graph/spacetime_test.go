package graph

import (
	"math/rand/v2"
	"testing"

	gonum "gonum.org/v1/gonum/mat"

	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
)

// An ordinary filter on the space-time shift is the delayed filter at every
// time step, computed densely in float64:
//
//	[ Σ_k 𝒟ᵏ X A_k ]_t = Σ_k S_t S_(t-1) ⋯ S_(t-(k-1)) X_(t-k) A_k
//
// Reference: Section 6, eq. (24).
func TestSpaceTimeIsDelayedFilter(t *testing.T) {
	const n, steps, order, in, out = 5, 7, 3, 2, 3
	rng := random.Stream(1, "spacetime")
	shifts := make([]*mat.CSR, steps)
	for i := range shifts {
		shifts[i] = must(ShiftRowStochastic.Of(must(FromEdges(n, randomEdges(n, 0.5, true, rng), true))))
	}
	x := randomDense(steps*n, in, rng)
	taps := make([]*gonum.Dense, order+1)
	for k := range taps {
		taps[k] = randomDense(in, out, rng)
	}

	d := SpaceTime(shifts)
	if _, err := mat.NewCSR(steps*n, steps*n, d.RowPtr, d.Col, d.Val); err != nil {
		t.Fatal(err)
	}
	got := gonum.NewDense(steps*n, out, nil)
	z := gonum.DenseCopyOf(x)
	for k, tap := range taps {
		if k > 0 {
			z = product(dense64(d), z) // Z_k = 𝒟 Z_{k-1}
		}
		got.Add(got, product(z, tap))
	}

	for now := range steps {
		want := gonum.NewDense(n, out, nil)
		for k, tap := range taps {
			if now-k < 0 {
				break // zeros before time 0
			}
			term := gonum.DenseCopyOf(x.Slice((now-k)*n, (now-k+1)*n, 0, in))
			for back := k - 1; back >= 0; back-- {
				term = product(dense64(shifts[now-back]), term)
			}
			want.Add(want, product(term, tap))
		}
		if block := got.Slice(now*n, (now+1)*n, 0, out); !gonum.EqualApprox(block, want, 1e-13) {
			t.Errorf("time %d: got\n%v\nwant\n%v", now, gonum.Formatted(block), gonum.Formatted(want))
		}
	}
}

func randomDense(rows, cols int, rng *rand.Rand) *gonum.Dense {
	m := gonum.NewDense(rows, cols, nil)
	m.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, m)
	return m
}

func dense64(a *mat.CSR) *gonum.Dense { return gonum.NewDense(a.Rows, a.Cols, float64s(a)) }

func product(a, b gonum.Matrix) *gonum.Dense {
	var c gonum.Dense
	c.Mul(a, b)
	return &c
}

func TestSpaceTimeShapes(t *testing.T) {
	ring := Ring(3).Adjacency()
	for _, c := range []struct {
		shifts []*mat.CSR
		rows   int
		nnz    int
	}{
		{nil, 0, 0},
		{[]*mat.CSR{ring}, 3, 0},
		{[]*mat.CSR{ring, ring, identity(3)}, 9, 9},
		{[]*mat.CSR{identity(0), identity(0)}, 0, 0},
	} {
		got := SpaceTime(c.shifts)
		if _, err := mat.NewCSR(c.rows, c.rows, got.RowPtr, got.Col, got.Val); err != nil || got.Rows != c.rows || got.NNZ() != c.nnz {
			t.Errorf("%d shifts: got %d×%d with %d entries, %v", len(c.shifts), got.Rows, got.Cols, got.NNZ(), err)
		}
	}
	wantPanic(t, "SpaceTime", func() { SpaceTime([]*mat.CSR{ring, identity(4)}) })
	wantPanic(t, "SpaceTime", func() { SpaceTime([]*mat.CSR{{Rows: 1, Cols: 2, RowPtr: []int{0, 0}}}) })
}
