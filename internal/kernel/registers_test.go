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
