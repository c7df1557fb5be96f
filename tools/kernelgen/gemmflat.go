package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const (
	flatRows = 16 // rows of A that a flat product takes at a time, whatever the set
	flatCols = 5  // the largest number of columns of a flat product
)

// gemmFlat emits products with so few columns that registers hold rows of C instead:
// a readout, say.
func gemmFlat() {
	for cols := 1; cols <= flatCols; cols++ {
		flatTile(cols)
	}
}

// flatTile emits the product of blocks of 16 rows of A with cols columns of B, whose
// result lies transposed:
//
//	ct[j,i] = start + Σ_p a[i,p]·b[p,j]      p ascending, in quarters of k
//
// The start is row[j], or ct[j,i] if row is nil.
// Four columns of A are read at a time and turned into vectors of one column each.
// Strides are in bytes.
func flatTile(cols int) {
	name := fmt.Sprintf("flat%d%s", cols, suffix)
	function(name, "func(ct *float32, ldct int, row, a *float32, lda int, b *float32, ldb, quarters, blocks int)",
		fmt.Sprintf("%s multiplies blocks of %d rows by %d columns; strides are in bytes.", name, flatRows, cols))
	a, lda, ldb := parameter("a"), parameter("lda"), parameter("ldb")
	ct, blocks := parameter("ct"), parameter("blocks")
	lda3 := GP64()
	LEAQ(Mem{Base: lda, Index: lda, Scale: 2}, lda3)
	acc := make([][]VecVirtual, flatRows/lanes)
	for g := range acc {
		for range cols {
			acc[g] = append(acc[g], vector())
		}
	}

	turn, value := [5]VecVirtual{vector(), vector(), vector(), vector(), vector()}, vector()

	Label(name + "_block")
	flatStart(name, ct, acc)
	fours := make([]GPVirtual, flatRows/4) // rows 0, 4, 8 and 12
	for i := range fours {
		fours[i] = GP64()
		if i == 0 {
			MOVQ(a, fours[i])
		} else {
			LEAQ(Mem{Base: fours[i-1], Index: lda, Scale: 4}, fours[i])
		}
	}
	LEAQ(Mem{Base: fours[len(fours)-1], Index: lda, Scale: 4}, a)
	b, k := parameter("b"), parameter("quarters")

	Label(name + "_loop")
	next := GP64()
	for g := range acc {
		MOVQ(b, next)
		flatStep(acc[g], fourColumns(turn, fours[g*lanes/4:(g+1)*lanes/4], lda, lda3), value, next, ldb)
	}
	MOVQ(next, b)
	for _, r := range fours {
		ADDQ(Imm(4*size), r)
	}
	DECQ(k)
	JNE(LabelRef(name + "_loop"))
	flatResults(ct, acc, func(m Mem, r VecVirtual) { VMOVUPS(r, m) })
	ADDQ(Imm(flatRows*size), ct)
	DECQ(blocks)
	JNE(LabelRef(name + "_block"))
	VZEROUPPER()
	RET()
}

// flatStart fills the accumulators of this block.
func flatStart(name string, ct Register, acc [][]VecVirtual) {
	row, there, ready := parameter("row"), name+"_there", name+"_ready"
	TESTQ(row, row)
	JEQ(LabelRef(there))
	for j := range acc[0] {
		for g := range acc {
			VBROADCASTSS(Mem{Base: row, Disp: j * size}, acc[g][j])
		}
	}
	JMP(LabelRef(ready))
	Label(there)
	flatResults(ct, acc, func(m Mem, r VecVirtual) { VMOVUPS(m, r) })
	Label(ready)
}

// flatResults moves the rows of Cᵀ of this block to or from the accumulators.
func flatResults(ct Register, acc [][]VecVirtual, move func(m Mem, r VecVirtual)) {
	at, ldct := GP64(), parameter("ldct")
	MOVQ(ct, at)
	for j := range acc[0] {
		for g := range acc {
			move(Mem{Base: at, Disp: g * lanes * size}, acc[g][j])
		}
		ADDQ(ldct, at)
	}
}

// flatStep multiplies four columns of A by four rows of B, and moves b on.
func flatStep(acc []VecVirtual, column [4]VecVirtual, value VecVirtual, b, ldb Register) {
	for _, c := range column {
		for j, r := range acc {
			m := Mem{Base: b, Disp: j * size}
			if wide {
				VFMADD231PS_BCST(m, c, r)
				continue
			}
			VBROADCASTSS(m, value)
			VFMADD231PS(c, value, r)
		}
		ADDQ(ldb, b)
	}
}

// fourColumns reads the next four values of as many rows as a register has lanes,
// the first of every four rows given, and returns them column by column. It needs
// the five registers r.
func fourColumns(r [5]VecVirtual, fours []GPVirtual, lda, lda3 Register) [4]VecVirtual {
	for i := range 4 { // r[i] is row i, i+4, …: four values each
		at := func(f int) Mem {
			m := Mem{Base: fours[f]}
			switch i {
			case 0:
			case 3:
				m.Index, m.Scale = lda3, 1
			default:
				m.Index, m.Scale = lda, uint8(i)
			}
			return m
		}
		VMOVUPS(at(0), r[i].AsX())
		for f := 1; f < len(fours); f++ {
			if wide {
				VINSERTF32X4(Imm(uint64(f)), at(f), r[i], r[i])
			} else {
				VINSERTF128(Imm(uint64(f)), at(f), r[i], r[i])
			}
		}
	}
	VUNPCKLPS(r[1], r[0], r[4]) // columns 0 and 1 of rows 0 and 1
	VUNPCKHPS(r[1], r[0], r[1]) // columns 2 and 3
	VUNPCKLPS(r[3], r[2], r[0]) // the same of rows 2 and 3
	VUNPCKHPS(r[3], r[2], r[3])
	VUNPCKLPD(r[0], r[4], r[2])
	VUNPCKHPD(r[0], r[4], r[4])
	VUNPCKLPD(r[3], r[1], r[0])
	VUNPCKHPD(r[3], r[1], r[1])
	return [4]VecVirtual{r[2], r[4], r[0], r[1]}
}
