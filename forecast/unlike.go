package forecast

import (
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/mat"
)

// farMean is how many scales a sensor's mean reading may be from that of training.
const farMean = 2.5

// Unlike compares a series, (T·N)×(1+Extras) with N at least the number of sensors,
// with that of training, and says in words if the mean reading of most sensors is
// outside what training saw, or far from its mean: other units, or another season of
// the year. It returns "" if not.
func (s *Spec) Unlike(readings mat.Dense, nodes int) string {
	var all, trained moments
	unlike, sensors := 0, 0
	for i := range min(nodes, len(s.Norms)) {
		var own moments
		for r := i; r < readings.Rows; r += nodes {
			if v := readings.Row(r)[0]; s.present(v) {
				own.add(float64(v))
			}
		}
		if own.count == 0 {
			continue
		}
		n, mean := &s.Norms[i], own.mean()
		usual := n.Mean + float64(n.Level*n.Scale)
		if mean < n.Low || mean > n.High || math.Abs(mean-usual) > farMean*n.Scale {
			unlike++
		}
		sensors++
		all.add(mean)
		trained.add(usual)
	}
	if 2*unlike <= sensors {
		return ""
	}
	in := "the same unit"
	if s.Unit != "" {
		in = s.Unit
	}
	return fmt.Sprintf("readings of %d of %d sensors are unlike those of training: their mean is %.4g, it was %.4g; are they in %s?",
		unlike, sensors, all.mean(), trained.mean(), in)
}
