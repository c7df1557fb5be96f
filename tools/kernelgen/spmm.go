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
const ahead = 40

func spmm() {
	for _, vectors := range []int{8, 4, 2, 0} {
		spmmRows(vectors, false)
		spmmRows(vectors, true)
	}
}

// spmmRows emits Y = S X for `rows` rows and 8·vectors columns, or up to 8
// columns if vectors is 0. Strides are in bytes. rowPtr points at the offset
// of the first row; last is the index of the last entry of the whole matrix,
// which bounds the prefetch.
func spmmRows(vectors int, far bool) {
	narrow := vectors == 0
	name, signature := fmt.Sprintf("spmm%d", 8*vectors), ""
	if narrow {
		name, signature, vectors = "spmm8", ", cols int", 1
	}
	if far {
		name += "far"
	}
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
	if far {
		last = Load(Param("last"), GP64())
	}
	var mask VecVirtual
	if narrow {
		mask = firstLanes(Load(Param("cols"), GP64()))
	}
	acc := make([]VecVirtual, vectors)
	for v := range acc {
		acc[v] = YMM()
	}
	e, end := GP64(), GP64()
	MOVQ(Mem{Base: rowPtr}, e)

	nextRow, loop, rowEnd := name+"_row", name+"_loop", name+"_store"
	Label(nextRow)
	ADDQ(Imm(8), rowPtr)
	MOVQ(Mem{Base: rowPtr}, end)
	for _, r := range acc {
		VXORPS(r, r, r)
	}
	CMPQ(e, end)
	JGE(LabelRef(rowEnd))

	Label(loop)
	if far {
		soon := GP64()
		LEAQ(Mem{Base: e, Disp: ahead}, soon)
		CMPQ(soon, last)
		CMOVQGT(last, soon)
		MOVLQSX(Mem{Base: col, Index: soon, Scale: size}, soon)
		IMULQ(ldx, soon)
		for v := 0; v < vectors; v += 2 { // two vectors are a cache line
			PREFETCHT1(Mem{Base: x, Index: soon, Scale: 1, Disp: v * lanes * size})
		}
	}
	row := GP64()
	MOVLQSX(Mem{Base: col, Index: e, Scale: size}, row)
	IMULQ(ldx, row)
	value := YMM()
	VBROADCASTSS(Mem{Base: val, Index: e, Scale: size}, value)
	for v, r := range acc {
		m := Mem{Base: x, Index: row, Scale: 1, Disp: v * lanes * size}
		if narrow {
			part := YMM()
			VMASKMOVPS(m, mask, part)
			VFMADD231PS(part, value, r)
		} else {
			VFMADD231PS(m, value, r)
		}
	}
	INCQ(e)
	CMPQ(e, end)
	JLT(LabelRef(loop))

	Label(rowEnd)
	for v, r := range acc {
		store(r, mask, Mem{Base: y, Disp: v * lanes * size})
	}
	ADDQ(ldy, y)
	DECQ(rows)
	JNE(LabelRef(nextRow))
	VZEROUPPER()
	RET()
}
