package mat_test

import (
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/mat"
)

// A kernel set can be named; one that does not run here is refused in words
// that say what does, and nothing changes.
func TestUseKernels(t *testing.T) {
	before := mat.Kernels()
	defer mat.UseKernels(before)
	if mat.KernelsReason() == "" {
		t.Errorf("no reason for %s", before)
	}
	if err := mat.UseKernels("portable"); err != nil || mat.Kernels() != "portable" {
		t.Errorf("got %s and %v, want portable, which runs everywhere", mat.Kernels(), err)
	}
	err := mat.UseKernels("sse")
	if err == nil || !strings.Contains(err.Error(), `"sse": there is no such set`) || !strings.Contains(err.Error(), "portable") {
		t.Errorf("got %v, want words about a set that there is not, and which there are", err)
	}
	if mat.Kernels() != "portable" {
		t.Errorf("got %s after a set was refused, want portable still", mat.Kernels())
	}
}
