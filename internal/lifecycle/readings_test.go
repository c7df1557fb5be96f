package lifecycle

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/data"
)

// scaled returns a copy of a series in other units.
func scaled(s *data.Series, by, plus float32) *data.Series {
	other := *s
	other.Values = s.Values.Clone()
	for k := range other.Values.Rows {
		other.Values.Set(k, 0, by*s.Values.At(k, 0)+plus)
	}
	return &other
}

// Readings in other units are refused where they lie outside what training saw, and
// said where they do not; those of another day are neither.
func TestStrangeUnits(t *testing.T) {
	m := hillModel(t, hillConfig(t, "  unit: °C"))
	spec, err := m.Forecast()
	if err != nil {
		t.Fatal(err)
	}
	s := hill(hillBefore + hillStream)
	stream := s.Part(hillBefore, s.Steps)
	for _, c := range []struct {
		what    string
		series  *data.Series
		refused bool
		said    string
	}{
		{"as it was", stream, false, ""},
		{"Fahrenheit", scaled(stream, 1.8, 32), true, "are they in other units"},
		{"tenths", scaled(stream, 10, 0), true, "11.2 times as much"},
		{"halves", scaled(stream, 0.5, 0), false, "are they in °C?"},
		{"three quarters", scaled(stream, 0.75, 0), false, "nearly all sensors read 0.841 times"}, // the days are warmer than those of training,
		{"a warm day", scaled(stream, 1, 2), false, ""},
	} {
		err := spec.Unlike(c.series.Values, c.series.Nodes)
		said := fmt.Sprint(err)
		if errors.Is(err, forecast.ErrUnits) != c.refused || (err == nil) != (c.said == "") || err != nil && !strings.Contains(said, c.said) {
			t.Errorf("%s: got %v, want %q, refused %v", c.what, err, c.said, c.refused)
		}
	}
}

// A model that does not learn says what the model as trained says, with intervals that
// hold the truth about as often as they are to.
func TestForecastFrozen(t *testing.T) {
	m := hillModel(t, hillConfig(t, ""))
	s := hill(hillBefore + 3*hillStream)
	path := filepath.Join(t.TempDir(), "new.csv")
	writeTable(t, path, s)
	r, err := NewForecastRun(m, SeriesFiles{Series: path}, true, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	mustPlay(t, r)
	for k, v := range r.Predictions {
		if got := r.Compared[k*compared+comparedFrozen]; math.Float32bits(v) != math.Float32bits(got) {
			t.Fatalf("forecast %d: got %v, as trained %v", k, v, got)
		}
	}
	f := r.forecastResult()
	if n := len(f.Horizons[0].Methods); f.Horizons[0].Methods[n-1].Name != MethodFrozen {
		t.Errorf("got methods %v, want frozen last", f.Horizons[0].Methods)
	}
	for h := range f.Horizons {
		if got := f.Horizons[h].Method(MethodFrozen).Coverage; got < 0.8 || got > 0.98 {
			t.Errorf("%s ahead: got a coverage of %v, want about 0.9", f.Horizons[h].Ahead, got)
		}
	}
}

// A series without times goes on where the model stopped, and its steps are numbers.
func TestForecastWithoutClock(t *testing.T) {
	c := hillConfig(t, "  season: 24")
	s := hill(hillBefore + hillStream)
	s.Interval, s.Start = 0, time.Time{}
	m, err := trainForecast(t.Context(), c, s, nil, hillBefore, "test", nil)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(s.Names, ",") + "\n"
	for step := hillBefore; step < s.Steps; step++ {
		row := make([]string, s.Nodes)
		for i := range row {
			row[i] = fmt.Sprint(s.Step(step).At(i, 0))
		}
		text += strings.Join(row, ",") + "\n"
	}
	path := filepath.Join(t.TempDir(), "new.csv")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := NewForecastRun(m, SeriesFiles{Series: path}, false, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	mustPlay(t, r)
	want := playHill(t, withUsual(c), m, s)
	for k, v := range r.Predictions {
		if math.Float32bits(v) != math.Float32bits(want.Predictions[k]) {
			t.Fatalf("forecast %d: got %v, of the whole series %v", k, v, want.Predictions[k])
		}
	}
	o := r.Outlooks()
	if f := o[0].Forecasts[1]; f.MadeAt != "319" || f.Time != "322" || f.Horizon != "3 steps" {
		t.Errorf("got a forecast made at %s for %s, %s ahead; want 319, 322, 3 steps", f.MadeAt, f.Time, f.Horizon)
	}
}

// Nodes share nothing over links with a direction unless they are told how.
func TestSensorMixing(t *testing.T) {
	for _, c := range []struct {
		asked, want graph.Mixing
		directed    bool
	}{
		{graph.MixingMetropolis, graph.MixingMetropolis, false},
		{graph.MixingMetropolis, graph.MixingIdentity, true},
		{graph.MixingSinkhorn, graph.MixingSinkhorn, true},
	} {
		g, err := graph.FromEdges(2, []graph.Edge{{From: 0, To: 1, Weight: 1}}, c.directed)
		if err != nil {
			t.Fatal(err)
		}
		got, note := sensorMixing(c.asked, g)
		if got != c.want || (note != "") != (got != c.asked) {
			t.Errorf("%v, directed %v: got %v and %q, want %v", c.asked, c.directed, got, note, c.want)
		}
	}
}

// Times are written as the series has them: with their distance from UTC if they have one.
func TestClock(t *testing.T) {
	at := time.Date(2024, 5, 6, 7, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		origin time.Time
		want   string
	}{
		{at, "2024-05-06 08:00:00"},
		{at.In(time.FixedZone("", 2*3600)), "2024-05-06 10:00:00+02:00"},
	} {
		if got := clockOf(&forecast.Spec{Interval: time.Hour, Origin: c.origin}, 1); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// Horizons are said in the words of people.
func TestAhead(t *testing.T) {
	for _, c := range []struct {
		interval time.Duration
		steps    int
		want     string
	}{{5 * time.Minute, 3, "15m"}, {time.Hour, 1, "1h"}, {10 * time.Second, 3, "30s"}, {0, 1, "1 step"}, {0, 4, "4 steps"}} {
		if got := ahead(&forecast.Spec{Interval: c.interval}, c.steps); got != c.want {
			t.Errorf("%d steps of %v: got %q, want %q", c.steps, c.interval, got, c.want)
		}
	}
}
