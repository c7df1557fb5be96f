package forecast_test

import (
	"math"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/forecast"
)

var nan = float32(math.NaN())

// spec returns one of two sensors that read around 50 with a deviation of 10, every
// five minutes from Monday 23:50 on.
func spec() *forecast.Spec {
	s := &forecast.Spec{
		Sensors: []string{"a", "b"}, Interval: 5 * time.Minute, Origin: time.Date(2012, 3, 5, 23, 50, 0, 0, time.UTC),
		Lags: 3, Horizons: []int{3},
	}
	for range s.Sensors {
		s.Norms = append(s.Norms, forecast.Norm{
			Mean: 50, Scale: 10, Near: .5, Keep: .8, Alone: .9, Rough: .5, Longest: 3, Low: 20, High: 80, Sigma: []float64{.2},
		})
	}
	return s
}

// Inputs are the last readings, the newest first, and whether the newest is an
// estimate.
func TestRead(t *testing.T) {
	s := spec()
	sensor, row := forecast.NewSensor(s, &s.Norms[0]), make([]float32, s.Inputs())
	for _, c := range []struct {
		step    uint64
		reading float32
		near    float32
		heard   bool
		want    []float32
	}{
		{0, 60, 0, false, []float32{1, 1, 1, 0}},          // before the first reading the world was as it is
		{1, 70, 1, true, []float32{2, 1, 1, 0}},           // neighbours do not matter where there is a reading
		{2, nan, 1, true, []float32{1.7, 2, 1, 1}},        // .8 of the last reading and .2 of half of what is near
		{3, nan, 0, false, []float32{1.62, 1.7, 2, 1}},    // nobody was heard: .9² of the last reading
		{6, 50, 0, false, []float32{0, 1.3122, 1.458, 0}}, // steps 4 and 5 were skipped
		{7, -500, 0, false, []float32{0, 0, 1.3122, 1}},   // far outside what training saw
		{8, 40, 0, false, []float32{-1, 0, 0, 0}},         // and back
	} {
		sensor.Read(row, c.step, []float32{c.reading}, 0, false, c.near, c.heard)
		for k := range row {
			if math.Abs(float64(row[k]-c.want[k])) > 1e-6 {
				t.Errorf("step %d: inputs %v, want %v", c.step, row, c.want)
				break
			}
		}
	}
}
