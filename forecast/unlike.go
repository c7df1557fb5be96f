package forecast

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/mat"
)

// ErrUnits says that readings cannot be what a model was trained on.
var ErrUnits = errors.New("far outside what training saw")

// A reading is out of range if it lies beyond what training saw by more than this
// share of the distance between the ends. Miles read as kilometres are; a summer
// after a mild spring is not.
const beyondRange = 0.25

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
// with that of training. It returns nil if they are alike. It returns [ErrUnits] if more
// than half of the sensors have more than half of their readings out of range: whoever
// reads the series refuses it then, unless the user says that it is right. Other errors
// are notes for the user: the mean reading of most sensors is outside what training saw,
// or far from its mean, or nearly all sensors read the same multiple of what they read
// then. These are other units, or another season of the year.
func (s *Spec) Unlike(readings mat.Dense, nodes int) error {
	var all, trained moments
	var ratios, seen, usually []float64 // the latter two are medians and means of sensors that are out
	unlike, sensors := 0, 0
	for i := range min(nodes, len(s.Norms)) {
		var own moments
		var values []float64
		for r := i; r < readings.Rows; r += nodes {
			if v := readings.Row(r)[0]; s.present(v) {
				own.add(float64(v))
				values = append(values, float64(v))
			}
		}
		if own.count == 0 {
			continue
		}
		n, mean := &s.Norms[i], own.mean()
		if n.outside(values) {
			slices.Sort(values)
			seen, usually = append(seen, values[len(values)/2]), append(usually, n.Mean)
		}
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
	if 2*len(seen) > sensors {
		return s.otherUnits(seen, usually, sensors)
	}
	if 2*unlike > sensors {
		in := "the same unit"
		if s.Unit != "" {
			in = s.Unit
		}
		return fmt.Errorf("readings of %d of %d sensors are unlike those of training: their mean is %.4g, it was %.4g; are they in %s?",
			unlike, sensors, all.mean(), trained.mean(), in)
	}
	if times, ok := multiple(ratios); ok && readings.Rows/nodes >= max(s.Season, 4*s.Lags) {
		unit := "units"
		if s.Unit != "" {
			unit = "units than " + s.Unit
		}
		return fmt.Errorf("nearly all sensors read %.3g times what they read in training: are these other %s?", times, unit)
	}
	return nil
}

// outside says whether more than half of the readings are out of range.
func (n *Norm) outside(readings []float64) bool {
	room, out := float64(beyondRange*max(n.High-n.Low, n.Scale)), 0
	for _, v := range readings {
		if v < n.Low-room || v > n.High+room {
			out++
		}
	}
	return 2*out > len(readings)
}

// otherUnits says what sensors that are out of range read, and what they read in
// training.
func (s *Spec) otherUnits(seen, usually []float64, sensors int) error {
	out := len(seen)
	slices.Sort(seen)
	slices.Sort(usually)
	now, then := seen[out/2], usually[out/2]
	unit, factor := "", ""
	if s.Unit != "" {
		unit = " " + s.Unit
	}
	if then != 0 && now/then > 0 {
		factor = fmt.Sprintf(" (%.3g times as much)", now/then)
	}
	return fmt.Errorf("the readings of %d of %d sensors are %w: usually %.4g, in training %.4g%s%s; "+
		"are they in other units, or of something else?", out, sensors, ErrUnits, now, then, unit, factor)
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
