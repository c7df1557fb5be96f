// Command kernelgen writes the AVX2+FMA assembly of internal/kernel.
//
// Run it through "make generate"; what it writes is committed.
package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const (
	lanes = 8 // float32 values in a YMM register
	size  = 4 // bytes in a float32
)

// masks is 8 lanes of ones followed by 8 of zeros: the 32 bytes at offset
// 4·(8-r) select the first r lanes.
var masks Mem

func main() {
	ConstraintExpr("!purego")
	masks = GLOBL("masks", RODATA|NOPTR)
	for i := range 2 * lanes {
		v := U32(0)
		if i < lanes {
			v = 0xffffffff
		}
		DATA(i*size, v)
	}
	gemm()
	columnSums()
	spmm()
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
	r := YMM()
	VBROADCASTSS(m, r)
	return r
}

// constant returns a register that holds v in every lane.
func constant(v float32) VecVirtual { return everywhere(math.Float32bits(v)) }

// zero returns a register of zeros.
func zero() VecVirtual {
	r := YMM()
	VXORPS(r, r, r)
	return r
}

// firstLanes returns the mask of the first n lanes, 0 ≤ n ≤ 8. It consumes n.
func firstLanes(n Register) VecVirtual {
	base := GP64()
	LEAQ(masks, base)
	mask := YMM()
	NEGQ(n)
	VMOVUPS(Mem{Base: base, Index: n, Scale: size, Disp: lanes * size}, mask)
	return mask
}

// load reads a vector, or its first lanes if there is a mask.
func load(m Mem, mask VecVirtual, r VecVirtual) {
	if mask != nil {
		VMASKMOVPS(m, mask, r)
	} else {
		VMOVUPS(m, r)
	}
}

// store writes a vector, or its first lanes if there is a mask.
func store(r VecVirtual, mask VecVirtual, m Mem) {
	if mask != nil {
		VMASKMOVPS(r, mask, m)
	} else {
		VMOVUPS(r, m)
	}
}

// address returns where a parameter lies on the stack.
func address(name string) Mem {
	param, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return param.Addr
}
