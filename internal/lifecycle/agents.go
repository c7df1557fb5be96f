package lifecycle

import (
	"math"
	"time"

	"github.com/wdgnn/wdgnn/mat"
)

// Reading returns what sensors read at a row of a stream of readings, N×(1+extras) in
// the user's units and NaN where something is missing, with the step of the model's
// clock, and what the truth was, nil if readings are their own.
func (s *Stream) Reading(row int) (step uint64, values mat.Dense, truths []float32) {
	r := s.sensors
	if r.told != nil {
		truths = r.told[row*r.series.Nodes : (row+1)*r.series.Nodes]
	}
	return r.step(row), r.series.Step(row), truths
}

// Names returns those of the sensors of a stream of readings; nil of other streams.
func (s *Stream) Names() []string {
	if s.sensors == nil {
		return nil
	}
	return s.sensors.series.Names
}

// Horizons returns how far ahead the model forecasts, in words and in steps; nil if it
// does not.
func (r *OnlineRun) Horizons() (words []string, steps []int) {
	s := r.Stream.sensors
	if s == nil {
		return nil, nil
	}
	for _, h := range s.spec.Horizons {
		words, steps = append(words, ahead(s.spec, h)), append(steps, h)
	}
	return words, steps
}

// Clock returns when the first row of a stream of readings was, and how long a step is;
// false of streams without a clock.
func (s *Stream) Clock() (start time.Time, every time.Duration, ok bool) {
	if s.sensors == nil || s.sensors.spec.Interval == 0 {
		return start, 0, false
	}
	return s.sensors.spec.Time(s.sensors.step(0)), s.sensors.spec.Interval, true
}

// Notes says what was done to the files of a stream of readings.
func (s *Stream) Notes() []string {
	if s.sensors == nil {
		return nil
	}
	return s.sensors.notes
}

// ErrorsAt returns the mean absolute error of forecasts whose truth became known at a
// row, all horizons together, in the user's units: of those given, steps×N×C, and of
// the model's as trained. It is false if none did. The run was played beyond the row.
func (r *OnlineRun) ErrorsAt(row int, given []float32) (own, trained float64, judged bool) {
	s, n, outputs, count := r.Stream.sensors, r.Stream.Nodes, r.y.Cols, 0
	for c, h := range s.spec.Horizons {
		if row < h {
			continue
		}
		for i := range n {
			v, at := float64(s.truth[row*n+i]), ((row-h)*n+i)*outputs+c
			a, b := float64(given[at]), float64(r.Compared[at*compared+comparedFrozen])
			if v-v == 0 && a-a == 0 && b-b == 0 {
				own, trained, count = own+math.Abs(a-v), trained+math.Abs(b-v), count+1
			}
		}
	}
	return own / float64(max(count, 1)), trained / float64(max(count, 1)), count > 0
}

// Judged returns how forecasts turned out that somebody else made at the steps that
// were played, steps×N×C in the user's units, in the place of the run's own.
func (r *OnlineRun) Judged(given []float32) *ForecastResult {
	own, sure := r.Predictions, r.sure
	defer func() { r.Predictions, r.sure = own, sure }()
	r.Predictions, r.sure = given, nil // nothing is known of their intervals
	return r.forecastResult()
}
