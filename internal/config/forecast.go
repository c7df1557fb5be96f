package config

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/duration"
	"github.com/wdgnn/wdgnn/loss"
)

// Forecast names a series of readings of N sensors, and what is to be said of
// their future. The model reads the last readings of a sensor and of its
// neighbours and says what the sensor will read at every horizon.
type Forecast struct {
	// The readings: a `.csv` or `.tsv` with a time column and a column per sensor,
	// named in the first line, or one in long form, `time,sensor,value`; or an
	// array `.npy` T×N, or T×N×F where the first number is the reading and the
	// others are further inputs. An empty cell and NaN are readings that are
	// missing. Missing readings are estimated from the last one and from the
	// neighbours, and an input says so.
	Series Path `yaml:"series" default:"required" example:"readings.csv"`

	// What the readings should have been, in the same form, where that is known
	// otherwise. They are what forecasts are judged by.
	Answers Path `yaml:"answers,omitempty" default:"the readings" example:"checked.csv"`

	// The links between sensors: an edge list `.csv` or `.tsv` with columns
	// `src,dst[,weight][,time]` of names or numbers, a SciPy sparse `.npz`, or a
	// matrix `.csv` or `.npy`. With a time column training has the links of its last
	// step. Without graph and coordinates links are learned: every
	// sensor is linked to those whose readings in the training part go with its
	// own.
	Graph Path `yaml:"graph,omitempty" default:"learned from the training part" example:"links.csv"`

	// Whether links have a direction: `src` is heard by `dst`.
	Directed bool `yaml:"directed" example:"true"`

	// Where the sensors are, instead of a graph: a `.csv` with columns
	// `sensor,x,y` or `sensor,lat,lon`. Near ones are linked.
	Coordinates Path `yaml:"coordinates,omitempty" default:"none" example:"places.csv"`

	// How far apart two sensors may be and still be linked: in the unit of the
	// coordinates, or in metres for latitudes and longitudes; 0 for any distance.
	Radius float64 `yaml:"radius" example:"2.5"`

	// To how many of the nearest sensors one is linked; 0 means 4 without a radius,
	// and all within one.
	Nearest int `yaml:"nearest" example:"5"`

	// To how many sensors one is linked where links are learned; 0 means 8.
	Correlated int `yaml:"correlated" example:"8"`

	// The shift operator, as for `data`.
	Shift graph.Shift `yaml:"shift" example:"symmetric"`

	// The time between two steps of the grid that readings are put on. A reading
	// counts for the step whose time is nearest; of several of a sensor the nearest
	// one, of two at the same time the last in the file; gaps stay gaps. For series
	// with times.
	Every time.Duration `yaml:"every" default:"the usual time between readings" example:"5m"`

	// A reading that means that there is none.
	Missing *float64 `yaml:"missing,omitempty" default:"none" example:"0"`

	// The unit of the readings, for people.
	Unit string `yaml:"unit,omitempty" default:"none" example:"mph"`

	// How many readings of a sensor the model sees: the newest and those before.
	Lags int `yaml:"lags" example:"4"`

	// How far ahead the model looks, each a number of steps or a duration. It has
	// one output for each.
	Horizons []Span `yaml:"horizons,flow" example:"[15m, 30m, 1h]"`

	// Whether the time of day is an input, as sine and cosine: `true`, `false`, or
	// `auto`, if the training part is two days or longer. Without a clock, or with a
	// day or more between steps, it is the time of the season.
	TimeOfDay Choice `yaml:"time_of_day" example:"true"`

	// Whether the day of the week is an input: `true`, `false`, or `auto`, if
	// training holds every weekday at least twice.
	Weekday Choice `yaml:"weekday" example:"false"`

	// After how long the readings repeat: a number of steps or a duration, 0 for
	// never, or `auto`: with a clock a day, or a week of steps of a day; without one
	// never. What forecasts miss at the same time of the season is what nodes learn
	// online.
	Season Span `yaml:"season" example:"7d"`

	// How steps are set aside for validation and test, the last ones of the
	// series. No part has forecasts whose truth lies in the next.
	Split ForecastSplit `yaml:"split"`

	// Which readings are right, in the same form: numbers other than 0 where they
	// are. The others are inputs, but no forecast is judged by them or learns from
	// them.
	Mask Path `yaml:"mask,omitempty" default:"all that are there" example:"checked.npy"`

	// The share of the time that a sensor is dead in a second copy of the training
	// part, in spells, so that a dead neighbour is nothing new to the model; 0
	// trains on the readings as they are.
	SensorLoss float64 `yaml:"sensor_loss" example:"0.1"`

	// The loss: one that package loss names. `l1` is the mean absolute error.
	Loss string `yaml:"loss,omitempty" default:"l1" example:"smooth-l1"`

	// By what readings are divided before they meet the model: `sensor`, the
	// standard deviation of the sensor's readings in the training part, or
	// `common`, one for all sensors. A mean is taken off likewise.
	Scaling string `yaml:"scaling" example:"common"`
}

// ForecastSplit sets steps of a series aside.
type ForecastSplit struct {
	// The share of forecasts to validate on, rounded down to whole steps, before
	// those to test on.
	Valid float64 `yaml:"valid" example:"0.2"`

	// The share of forecasts to test on, rounded down to whole steps: the last
	// ones.
	Test float64 `yaml:"test" example:"0.1"`
}

// How readings may be scaled.
const (
	ScaleSensor = "sensor"
	ScaleCommon = "common"
)

func defaultForecast() Forecast {
	return Forecast{
		Shift: graph.ShiftRowStochastic, Lags: 12, Horizons: []Span{"3", "6", "12"}, TimeOfDay: Auto, Weekday: Auto,
		Season: spanAuto, Split: ForecastSplit{Valid: 0.1, Test: 0.2}, Scaling: ScaleSensor,
	}
}

// Choice is yes, no, or what fits the data.
type Choice string

// The choices.
const (
	Auto Choice = "auto"
	Yes  Choice = "true"
	No   Choice = "false"
)

// UnmarshalText implements [encoding.TextUnmarshaler].
func (c *Choice) UnmarshalText(text []byte) error {
	switch k := Choice(text); k {
	case Auto, Yes, No:
		*c = k
		return nil
	}
	return fmt.Errorf("config: %q, want auto, true or false", text)
}

// Span is a length of time: a number of steps, a duration, or "auto".
type Span string

const spanAuto Span = "auto"

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *Span) UnmarshalText(text []byte) error {
	*s = Span(text)
	if *s == spanAuto {
		return nil
	}
	if steps, err := strconv.Atoi(string(text)); err == nil && steps >= 0 && steps <= mostSteps {
		return nil
	}
	if d, err := duration.Parse(string(text)); err == nil && d > 0 {
		return nil
	}
	return fmt.Errorf("config: %q, want a number of steps, or a duration such as 15m, 1h or 7d", text)
}

// mostSteps bounds lags, horizons and seasons.
const mostSteps = 1 << 20

// Auto says whether the data decide.
func (s Span) Auto() bool { return s == spanAuto }

// Steps returns how many steps of the given interval s is. A duration must be a
// whole number of them; an interval of 0 means that there is no clock.
func (s Span) Steps(interval time.Duration) (int, error) {
	if steps, err := strconv.Atoi(string(s)); err == nil {
		return steps, nil
	}
	d, err := duration.Parse(string(s))
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q is no number of steps", string(s))
	case interval <= 0:
		return 0, fmt.Errorf("%s is a duration, but the series has no times; say a number of steps", s)
	case d%interval != 0:
		return 0, fmt.Errorf("%s is not a whole number of steps: a reading comes every %s; try %s, %s or %s",
			s, duration.Text(interval), duration.Text(interval), duration.Text(2*interval), duration.Text(4*interval))
	case d/interval > mostSteps:
		return 0, fmt.Errorf("%s is %d steps of %s, want at most %d", s, d/interval, interval, mostSteps)
	}
	return int(d / interval), nil
}

// Ahead returns the horizons in steps of the given interval, ascending.
func (f *Forecast) Ahead(interval time.Duration) ([]int, error) {
	var ahead []int
	for _, h := range f.Horizons {
		steps, err := h.Steps(interval)
		switch {
		case err != nil:
			return nil, fmt.Errorf("forecast.horizons: %w", err)
		case steps < 1:
			return nil, fmt.Errorf("forecast.horizons: %s is %d steps, want at least 1", h, steps)
		case slices.Contains(ahead, steps):
			return nil, fmt.Errorf("forecast.horizons: %s is named twice: %d steps", h, steps)
		}
		ahead = append(ahead, steps)
	}
	slices.Sort(ahead)
	return ahead, nil
}

// Criterion returns the loss, without targets; nil if there is none of that name.
func (f *Forecast) Criterion() loss.Regression {
	if f.Loss == "" {
		return criterion("l1")
	}
	return criterion(f.Loss)
}

func (k *checker) forecast(f *Forecast) {
	k.check(f.Series != "", "forecast.series is missing: name a file of readings")
	k.check(f.Graph == "" || f.Coordinates == "", "forecast: both graph and coordinates: choose one")
	near := f.Radius != 0 || f.Nearest != 0
	k.check(f.Coordinates != "" || !near, "forecast: radius and nearest are for coordinates, which are missing")
	k.check(f.Correlated == 0 || f.Graph == "" && f.Coordinates == "",
		"forecast.correlated is for links that are learned; leave it out, or graph and coordinates")
	k.check(f.Radius >= 0 && f.Radius-f.Radius == 0, "forecast.radius is %v, want a distance above 0", f.Radius)
	k.check(f.Nearest >= 0 && f.Nearest <= mostNodes, "forecast.nearest is %d, want 1 to %d sensors", f.Nearest, mostNodes)
	k.check(f.Correlated >= 0 && f.Correlated <= mostNodes, "forecast.correlated is %d, want 1 to %d sensors", f.Correlated, mostNodes)
	k.check(f.Every >= 0, "forecast.every is %s, want a time above 0", f.Every)
	k.check(f.Lags >= 1 && f.Lags <= mostLags, "forecast.lags is %d, want 1 to %d readings", f.Lags, mostLags)
	k.horizons(f.Horizons)
	s := f.Split
	k.check(s.Valid >= 0 && s.Test >= 0 && s.Valid+s.Test < 1,
		"forecast.split sets %v and %v of the steps aside, want shares that leave some to train on", s.Valid, s.Test)
	k.check(f.SensorLoss >= 0 && f.SensorLoss < 1, "forecast.sensor_loss is %v, want 0 ≤ p < 1", f.SensorLoss)
	k.check(f.Criterion() != nil, "forecast.loss is %q, want %s", f.Loss, criteria())
	k.check(f.Loss != "hinge", "forecast.loss is hinge, which is for signs; try l1, mse or huber")
	k.check(f.Scaling == ScaleSensor || f.Scaling == ScaleCommon,
		"forecast.scaling is %q, want %s or %s", f.Scaling, ScaleSensor, ScaleCommon)
}

// Bounds that keep a slip of the pen from asking for all memory.
const (
	mostLags     = 4096
	mostHorizons = 64
)

func (k *checker) horizons(spans []Span) {
	k.check(len(spans) >= 1 && len(spans) <= mostHorizons, "forecast.horizons has %d, want 1 to %d", len(spans), mostHorizons)
	for i, h := range spans {
		k.check(!h.Auto() && h != "0", "forecast.horizons[%d] is %s, want 1 step or more, or a duration", i, h)
		k.check(!slices.Contains(spans[:i], h), "forecast.horizons names %s twice", h)
	}
}
