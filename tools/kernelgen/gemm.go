package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// rowTile is the number of rows of C that one pass over the inner index keeps
// in registers: 6 rows of 16 columns are 12 accumulators, enough to hide the
// latency of FMA, and leave room for two columns of B and a broadcast of A.
const rowTile = 6

// registers is how many vector registers AVX2 has. The assembler knows those of
// AVX-512 too and says nothing if more are used, but a processor without does.
const registers = 16

func gemm() {
	for rows := 1; rows <= rowTile; rows++ {
		gemmTile(rows, 2, false)
		gemmTile(rows, 0, false)
	}
	// Few rows take more columns at a time: eight accumulators and more keep
	// both FMA units busy.
	gemmTile(1, 8, false)
	gemmTile(1, 4, false)
	gemmTile(2, 4, false)
	gemmTile(3, 4, false)
	gemmTile(rowTile, 2, true)
}

// gemmTile emits the product of `tiles` blocks of rows rows of A, in panels,
// with 8·vectors columns of B, or with up to 8 columns if vectors is 0:
//
//	c[i,j] = start[i,j] + Σ_t Σ_p a[t,i,p]·b[t·k+p,j]
//
// Strides are in bytes; a start of nil stands for zeros. Every accumulator is
// one element of C and runs over t and p in order.
//
// With fetch, the next block of rows is prefetched while this one is
// multiplied: for an A that is stored by rows, a few bytes of it per step.
func gemmTile(rows, vectors int, fetch bool) {
	narrow := vectors == 0
	name, signature := fmt.Sprintf("gemm%dx%d", rows, vectors*lanes), ""
	if narrow {
		name, signature, vectors = fmt.Sprintf("gemm%dx8", rows), ", cols int", 1
	}
	if fetch {
		name += "fetch"
	}
	function(name, "func(c *float32, ldc int, start *float32, lds int, a *float32, "+
		"aRow, aCol, aPanel int, b *float32, ldb, k, panels, tiles int"+signature+")",
		fmt.Sprintf("%s multiplies blocks of %d rows; strides are in bytes.", name, rows))
	c := Load(Param("c"), GP64())
	start := Load(Param("start"), GP64())
	a := Load(Param("a"), GP64())
	aRow := Load(Param("aRow"), GP64())
	aCol := Load(Param("aCol"), GP64())
	ldb := Load(Param("ldb"), GP64())
	tiles := Load(Param("tiles"), GP64())

	var mask Op
	if narrow {
		mask = firstLanes(parameter("cols"))
	}
	acc := make([][]VecVirtual, rows)
	for i := range acc {
		for range vectors {
			acc[i] = append(acc[i], YMM())
		}
	}

	tile, zeros, ready, panel, loop, next := name+"_tile", name+"_zeros", name+"_ready", name+"_panel", name+"_loop", name+"_next"
	Label(tile)
	TESTQ(start, start)
	JEQ(LabelRef(zeros))
	for i := range acc {
		for v, r := range acc[i] {
			load(Mem{Base: start, Disp: v * lanes * size}, mask, r)
		}
		ADDQ(address("lds"), start)
	}
	JMP(LabelRef(ready))
	Label(zeros)
	for i := range acc {
		for _, r := range acc[i] {
			VXORPS(r, r, r)
		}
	}
	Label(ready)

	at, b, panels := GP64(), GP64(), GP64()
	MOVQ(a, at)
	Load(Param("b"), b)
	Load(Param("panels"), panels)
	Label(panel)
	// Rows 0-2 are addressed from a0, rows 3-5 from a3.
	a0, a3, k := GP64(), GP64(), GP64()
	MOVQ(at, a0)
	if rows > 3 {
		LEAQ(Mem{Base: at, Index: aRow, Scale: 2}, a3)
		ADDQ(aRow, a3)
	}
	Load(Param("k"), k)
	ahead := GP64()
	if fetch {
		IMUL3Q(Imm(uint64(rows)), aRow, ahead)
		ADDQ(at, ahead)
	}
	Label(loop)
	if fetch {
		PREFETCHT0(Mem{Base: ahead})
		ADDQ(Imm(uint64(rows*size)), ahead)
	}
	var col []VecVirtual
	for v := range vectors {
		if vectors > 4 {
			break // read B from memory: one row, so each value is used once
		}
		if rows*vectors+len(col)+2 > registers {
			break // accumulators, these columns, this one and the broadcast: it is read from memory
		}
		col = append(col, YMM())
		load(Mem{Base: b, Disp: v * lanes * size}, mask, col[v])
	}
	for i := range acc {
		base := a0
		if i >= 3 {
			base = a3
		}
		m := Mem{Base: base}
		if i%3 > 0 {
			m.Index, m.Scale = aRow, uint8(i%3)
		}
		broadcast := YMM()
		VBROADCASTSS(m, broadcast)
		for v, r := range acc[i] {
			if v >= len(col) {
				VFMADD231PS(Mem{Base: b, Disp: v * lanes * size}, broadcast, r)
			} else {
				VFMADD231PS(col[v], broadcast, r)
			}
		}
	}
	ADDQ(aCol, a0)
	if rows > 3 {
		ADDQ(aCol, a3)
	}
	ADDQ(ldb, b)
	DECQ(k)
	JNE(LabelRef(loop))
	ADDQ(address("aPanel"), at)
	DECQ(panels)
	JNE(LabelRef(panel))

	Label(next)
	for i := range acc {
		for v, r := range acc[i] {
			store(r, mask, Mem{Base: c, Disp: v * lanes * size})
		}
		ADDQ(address("ldc"), c)
	}
	skip := GP64()
	IMUL3Q(Imm(uint64(rows)), aRow, skip)
	ADDQ(skip, a)
	DECQ(tiles)
	JNE(LabelRef(tile))
	VZEROUPPER()
	RET()
}

// columnSums emits y[j] += Σ_i x[i,j] for 64 columns, for 32, for 16, and for up to 8.
func columnSums() {
	for _, vectors := range []int{8, 4, 2, 0} {
		narrow := vectors == 0
		name, signature := fmt.Sprintf("columnSums%d", 8*vectors), ""
		if narrow {
			name, signature, vectors = "columnSums8", ", cols int", 1
		}
		function(name, "func(y, x *float32, ldx, rows int"+signature+")", name+" adds up columns; the stride is in bytes.")
		y := Load(Param("y"), GP64())
		x := Load(Param("x"), GP64())
		ldx := Load(Param("ldx"), GP64())
		rows := Load(Param("rows"), GP64())
		var mask Op
		if narrow {
			mask = firstLanes(parameter("cols"))
		}
		acc := make([]VecVirtual, vectors)
		for v := range acc {
			acc[v] = YMM()
			load(Mem{Base: y, Disp: v * lanes * size}, mask, acc[v])
		}
		loop := name + "_loop"
		Label(loop)
		for v, r := range acc {
			row := YMM()
			load(Mem{Base: x, Disp: v * lanes * size}, mask, row)
			VADDPS(row, r, r)
		}
		ADDQ(ldx, x)
		DECQ(rows)
		JNE(LabelRef(loop))
		for v, r := range acc {
			store(r, mask, Mem{Base: y, Disp: v * lanes * size})
		}
		VZEROUPPER()
		RET()
	}
}
