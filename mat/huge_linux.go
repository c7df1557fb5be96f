package mat

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugeBytes is the size from which a matrix asks for huge pages.
const hugeBytes = 32 << 20

// adviseHuge asks the kernel to back the memory of a large matrix by huge
// pages. A graph shift reads rows of X all over it: with small pages every row
// costs a walk through the page tables, and a filter on a million nodes takes
// half as long again. It is a hint; nothing depends on its success.
func adviseHuge(data []float32) {
	size := len(data) * int(unsafe.Sizeof(float32(0)))
	if size < hugeBytes {
		return
	}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(data))), size)
	page := unix.Getpagesize()
	if rest := int(uintptr(unsafe.Pointer(unsafe.SliceData(bytes)))) % page; rest > 0 {
		bytes = bytes[page-rest:]
	}
	_ = unix.Madvise(bytes[:len(bytes)/page*page], unix.MADV_HUGEPAGE)
}
