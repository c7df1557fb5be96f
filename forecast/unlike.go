package forecast

import (
	"fmt"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/mat"
)

// farMean is how many scales a sensor's mean reading may be from that of training.
const farMean = 2.5

// Readings are another multiple of those of training if the middle half of the sensors
// agree on it that closely, and it is that far from 1.
const (
	sameMultiple  = 0.05
	otherMultiple = 0.15
	leastSensors  = 4
)

// Unlike compares a series, (T·N)×(1+Extras) with N at least the number of sensors,
// with that of training, and says in words if the mean reading of most sensors is
// outside what training saw, or far from its mean, or if nearly all sensors read the same
// multiple of what they read then: other units, or another season of the year. It
// returns "" if not.
func (s *Spec) Unlike(readings mat.Dense, nodes int) string {
	var all, trained moments
	var ratios []float64
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
		if math.Abs(n.Mean) > n.Scale {
			ratios = append(ratios, mean/n.Mean)
		}
		sensors++
		all.add(mean)
		trained.add(usual)
	}
	if 2*unlike > sensors {
		in := "the same unit"
		if s.Unit != "" {
			in = s.Unit
		}
		return fmt.Sprintf("readings of %d of %d sensors are unlike those of training: their mean is %.4g, it was %.4g; are they in %s?",
			unlike, sensors, all.mean(), trained.mean(), in)
	}
	if times, ok := multiple(ratios); ok && readings.Rows/nodes >= max(s.Season, 4*s.Lags) {
		unit := "units"
		if s.Unit != "" {
			unit = "units than " + s.Unit
		}
		return fmt.Sprintf("nearly all sensors read %.3g times what they read in training: are these other %s?", times, unit)
	}
	return ""
}

// multiple returns the ratio that nearly all sensors agree on, if it is not about 1.
func multiple(ratios []float64) (times float64, ok bool) {
	n := len(ratios)
	if n < leastSensors {
		return 0, false
	}
	slices.Sort(ratios)
	times = ratios[n/2]
	return times, math.Abs(times-1) >= otherMultiple && ratios[3*n/4]-ratios[n/4] <= sameMultiple*math.Abs(times)
}
