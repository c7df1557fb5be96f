package live

import (
	"fmt"
	"math"
)

// maxTaps bounds the cells of Frame.Taps, nodes times columns.
const maxTaps = 1 << 16

// TapColumn is one tap that every node has.
type TapColumn struct {
	Name  string `json:"name"`  // such as "community 2"
	Group string `json:"group"` // columns of one group stand together, such as "hop 1"
}

// Taps are the taps of all nodes at once, coarse enough to be sent many times: a
// byte per tap, node by node, each a whole number of steps,
//
//	tap of node i and column k = Step · int8(Cells[i·columns + k])
//
// -127 to 127; -128 is a node that has none. JSON has the bytes in base64.
type Taps struct {
	Learner int     `json:"learner"` // of the scene, whose taps they are
	Step    float64 `json:"step"`
	Cells   []byte  `json:"cells"`
}

// noTap is the cell of a node without taps.
const noTap = -128

// NewTaps rounds values, node by node, to steps of a 127th of most; what is larger is
// cut to it. NaN means none.
func NewTaps(learner int, values []float64, most float64) *Taps {
	t := &Taps{Learner: learner, Step: most / 127, Cells: make([]byte, len(values))}
	for k, v := range values {
		level := int8(noTap)
		if !math.IsNaN(v) {
			level = 0
			if t.Step > 0 {
				level = int8(math.Round(max(-127, min(127, v/t.Step))))
			}
		}
		t.Cells[k] = byte(level)
	}
	return t
}

// checkTaps reports taps that do not fit the scene.
func (s *Scene) checkTaps(t *Taps) error {
	switch want := len(s.Nodes) * len(s.Taps); {
	case t == nil:
		return nil
	case len(t.Cells) != want:
		return fmt.Errorf("live: frame: %d taps, the scene has %d nodes with %d each", len(t.Cells), len(s.Nodes), len(s.Taps))
	case !within(t.Learner, len(s.Learners)):
		return fmt.Errorf("live: frame: taps of learner %d, there are %d", t.Learner, len(s.Learners))
	case !(t.Step >= 0) || math.IsInf(t.Step, 0):
		return fmt.Errorf("live: frame: taps in steps of %v, want a number that is finite and not negative", t.Step)
	}
	return nil
}
