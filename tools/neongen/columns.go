package main

import (
	"fmt"
	"strings"
)

// piece is what one register holds of a row: 4, 2 or 1 columns.
type piece struct {
	at, columns int
}

// columns are columns of a matrix that lie side by side in registers.
type columns []piece

// cut returns the registers for a number of columns: as many of four as there
// are, then one of two and one of a single column. So no loop reads or writes
// outside its operands.
func cut(width int) columns {
	var c columns
	for at := 0; at < width; {
		n := 4
		for at+n > width {
			n /= 2
		}
		c = append(c, piece{at, n})
		at += n
	}
	return c
}

// lanes is how many lanes of a register take part in arithmetic. A single
// column has another beside it, of zeros, whose result nobody reads.
func (p piece) lanes() string {
	if p.columns == 4 {
		return "S4"
	}
	return "S2"
}

func (p piece) move() string { return map[int]string{4: "FMOVQ", 2: "FMOVD", 1: "FMOVS"}[p.columns] }

// group returns how many registers one instruction moves, 4, 2 or 1, or 0 if
// there are some that must be moved one by one.
func (c columns) group() int {
	for _, g := range []int{4, 2, 1} {
		if len(c)%g == 0 && c[len(c)-1].columns == 4 {
			return g
		}
	}
	return 0
}

// load reads a row into registers from v on and moves the pointer on by the
// register by. It may use the register tmp.
func (w *writer) load(c columns, v int, from, by, tmp string) {
	group := c.group()
	if group == 0 {
		for i, p := range c {
			w.op("%s %d(%s), F%d", p.move(), 4*p.at, from, v+i)
		}
		w.op("ADD %s, %s", by, from)
		return
	}
	if len(c) > group {
		w.op("MOVD %s, %s", from, tmp)
		for i := 0; i < len(c); i += group {
			w.op("VLD1.P %d(%s), [%s]", 16*group, tmp, list(v+i, group))
		}
		w.op("ADD %s, %s", by, from)
		return
	}
	w.op("VLD1.P (%s)(%s), [%s]", from, by, list(v, group))
}

// next reads a row and moves the pointer behind it.
func (w *writer) next(c columns, v int, from string) {
	group := c.group()
	if group == 0 {
		for i, p := range c {
			w.op("%s.P %d(%s), F%d", p.move(), 4*p.columns, from, v+i)
		}
		return
	}
	for i := 0; i < len(c); i += group {
		w.op("VLD1.P %d(%s), [%s]", 16*group, from, list(v+i, group))
	}
}

// store writes a row from registers and moves the pointer on by the register by.
func (w *writer) store(c columns, v int, to, by, tmp string) {
	group := c.group()
	if group == 0 {
		for i, p := range c {
			w.op("%s F%d, %d(%s)", p.move(), v+i, 4*p.at, to)
		}
		w.op("ADD %s, %s", by, to)
		return
	}
	if len(c) > group {
		w.op("MOVD %s, %s", to, tmp)
		for i := 0; i < len(c); i += group {
			w.op("VST1.P [%s], %d(%s)", list(v+i, group), 16*group, tmp)
		}
		w.op("ADD %s, %s", by, to)
		return
	}
	w.op("VST1.P [%s], (%s)(%s)", list(v, group), to, by)
}

// fuse writes acc += row·factor, the factor being the same in all lanes.
func (w *writer) fuse(c columns, row, factor, acc int) {
	for i, p := range c {
		w.op("VFMLA V%d.%s, V%d.%s, V%d.%s", row+i, p.lanes(), factor, p.lanes(), acc+i, p.lanes())
	}
}

// put writes a row and moves the pointer behind it.
func (w *writer) put(c columns, v int, to string) {
	group := c.group()
	if group == 0 {
		for i, p := range c {
			w.op("%s.P F%d, %d(%s)", p.move(), v+i, 4*p.columns, to)
		}
		return
	}
	for i := 0; i < len(c); i += group {
		w.op("VST1.P [%s], %d(%s)", list(v+i, group), 16*group, to)
	}
}

// zero clears registers.
func (w *writer) zero(v, n int) {
	for i := range n {
		w.op("VEOR V%d.B16, V%d.B16, V%d.B16", v+i, v+i, v+i)
	}
}

// list names n registers from v on.
func list(v, n int) string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("V%d.S4", v+i))
	}
	return strings.Join(names, ", ")
}
