package wdgnn

import (
	"flag"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// numbers are the packages whose results are promised to be the same on every
// architecture: what nodes compute, and the worlds they live in.
var numbers = strings.Fields(`./mat ./graph ./gnn ./loss ./optim ./train ./random ./conformal ./forecast ./rule ./online ./agent ./host
	./scenario/sourceloc ./scenario/flocking ./scenario/movies`)

var fused = flag.Bool("fused", false, "look for fused multiply-adds in what the compiler makes for arm64")

// Where a processor can multiply and add in one instruction, Go may round once
// instead of twice, and the bits are others than elsewhere. Only the loops of
// the fused family want that; whoever writes a*b + c in another place writes
// float64(a*b) + c. The compiler for arm64 says which lines it fused.
func TestNothingElseIsFused(t *testing.T) {
	if !*fused {
		t.Skipf("SKIPPED %s: it compiles everything for another architecture; .ci/run does, with -fused", t.Name())
	}
	const module = "github.com/wdgnn/wdgnn/"
	build := exec.Command("go", append([]string{"build", "-trimpath", "-gcflags=" + module + "...=-S"}, numbers...)...)
	build.Env = append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0")
	listing, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, listing[max(0, len(listing)-2000):])
	}
	lines := regexp.MustCompile(`\(` + module + `(\S+\.go:\d+)\)\s+FN?M(ADD|SUB)[SD]\s`)
	seen := map[string]bool{}
	for _, m := range lines.FindAllSubmatch(listing, -1) {
		place := string(m[1])
		file, _, _ := strings.Cut(place, ":")
		if file != "internal/kernel/fused_arm64.go" && !seen[place] {
			t.Errorf("%s: got a fused multiply-add on arm64, want a product that is rounded, float64(a*b) or float32(a*b)", place)
		}
		seen[place] = true
	}
	if len(seen) == 0 {
		t.Errorf("got no fused line at all in %d bytes of assembly, want those of internal/kernel/fused_arm64.go", len(listing))
	}
}
