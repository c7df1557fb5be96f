//go:build !linux

package mat

// adviseHuge does nothing where huge pages cannot be asked for.
func adviseHuge([]float32) {}
