package clocktest_test

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/wdgnn/wdgnn/internal/clocktest"
)

// Three loops beside leave a quarter of one processor, about.
func TestShare(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var over atomic.Bool
	defer over.Store(true)
	for range 3 {
		go func() {
			for !over.Load() {
			}
		}()
	}
	if share := clocktest.Share(); !(share > 0 && share < 0.5) {
		t.Errorf("got %.2f of a processor beside three loops, want about a quarter of it", share)
	}
}
