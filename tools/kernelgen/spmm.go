package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// ahead is how many entries ahead of the current one the rows of X are
// prefetched, where X does not fit the cache: into the second level, which can
// wait for more lines at a time than the first.
const ahead = 160

const line = 64 // bytes in a cache line

// Where X and Y lie.
const (
	near   = ""       // X is in the cache
	far    = "far"    // X is not: its rows are prefetched
	stream = "stream" // and Y will not be either: it is written past the cache, whole lines that nobody reads first
)

func spmm() {
	for vectors := range 4 {
		spmmRows(vectors+1, true, near)
		spmmRows(vectors+1, true, far)
	}
	for _, vectors := range []int{2, 4, 8} {
		spmmRows(vectors, false, near)
		spmmRows(vectors, false, far)
		spmmRows(vectors, false, stream)
	}
}

// spmmRows emits Y = S X for `rows` rows and `vectors` registers of columns, the
// last of them filled in part if masked is set: it is cols columns. Strides are
// in bytes. rowPtr points at the offset of the first row; last is the index of
// the last entry of the whole matrix, which bounds the prefetch.
func spmmRows(vectors int, masked bool, place string) {
	name, signature := fmt.Sprintf("spmm%d", lanes*vectors), ""
	if wide {
		name = fmt.Sprintf("spmmWide%d", lanes*vectors)
	}
	if masked {
		name, signature = name+"part", ", cols int"
	}
	name += place
	function(name, "func(y *float32, ldy int, rowPtr *int, col *int32, val *float32, x *float32, ldx, rows, last int"+signature+")",
		fmt.Sprintf("%s shifts rows of X; strides are in bytes.", name))
	y := Load(Param("y"), GP64())
	ldy := Load(Param("ldy"), GP64())
	rowPtr := Load(Param("rowPtr"), GP64())
	col := Load(Param("col"), GP64())
	val := Load(Param("val"), GP64())
	x := Load(Param("x"), GP64())
	ldx := Load(Param("ldx"), GP64())
	rows := Load(Param("rows"), GP64())
	var last Register
	if place != near {
		last = Load(Param("last"), GP64())
	}
	mask := make([]Op, vectors) // of the last vector, if any
	if masked {
		mask[vectors-1] = firstLanes(parameter("cols"))
	}
	acc := make([]VecVirtual, vectors)
	for v := range acc {
		acc[v] = vector()
	}
	e, end := GP64(), GP64()
	MOVQ(Mem{Base: rowPtr}, e)

	nextRow, loop, rest, rowEnd := name+"_row", name+"_loop", name+"_rest", name+"_store"
	Label(nextRow)
	ADDQ(Imm(8), rowPtr)
	MOVQ(Mem{Base: rowPtr}, end)
	for _, r := range acc {
		VXORPS(r, r, r)
	}
	DECQ(end)
	CMPQ(e, end)
	JGE(LabelRef(rest))

	// Two entries at a time: their indices are one load, and so are their values.
	Label(loop)
	if place != near {
		fetch(2, vectors, e, col, x, ldx, last)
	}
	second, first := GP64(), GP64()
	MOVQ(Mem{Base: col, Index: e, Scale: size}, second)
	MOVL(second.As32(), first.As32())
	SHRQ(Imm(32), second)
	IMULQ(ldx, first)
	IMULQ(ldx, second)
	values, value := vector(), vector()
	VBROADCASTSD(Mem{Base: val, Index: e, Scale: size}, values)
	VMOVSLDUP(values, value)
	addRow(acc, mask, value, x, first)
	VMOVSHDUP(values, values)
	addRow(acc, mask, values, x, second)
	ADDQ(Imm(2), e)
	CMPQ(e, end)
	JLT(LabelRef(loop))

	Label(rest)
	JNE(LabelRef(rowEnd))
	if place != near {
		fetch(1, vectors, e, col, x, ldx, last)
	}
	MOVL(Mem{Base: col, Index: e, Scale: size}, first.As32())
	IMULQ(ldx, first)
	VBROADCASTSS(Mem{Base: val, Index: e, Scale: size}, value)
	addRow(acc, mask, value, x, first)
	INCQ(e)

	Label(rowEnd)
	for v, r := range acc {
		if to := (Mem{Base: y, Disp: v * lanes * size}); place == stream {
			VMOVNTPS(r, to)
		} else {
			store(r, mask[v], to)
		}
	}
	ADDQ(ldy, y)
	DECQ(rows)
	JNE(LabelRef(nextRow))
	if place == stream {
		SFENCE()
	}
	VZEROUPPER()
	RET()
}

// addRow adds value times the row of X that begins row bytes behind x.
func addRow(acc []VecVirtual, mask []Op, value VecVirtual, x, row Register) {
	for v, r := range acc {
		m := Mem{Base: x, Index: row, Scale: 1, Disp: v * lanes * size}
		if mask[v] != nil {
			part := vector()
			load(m, mask[v], part)
			VFMADD231PS(part, value, r)
		} else {
			VFMADD231PS(m, value, r)
		}
	}
}

// fetch asks for the rows of X that entries will read soon.
func fetch(entries, vectors int, e, col, x, ldx, last Register) {
	for i := range entries {
		soon := GP64()
		LEAQ(Mem{Base: e, Disp: ahead + i}, soon)
		CMPQ(soon, last)
		CMOVQGT(last, soon)
		MOVLQSX(Mem{Base: col, Index: soon, Scale: size}, soon)
		IMULQ(ldx, soon)
		for at := 0; at < vectors*lanes*size; at += line {
			PREFETCHT1(Mem{Base: x, Index: soon, Scale: 1, Disp: at})
		}
	}
}
