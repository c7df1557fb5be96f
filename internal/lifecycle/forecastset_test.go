package lifecycle

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/data"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
)

const (
	hillSensors = 6
	hillDay     = 24 // steps
)

// hill is a series of a few sensors along a hill: a daily rhythm, and weather that
// moves from each to the next.
func hill(steps int) *data.Series {
	rng := random.Stream(3, "hill")
	s := &data.Series{
		Start: time.Date(2024, 5, 6, 0, 0, 0, 0, time.UTC), Interval: time.Hour,
		Steps: steps, Nodes: hillSensors, Known: hillSensors, Features: 1, Values: mat.NewDense(steps*hillSensors, 1, nil),
	}
	weather := make([]float64, hillSensors)
	for i := range hillSensors {
		s.Names = append(s.Names, fmt.Sprintf("mast %d", i))
	}
	for t := range steps {
		for i := hillSensors - 1; i > 0; i-- {
			weather[i] = 0.3*weather[i] + 0.65*weather[i-1] + 0.1*rng.NormFloat64()
		}
		weather[0] = 0.9*weather[0] + 0.5*rng.NormFloat64()
		for i, w := range weather {
			daily := math.Sin(2 * math.Pi * float64(t%hillDay) / hillDay)
			s.Values.Set(t*hillSensors+i, 0, float32(15+float64(i)+4*daily+2*w))
		}
	}
	return s
}

// hillConfig is a small model for the hill, with links learned from the readings.
func hillConfig(t testing.TB, keys string) *config.Config {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "config.yaml")
	text := `
seed: 5
out: run
forecast:
  series: readings.csv
  lags: 4
  horizons: [3, 1]
  correlated: 2
` + keys + `
model:
  wide: {order: 1}
  deep: [{order: 1, features: 8}, {order: 1, features: 8}]
train: {epochs: 6, batch_size: 16, adam: {step_size: 0.01}}
`
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func mustForecasts(t testing.TB, c *config.Config, s *data.Series, truths []float32) *Dataset {
	t.Helper()
	d, err := newForecasts(c, s, truths)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The parts follow each other in time, and nothing of a part lies beyond its end:
// forecasts whose truth does are not judged.
func TestForecastSplit(t *testing.T) {
	fc := &forecasts{series: &data.Series{Steps: 2016}}
	if err := fc.divide(12, []int{3, 6, 12}, config.ForecastSplit{Valid: 0.1, Test: 0.2}); err != nil {
		t.Fatal(err)
	}
	want := []span{{11, 1413, 1413}, {1413, 1613, 1613}, {1613, 2013, 2016}}
	if got := []span{fc.train, fc.valid, fc.test}; !slices.Equal(got, want) {
		t.Errorf("parts %v, want %v: 1402, 200 and 400 forecasts", got, want)
	}
	for split, ends := range map[config.ForecastSplit][2]int{{}: {2016, 2013}, {Valid: 0.1}: {1813, 2016}} {
		if err := fc.divide(12, []int{3}, split); err != nil || fc.train.end != ends[0] || fc.valid.end != ends[1] {
			t.Errorf("split %v: train %v, valid %v (%v), want the last part to end with the series", split, fc.train, fc.valid, err)
		}
	}
	for _, c := range []struct {
		steps, lags, ahead int
		split              config.ForecastSplit
		want               string
	}{
		{10, 12, 3, config.ForecastSplit{}, "a series of 10 steps is too short for 12 lags, 3 steps ahead"},
		{20, 12, 3, config.ForecastSplit{Valid: 0.5}, "3 forecasts are left to train on"},
		{60, 4, 50, config.ForecastSplit{Test: 0.3}, "is too short for 4 lags, 50 steps ahead"},
		{60, 4, 5, config.ForecastSplit{Valid: 0.05, Test: 0.3}, "valid sets 2 steps aside, of which no forecast of 5 steps ahead comes true"},
	} {
		fc := &forecasts{series: &data.Series{Steps: c.steps}}
		if err := fc.divide(c.lags, []int{c.ahead}, c.split); c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%d steps: got %v, want %q", c.steps, err, c.want)
		}
	}
}

// A target is the reading at its horizon in the sensor's own scale; NaN where that is
// missing or beyond the end of the part.
func TestForecastTargets(t *testing.T) {
	s := hill(200)
	nan := float32(math.NaN())
	s.Values.Set(50*hillSensors+2, 0, nan)
	d := mustForecasts(t, hillConfig(t, ""), s, nil)
	fc := d.forecast
	for _, p := range []struct {
		part *Part
		span span
	}{{d.Train, fc.train}, {d.Valid, fc.valid}, {d.Test, fc.test}} {
		if p.part.Samples != p.span.to-p.span.from {
			t.Fatalf("%d samples, want %d", p.part.Samples, p.span.to-p.span.from)
		}
		for step := p.span.from; step < p.span.to; step++ {
			for i := range hillSensors {
				row := (step-p.span.from)*hillSensors + i
				newest := fc.spec.Norms[i].Normal(s.Values.At(step*hillSensors+i, 0))
				if got := p.part.signals.At(row, 0); newest == newest && got != newest {
					t.Fatalf("step %d, sensor %d: input %v, want the reading %v", step, i, got, newest)
				}
				for c, h := range []int{1, 3} {
					want := nan
					if step+h < p.span.end {
						want = fc.spec.Norms[i].Normal(s.Values.At((step+h)*hillSensors+i, 0))
					}
					if got := p.part.Values.At(row, c); got != want && (got == got || want == want) {
						t.Fatalf("step %d, sensor %d, %d ahead: target %v, want %v", step, i, h, got, want)
					}
				}
			}
		}
	}
}

// Where the data decide, a day has as many steps as fit, and days of the week are
// inputs only where training has seen each twice.
func TestForecastCalendar(t *testing.T) {
	for _, c := range []struct {
		keys     string
		steps    int
		interval time.Duration
		season   int
		day      int
		week     bool
	}{
		{"", 200, time.Hour, 24, 24, false},
		{"", 60, time.Hour, 24, 0, false}, // less than two days to train on
		{"", 600, time.Hour, 24, 24, true},
		{"", 600, 2 * time.Hour, 12, 12, true},
		{"  weekday: false\n  time_of_day: false", 600, time.Hour, 24, 0, false},
		{"  weekday: true\n  time_of_day: true", 60, time.Hour, 24, 24, true},
		{"", 200, 0, 0, 0, false},
		{"  season: 12", 200, 0, 12, 12, false},
		{"  season: 48h", 200, time.Hour, 48, 24, false},
		{"", 200, 24 * time.Hour, 7, 7, true},
		{"  season: 0", 200, time.Hour, 0, 24, false},
		{"", 200, 7 * time.Hour, 0, 3, true},
	} {
		s := hill(c.steps)
		if s.Interval = c.interval; c.interval == 0 {
			s.Start = time.Time{}
		}
		spec := mustForecasts(t, hillConfig(t, c.keys), s, nil).forecast.spec
		if spec.Season != c.season || len(spec.Day) != c.day || (spec.Week != nil) != c.week {
			t.Errorf("%d steps of %s, %q: season %d, %d times of day, weekdays %t; want %d, %d, %t",
				c.steps, c.interval, c.keys, spec.Season, len(spec.Day), spec.Week != nil, c.season, c.day, c.week)
		}
	}
}

// Readings that a mask does not call right are inputs and no targets; answers are
// targets in place of readings.
func TestForecastTruths(t *testing.T) {
	s := hill(120)
	truths := make([]float32, s.Steps*hillSensors)
	for k := range truths {
		truths[k] = s.Values.At(k, 0)
		if k%hillSensors == 4 {
			truths[k] = float32(math.NaN()) // nobody knows
		}
	}
	d := mustForecasts(t, hillConfig(t, ""), s, truths)
	for row := range d.Train.Values.Rows {
		if v := d.Train.Values.At(row, 0); row%hillSensors == 4 && v == v {
			t.Fatalf("row %d: a target %v that nobody knows", row, v)
		}
	}
	if got, want := d.Train.signals.At(4, 0), d.forecast.spec.Norms[4].Normal(s.Values.At(3*hillSensors+4, 0)); got != want {
		t.Errorf("the input of a sensor without answers is %v, want its reading %v", got, want)
	}
}

// With sensor loss the training part is there twice: once as it is, and once with
// sensors that are silent for about that share of the time and estimated, while what
// they should forecast stays.
func TestSensorLoss(t *testing.T) {
	s := hill(1000)
	whole := mustForecasts(t, hillConfig(t, ""), s, nil)
	lossy := mustForecasts(t, hillConfig(t, "  sensor_loss: 0.3"), s, nil)
	n := whole.Train.Samples * hillSensors
	if got, want := lossy.Train.Samples, 2*whole.Train.Samples; got != want {
		t.Fatalf("%d samples, want %d", got, want)
	}
	flag, dead := whole.forecast.spec.Flag(), 0
	for row := range n {
		if !slices.Equal(lossy.Train.signals.Row(n+row), whole.Train.signals.Row(row)) {
			t.Fatalf("row %d of the copy that is whole differs", row)
		}
		a, b := lossy.Train.Values.Row(row), whole.Train.Values.Row(row)
		if a[0] != b[0] && (a[0] == a[0] || b[0] == b[0]) {
			t.Fatalf("row %d: the target is %v, want %v", row, a, b)
		}
		if lossy.Train.signals.At(row, flag) == 1 {
			dead++
		}
	}
	if share := float64(dead) / float64(n); share < 0.2 || share > 0.4 {
		t.Errorf("sensors are dead for %.2f of the time, want about 0.3", share)
	}
	if got, want := lossy.Valid.signals.Row(0), whole.Valid.signals.Row(0); !slices.Equal(got, want) {
		t.Errorf("the validation part changes: %v, want %v", got, want)
	}
}

// A horizon that no forecast of the training part reaches cannot be learned.
func TestForecastTooFar(t *testing.T) {
	c := hillConfig(t, "")
	c.Forecast.Horizons = append(c.Forecast.Horizons, "150h")
	if _, err := newForecasts(c, hill(200), nil); err == nil || !strings.Contains(err.Error(), "another 150 steps later") {
		t.Errorf("got %v, want that no step of training has another 150 steps later", err)
	}
}
