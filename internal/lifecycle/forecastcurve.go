package lifecycle

import (
	"fmt"
	"math"
	"time"

	"github.com/wdgnn/wdgnn/forecast"
)

// ForecastCurve is what was forecast of one sensor over the last part of a stream, at
// one horizon, and what came true. Points are by the time that is forecast.
type ForecastCurve struct {
	Sensor, Ahead, Unit string
	Axis                string         // what X is
	X, Forecast, Truth  []float64      // NaN where nothing is known
	Low, High           []float64      // of the intervals; nil without
	FrozenMAE           float64        // of the whole stream
	Score               forecast.Score // of the sensor
	Asked               float64        // coverage
	Of                  int            // sensors
	Untold              int            // points without a truth
}

// mostPoints is how many steps of a stream a curve shows, unless a season is longer.
const mostPoints = 300

// Curves returns those of the sensor whose error is the median of all, and of the one
// that errs most, at the middle one of the horizons; false if the model does not
// forecast or nothing came true.
func (r *OnlineRun) Curves() (typical, worst *ForecastCurve, ok bool) {
	if r.Stream.sensors == nil {
		return nil, nil, false
	}
	c := (len(r.Stream.sensors.spec.Horizons) - 1) / 2
	learned, frozen := answering(r.methods())
	ranked := learned.Ranking(c)
	if len(ranked) == 0 {
		return nil, nil, false
	}
	curve := func(i int) *ForecastCurve {
		f := r.curve(i, c)
		f.Score, f.FrozenMAE = learned.Sensor(c, i), frozen.Sensor(c, i).MAE
		f.Of = r.Stream.Nodes
		return f
	}
	return curve(ranked[len(ranked)/2]), curve(ranked[len(ranked)-1]), true
}

// curve returns that of sensor i at horizon c.
func (r *OnlineRun) curve(i, c int) *ForecastCurve {
	s, n, outputs := r.Stream.sensors, r.Stream.Nodes, r.y.Cols
	h := s.spec.Horizons[c]
	f := &ForecastCurve{Sensor: s.series.Names[i], Ahead: ahead(s.spec, h), Unit: s.spec.Unit, Axis: "Step"}
	from := max(h, r.State.At-max(mostPoints, s.spec.Season))
	per := 0.0
	if s.spec.Interval > 0 {
		unit := time.Hour
		if s.spec.Interval*time.Duration(r.State.At-from) > 14*24*time.Hour {
			unit = 24 * time.Hour
		}
		per = float64(s.spec.Interval) / float64(unit)
		f.Axis = fmt.Sprintf("%s since %s", map[time.Duration]string{time.Hour: "Hours", 24 * time.Hour: "Days"}[unit], s.clock(s.step(from)))
	}
	if r.saysSets() {
		f.Asked = r.Coverage()
	}
	for t := from; t < r.State.At; t++ {
		x := float64(s.step(t))
		if per > 0 {
			x = float64(t-from) * per
		}
		at := ((t-h)*n+i)*outputs + c
		f.X, f.Forecast, f.Truth = append(f.X, x), append(f.Forecast, finite(r.Predictions[at])), append(f.Truth, finite(s.truth[t*n+i]))
		if v := s.truth[t*n+i]; v-v != 0 {
			f.Untold++
		}
		if r.saysSets() {
			low, high := finite(r.Sets[2*at]), finite(r.Sets[2*at+1])
			f.Low, f.High = append(f.Low, low), append(f.High, high)
		}
	}
	return f
}

// finite returns v, NaN if it is infinite.
func finite(v float32) float64 {
	if v-v != 0 {
		return math.NaN()
	}
	return float64(v)
}
