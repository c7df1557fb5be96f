package config

import (
	"slices"
	"strings"
	"testing"
	"time"
)

const sensors = `
forecast:
  series: readings.csv
  horizons: [1h, 15m, 6]
model:
  wide: {order: 1}
  features: 4
`

// A section that names a series has defaults for everything else, and horizons
// are steps or durations.
func TestForecastSection(t *testing.T) {
	c, err := parse([]byte(sensors))
	if err != nil {
		t.Fatal(err)
	}
	f := c.Forecast
	if f.Lags != 12 || f.Shift.String() != "row-stochastic" || f.TimeOfDay != Auto || !f.Season.Auto() || f.Split.Test != 0.2 {
		t.Errorf("got %+v, want 12 lags, row-stochastic, and what fits the data", f)
	}
	if got := c.Select(); got != "loss" {
		t.Errorf("select %s, want loss", got)
	}
	if got, err := f.Ahead(5 * time.Minute); err != nil || !slices.Equal(got, []int{3, 6, 12}) {
		t.Errorf("horizons %v (%v), want 3, 6 and 12 steps of 5 minutes", got, err)
	}
	for interval, want := range map[time.Duration]string{
		0:                 "the series has no times; say a number of steps",
		10 * time.Minute:  "15m is not a whole number of steps: a reading comes every 10m; try 10m, 20m or 40m",
		time.Nanosecond:   "want at most 1048576",
		10 * time.Second:  "",
		150 * time.Second: "6 is named twice",
	} {
		_, err := f.Ahead(interval)
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("every %s: got %v, want %q", interval, err, want)
		}
		if want == "" && err != nil {
			t.Errorf("every %s: %v", interval, err)
		}
	}
}

// Days and weeks are durations too.
func TestForecastDays(t *testing.T) {
	c, err := parse([]byte("forecast: {series: a.csv, every: 7d, horizons: [7d, 4w], season: 364d}\nmodel: {wide: {order: 1}, features: 4}\n"))
	if err != nil {
		t.Fatal(err)
	}
	f := c.Forecast
	ahead, err := f.Ahead(f.Every)
	season, err2 := f.Season.Steps(f.Every)
	if err != nil || err2 != nil || !slices.Equal(ahead, []int{1, 4}) || season != 52 {
		t.Errorf("got %v (%v) and a season of %d (%v), want 1 and 4 weeks, and 52", ahead, err, season, err2)
	}
}

// What a section cannot mean is said with the key and what to write instead.
func TestForecastSectionComplains(t *testing.T) {
	section := func(keys string) string {
		return "forecast: {" + keys + "}\nmodel: {wide: {order: 1}, features: 4}\n"
	}
	const series = "series: r.csv, "
	for _, c := range []struct{ text, want string }{
		{section(""), "forecast.series is missing: name a file of readings"},
		{section(series + "horizons: [soon]"), `forecast.horizons[0]: "soon", want a number of steps, or a duration such as 15m, 1h or 7d`},
		{section(series + "horizons: [-3]"), `"-3", want a number of steps`},
		{section(series + "horizons: []"), "forecast.horizons has 0, want 1 to 64"},
		{section(series + "horizons: [auto, 0, 3, 3]"), "horizons[0] is auto, want 1 step or more, or a duration\nforecast.horizons[1] is 0"},
		{section(series + "horizons: [3, 3]"), "forecast.horizons names 3 twice"},
		{section(series + "weekday: maybe"), `forecast.weekday: "maybe", want auto, true or false`},
		{section(series + "lags: 0"), "forecast.lags is 0, want 1 to 4096 readings"},
		{section(series + "graph: g.csv, coordinates: c.csv"), "both graph and coordinates"},
		{section(series + "coordinates: c.csv"), ""},
		{section(series + "radius: 3"), "are for coordinates"},
		{section(series + "graph: g.csv, correlated: 3"), "forecast.correlated is for links that are learned"},
		{section(series + "split: {valid: 0.5, test: 0.5}"), "leave some to train on"},
		{section(series + "sensor_loss: 1"), "forecast.sensor_loss is 1, want 0 ≤ p < 1"},
		{section(series + "loss: l2"), `forecast.loss is "l2", want mse, l1, smooth-l1`},
		{section(series + "loss: hinge"), "forecast.loss is hinge, which is for signs; try l1"},
		{section(series + "scaling: none"), `forecast.scaling is "none", want sensor or common`},
		{section(series) + "scenario: sourceloc", "both forecast and scenario: choose one"},
		{section(series) + "train: {select: accuracy}", "train.select is accuracy, but forecast has none; want loss"},
		{section(series) + "online: {stream: {delay: 3}}", "forecasts are told when their time comes"},
		{section(series) + "online: {stream: {read: [1]}}", "every sensor of a series is read"},
		{"online: {stream: {series: r.csv, signals: s.npy}}", "online.stream.series is in place of signals, targets and mask"},
		{stream + "}\nforecast: {series: r.csv}\nmodel: {wide: {order: 1}, features: 4}", ""},
		{"online: {stream: {series: r.csv, graph: g.csv}}", ""},
		{section(series) + "online: {}", ""},
		{strings.Replace(stream, "signals", "answers: a.csv, signals", 1) + "}", "online.stream.answers is for a series of readings"},
	} {
		_, err := parse([]byte(c.text))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s\ngot %v, want %q", c.text, err, c.want)
		}
	}
}

// Where the files lie is no part of what a run computes; what it reads of them is.
func TestForecastFingerprint(t *testing.T) {
	read := func(text string) string {
		c, err := parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return c.Fingerprint()
	}
	base := read(sensors)
	if got := read(strings.Replace(sensors, "readings.csv", "elsewhere.csv\n  graph: g.csv\n  mask: m.npy", 1)); got != base {
		t.Errorf("paths change the fingerprint to %s from %s", got, base)
	}
	if got := read(strings.Replace(sensors, "6]", "7]", 1)); got == base {
		t.Errorf("another horizon leaves the fingerprint at %s", got)
	}
}
