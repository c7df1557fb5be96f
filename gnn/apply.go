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
	kept       [2]mat.Dense        // the last Z_k of even k, and of odd k
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
// out. The last shift is never written to memory, and it is there that the two
// before it are summed up, so that Y is written once for three of them.
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
	a.filter, a.y, a.x, a.s, a.batch = f, y, x, s, b
	for a.hop = 1; a.hop <= f.Order(); a.hop++ {
		if a.hop < f.Order() {
			next := &tape.back[a.hop%2]
			*next = next.Resize(x.Rows, x.Cols)
			a.kept[a.hop%2] = *next
		}
		if f.late() <= a.hop && a.hop < f.Order() { // nobody reads Z_k soon
			shift(tape.Engine, a.kept[a.hop%2], s, a.signal(a.hop-1), b)
			continue
		}
		tape.Engine.Share((s.Rows+applyRows-1)/applyRows, a.run)
	}
	a.filter, a.y, a.x, a.s, a.kept = nil, mat.Dense{}, mat.Dense{}, nil, [2]mat.Dense{}
}

// late returns the hop from which on Z_k wait for the last before they are summed up.
func (f *Filter) late() int { return max(f.Order()-2, 1) }

// part computes hop k for block i of the nodes, Z_k = S Z_{k-1}, and adds to Y what
// is due.
func (a *apply) part(thread, i int) {
	var (
		own   = &a.own[thread]
		order = a.filter.Order()
		lo    = i * applyRows
		n     = min(applyRows, a.s.Rows-lo)
		z     = own.z.View(0, 0, n*a.batch, own.z.Cols)
	)
	if a.hop < order {
		z = a.rows(a.kept[a.hop%2], lo, n)
	}
	own.rows = a.s.Slice(lo, n)
	shiftRows(z, &own.rows, a.signal(a.hop-1), a.batch)
	first := a.hop
	if a.hop == order {
		first = a.filter.late()
	}
	a.sum(first, z, lo, n)
}

// sum adds Z_k A_k to rows lo to lo+n of Y for all k from first to this hop, whose
// rows of Z_k are z; before the first of all, Y = 1aᵀ + X A_0.
func (a *apply) sum(first int, z mat.Dense, lo, n int) {
	f, y := a.filter, a.rows(a.y, lo, n)
	if first == 1 {
		mat.Serial.MulBias(y, f.Bias, a.rows(a.x, lo, n), f.Taps[0])
	}
	for k := first; k < a.hop; k++ {
		mat.Serial.AddMul(y, a.rows(a.signal(k), lo, n), f.Taps[k])
	}
	mat.Serial.AddMul(y, z, f.Taps[a.hop])
}

// signal returns Z_k, which must be X or one of the last two.
func (a *apply) signal(k int) mat.Dense {
	if k == 0 {
		return a.x
	}
	return a.kept[k%2]
}

// rows returns the rows of m that belong to n nodes from lo on.
func (a *apply) rows(m mat.Dense, lo, n int) mat.Dense {
	return m.View(lo*a.batch, 0, n*a.batch, m.Cols)
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
