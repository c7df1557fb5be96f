package kernel

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The NEON assembly keeps away from registers that belong to the platform,
// the linker, the goroutine or the frame, and from encoded words, which nobody
// can read.
func TestAssemblyIsNEON(t *testing.T) {
	text, err := os.ReadFile("neon_arm64.s")
	if err != nil {
		t.Fatal(err)
	}
	function, bad := "", regexp.MustCompile(`\b(R18|R2[6-9]|R30|g|RSP|WORD|BYTE)\b`)
	begin := regexp.MustCompile(`^TEXT ·(\w+)`)
	for line := range strings.Lines(string(text)) {
		if m := begin.FindStringSubmatch(line); m != nil {
			function = m[1]
			if !strings.Contains(line, "NOSPLIT, $0-") {
				t.Errorf("%s: got %q, want a frame of 0", function, line)
			}
		} else if found := bad.FindString(line); found != "" {
			t.Errorf("%s: got %s in %q, want registers R0 to R17 and R19 to R25, and mnemonics", function, found, line)
		}
	}
}
