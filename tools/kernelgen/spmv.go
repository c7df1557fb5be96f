package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// spmv emits Y = S X for one column. It reads and writes single values: masked
// vectors would cover neighbours of a column that lies among others, which are
// still on their way to memory from the shift before. Two rows are summed up side by
// side as long as both have entries: each sum waits for itself, not for the other.
func spmv() {
	function("spmv", "func(y *float32, ldy int, rowPtr *int, col *int32, val *float32, x *float32, ldx, rows int)",
		"spmv shifts one column; strides are in bytes.")
	y, ldy := parameter("y"), parameter("ldy")
	rowPtr, col, val := parameter("rowPtr"), parameter("col"), parameter("val")
	x, ldx, rows := parameter("x"), parameter("ldx"), parameter("rows")
	e, end := [2]Register{GP64(), GP64()}, [2]Register{GP64(), GP64()}
	sum, value, row := [2]VecVirtual{XMM(), XMM()}, [2]VecVirtual{XMM(), XMM()}, [2]Register{GP64(), GP64()}
	add := func(r int) { // entry e of row r
		MOVLQSX(Mem{Base: col, Index: e[r], Scale: size}, row[r])
		IMULQ(ldx, row[r])
		VMOVSS(Mem{Base: val, Index: e[r], Scale: size}, value[r])
		VFMADD231SS(Mem{Base: x, Index: row[r], Scale: 1}, value[r], sum[r])
		INCQ(e[r])
	}
	rest := func(r int) { // of the entries of row r
		loop, done := fmt.Sprintf("rest%d", r), fmt.Sprintf("done%d", r)
		CMPQ(e[r], end[r])
		JGE(LabelRef(done))
		Label(loop)
		add(r)
		CMPQ(e[r], end[r])
		JLT(LabelRef(loop))
		Label(done)
		VMOVSS(sum[r], Mem{Base: y})
		ADDQ(ldy, y)
	}
	MOVQ(Mem{Base: rowPtr}, end[1])
	Label("rows")
	MOVQ(end[1], e[0])
	MOVQ(Mem{Base: rowPtr, Disp: 8}, end[0])
	VXORPS(sum[0], sum[0], sum[0])
	VXORPS(sum[1], sum[1], sum[1])
	SUBQ(Imm(2), rows)
	JLT(LabelRef("one"))
	ADDQ(Imm(16), rowPtr)
	MOVQ(end[0], e[1])
	MOVQ(Mem{Base: rowPtr}, end[1])

	both := GP64() // where row 0 ends, or is as long as row 1
	MOVQ(end[1], both)
	SUBQ(e[1], both)
	ADDQ(e[0], both)
	CMPQ(end[0], both)
	CMOVQLT(end[0], both)
	CMPQ(e[0], both)
	JGE(LabelRef("apart"))
	Label("pairs")
	add(0)
	add(1)
	CMPQ(e[0], both)
	JLT(LabelRef("pairs"))
	Label("apart")
	rest(0)
	rest(1)
	TESTQ(rows, rows)
	JNE(LabelRef("rows"))
	RET()

	Label("one")
	CMPQ(e[0], end[0])
	JGE(LabelRef("last"))
	Label("loop")
	add(0)
	CMPQ(e[0], end[0])
	JLT(LabelRef("loop"))
	Label("last")
	VMOVSS(sum[0], Mem{Base: y})
	RET()
}
