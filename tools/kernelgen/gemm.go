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

func gemm() {
	for rows := 1; rows <= rowTile; rows++ {
		gemmTile(rows, false)
		gemmTile(rows, true)
	}
}

// gemmTile emits the product of `tiles` blocks of rows rows of op(A) with 16
// columns of B, or with up to 8 columns if narrow:
//
//	c[i,j] (+)= Σ_p a[i,p]·b[p,j]
//
// Strides are in bytes. Every accumulator is one element of C and runs over p
// in order.
func gemmTile(rows int, narrow bool) {
	name, signature := fmt.Sprintf("gemm%dx16", rows), ""
	if narrow {
		name, signature = fmt.Sprintf("gemm%dx8", rows), ", cols int"
	}
	function(name, "func(c *float32, ldc int, a *float32, aRow, aCol int, b *float32, ldb, k, tiles int, accumulate bool"+signature+")",
		fmt.Sprintf("%s multiplies blocks of %d rows; strides are in bytes.", name, rows))
	c := Load(Param("c"), GP64())
	ldc := Load(Param("ldc"), GP64())
	a := Load(Param("a"), GP64())
	aRow := Load(Param("aRow"), GP64())
	aCol := Load(Param("aCol"), GP64())
	b := Load(Param("b"), GP64())
	ldb := Load(Param("ldb"), GP64())
	tiles := Load(Param("tiles"), GP64())

	vectors := 2
	var mask VecVirtual
	if narrow {
		vectors = 1
		mask = firstLanes(Load(Param("cols"), GP64()))
	}
	load := func(m Mem, r VecVirtual) {
		if narrow {
			VMASKMOVPS(m, mask, r)
		} else {
			VMOVUPS(m, r)
		}
	}
	acc := make([][]VecVirtual, rows)
	for i := range acc {
		for range vectors {
			acc[i] = append(acc[i], YMM())
		}
	}

	nextTile := name + "_tile"
	Label(nextTile)

	start, ready, loop, store := name+"_zero", name+"_ready", name+"_loop", name+"_store"
	CMPB(address("accumulate"), Imm(0))
	row := GP64()
	JEQ(LabelRef(start))
	MOVQ(c, row)
	for i := range acc {
		for v, r := range acc[i] {
			load(Mem{Base: row, Disp: v * lanes * size}, r)
		}
		if i+1 < rows {
			ADDQ(ldc, row)
		}
	}
	JMP(LabelRef(ready))
	Label(start)
	for i := range acc {
		for _, r := range acc[i] {
			VXORPS(r, r, r)
		}
	}
	Label(ready)

	// Rows 0-2 are addressed from a0, rows 3-5 from a3.
	a0, a3, bp, k := GP64(), GP64(), GP64(), GP64()
	MOVQ(a, a0)
	LEAQ(Mem{Base: a, Index: aRow, Scale: 2}, a3)
	ADDQ(aRow, a3)
	MOVQ(b, bp)
	Load(Param("k"), k)
	TESTQ(k, k)
	JEQ(LabelRef(store))

	Label(loop)
	var col []VecVirtual
	for v := range vectors {
		col = append(col, YMM())
		load(Mem{Base: bp, Disp: v * lanes * size}, col[v])
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
			VFMADD231PS(col[v], broadcast, r)
		}
	}
	ADDQ(aCol, a0)
	if rows > 3 {
		ADDQ(aCol, a3)
	}
	ADDQ(ldb, bp)
	DECQ(k)
	JNE(LabelRef(loop))

	Label(store)
	for i := range acc {
		for v, r := range acc[i] {
			m := Mem{Base: c, Disp: v * lanes * size}
			if narrow {
				VMASKMOVPS(r, mask, m)
			} else {
				VMOVUPS(r, m)
			}
		}
		ADDQ(ldc, c)
	}
	skip := GP64()
	IMUL3Q(Imm(uint64(rows)), aRow, skip)
	ADDQ(skip, a)
	DECQ(tiles)
	JNE(LabelRef(nextTile))
	VZEROUPPER()
	RET()
}
