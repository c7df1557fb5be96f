//go:build amd64 && !purego

package kernel

import "math"

// trusted is o unless its products on this processor have other bits than those
// of by, which runs here too. Tests see the wide set only where they run on a
// processor that has it; this look, at the start, costs some microseconds and is
// taken wherever the set would be used.
func trusted(o offer, by *Set) offer {
	if o.set != nil && !agree(o.set, by) {
		o.set, o.why = nil, "its products have other bits here than those of "+by.Name+", which is a defect worth a report"
	}
	return o
}

// agree compares products of two sets bit by bit: tiles of every height, and
// registers that are full, partly empty and several.
func agree(a, b *Set) bool {
	const inner, most = 5, 35
	values := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(i*i%97)/31 - 1.5
		}
		return v
	}
	left, right := values(most*inner), values(inner*most)
	for _, cols := range []int{1, 7, 16, 31, most} {
		for rows := 1; rows <= 14; rows++ {
			g := Product{
				A: left, ARow: inner, ACol: 1, B: right, LDB: most,
				StartLD: most, LDC: most, M: rows, N: cols, K: inner, Panels: 1,
			}
			for range 2 { // from zeros, and on from there
				ours, theirs := g, g
				ours.C, theirs.C = values(rows*most), values(rows*most)
				a.Gemm(ours)
				b.Gemm(theirs)
				for i, v := range ours.C {
					if math.Float32bits(v) != math.Float32bits(theirs.C[i]) {
						return false
					}
				}
				g.Start = theirs.C
			}
		}
	}
	return true
}
