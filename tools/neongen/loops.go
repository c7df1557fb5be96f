package main

import "fmt"

// rowTile is the number of rows of C that one pass over the inner index keeps
// in registers: 6 rows of 16 columns are 24 accumulators, and leave room for
// four columns of B and for values of A.
const rowTile = 6

// thin are the widths of what is left of a row beside its wide columns.
var thin = []int{1, 2, 3, 4, 5, 6, 7, 8}

func gemm(w *writer) {
	for rows := 1; rows <= rowTile; rows++ {
		name := fmt.Sprintf("gemm%dNEON", rows)
		w.function(name, fmt.Sprintf("multiplies blocks of %d rows with cols columns; strides are in bytes.", rows),
			"c *float32", "ldc int", "start *float32", "lds int", "a *float32", "aRow int", "aCol int", "aPanel int",
			"b *float32", "ldb int", "k int", "panels int", "tiles int", "cols int")
		for i, p := range []string{"c", "ldc", "start", "lds", "a", "aRow", "aCol", "aPanel", "b", "ldb", "k", "panels", "tiles", "cols"} {
			w.param(p, fmt.Sprintf("R%d", i))
		}
		widths := append([]int{16}, thin...)
		if rows == 1 { // more accumulators, so that none is waited for
			widths = append(widths, 32)
		}
		w.dispatch("R13", name, widths)
		for _, width := range widths {
			gemmTile(w, fmt.Sprintf("%s_%d", name, width), rows, cut(width))
		}
	}
}

// gemmTile writes the product of blocks of rows rows of A, in panels, with a
// few columns of B:
//
//	c[i,j] = start[i,j] + Σ_t Σ_p a[t,i,p]·b[t·k+p,j]
//
// A start of nil stands for zeros. Every lane of an accumulator is one element
// of C and runs over t and p in order.
//
//	R0 c   R1 ldc   R2 start   R3 lds   R4 a   R5 aRow   R6 aCol   R7 aPanel   R8 b   R9 ldb   R10 k   R11 panels   R12 tiles
//	R14 the panel of A   R15 the row of B   R16, R17 what is left of k, panels   R19 … R24 rows of A
func gemmTile(w *writer, name string, rows int, c columns) {
	acc := func(i int) int { return i * len(c) }
	const factors = 28 // V28 … V31 hold values of A
	b := factors - len(c)
	w.label("%s", name)
	w.op("CBZ R2, %s_zeros", name)
	for i := range rows {
		w.load(c, acc(i), "R2", "R3", "R25")
	}
	w.op("B %s_ready", name)
	w.label("%s_zeros", name)
	w.zero(0, rows*len(c))
	w.label("%s_ready", name)
	w.op("MOVD R4, R14")
	w.op("MOVD R8, R15")
	w.op("MOVD R11, R17")
	w.label("%s_panel", name)
	w.op("MOVD R14, R19")
	for i := 1; i < rows; i++ {
		w.op("ADD R5, R%d, R%d", 18+i, 19+i)
	}
	w.op("MOVD R10, R16")
	w.label("%s_loop", name)
	w.load(c, b, "R15", "R9", "R25")
	for i := range rows {
		w.op("VLD1R.P (R%d)(R6), [V%d.S4]", 19+i, factors+i%4)
		w.fuse(c, b, factors+i%4, acc(i))
	}
	w.op("SUBS $1, R16, R16")
	w.op("BNE %s_loop", name)
	w.op("ADD R7, R14")
	w.op("SUBS $1, R17, R17")
	w.op("BNE %s_panel", name)
	for i := range rows {
		w.store(c, acc(i), "R0", "R1", "R25")
	}
	w.op("MOVD $%d, R25", rows)
	w.op("MADD R5, R4, R25, R4") // a += rows·aRow
	w.op("SUBS $1, R12, R12")
	w.op("BNE %s", name)
	w.op("RET")
}

// columnSums writes y[j] += Σ_i x[i,j] for a few columns.
func columnSums(w *writer) {
	const name, ones = "columnSumsNEON", 31
	w.function(name, "adds up cols columns; the stride is in bytes.", "y *float32", "x *float32", "ldx int", "rows int", "cols int")
	for i, p := range []string{"y", "x", "ldx", "rows", "cols"} {
		w.param(p, fmt.Sprintf("R%d", i))
	}
	w.ones(ones)
	widths := append([]int{32, 16}, thin...)
	w.dispatch("R4", name, widths)
	for _, width := range widths {
		c := cut(width)
		w.label("%s_%d", name, width)
		w.op("MOVD R0, R5")
		w.load(c, 0, "R5", "R2", "R6")
		w.label("%s_%d_loop", name, width)
		w.load(c, 16, "R1", "R2", "R6")
		w.fuse(c, 16, ones, 0)
		w.op("SUBS $1, R3, R3")
		w.op("BNE %s_%d_loop", name, width)
		w.store(c, 0, "R0", "R2", "R6")
		w.op("RET")
	}
}

// spmm writes Y = S X for rows rows and a few columns. rowPtr points at the
// offset of the first row.
//
//	R0 y   R1 ldy   R2 rowPtr   R3 col   R4 val   R5 x   R6 ldx   R7 rows
//	R9 the first entry of the row   R11 entries left   R13 a row of X
func spmm(w *writer) {
	const name, value = "spmmNEON", 31
	w.function(name, "shifts cols columns of rows of X; strides are in bytes.",
		"y *float32", "ldy int", "rowPtr *int", "col *int32", "val *float32", "x *float32", "ldx int", "rows int", "cols int")
	for i, p := range []string{"y", "ldy", "rowPtr", "col", "val", "x", "ldx", "rows", "cols"} {
		w.param(p, fmt.Sprintf("R%d", i))
	}
	w.op("MOVD.P 8(R2), R9")
	w.op("ADD R9<<2, R3")
	w.op("ADD R9<<2, R4")
	widths := append([]int{64, 32, 16}, thin...)
	w.dispatch("R8", name, widths)
	for _, width := range widths {
		c := cut(width)
		w.label("%s_%d", name, width)
		w.op("MOVD.P 8(R2), R10")
		w.zero(0, len(c))
		w.op("SUBS R9, R10, R11")
		w.op("MOVD R10, R9")
		w.op("BLE %s_%d_store", name, width)
		w.label("%s_%d_loop", name, width)
		w.op("MOVW.P 4(R3), R12")
		w.op("MADD R6, R5, R12, R13") // x + col·ldx
		w.op("VLD1R.P 4(R4), [V%d.S4]", value)
		for i := 0; i < len(c); i += 8 {
			part := c[i:min(i+8, len(c))]
			w.next(part, 16, "R13")
			w.fuse(part, 16, value, i)
		}
		w.op("SUBS $1, R11, R11")
		w.op("BNE %s_%d_loop", name, width)
		w.label("%s_%d_store", name, width)
		w.store(c, 0, "R0", "R1", "R14")
		w.op("SUBS $1, R7, R7")
		w.op("BNE %s_%d", name, width)
		w.op("RET")
	}
}

// axpy writes y[i] += a·x[i], sixteen at a time, then four, then one.
func axpy(w *writer) {
	const name, factor = "axpyNEON", 31
	w.function(name, "is Axpy of the set for n values.", "y *float32", "a float32", "x *float32", "n int")
	w.param("y", "R0")
	w.param("x", "R1")
	w.param("n", "R2")
	w.op("FMOVS %s, F%d", w.params["a"], factor)
	w.op("VDUP V%d.S[0], V%d.S4", factor, factor)
	for _, width := range []int{16, 4, 1} {
		c := cut(width)
		w.label("%s_%d", name, width)
		w.op("SUBS $%d, R2, R2", width)
		w.op("BLT %s_%d_end", name, width)
		w.op("MOVD R0, R3")
		w.next(c, 0, "R3")
		w.next(c, 16, "R1")
		w.fuse(c, 16, factor, 0)
		w.put(c, 0, "R0")
		w.op("B %s_%d", name, width)
		w.label("%s_%d_end", name, width)
		w.op("ADD $%d, R2", width)
	}
	w.op("RET")
}

// dot writes the sum in four accumulators of eight lanes, each two registers,
// which are added as the fused family does: the accumulators by pairs, then
// halves of lanes, quarters, and the last two.
func dot(w *writer) {
	const name, ones = "dotNEON", 24
	w.function(name, "is Dot of the set for 8·blocks values, and for eight more in tx and ty unless they are nil.",
		"x *float32", "y *float32", "blocks int", "tx *float32", "ty *float32", "ret float32")
	for i, p := range []string{"x", "y", "blocks", "tx", "ty"} {
		w.param(p, fmt.Sprintf("R%d", i))
	}
	w.zero(0, 8)
	w.label("dotNEON_many")
	w.op("SUBS $4, R2, R2")
	w.op("BLT dotNEON_few")
	for v := 0; v < 8; v += 4 {
		w.op("VLD1.P 64(R0), [%s]", list(16, 4))
		w.op("VLD1.P 64(R1), [%s]", list(20, 4))
		for i := range 4 {
			w.op("VFMLA V%d.S4, V%d.S4, V%d.S4", 16+i, 20+i, v+i)
		}
	}
	w.op("B dotNEON_many")
	w.label("dotNEON_few")
	w.op("ADDS $4, R2, R2")
	w.op("BEQ dotNEON_tail")
	w.label("dotNEON_one")
	dotBlock(w, "R0", "R1")
	w.op("SUBS $1, R2, R2")
	w.op("BNE dotNEON_one")
	w.label("dotNEON_tail")
	w.op("CBZ R3, dotNEON_sum")
	dotBlock(w, "R3", "R4")
	w.label("dotNEON_sum")
	w.ones(ones)
	for _, pair := range [][2]int{{2, 0}, {3, 1}, {6, 4}, {7, 5}, {4, 0}, {5, 1}, {1, 0}} {
		w.add(pair[0], ones, pair[1])
	}
	w.op("VEXT $8, V0.B16, V0.B16, V1.B16")
	w.add(1, ones, 0)
	w.op("VDUP V0.S[1], V1.S4")
	w.op("FADDS F1, F0, F0")
	w.op("FMOVS F0, %s", w.params["ret"])
	w.op("RET")
}

func dotBlock(w *writer, x, y string) {
	w.op("VLD1.P 32(%s), [%s]", x, list(16, 2))
	w.op("VLD1.P 32(%s), [%s]", y, list(20, 2))
	for i := range 2 {
		w.op("VFMLA V%d.S4, V%d.S4, V%d.S4", 16+i, 20+i, i)
	}
}
