//go:build defects

package sim

import (
	"testing"

	"github.com/wdgnn/wdgnn/internal/defect"
)

// A mistake that was once made, put back, is found within a thousand seeds.
func TestDefectIsFound(t *testing.T) {
	for seed := range uint64(1000) {
		trial, err := Draw(seed)
		if err != nil {
			t.Fatal(err)
		}
		o, err := trial.Run(nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(o.Broken) > 0 {
			t.Logf("defect %d: seed %d: %s", defect.Number, seed, o.Broken[0])
			return
		}
	}
	t.Errorf("defect %d is not found in 1000 seeds", defect.Number)
}
