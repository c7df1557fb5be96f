// Package random derives independent random generators from one seed.
//
// Every use of randomness has a name: one seed and one name give one stream,
// whatever else was drawn before and in whatever order. So adding a draw in
// one place changes nothing elsewhere, and a run that is resumed in the middle
// draws what the uninterrupted run would have drawn.
package random

import (
	"hash/fnv"
	"math/rand/v2"
)

// Stream returns the generator for name under seed. Indices tell apart the
// members of a family of streams, such as one per epoch:
//
//	random.Stream(seed, "shuffle", epoch)
//
// The generator is not safe for concurrent use.
func Stream(seed uint64, name string, index ...int) *rand.Rand {
	h := fnv.New128a()
	var word [8]byte
	put := func(v uint64) {
		for i := range word {
			word[i] = byte(v >> (8 * i))
		}
		h.Write(word[:])
	}
	put(seed)
	h.Write([]byte(name))
	for _, i := range index {
		put(uint64(i))
	}
	sum := h.Sum(nil)
	var hi, lo uint64
	for i := range 8 {
		hi = hi<<8 | uint64(sum[i])
		lo = lo<<8 | uint64(sum[8+i])
	}
	return rand.New(rand.NewPCG(hi, lo))
}
