package forecast_test

import (
	"errors"
	"testing"

	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/mat"
)

// Sensors that read a multiple of what they did in training are noticed if they agree on
// it, and refused where readings are out of range.
func TestUnlike(t *testing.T) {
	for _, c := range []struct {
		what  string
		times []float32 // by sensor
		steps int
		want  string // said, "" if nothing
	}{
		{"as in training", []float32{1, 1, 1, 1}, 4, ""},
		{"a little more", []float32{1.125, 1.125, 1.125, 1.125}, 4, ""},
		{"half", []float32{.5, .5, .5, .5}, 4, "0.5"},
		{"nothing", []float32{0, 0, 0, 0}, 4, "0"},
		{"turned round", []float32{-.25, -.25, -.25, -.25}, 4, "-0.25"},
		{"too few sensors", []float32{.5, .5, .5}, 4, ""},
		{"too few readings", []float32{.5, .5, .5, .5}, 3, ""},
		{"the middle half agrees", []float32{.25, .5, .5, .5, .5, .5, .5, 1.5}, 4, "0.5"},
		{"it does not", []float32{.5, .25, .5, .5, .5, .5, 1.5, 1.5}, 4, ""},
		{"apart by more than a twentieth of it", []float32{.5, .5, .53, .53}, 4, ""},
		{"apart by less", []float32{2, 2, 2.0625, 2.0625}, 4, "2.06"},
		{"out of range", []float32{4, 4, 4, 1}, 4, "refused"},
		{"half of them", []float32{4, 4, 1, 1}, 4, ""},
	} {
		n := len(c.times)
		s := &forecast.Spec{Unit: "mph", Lags: 1, Season: 4}
		readings := mat.NewDense(c.steps*n, 1, nil)
		for i, times := range c.times {
			s.Norms = append(s.Norms, forecast.Norm{Mean: 100, Scale: 90, Low: -50, High: 250})
			for k := range c.steps {
				readings.Set(k*n+i, 0, 100*times)
			}
		}
		got, err := "", s.Unlike(readings, n)
		switch {
		case errors.Is(err, forecast.ErrUnits):
			got = "refused"
		case err != nil:
			got = err.Error()
		}
		want := c.want
		if want != "" && want != "refused" {
			want = "nearly all sensors read " + want + " times what they read in training: are these other units than mph?"
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", c.what, got, want)
		}
	}
}
