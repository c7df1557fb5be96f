package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// wideRows is the largest number of rows of C in registers: 12 rows of 32
// columns are 24 accumulators of 32 registers.
const wideRows = 12

// gemmWide emits the products of AVX-512: up to 12 rows of 32 or of up to 16
// columns, and fewer rows of 64 columns, whose accumulators would not keep both
// FMA units busy otherwise. The last register of columns is filled in part
// where the name says so; alone it always may be.
func gemmWide() {
	for rows := 1; rows <= wideRows; rows++ {
		wideTile(rows, 1, true)
		wideTile(rows, 2, false)
		wideTile(rows, 2, true)
		if rows <= wideRows/2 {
			wideTile(rows, 4, false)
		}
	}
	wideTile(1, 8, false)
}

// tileField is where the fields of kernel.tile lie.
func tileField(t Register, name string) Mem {
	for i, field := range []string{
		"c", "start", "a", "b", "ldc", "lds", "aRow", "aCol", "aPanel", "ldb", "k", "panels", "tiles", "cols", "ahead", "stride",
		"cNow", "startNow", "aNow",
	} {
		if field == name {
			return Mem{Base: t, Disp: 8 * i}
		}
	}
	panic("no field " + name)
}

// wideTile emits the product of t.tiles blocks of rows rows of A, in panels,
// with `vectors` registers of columns of B:
//
//	c[i,j] = start[i,j] + Σ_t Σ_p a[t,i,p]·b[t·k+p,j]
//
// as gemmTile does. Arguments are in a kernel.tile, whose count of tiles it moves
// on, and copies of its pointers: the pointers themselves never leave their
// matrices, because the garbage collector may look at them as soon as this ends.
// At each step of p one cache line is prefetched.
func wideTile(rows, vectors int, part bool) {
	name := fmt.Sprintf("wide%dx%d", rows, vectors*lanes)
	if part && vectors > 1 {
		name += "part"
	}
	function(name, "func(t *byte)", fmt.Sprintf("%s multiplies blocks of %d rows; t points at a tile.", name, rows))
	t := parameter("t")
	field := func(name string) GPVirtual {
		r := GP64()
		MOVQ(tileField(t, name), r)
		return r
	}
	for _, name := range []string{"c", "start", "a"} {
		MOVQ(field(name), tileField(t, name+"Now"))
	}
	aRow, aCol, ldb := field("aRow"), field("aCol"), field("ldb")
	mask := make([]Op, vectors) // of the last register, if any
	if part {
		mask[vectors-1] = firstLanes(field("cols"))
	}
	acc := make([][]VecVirtual, rows)
	for i := range acc {
		for range vectors {
			acc[i] = append(acc[i], ZMM())
		}
	}

	Label("tile")
	startTile(t, acc, mask)
	at, b, panels := field("aNow"), field("b"), field("panels")
	Label("panel")
	// Rows 0-2 are addressed from the first pointer, rows 3-5 from the second …
	a := []GPVirtual{GP64()}
	MOVQ(at, a[0])
	for i := 3; i < rows; i += 3 {
		next := GP64()
		LEAQ(Mem{Base: a[i/3-1], Index: aRow, Scale: 2}, next)
		ADDQ(aRow, next)
		a = append(a, next)
	}
	k := field("k")
	ahead := GP64()
	fetch := rows > 3
	if fetch {
		MOVQ(at, ahead)
		ADDQ(tileField(t, "ahead"), ahead)
	}
	Label("loop")
	if fetch {
		PREFETCHT0(Mem{Base: ahead})
		ADDQ(tileField(t, "stride"), ahead)
	}
	multiplyAdd(acc, a, aRow, b, mask)
	for _, r := range a {
		ADDQ(aCol, r)
	}
	ADDQ(ldb, b)
	DECQ(k)
	JNE(LabelRef("loop"))
	ADDQ(tileField(t, "aPanel"), at)
	DECQ(panels)
	JNE(LabelRef("panel"))

	c, ldc := field("cNow"), field("ldc")
	for i := range acc {
		for v, r := range acc[i] {
			store(r, mask[v], Mem{Base: c, Disp: v * lanes * size})
		}
		ADDQ(ldc, c)
	}
	MOVQ(c, tileField(t, "cNow"))
	skip := GP64()
	IMUL3Q(Imm(uint64(rows)), aRow, skip)
	ADDQ(skip, tileField(t, "aNow"))
	DECQ(tileField(t, "tiles"))
	JNE(LabelRef("tile"))
	finish()
}

// startTile fills the accumulators from start, or with zeros if it is nil.
func startTile(t Register, acc [][]VecVirtual, mask []Op) {
	start, lds := GP64(), GP64()
	MOVQ(tileField(t, "startNow"), start)
	MOVQ(tileField(t, "lds"), lds)
	TESTQ(start, start)
	JEQ(LabelRef("zeros"))
	for i := range acc {
		for v, r := range acc[i] {
			load(Mem{Base: start, Disp: v * lanes * size}, mask[v], r)
		}
		ADDQ(lds, start)
	}
	MOVQ(start, tileField(t, "startNow"))
	JMP(LabelRef("ready"))
	Label("zeros")
	for i := range acc {
		for _, r := range acc[i] {
			VXORPS(r, r, r)
		}
	}
	Label("ready")
}

// multiplyAdd emits one step of the inner index. A single register of columns is
// multiplied by values straight from memory; of more, each value is used as
// often as there are registers. One row uses each value of B once only.
func multiplyAdd(acc [][]VecVirtual, a []GPVirtual, aRow Register, b Register, mask []Op) {
	var col []VecVirtual
	for v := range mask {
		if len(acc) == 1 && mask[v] == nil {
			continue
		}
		r := ZMM()
		load(Mem{Base: b, Disp: v * lanes * size}, mask[v], r)
		col = append(col, r)
	}
	for i := range acc {
		m := Mem{Base: a[i/3]}
		if i%3 > 0 {
			m.Index, m.Scale = aRow, uint8(i%3)
		}
		if len(mask) == 1 {
			VFMADD231PS_BCST(m, col[0], acc[i][0])
			continue
		}
		value := ZMM()
		VBROADCASTSS(m, value)
		for v, r := range acc[i] {
			if len(acc) == 1 && mask[v] == nil {
				VFMADD231PS(Mem{Base: b, Disp: v * lanes * size}, value, r)
			} else {
				VFMADD231PS(col[len(col)-len(mask)+v], value, r)
			}
		}
	}
}

// identify emits the instruction that tells which processor this is.
func identify() {
	function("cpuid", "func(leaf uint32) (a, b, c, d uint32)", "cpuid returns what the processor says of itself.")
	Load(Param("leaf"), EAX)
	XORL(ECX, ECX)
	CPUID()
	Store(EAX, Return("a"))
	Store(EBX, Return("b"))
	Store(ECX, Return("c"))
	Store(EDX, Return("d"))
	RET()
}
