package gnn

import (
	"fmt"

	"github.com/wdgnn/wdgnn/mat"
)

// Input is what one pass of a WideDeep reads.
type Input struct {
	Shift  *mat.CSR // S, N×N; read by layers after the first
	ShiftT *mat.CSR // Sᵀ; read by Backward through those layers, and for dX

	// Shifted is [Z_0 Z_1 … Z_K], (N·B)×((K+1)·F): the signal and its shifts
	// side by side, K at least WideDeep.InputOrder. A Shifter computes them.
	Shifted mat.Dense

	// Read names the nodes whose outputs are read; nil means all. If it is
	// set, ReadShifted holds the rows of Shifted that belong to them, and
	// Shifted may be empty if the deep part has at most one layer.
	Read        *Rows
	ReadShifted mat.Dense
}

// outputs returns the shifted inputs at the rows whose outputs are asked for.
func (in *Input) outputs() mat.Dense {
	if in.Read == nil {
		return in.Shifted
	}
	return in.ReadShifted
}

// Rows is a set of nodes to compute outputs for, with what the last filter
// needs to skip all others: the rows of S⁰, …, Sᴷ that belong to them.
type Rows struct {
	Nodes  []int
	powers mat.Dense // row k·R+r is row Nodes[r] of Sᵏ, ((K+1)·R)×N
}

// NewRows prepares a last filter of order K on the shift s for the given nodes.
// A node that s does not have is an error.
func NewRows(s *mat.CSR, nodes []int, order int) (*Rows, error) {
	if len(nodes) == 0 {
		return nil, fmt.Errorf("gnn: no nodes to read: name at least one, or leave the set out to read all")
	}
	for _, i := range nodes {
		if i < 0 || i >= s.Rows {
			return nil, fmt.Errorf("gnn: node %d to read is outside a graph of %d nodes", i, s.Rows)
		}
	}
	r := &Rows{Nodes: nodes}
	r.Reset(s, order)
	return r, nil
}

// Reset prepares r for another shift and keeps its nodes.
func (r *Rows) Reset(s *mat.CSR, order int) {
	n := len(r.Nodes)
	r.powers = r.powers.Resize((order+1)*n, s.Rows)
	r.powers.Zero()
	for j, i := range r.Nodes {
		r.powers.Set(j, i, 1)
	}
	for k := n; k < r.powers.Rows; k++ { // e_iᵀ Sᵏ = (e_iᵀ Sᵏ⁻¹) S
		row := r.powers.Row(k)
		for i, v := range r.powers.Row(k - n) {
			if v == 0 {
				continue
			}
			col, val := s.Row(i)
			for e, j := range col {
				row[j] += float32(v * val[e])
			}
		}
	}
}

// Gather copies the rows of z, (N·B)×C, that belong to the nodes of r to dst,
// (R·B)×C, overwritten.
func (r *Rows) Gather(dst, z mat.Dense, b int) {
	if dst.Rows != len(r.Nodes)*b || dst.Cols != z.Cols {
		panic(fmt.Sprintf("gnn: Rows.Gather: %d×%d for %d nodes of %d samples of %d×%d", dst.Rows, dst.Cols, len(r.Nodes), b, z.Rows, z.Cols))
	}
	for j, i := range r.Nodes {
		dst.View(j*b, 0, b, dst.Cols).CopyFrom(z.View(i*b, 0, b, z.Cols))
	}
}

// Shifter computes shifted inputs. The zero value works; it keeps scratch.
type Shifter struct {
	Engine *mat.Engine
	panel  [2]mat.Dense
}

// Shift writes [X, SX, …, SᴷX] to z, overwritten.
//
//	S: N×N   X: (N·B)×F   z: (N·B)×((K+1)·F)
//
// Every Z_k has the bits that a hop-by-hop exchange between nodes gives.
func (sh *Shifter) Shift(z mat.Dense, s *mat.CSR, x mat.Dense) {
	b := batch("Shift", s, x)
	f := x.Cols
	if z.Rows != x.Rows || f == 0 || z.Cols%f != 0 || z.Cols == 0 {
		panic(fmt.Sprintf("gnn: Shift: %d×%d from a signal of %d×%d", z.Rows, z.Cols, x.Rows, x.Cols))
	}
	column := func(k int) mat.Dense { return z.View(0, k*f, z.Rows, f) }
	last := column(0)
	last.CopyFrom(x)
	if b == 1 {
		for k := 1; k < z.Cols/f; k++ {
			next := column(k)
			sh.Engine.SpMM(next, s, last)
			last = next
		}
		return
	}
	last = x
	for k := 1; k < z.Cols/f; k++ {
		next := &sh.panel[k%2]
		*next = next.Resize(x.Rows, f)
		shift(sh.Engine, *next, s, last, b)
		column(k).CopyFrom(*next)
		last = *next
	}
}

// Delay writes the delayed shifts of time t to z, overwritten, given those of
// time t-1; an empty before is that of time 0.
//
//	Z_0(t) = X_t      Z_k(t) = S_t Z_{k-1}(t-1)      Z_k = 0 before time 0
//
//	S: N×N   X: (N·B)×F   z, before: [Z_0 … Z_K], (N·B)×((K+1)·F), of separate memory
//
// They have the bits that a Delayed computes step by step.
func (sh *Shifter) Delay(z mat.Dense, s *mat.CSR, x, before mat.Dense) {
	b, f := batch("Delay", s, x), x.Cols
	if z.Rows != x.Rows || f == 0 || z.Cols == 0 || z.Cols%f != 0 || !before.Empty() && (before.Rows != z.Rows || before.Cols != z.Cols) {
		panic(fmt.Sprintf("gnn: Delay: %d×%d from a signal of %d×%d after %d×%d", z.Rows, z.Cols, x.Rows, x.Cols, before.Rows, before.Cols))
	}
	z.View(0, 0, z.Rows, f).CopyFrom(x)
	older := z.View(0, f, z.Rows, z.Cols-f)
	switch {
	case older.Empty():
	case before.Empty():
		older.Zero()
	case b == 1:
		sh.Engine.SpMM(older, s, before.View(0, 0, z.Rows, z.Cols-f))
	default:
		next := &sh.panel[0]
		*next = next.Resize(z.Rows, z.Cols)
		shift(sh.Engine, *next, s, before, b)
		older.CopyFrom(next.View(0, 0, z.Rows, z.Cols-f))
	}
}

// back writes to dx the gradient of the signal, given that of its shifts:
// dX = Σ_k (Sᵀ)ᵏ dZ_k. It overwrites dz.
func (sh *Shifter) back(dx mat.Dense, st *mat.CSR, dz mat.Dense) {
	b := batch("Shift", st, dx)
	f := dx.Cols
	sum, next := &sh.panel[0], &sh.panel[1]
	for k := dz.Cols/f - 1; k >= 0; k-- {
		*next = next.Resize(dx.Rows, f)
		dzk := dz.View(0, k*f, dz.Rows, f)
		if k == dz.Cols/f-1 {
			next.CopyFrom(dzk)
		} else {
			shift(sh.Engine, *next, st, *sum, b)
			sh.Engine.AddScaled(*next, 1, dzk)
		}
		sum, next = next, sum
	}
	dx.CopyFrom(*sum)
}
