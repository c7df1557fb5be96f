package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// spmv emits Y = S X for one column. It reads and writes single values: masked
// vectors would cover neighbours of a column that lies among others, which are
// still on their way to memory from the shift before.
func spmv() {
	function("spmv", "func(y *float32, ldy int, rowPtr *int, col *int32, val *float32, x *float32, ldx, rows int)",
		"spmv shifts one column; strides are in bytes.")
	y, ldy := parameter("y"), parameter("ldy")
	rowPtr, col, val := parameter("rowPtr"), parameter("col"), parameter("val")
	x, ldx, rows := parameter("x"), parameter("ldx"), parameter("rows")
	e, end, row := GP64(), GP64(), GP64()
	MOVQ(Mem{Base: rowPtr}, e)
	Label("row")
	ADDQ(Imm(8), rowPtr)
	MOVQ(Mem{Base: rowPtr}, end)
	sum, value := XMM(), XMM()
	VXORPS(sum, sum, sum)
	CMPQ(e, end)
	JGE(LabelRef("store"))
	Label("loop")
	MOVLQSX(Mem{Base: col, Index: e, Scale: size}, row)
	IMULQ(ldx, row)
	VMOVSS(Mem{Base: val, Index: e, Scale: size}, value)
	VFMADD231SS(Mem{Base: x, Index: row, Scale: 1}, value, sum)
	INCQ(e)
	CMPQ(e, end)
	JLT(LabelRef("loop"))
	Label("store")
	VMOVSS(sum, Mem{Base: y})
	ADDQ(ldy, y)
	DECQ(rows)
	JNE(LabelRef("row"))
	RET()
}
