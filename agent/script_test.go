package agent_test

import (
	"testing"

	"github.com/wdgnn/wdgnn/internal/script"
)

// The scripts in testdata say what happens to a small network, and what its
// agents then do, number by number; package script says how they are read.
// "nodes" comes first and describes network and model; commands lists the rest. A
// trace holds, in order,
//
//	0->all row t=0 e=0 links=1 degree=1 (1; 0 0)   what was sent: row; parameters
//	1 waits for 2, e=0                             neighbours whose rows are missing
//	1 ahead 7                                      others are at step 7
//	1 predicts (12)
//	1 done (-4.8 -2.4)                             the update is in place: parameters
//	1 refuses: …                                   the event changed nothing
//
// Predictions are easy to read: tap k of the filter is 10ᵏ, so a prediction is
// x_i + 10 (Sx)_i + 100 (S²x)_i … before the node has learned.
func TestScripts(t *testing.T) {
	script.Run(t, "testdata/*.txt", func() script.Command { return new(scriptNet).run })
}
