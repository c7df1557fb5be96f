//go:build amd64 && !purego

package kernel

import "testing"

// A set whose products are wrong anywhere is not offered, and the next one says why.
func TestTrusted(t *testing.T) {
	if offerAVX2().set == nil {
		t.Skipf("SKIPPED %s: this processor has no AVX2", t.Name())
	}
	right := offer{name: "wide", set: &avx2, why: "it is wide"}
	if got := trusted(right, &avx2); got.set == nil || got.why != right.why {
		t.Errorf("a set that agrees: got %+v, want it as it was", got)
	}
	for name, spoil := range map[string]func(Product){
		"a last column":    func(g Product) { g.C[(g.M-1)*g.LDC+g.N-1]++ },
		"beyond its rows":  func(g Product) { g.C[len(g.C)-1] = 7 },
		"a tile of twelve": func(g Product) { g.C[0] += float32(g.M / 12) },
		"what is added to": func(g Product) { g.C[0] -= float32(len(g.Start)) },
	} {
		wrong := avx2
		wrong.Gemm = func(g Product) { avx2.Gemm(g); spoil(g) }
		got := trusted(offer{name: "wide", set: &wrong}, &avx2)
		if _, why := choose([]offer{got, offerAVX2()}); got.set != nil || why != got.why {
			t.Errorf("%s is wrong: got %+v and the reason %q, want AVX2 because of it", name, got, why)
		}
	}
}
