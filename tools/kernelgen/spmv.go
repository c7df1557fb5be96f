package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// spmv emits Y = S X for one column. It reads and writes single values: masked
// vectors would cover neighbours of a column that lies among others, which are
// still on their way to memory from the shift before. Four rows are summed up side by
// side as long as all have entries: each sum waits for itself, not for the others.
func spmv() {
	function("spmv", "func(y *float32, ldy int, rowPtr *int, col *int32, val *float32, x *float32, ldx, rows int)",
		"spmv shifts one column; strides are in bytes.")
	y, ldy := parameter("y"), parameter("ldy")
	rowPtr, col, val := parameter("rowPtr"), parameter("col"), parameter("val")
	x, ldx, rows := parameter("x"), parameter("ldx"), parameter("rows")
	const side = 4
	var e [side]Register
	var sum [side]VecVirtual
	for r := range side {
		e[r], sum[r] = GP64(), XMM()
	}
	value, other, row, next := XMM(), XMM(), GP64(), GP64()
	add := func(r int) { // entry e of row r
		MOVL(Mem{Base: col, Index: e[r], Scale: size}, row.As32())
		IMULQ(ldx, row)
		VMOVSS(Mem{Base: val, Index: e[r], Scale: size}, value)
		VFMADD231SS(Mem{Base: x, Index: row, Scale: 1}, value, sum[r])
		INCQ(e[r])
	}
	addTwo := func(r int) { // and the one behind it: one load for both indices, one for both values
		MOVQ(Mem{Base: col, Index: e[r], Scale: size}, next)
		MOVL(next.As32(), row.As32())
		SHRQ(Imm(32), next)
		IMULQ(ldx, row)
		IMULQ(ldx, next)
		VMOVSD(Mem{Base: val, Index: e[r], Scale: size}, value)
		VMOVSHDUP(value, other)
		VFMADD231SS(Mem{Base: x, Index: row, Scale: 1}, value, sum[r])
		VFMADD231SS(Mem{Base: x, Index: next, Scale: 1}, other, sum[r])
		ADDQ(Imm(2), e[r])
	}
	rest := func(prefix string, r int) { // of the entries of row r
		loop, done := fmt.Sprintf("%s%d", prefix, r), fmt.Sprintf("%s%d_done", prefix, r)
		end := Mem{Base: rowPtr, Disp: 8 * (r + 1)}
		CMPQ(e[r], end)
		JGE(LabelRef(done))
		Label(loop)
		add(r)
		CMPQ(e[r], end)
		JLT(LabelRef(loop))
		Label(done)
		VMOVSS(sum[r], Mem{Base: y})
		ADDQ(ldy, y)
	}

	Label("rows")
	SUBQ(Imm(side), rows)
	JLT(LabelRef("few"))
	MOVQ(Mem{Base: rowPtr}, e[0])
	both := GP64() // how many entries all rows have
	for r := range side {
		VXORPS(sum[r], sum[r], sum[r])
		length := both
		if r > 0 {
			length = next
		}
		MOVQ(Mem{Base: rowPtr, Disp: 8 * (r + 1)}, length)
		if r+1 < side {
			MOVQ(length, e[r+1])
		}
		SUBQ(e[r], length)
		if r > 0 {
			CMPQ(length, both)
			CMOVQLT(length, both)
		}
	}
	SUBQ(Imm(2), both)
	JLT(LabelRef("apart"))
	Label("together")
	for r := range side {
		addTwo(r)
	}
	SUBQ(Imm(2), both)
	JGE(LabelRef("together"))
	Label("apart")
	for r := range side {
		rest("rest", r)
	}
	ADDQ(Imm(8*side), rowPtr)
	TESTQ(rows, rows)
	JNE(LabelRef("rows"))
	RET()

	Label("few")
	ADDQ(Imm(side), rows)
	JEQ(LabelRef("end"))
	Label("one")
	MOVQ(Mem{Base: rowPtr}, e[0])
	VXORPS(sum[0], sum[0], sum[0])
	rest("last", 0)
	ADDQ(Imm(8), rowPtr)
	DECQ(rows)
	JNE(LabelRef("one"))
	Label("end")
	RET()
}
