package mat

import (
	"fmt"
	"strings"

	"github.com/wdgnn/wdgnn/internal/kernel"
)

var kernels = kernel.Current()

// Kernels names the kernel set in use. It is the fastest for this processor:
// "avx512" where 512-bit instructions pay, "avx2" where there are AVX2 and FMA,
// "neon" on arm64, "portable" elsewhere; GODEBUG=cpu.avx512f=off and
// cpu.avx2=off turn the first two off.
func Kernels() string { return kernels.Name }

// Family names the family of bits that the set in use belongs to:
//
//	fused      every multiply-add rounds once: avx512, avx2, neon
//	portable   every operation rounds
//
// The same seed gives the same bits on all machines whose sets are of one
// family, whatever their processors; results of the two families differ by
// rounding.
func Family() string { return kernels.Family }

// KernelsReason says in a few words why this set is in use.
func KernelsReason() string { return kernel.Reason() }

// UseKernels makes the named kernel set the one in use, in the whole program,
// from then on. It is an error if the set does not run on this processor, or if
// there is none of that name. Nothing may be computed meanwhile: a program calls
// it when it starts.
func UseKernels(name string) error {
	if name == Kernels() || kernel.Use(name, "asked for") {
		return nil
	}
	var run []string
	lacks := "there is no such set for this architecture"
	for _, n := range kernel.Names() {
		if n.Lacks == "" {
			run = append(run, n.Name)
		} else if n.Name == name {
			lacks = n.Lacks
		}
	}
	return fmt.Errorf("mat: kernel set %q: %s; try %s", name, lacks, strings.Join(run, " or "))
}
