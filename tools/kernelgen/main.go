// Command kernelgen writes the assembly of internal/kernel: that for AVX2 and
// FMA, or with -set avx512 that for AVX-512.
//
// Run it through "make generate"; what it writes is committed.
package main

import (
	"flag"
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const size = 4 // bytes in a float32

// What the sets differ in. Loops that are the same for both are written with
// these.
var (
	wide   = false  // registers of AVX-512: twice as wide, twice as many, masks of their own
	lanes  = 8      // float32 values in a register
	suffix = "AVX2" // of the names of loops that both sets have
)

// masks is 8 lanes of ones followed by 8 of zeros: the 32 bytes at offset
// 4·(8-r) select the first r lanes.
var masks Mem

func main() {
	set := flag.String("set", "avx2", "avx2 or avx512")
	flag.Parse()
	ConstraintExpr("!purego")
	if *set == "avx512" {
		wide, lanes, suffix = true, 16, "AVX512"
		gemmWide()
		gemmFlat()
		spmm()
		elementwise()
		identify()
		Generate()
		return
	}
	masks = GLOBL("masks", RODATA|NOPTR)
	for i := range 2 * lanes {
		v := U32(0)
		if i < lanes {
			v = 0xffffffff
		}
		DATA(i*size, v)
	}
	gemm()
	gemmFlat()
	columnSums()
	spmm()
	spmv()
	elementwise()
	Generate()
}

// function starts a function whose pointers do not escape.
func function(name, signature, doc string) {
	TEXT(name, NOSPLIT, signature)
	Doc(doc)
	Pragma("noescape")
}

// words holds the 32-bit constants in use, by value.
var words = map[uint32]Mem{}

// everywhere returns a register that holds a 32-bit word in every lane.
func everywhere(word uint32) VecVirtual {
	m, ok := words[word]
	if !ok {
		m = ConstData(fmt.Sprintf("word_%08x", word), U32(word))
		words[word] = m
	}
	r := vector()
	VBROADCASTSS(m, r)
	return r
}

// constant returns a register that holds v in every lane.
func constant(v float32) VecVirtual { return everywhere(math.Float32bits(v)) }

// zero returns a register of zeros.
func zero() VecVirtual {
	r := vector()
	VXORPS(r, r, r)
	return r
}

// vector returns a register of the set.
func vector() VecVirtual {
	if wide {
		return ZMM()
	}
	return YMM()
}

// firstLanes returns the mask of the first n lanes, 0 ≤ n ≤ lanes: a register
// of ones and zeros, or one of bits. It consumes n.
func firstLanes(n GPVirtual) Op {
	if wide {
		bits, mask := GP32(), K()
		MOVL(I32(-1), bits)
		BZHIL(n.As32(), bits, bits)
		KMOVW(bits, mask)
		return mask
	}
	base := GP64()
	LEAQ(masks, base)
	mask := YMM()
	NEGQ(n)
	VMOVUPS(Mem{Base: base, Index: n, Scale: size, Disp: lanes * size}, mask)
	return mask
}

// load reads a vector, or its first lanes if there is a mask.
func load(m Mem, mask Op, r VecVirtual) {
	switch {
	case mask == nil:
		VMOVUPS(m, r)
	case wide:
		VMOVUPS_Z(m, mask, r)
	default:
		VMASKMOVPS(m, mask, r)
	}
}

// store writes a vector, or its first lanes if there is a mask.
func store(r VecVirtual, mask Op, m Mem) {
	switch {
	case mask == nil:
		VMOVUPS(r, m)
	case wide:
		VMOVUPS(r, mask, m)
	default:
		VMASKMOVPS(r, mask, m)
	}
}

// parameter returns a register that holds an integer parameter.
func parameter(name string) GPVirtual {
	r := GP64()
	Load(Param(name), r)
	return r
}

// address returns where a parameter lies on the stack.
func address(name string) Mem {
	param, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return param.Addr
}
