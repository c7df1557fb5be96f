package forecast_test

import (
	"math"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/mat"
)

// odd is a series of six sensors: one with a rhythm, one that follows it a step later,
// one that stands still, one that never reads, one that read twice, one in other units.
func odd(steps int) mat.Dense {
	x := mat.NewDense(steps*6, 1, nil)
	for k := range steps {
		wave := func(k int) float32 { return float32(10 * math.Sin(float64(k)/7)) }
		copy(x.Data[k*6:], []float32{50 + wave(k), 50 + wave(k-1), 33, nan, nan, 1e6 * (1 + wave(3*k))})
	}
	x.Data[6*7+4], x.Data[6*9+4] = 41, 43
	return x
}

var oddSensors = forecast.Spec{Sensors: []string{"wave", "follows", "still", "silent", "rare", "large"}, Lags: 2, Horizons: []int{1}}

// line links every sensor to the next one.
func line(t testing.TB, n int) *mat.CSR {
	t.Helper()
	var entries []mat.Entry
	for i := range n - 1 {
		entries = append(entries, mat.Entry{Row: i, Col: i + 1, Val: .5}, mat.Entry{Row: i + 1, Col: i, Val: .5})
	}
	a, err := mat.FromEntries(n, n, entries)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Every sensor has a mean and a scale that can be divided by, whatever it read.
func TestFitOddSensors(t *testing.T) {
	for _, scaling := range []forecast.Scaling{forecast.ScalePerSensor, forecast.ScaleCommon} {
		s, err := forecast.Fit(oddSensors, odd(500), line(t, 6), scaling)
		if err != nil {
			t.Fatal(err)
		}
		if s.Steps != 500 {
			t.Errorf("%d steps, want 500", s.Steps)
		}
		network, rows := forecast.NewNetwork(s, 6), mat.NewDense(6, s.Inputs(), nil)
		for k := range 500 {
			network.Read(rows, uint64(k), odd(500).View(6*k, 0, 6, 1), nil, line(t, 6))
			for _, x := range rows.Data {
				if !(math.Abs(float64(x)) < 100) {
					t.Fatalf("%s: step %d: inputs %v", scaling, k, rows.Data)
				}
			}
			if k < 400 {
				continue
			}
			for i := range 6 {
				if why, _ := network.Sensor(i).Broken(); why != "" {
					t.Errorf("%s: step %d of training itself: sensor %s is broken: %s", scaling, k, s.Sensors[i], why)
				}
			}
		}
	}
}

// Means and scales are those of the readings, of each sensor or of all.
func TestFitScales(t *testing.T) {
	x := mat.NewDense(200, 1, nil)
	for k := range 100 {
		sign := float32(k%2*2 - 1)
		x.Data[2*k], x.Data[2*k+1] = 10+sign, 30+3*sign
	}
	s := forecast.Spec{Sensors: []string{"a", "b"}, Lags: 1, Horizons: []int{1}}
	own, err := forecast.Fit(s, x, nil, forecast.ScalePerSensor)
	if err != nil {
		t.Fatal(err)
	}
	if n := own.Norms; n[0].Mean != 10 || n[0].Scale != 1 || n[1].Mean != 30 || n[1].Scale != 3 || n[1].Level != 0 {
		t.Errorf("per sensor: got %+v, want 10 ± 1 and 30 ± 3", n)
	}
	common, err := forecast.Fit(s, x, nil, forecast.ScaleCommon)
	if err != nil {
		t.Fatal(err)
	}
	if n := common.Norms; n[0].Mean != 20 || n[0].Scale != math.Sqrt(105) || n[1].Mean != 20 || math.Abs(n[1].Level-10/math.Sqrt(105)) > 1e-6 {
		t.Errorf("common: got %+v, want 20 ± √105 for both, sensor b about 10/√105", n)
	}
	if _, err := forecast.Fit(s, x, nil, "deviation"); err == nil || !strings.Contains(err.Error(), "deviation") {
		t.Errorf("an unknown scaling: %v, want an error", err)
	}
	for k := range x.Data {
		x.Data[k] = nan
	}
	if _, err := forecast.Fit(s, x, nil, forecast.ScaleCommon); err == nil || !strings.Contains(err.Error(), "no reading") {
		t.Errorf("a series without a reading: %v, want an error", err)
	}
}

// A sensor that does what its neighbour did a step before leans on it; one that nobody
// resembles leans on itself.
func TestFitEstimates(t *testing.T) {
	s, err := forecast.Fit(oddSensors, odd(2000), line(t, 6), forecast.ScalePerSensor)
	if err != nil {
		t.Fatal(err)
	}
	if n := s.Norms[1]; n.Near < .9 {
		t.Errorf("β of the one that follows is %v, want about 1", n.Near)
	}
	if n := s.Norms[5]; math.Abs(n.Near) > 1e-3 {
		t.Errorf("β of a sensor whose neighbour hardly reads is %v, want about 0", n.Near)
	}
}
