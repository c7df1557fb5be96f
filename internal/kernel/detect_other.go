//go:build !amd64 || purego

package kernel

// avx2 is nil where the assembly does not run.
var avx2 *Set
