package rule

import (
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/mat"
)

// Comparison sets what answers cost beside what those of the model as trained
// would have cost on the same steps. It is how every program tells whether
// online learning does harm.
//
// A cost that rises proves nothing by itself, for the world may have become
// harder. The model as trained meets the same world, its answers y† are computed
// anyway, and nothing that was learned touches them.
type Comparison struct {
	Steps   int     `json:"steps"`   // that the means are taken over, the latest that were judged
	Learned float64 `json:"learned"` // mean cost of the answers that were given
	Frozen  float64 `json:"frozen"`  // mean cost of those of the model as trained
	Usual   float64 `json:"usual"`   // mean of Frozen over all steps that were judged, not only the latest
}

const (
	harm  = 0.5  // a cost this share above that of the model as trained is worth a word
	trace = 0.01 // but not if both costs are that small against the usual one
)

// Harmful says whether the answers cost more than 1.5 times as much as those of
// the model as trained. Where the model as trained makes no mistakes at the end,
// so that any is more than 1.5 times as much, a hundredth of what it usually pays
// does not count. Answers that are not finite do harm; where those of the model
// as trained are not, or none were judged, there is nothing to compare with.
func (c Comparison) Harmful() bool {
	switch {
	case c.Steps == 0 || !mat.Finite(c.Frozen):
		return false
	case !mat.Finite(c.Learned):
		return true
	}
	more := c.Learned - c.Frozen
	return more > harm*math.Abs(c.Frozen) && more > trace*math.Abs(c.Usual)
}

// String says what is compared in one sentence.
func (c Comparison) String() string {
	steps := "the last step"
	if c.Steps != 1 {
		steps = fmt.Sprintf("the last %d steps", c.Steps)
	}
	return fmt.Sprintf("the answers of %s cost %.4g, those of the model as trained %.4g", steps, c.Learned, c.Frozen)
}
