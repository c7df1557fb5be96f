package robust

import (
	"slices"

	"github.com/wdgnn/wdgnn/mat"
)

// plan says which rows of a pass to compute on a graph, all others being as they
// were.
type plan struct {
	shift *mat.CSR     // S'
	rows  [][][]int32  // by group and k: rows of Z_k; of k = 0 what the layer below gives
	marks [][][]bool   // the same, by row
	sub   [][]*mat.CSR // the rows of S' that Z_k needs, k ≥ 1
	read  []int32      // readers whose answers to compute, by their number
}

// everything is the plan of a pass over the whole network.
func (p *passes) everything() *plan {
	n := p.shift.Rows
	all, mark := make([]int32, n), make([]bool, n)
	for i := range all {
		all[i], mark[i] = int32(i), true
	}
	w := &plan{shift: p.shift}
	for g, at := range p.groups {
		var rows [][]int32
		var marks [][]bool
		var sub []*mat.CSR
		for k := range at.order + 1 {
			rows, marks, sub = append(rows, all), append(marks, mark), append(sub, p.shift)
			if g == 0 && k == 0 {
				rows[0] = nil
			}
		}
		w.rows, w.marks, w.sub = append(w.rows, rows), append(w.marks, marks), append(w.sub, sub)
	}
	for r := range p.readers {
		w.read = append(w.read, int32(r))
	}
	return w
}

// changed returns the rows in which S' differs from S, appended to rows.
func (p *passes) changed(rows []int32, shift *mat.CSR) []int32 {
	for i := range shift.Rows {
		col, val := p.shift.Row(i)
		now, values := shift.Row(i)
		if !slices.Equal(col, now) || !slices.Equal(val, values) {
			rows = append(rows, int32(i))
		}
	}
	return rows
}

// planner makes plans, and reuses their memory: a plan is valid until the one after
// the next.
type planner struct {
	p      *passes
	reach  [][][]bool // by group and k: rows that may change
	out    []bool     // and those of the last layer's output
	plans  [2]*plan
	spare  int // the plan to make next
	listed []int32
}

func newPlanner(p *passes) *planner {
	l := &planner{p: p, out: make([]bool, p.shift.Rows)}
	n := p.shift.Rows
	for w := range l.plans {
		l.plans[w] = new(plan)
		for _, at := range p.groups {
			marks := make([][]bool, at.order+1)
			for k := range marks {
				marks[k] = make([]bool, n)
			}
			l.plans[w].marks = append(l.plans[w].marks, marks)
			l.plans[w].rows = append(l.plans[w].rows, make([][]int32, at.order+1))
			l.plans[w].sub = append(l.plans[w].sub, make([]*mat.CSR, at.order+1))
		}
	}
	for _, at := range p.groups {
		reach := make([][]bool, at.order+1)
		for k := range reach {
			reach[k] = make([]bool, n)
		}
		l.reach = append(l.reach, reach)
	}
	return l
}

// spread computes which values may change if the given rows of the shift do. A row
// of Z_k may change if its row of S does, or if it hears a row of Z_{k-1} that may;
// what a layer gives may, if any of the Z_k it reads may. Links of S' are links of S.
func (l *planner) spread(changed []int32) {
	p := l.p
	for g, at := range p.groups {
		for k := 1; k <= at.order; k++ {
			now := l.reach[g][k]
			clear(now)
			for _, i := range changed {
				now[i] = true
			}
			for j, may := range l.reach[g][k-1] {
				if may {
					heard, _ := p.heardBy.Row(j)
					for _, i := range heard {
						now[i] = true
					}
				}
			}
		}
		to := l.out
		if g+1 < len(p.groups) {
			to = l.reach[g+1][0]
		}
		l.union(to, g)
	}
	if g := l.reach[0]; len(p.groups) > 1 || p.groups[0].layer != nil {
		for _, marks := range g { // the wide part
			merge(l.out, marks)
		}
	}
}

// union writes the rows that what reads a group may change in.
func (l *planner) union(to []bool, g int) {
	clear(to)
	order := l.p.groups[g].order
	if layer := l.p.groups[g].layer; layer != nil {
		order = layer.Order()
	}
	for k := 0; k <= order; k++ {
		merge(to, l.reach[g][k])
	}
}

func merge(to, from []bool) {
	for i, v := range from {
		if v {
			to[i] = true
		}
	}
}

// reached returns the numbers of the readers whose answers may change, after spread.
func (l *planner) reached(to []int32) []int32 {
	for r, row := range l.p.readers {
		if l.out[row] {
			to = append(to, int32(r))
		}
	}
	return to
}

// plan returns what to compute on the shift S', whose rows changed are not those of
// S, to know the answers of the readers among wanted, nil for all, that may change.
func (l *planner) plan(shift *mat.CSR, changed []int32, wanted []bool) *plan {
	l.spread(changed)
	w := l.plans[l.spare]
	l.spare = 1 - l.spare
	w.shift, w.read = shift, w.read[:0]
	for g := range w.marks {
		for k := range w.marks[g] {
			clear(w.marks[g][k])
		}
	}
	last := len(l.p.groups) - 1
	l.listed = l.reached(l.listed[:0])
	for _, r := range l.listed {
		if wanted != nil && !wanted[r] {
			continue
		}
		w.read = append(w.read, r)
		row := l.p.readers[r]
		for _, g := range []int{0, last} {
			for k := range w.marks[g] {
				w.marks[g][k][row] = true
			}
		}
	}
	if l.p.q.Own != nil { // nodes may read what their neighbours have
		for k := range w.marks[0] {
			merge(w.marks[0][k], l.reach[0][k])
		}
	}
	for g := last; g >= 0; g-- {
		l.trace(w, g)
	}
	return w
}

// trace lists which rows of a group to compute, given those that are needed of it,
// and marks what these need: of those that are needed, the rows that may change.
func (l *planner) trace(w *plan, g int) {
	for k := l.p.groups[g].order; k >= 0; k-- {
		rows := w.rows[g][k][:0]
		for i, needed := range w.marks[g][k] {
			switch {
			case needed && l.reach[g][k][i]:
				rows = append(rows, int32(i))
			case needed:
				w.marks[g][k][i] = false
			}
		}
		w.rows[g][k] = rows
		for _, i := range rows {
			switch {
			case k > 0:
				col, _ := w.shift.Row(int(i))
				for _, j := range col {
					w.marks[g][k-1][j] = true
				}
			case g > 0:
				for below := range w.marks[g-1] {
					w.marks[g-1][below][i] = true
				}
			}
		}
		if k > 0 {
			w.sub[g][k] = part(w.sub[g][k], w.shift, rows)
		}
	}
}

// part returns the given rows of s, in the memory of before if it is large enough;
// s itself if they are all.
func part(before, s *mat.CSR, rows []int32) *mat.CSR {
	if len(rows) == s.Rows {
		return s
	}
	if before == nil || before.Rows == s.Rows {
		before = new(mat.CSR)
	}
	t := before
	t.Rows, t.Cols = len(rows), s.Cols
	t.RowPtr, t.Col, t.Val = append(t.RowPtr[:0], 0), t.Col[:0], t.Val[:0]
	for _, i := range rows {
		col, val := s.Row(int(i))
		t.Col, t.Val = append(t.Col, col...), append(t.Val, val...)
		t.RowPtr = append(t.RowPtr, len(t.Col))
	}
	return t
}
