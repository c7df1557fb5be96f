package wdgnn

import (
	"os"
	"testing"

	"github.com/wdgnn/wdgnn/mat"
)

// A run that means to test one kernel set names it in WDGNN_KERNELS; this test
// fails if another one is in use, so that the suite with the assembly off is
// not the suite with the assembly on by mistake.
func TestKernelSet(t *testing.T) {
	want := os.Getenv("WDGNN_KERNELS")
	if want == "" {
		t.Logf("kernel set %s; WDGNN_KERNELS names no other", mat.Kernels())
		return
	}
	if got := mat.Kernels(); got != want {
		t.Errorf("kernel set %s, want %s", got, want)
	}
}
