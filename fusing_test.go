package wdgnn

import (
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// numbers are the packages whose results are promised to be the same on every
// architecture: what nodes compute, and the worlds they live in.
var numbers = strings.Fields(`./mat ./graph ./gnn ./loss ./optim ./train ./random ./conformal ./forecast ./rule ./online ./agent ./host
	./scenario/sourceloc ./scenario/flocking ./internal/shop/movies`)

// Where a processor can multiply and add in one instruction, Go may round once
// instead of twice, and the bits are others than elsewhere. Only the loops of
// the fused family want that; whoever writes a*b + c in another place writes
// float64(a*b) + c. The compiler for arm64 says which lines it fused.
func TestNothingElseIsFused(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: it compiles for another architecture, and -short is set", t.Name())
	}
	if native, err := exec.Command("go", "env", "GOHOSTARCH").Output(); err != nil || strings.TrimSpace(string(native)) != runtime.GOARCH {
		t.Skipf("SKIPPED %s: an emulated test cannot start the compiler", t.Name())
	}
	const module = "github.com/wdgnn/wdgnn/"
	build := exec.Command("go", append([]string{"build", "-trimpath", "-gcflags=" + module + "...=-S"}, numbers...)...)
	build.Env = append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0")
	listing, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, listing[max(0, len(listing)-2000):])
	}
	fused := regexp.MustCompile(`\(` + module + `(\S+\.go:\d+)\)\s+FN?M(ADD|SUB)[SD]\s`)
	seen := map[string]bool{}
	for _, m := range fused.FindAllSubmatch(listing, -1) {
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
