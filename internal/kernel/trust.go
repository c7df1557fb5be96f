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
// registers that are full, partly empty, several, and filled with rows.
func agree(a, b *Set) bool {
	const inner, most = 5, 35
	for _, cols := range []int{1, 7, 16, 31, most} {
		for rows := 1; rows <= 14; rows++ {
			if !agreeOn(a, b, rows, cols, inner, most) {
				return false
			}
		}
	}
	for cols := 1; cols <= flatCols; cols++ {
		if !agreeOn(a, b, 2*flatRows+1, cols, flatRows+flatStep, most) {
			return false
		}
	}
	return true
}

// agreeOn compares a product of the given size, from zeros and on from there. B and C
// have width columns.
func agreeOn(a, b *Set, rows, cols, inner, width int) bool {
	values := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(i*i%97)/31 - 1.5
		}
		return v
	}
	g := Product{
		A: values(rows * inner), ARow: inner, ACol: 1, B: values(inner * width), LDB: width,
		StartLD: width, LDC: width, M: rows, N: cols, K: inner, Panels: 1,
	}
	for range 2 {
		ours, theirs := g, g
		ours.C, theirs.C = values(rows*width), values(rows*width)
		a.Gemm(ours)
		b.Gemm(theirs)
		for i, v := range ours.C {
			if math.Float32bits(v) != math.Float32bits(theirs.C[i]) {
				return false
			}
		}
		g.Start = theirs.C
	}
	return true
}
