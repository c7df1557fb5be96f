//go:build !purego

package perf

import "github.com/wdgnn/wdgnn/mat"

//go:noescape
func fma256(rounds int)

//go:noescape
func fma512(rounds int)

// multiplyAdds returns a loop of multiply-adds on registers of the kernels in
// use, and how many values it works on in a round; nil where there is none.
func multiplyAdds() (loop func(rounds int), values int) {
	switch mat.Kernels() {
	case "avx2":
		return fma256, 12 * 8
	case "avx512":
		return fma512, 12 * 16
	}
	return nil, 0
}
