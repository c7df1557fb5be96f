package forecast_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/forecast"
)

// A filter's columns that are readings are the first of every block.
func TestLagged(t *testing.T) {
	if got, want := spec().Lagged(1), []int{0, 1, 2, 4, 5, 6}; !slices.Equal(got, want) {
		t.Errorf("columns %v, want %v", got, want)
	}
}

// Steps count from the origin, and only times on the grid are steps.
func TestTime(t *testing.T) {
	s := spec()
	for _, step := range []uint64{0, 1, 2016, 1 << 24} {
		if got, err := s.At(s.Time(step)); err != nil || got != step {
			t.Errorf("step %d comes back as %d, %v", step, got, err)
		}
	}
	if got, err := s.At(s.Origin.In(time.FixedZone("", 3600)).Add(time.Hour)); err != nil || got != 12 {
		t.Errorf("an hour later, in another zone: step %d, %v, want 12", got, err)
	}
	for _, c := range []struct {
		after time.Duration
		want  string
	}{{-time.Minute, "before"}, {time.Minute, "between two steps"}} {
		if _, err := s.At(s.Origin.Add(c.after)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v after the origin: error %v, want %q", c.after, err, c.want)
		}
	}
	if got := s.Time(math.MaxUint64); !got.IsZero() {
		t.Errorf("step 2⁶⁴-1 is at %v, want no time", got)
	}
	s.Interval = 0
	if _, err := s.At(s.Origin); err == nil || !s.Time(3).IsZero() {
		t.Errorf("a series without a clock has times")
	}
}

// Calendar inputs follow the clock of the origin: here from Monday 23:50 on.
func TestCalendar(t *testing.T) {
	s := spec()
	s.Day, s.Week = forecast.Cycle(4), forecast.Weekdays() // quarters of the day
	row := make([]float32, s.Inputs())
	weekday := func() int { return slices.Index(row[6:], 1) }
	for step, want := range map[uint64]struct {
		quarter int
		day     time.Weekday
	}{
		0: {3, time.Monday}, 1: {3, time.Monday}, 2: {0, time.Tuesday}, 74: {1, time.Tuesday}, 2 + 5*288: {0, time.Sunday},
		2 + 288*7*1000: {0, time.Tuesday},
	} {
		forecast.NewSensor(s, &s.Norms[0]).Read(row, step, nil, 0, false, 0, false)
		if quarter := slices.IndexFunc(s.Day, func(r []float32) bool { return slices.Equal(r, row[4:6]) }); quarter != want.quarter ||
			weekday() != int(want.day) {
			t.Errorf("step %d: quarter %d of day %d, want %d of %v", step, quarter, weekday(), want.quarter, want.day)
		}
	}
	s.Interval, s.Week = 7*24*time.Hour, nil // weeks: a table of 4 is one of four weeks
	row = row[:s.Inputs()]
	forecast.NewSensor(s, &s.Norms[0]).Read(row, 6, nil, 0, false, 0, false)
	if !slices.Equal(row[4:], s.Day[2]) {
		t.Errorf("week 6: %v, want row 2 of four, %v", row[4:], s.Day[2])
	}
}

// Extras are the newest values, normalised and bounded; a missing one stays as it was.
func TestExtras(t *testing.T) {
	s := spec()
	s.Extras = 1
	s.Norms[0].ExtraMean, s.Norms[0].ExtraScale = []float64{5}, []float64{2}
	sensor, row := forecast.NewSensor(s, &s.Norms[0]), make([]float32, s.Inputs())
	for k, c := range []struct{ extra, want float32 }{{nan, 0}, {7, 1}, {nan, 1}, {1e9, 10}, {5, 0}} {
		sensor.Read(row, uint64(k), []float32{50, c.extra}, 0, false, 0, false)
		if row[4] != c.want {
			t.Errorf("extra %v is %v, want %v", c.extra, row[4], c.want)
		}
	}
}

// Validate names everything that is wrong.
func TestValidate(t *testing.T) {
	if err := spec().Validate(); err != nil {
		t.Fatal(err)
	}
	for want, damage := range map[string]func(*forecast.Spec){
		"no sensors":                    func(s *forecast.Spec) { s.Sensors, s.Norms = nil, nil },
		"both called \"b\"":             func(s *forecast.Spec) { s.Sensors[0] = "b" },
		"sensor 1 has no name":          func(s *forecast.Spec) { s.Sensors[1] = "" },
		"origin is not set":             func(s *forecast.Spec) { s.Origin = time.Time{} },
		"interval is -5m0s":             func(s *forecast.Spec) { s.Interval *= -1 },
		"lags is 0":                     func(s *forecast.Spec) { s.Lags = 0 },
		"0 horizons":                    func(s *forecast.Spec) { s.Horizons = nil },
		"ascending":                     func(s *forecast.Spec) { s.Horizons = []int{3, 3} },
		"season -1":                     func(s *forecast.Spec) { s.Season = -1 },
		"row 1 of day has 1 inputs":     func(s *forecast.Spec) { s.Day = [][]float32{{0, 1}, {0}} },
		"row 0 of day has NaN":          func(s *forecast.Spec) { s.Day = [][]float32{{nan}} },
		"week has 2 rows":               func(s *forecast.Spec) { s.Week = [][]float32{{0}, {1}} },
		"days of the week need a clock": func(s *forecast.Spec) { s.Interval, s.Week = 0, forecast.Weekdays() },
		"2 sensors and 1 norms":         func(s *forecast.Spec) { s.Norms = s.Norms[:1] },
		`sensor "a": scale is 0`:        func(s *forecast.Spec) { s.Norms[0].Scale = 0 },
		"keep is 2":                     func(s *forecast.Spec) { s.Norms[0].Keep = 2 },
		"mean is NaN":                   func(s *forecast.Spec) { s.Norms[0].Mean = math.NaN() },
		"1 sigmas for 2 horizons":       func(s *forecast.Spec) { s.Horizons = []int{1, 2} },
		"0 means and 0 scales":          func(s *forecast.Spec) { s.Extras = 1 },
		"readings from 90 to 80":        func(s *forecast.Spec) { s.Norms[1].Low = 90 },
	} {
		s := spec()
		damage(s)
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}

// Errors of a trained model that were small for the network, or never seen, are
// raised.
func TestSetSigma(t *testing.T) {
	s := spec()
	s.SetSigma(0, []float64{.01, .39})
	if got := []float64{s.Norms[0].Sigma[0], s.Norms[1].Sigma[0]}; math.Abs(got[0]-.06) > 1e-15 || got[1] != .39 {
		t.Errorf("got %v, want .3 of the mean, .06, and .39", got)
	}
	s.SetSigma(0, []float64{math.NaN(), .4})
	if got := s.Norms[0].Sigma[0]; got != .4 {
		t.Errorf("an error that nobody knows is %v, want the mean, .4", got)
	}
}
