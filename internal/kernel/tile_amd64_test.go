//go:build amd64 && !purego

package kernel

import "testing"

// Every product of AVX-512 leaves the pointers of its tile as they were: moved on they
// would end beyond their matrices, and the garbage collector stops a program that holds
// such a pointer.
func TestTilesKeepTheirPointers(t *testing.T) {
	if o := offerAVX512(); o.set == nil {
		t.Skipf("SKIPPED %s: %s", t.Name(), o.why)
	}
	const k, tiles = 3, 2
	for rows := 1; rows <= wideRows; rows++ {
		for name, run := range map[string]func(*tile){
			"up to 16 columns": func(t *tile) { t.cols = 5; t.oneRegister(rows) },
			"32 columns":       func(t *tile) { t.cols = wideLanes; t.twoRegisters(rows) },
			"up to 32 columns": func(t *tile) { t.cols = 5; t.twoRegistersPart(rows) },
			"64 columns":       func(t *tile) { t.manyRegisters(min(rows, wideRows/2), 4) },
			"128 columns":      func(t *tile) { t.manyRegisters(1, 8) },
		} {
			const cols = 8 * wideLanes
			c, start := make([]float32, tiles*rows*cols), make([]float32, tiles*rows*cols)
			a, b := make([]float32, tiles*rows*k), make([]float32, k*cols)
			now := tile{
				c: &c[0], start: &start[0], a: &a[0], b: &b[0], ldc: cols * size, lds: cols * size,
				aRow: k * size, aCol: size, ldb: cols * size, k: k, panels: 1, tiles: tiles,
			}
			run(&now)
			if now.c != &c[0] || now.start != &start[0] || now.a != &a[0] || now.b != &b[0] {
				t.Errorf("%d rows, %s: got pointers that were moved on, want them as they were", rows, name)
			}
		}
	}
}
