package mat

import (
	"fmt"
	"unsafe"
)

// fits panics unless got describes a rows×cols matrix.
func fits(op, name string, got Dense, rows, cols int) {
	if got.Rows != rows || got.Cols != cols {
		panic(fmt.Sprintf("mat: %s: %s is %s, want %d×%d", op, name, got.shape(), rows, cols))
	}
}

// sameShape panics unless all operands have the shape of a.
func sameShape(op string, a Dense, others ...Dense) {
	for _, b := range others {
		if a.Rows != b.Rows || a.Cols != b.Cols {
			panic(fmt.Sprintf("mat: %s: %s and %s", op, a.shape(), b.shape()))
		}
	}
}

// apart panics if dst and b have an element in common.
func apart(op string, dst, b *Dense) {
	if overlap(dst, b) {
		panic(fmt.Sprintf("mat: %s: the destination shares memory with an operand", op))
	}
}

// overlap says whether a and b have an element in common. Blocks of columns
// cut from one matrix interleave in memory without touching: with equal
// strides it is their columns that decide.
func overlap(a, b *Dense) bool {
	if a.Empty() || b.Empty() {
		return false
	}
	const size = unsafe.Sizeof(float32(0))
	a0 := uintptr(unsafe.Pointer(unsafe.SliceData(a.Data)))
	b0 := uintptr(unsafe.Pointer(unsafe.SliceData(b.Data)))
	if a0+uintptr(len(a.Data))*size <= b0 || b0+uintptr(len(b.Data))*size <= a0 {
		return false
	}
	if a.Stride != b.Stride {
		return true
	}
	apartBy := int(b0/size) - int(a0/size) // columns from a's first to b's first
	if apartBy <= -a.Stride || apartBy >= a.Stride {
		apartBy %= a.Stride
	}
	if apartBy < 0 {
		apartBy += a.Stride
	}
	return apartBy < a.Cols || apartBy+b.Cols > a.Stride
}
