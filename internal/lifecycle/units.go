package lifecycle

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/internal/data"
)

// A reading is out of range if it lies beyond what training saw by more than this
// share of the distance between the ends. Miles read as kilometres are; a summer
// after a mild spring is not.
const beyondRange = 0.25

// ErrUnits says that readings cannot be what a model was trained on.
var ErrUnits = errors.New("far outside what training saw")

// strange says that a series cannot be what the model was trained on: more than half
// of the sensors have more than half of their readings out of range. It is nil if
// they can be.
func strange(spec *forecast.Spec, s *data.Series) error {
	var out, judged int
	var seen, trained []float64 // medians of sensors that are out, and of what training saw
	for i := range min(len(spec.Norms), s.Nodes) {
		values := column(s, i)
		if len(values) == 0 {
			continue
		}
		judged++
		n := &spec.Norms[i]
		room := beyondRange * max(n.High-n.Low, n.Scale)
		beyond := 0
		for _, v := range values {
			if v < n.Low-room || v > n.High+room {
				beyond++
			}
		}
		if 2*beyond > len(values) {
			out++
			seen, trained = append(seen, median(values)), append(trained, n.Mean)
		}
	}
	if 2*out <= judged {
		return nil
	}
	unit := spec.Unit
	if unit != "" {
		unit = " " + unit
	}
	return fmt.Errorf("the readings of %d of %d sensors are %w: usually %.4g, in training %.4g%s%s; "+
		"are they in other units, or of something else?",
		out, judged, ErrUnits, median(seen), median(trained), unit, factor(median(seen), median(trained)))
}

// factor says by what the readings differ, if that is a plain number.
func factor(seen, trained float64) string {
	if trained == 0 || seen/trained <= 0 {
		return ""
	}
	return fmt.Sprintf(" (%.3g times as much)", seen/trained)
}

// column returns the readings of a sensor that are there.
func column(s *data.Series, i int) (values []float64) {
	for t := range s.Steps {
		if v := float64(s.Step(t).Row(i)[0]); v-v == 0 {
			values = append(values, v)
		}
	}
	return values
}

// median returns the middle one; NaN if there is none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	v := slices.Clone(values)
	slices.Sort(v)
	return v[len(v)/2]
}
