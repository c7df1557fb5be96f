package flocking

import (
	"testing"

	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
)

// Realizations that earlier versions stored are found again: what they depend on
// has the same fingerprint.
func TestKeys(t *testing.T) {
	s := From(study.Options{Seed: 12})
	for want, of := range map[string]any{"2b461a8a3e0182de": table2Rows(&s), "8329af2ceac04db7": table3Rows(&s)} {
		if got := study.Fingerprint(of); got != want {
			t.Errorf("got key %s, want %s", got, want)
		}
	}
}
