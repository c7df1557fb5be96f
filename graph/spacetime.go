package graph

import (
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/mat"
)

// SpaceTime returns the shift operator 𝒟 of a network whose graph changes at
// every step, (T·N)×(T·N) for the T shifts S_0 … S_(T-1), N×N each. Row t·N+i
// is node i at time t, and one hop takes one step: row block t holds S_t in
// the columns of block t-1. Row block 0 is empty, and S_0 is not used.
//
//	      ⎡ 0                   ⎤
//	𝒟  =  ⎢ S_1   0             ⎥
//	      ⎢      S_2   0        ⎥
//	      ⎣             …    0  ⎦
//
// With the signals X_0 … X_(T-1) stacked in X, an ordinary graph filter on 𝒟
// is the delayed filter of eq. (24) at every t at once, with X_t = 0 for t < 0:
//
//	[ Σ_k 𝒟ᵏ X A_k ]_t  =  Σ_k S_t S_(t-1) ⋯ S_(t-(k-1)) X_(t-k) A_k
//
// SpaceTime panics if the shifts are not square and of one size.
func SpaceTime(shifts []*mat.CSR) *mat.CSR {
	steps := len(shifts)
	if steps == 0 {
		return &mat.CSR{RowPtr: []int{0}}
	}
	n, nnz := shifts[0].Rows, 0
	for t, s := range shifts {
		if s.Rows != n || s.Cols != n {
			panic(fmt.Sprintf("graph: SpaceTime: shift %d is %d×%d, want %d×%d", t, s.Rows, s.Cols, n, n))
		}
		if t > 0 {
			nnz += s.NNZ()
		}
	}
	if n > 0 && steps > math.MaxInt32/n {
		panic(fmt.Sprintf("graph: SpaceTime: %d steps of %d nodes do not fit an int32", steps, n))
	}
	d := &mat.CSR{
		Rows: steps * n, Cols: steps * n,
		RowPtr: make([]int, n+1, steps*n+1), // row block 0
		Col:    make([]int32, 0, nnz),
		Val:    make([]float32, 0, nnz),
	}
	for t := 1; t < steps; t++ {
		s, base, left := shifts[t], len(d.Col), int32((t-1)*n)
		for _, p := range s.RowPtr[1:] {
			d.RowPtr = append(d.RowPtr, base+p)
		}
		for _, j := range s.Col {
			d.Col = append(d.Col, left+j)
		}
		d.Val = append(d.Val, s.Val...)
	}
	return d
}
