package kernel

import (
	"os"
	"regexp"
	"testing"
)

// The assembly for AVX2 is used wherever there are AVX2 and FMA, so it must do without
// what came later: more than 16 vector registers, wider ones, mask registers.
func TestAssemblyIsAVX2(t *testing.T) {
	text, err := os.ReadFile("avx2_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	function, late := "", regexp.MustCompile(`\b([XY](1[6-9]|2\d|3[01])|Z\d+|K[0-7])\b`)
	begin := regexp.MustCompile(`^TEXT ·(\w+)`)
	for _, line := range regexp.MustCompile(`\n`).Split(string(text), -1) {
		if m := begin.FindStringSubmatch(line); m != nil {
			function = m[1]
		} else if found := late.FindString(line); found != "" {
			t.Errorf("%s: got register %s of AVX-512 in %q, want those of AVX2", function, found, line)
		}
	}
}

// The assembly of products for AVX-512 leaves the pointers in a tile where they are.
// Moved on they end beyond their matrices, and the garbage collector, which may look at
// them as soon as the assembly ends, stops a program that holds such a pointer.
func TestAssemblyLeavesPointers(t *testing.T) {
	text, err := os.ReadFile("avx512_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	products := regexp.MustCompile(`(?s)\nTEXT ·wide\d+x.*?\n\tRET\n`).FindAllString(string(text), -1)
	if len(products) == 0 {
		t.Fatal("got no product, want those of AVX-512")
	}
	tile, moved := regexp.MustCompile(`MOVQ +t\+0\(FP\), AX\n`), regexp.MustCompile(`(?m)^.*, (8|16|24)?\(AX\)$`)
	for _, p := range products {
		if !tile.MatchString(p) {
			t.Errorf("got %.40q…, want the tile in AX", p)
		}
		if found := moved.FindString(p); found != "" {
			t.Errorf("%.20q: got %q, want a pointer of the tile as it was", p, found)
		}
	}
}
