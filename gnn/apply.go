package gnn

import (
	"fmt"

	"github.com/wdgnn/wdgnn/mat"
)

// applyRows is how many nodes Apply shifts at a time: their rows stay in the
// cache until the taps have read them.
const applyRows = 512

// apply is Apply while it runs: hop k, part by part of the nodes.
type apply struct {
	filter     *Filter
	y, x       mat.Dense
	s          *mat.CSR
	batch, hop int
	last, next mat.Dense           // Z_{k-1}, and Z_k unless it is the last
	own        []part              // one per thread
	run        func(thread, k int) // bound.part
	bound      *apply              // itself, unless the tape was copied
}

// part is what a thread of Apply keeps.
type part struct {
	rows mat.CSR   // some rows of S
	z    mat.Dense // those of the last Z_k, which nobody else reads
}

// Apply writes the filter's output to y like Forward, to the same bits, but
// remembers two shifted signals instead of K+1: the form for inference on
// large graphs. Nodes are shifted and summed up in blocks, which threads share
// out, so that rows are not read from memory a second time, and the last shift
// is never written there.
func (f *Filter) Apply(y mat.Dense, s *mat.CSR, x mat.Dense, tape *FilterTape) {
	b := batch("Filter.Apply", s, x)
	if tap := f.Taps[0]; y.Rows != x.Rows || y.Cols != tap.Cols || x.Cols != tap.Rows { // here, and not on another thread
		panic(fmt.Sprintf("gnn: Filter.Apply: %d×%d = %d×%d through taps of %d×%d", y.Rows, y.Cols, x.Rows, x.Cols, tap.Rows, tap.Cols))
	}
	if f.Order() == 0 {
		tape.Engine.MulBias(y, f.Bias, x, f.Taps[0])
		return
	}
	a := &tape.apply
	if threads := tape.Engine.Threads(); len(a.own) != threads {
		a.own = make([]part, threads)
	}
	for t := range a.own {
		a.own[t].z = a.own[t].z.Resize(applyRows*b, x.Cols)
	}
	if a.bound != a {
		a.bound, a.run = a, a.part
	}
	a.filter, a.y, a.x, a.s, a.batch, a.last = f, y, x, s, b, x
	for a.hop = 1; a.hop <= f.Order(); a.hop++ {
		if a.hop < f.Order() {
			next := &tape.back[a.hop%2]
			*next = next.Resize(x.Rows, x.Cols)
			a.next = *next
		}
		tape.Engine.Share((s.Rows+applyRows-1)/applyRows, a.run)
		a.last = a.next
	}
	a.filter, a.y, a.x, a.s, a.last, a.next = nil, mat.Dense{}, mat.Dense{}, nil, mat.Dense{}, mat.Dense{}
}

// part computes hop k for block i of the nodes: Z_k = S Z_{k-1}, and Y += Z_k A_k,
// after Y = 1aᵀ + X A_0 where it is the first.
func (a *apply) part(thread, i int) {
	var (
		own, f = &a.own[thread], a.filter
		b      = a.batch
		lo     = i * applyRows
		n      = min(applyRows, a.s.Rows-lo)
		view   = func(m mat.Dense) mat.Dense { return m.View(lo*b, 0, n*b, m.Cols) }
		y      = view(a.y)
		z      mat.Dense
	)
	if a.hop < f.Order() {
		z = view(a.next)
	} else {
		z = own.z.View(0, 0, n*b, own.z.Cols)
	}
	own.rows = mat.CSR{Rows: n, Cols: a.s.Cols, RowPtr: a.s.RowPtr[lo : lo+n+1], Col: a.s.Col, Val: a.s.Val}
	shiftRows(z, &own.rows, a.last, b)
	if a.hop == 1 {
		mat.Serial.MulBias(y, f.Bias, view(a.x), f.Taps[0])
	}
	mat.Serial.AddMul(y, z, f.Taps[a.hop])
}

// shiftRows computes some rows of z = S x for every sample of a batch at once, on
// the calling thread.
func shiftRows(z mat.Dense, rows *mat.CSR, x mat.Dense, b int) {
	if b == 1 {
		mat.Serial.SpMM(z, rows, x)
		return
	}
	mat.Serial.SpMM(z.Reshape(rows.Rows, b*z.Cols), rows, x.Reshape(rows.Cols, b*x.Cols))
}
