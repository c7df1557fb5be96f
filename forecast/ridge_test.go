package forecast_test

import (
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/mat"
)

// Of a series that follows a line in its lags, the fit finds it.
func TestRidgeFindsTheLine(t *testing.T) {
	const steps = 4000
	readings := mat.NewDense(steps, 1, nil)
	a, b, noise := 0.0, 0.0, 0.5
	for k := range steps { // x ← .6 x' + .3 x'' + noise, of a generator that everybody has
		noise = math.Mod(noise*997+.1234, 1)
		a, b = .6*a+.3*b+noise-.5, a
		readings.Data[k] = float32(a)
	}
	s, err := forecast.Fit(forecast.Spec{Sensors: []string{"a"}, Lags: 2, Horizons: []int{1, 2}}, readings, nil, forecast.ScalePerSensor)
	if err != nil {
		t.Fatal(err)
	}
	r, err := forecast.FitRidge(s, readings, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range []float64{.6, .3, 0, .66, .18, 0} { // two steps: .6² + .3 and .6·.3
		if got := r.Weights[k]; math.Abs(got-want) > .05 {
			t.Errorf("weight %d is %.3f, want about %v", k, got, want)
		}
	}
	row := []float32{1, 2, 0}
	if got, want := r.Forecast(0, 0, row), r.Forecast(7, 0, row); got != want {
		t.Errorf("a newcomer gets %v, want the mean sensor's %v", want, got)
	}
	if _, err := forecast.NewRidge(2, 2, r.Weights[1:]); err == nil {
		t.Error("weights of another shape are taken, want an error")
	}
}
