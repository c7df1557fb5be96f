package lifecycle

import (
	"errors"
	"strconv"

	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/rule"
)

// ErrNoForecast says that a model does not forecast.
var ErrNoForecast = errors.New("the model does not forecast: its file says nothing of sensors, lags and horizons")

// NewForecastRun makes a series ready to be played to a forecast model for the sake of
// its forecasts. It learns on the way as it did before, or by its default; frozen
// answers as trained. A series that the model has met already is played as trained.
func NewForecastRun(file *modelfile.Model, f SeriesFiles, frozen bool, threads int) (*OnlineRun, error) {
	spec, err := file.Forecast()
	if err != nil {
		return nil, err
	}
	if spec == nil {
		return nil, ErrNoForecast
	}
	c := &config.Config{Threads: threads, Online: usualOnline()}
	c.Online.Stream.Series = config.Path(f.Series)
	r, err := newOnlineRun(c, file, beginning{series: &f, frozen: frozen, again: true})
	if errors.Is(err, errSeen) {
		f.past = true
		r, err = newOnlineRun(c, file, beginning{series: &f, frozen: true, again: true})
	}
	return r, err
}

// usualOnline returns an online section that says nothing.
func usualOnline() *config.Online {
	return &config.Online{Mode: config.Distributed, Settings: rule.Settings{Preset: rule.DefaultPreset}}
}

// Past says that the model had met the series before, and answered as trained.
func (r *OnlineRun) Past() bool { return r.Stream.sensors != nil && r.Stream.sensors.again }

// Notes says what was done to the files of a series.
func (r *OnlineRun) Notes() []string {
	if r.Stream.sensors == nil {
		return nil
	}
	return r.Stream.sensors.notes
}

// Forecast is what was said of one sensor at one time. What is not known is nil.
type Forecast struct {
	MadeAt   string   `json:"made_at"` // a time, or the number of a step
	Time     string   `json:"time"`    // that is forecast
	Sensor   string   `json:"sensor"`
	Horizon  string   `json:"horizon"` // in words: 15m, or 3 steps
	Forecast *float32 `json:"forecast"`
	Low      *float32 `json:"low"`
	High     *float32 `json:"high"`
}

// EachForecast visits the forecasts of the last step that was played, or of all.
func (r *OnlineRun) EachForecast(all bool, visit func(f Forecast) error) error {
	s, outputs := r.Stream.sensors, r.y.Cols
	from := r.State.At - 1
	if all {
		from = 0
	}
	for t := max(from, 0); t < r.State.At; t++ {
		made := s.when(s.step(t))
		for i, name := range s.series.Names {
			for c, h := range s.spec.Horizons {
				at := (t*s.series.Nodes+i)*outputs + c
				f := Forecast{
					MadeAt: made, Time: s.when(s.step(t) + uint64(h)), Sensor: name, Horizon: ahead(s.spec, h), Forecast: known(r.Predictions[at]),
				}
				if r.saysSets() {
					f.Low, f.High = known(r.Sets[2*at]), known(r.Sets[2*at+1])
				}
				if err := visit(f); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// when names a step in files: its time, or its number.
func (s *readings) when(step uint64) string {
	if at := s.clock(step); at != "" {
		return at
	}
	return strconv.FormatUint(step, 10)
}

// Outlook is what one sensor is expected to read, by horizon, and whether it is
// believed.
type Outlook struct {
	Sensor    string
	Reading   *float32 // of the last step; nil if there is none
	Broken    string   // why it is not believed
	Known     bool     // false for a newcomer that hears no sensor of training
	Forecasts []Forecast
}

// Outlooks returns those of the last step that was played.
func (r *OnlineRun) Outlooks() (list []Outlook) {
	s := r.Stream.sensors
	_ = r.EachForecast(false, func(f Forecast) error { // which cannot fail
		if n := len(list); n == 0 || list[n-1].Sensor != f.Sensor {
			i := len(list)
			list = append(list, Outlook{
				Sensor: f.Sensor, Reading: known(s.series.Step(r.State.At - 1).Row(i)[0]), Broken: s.trouble[i], Known: s.network.Sensor(i) != nil,
			})
		}
		last := &list[len(list)-1]
		last.Forecasts = append(last.Forecasts, f)
		return nil
	})
	return list
}

// Coverage returns how often intervals are to hold the truth; 0 if there are none.
func (r *OnlineRun) Coverage() float64 {
	if !r.saysSets() {
		return 0
	}
	return r.Rule.Conformal.Coverage
}

// Unit returns the unit of the readings; empty if it is not known.
func (r *OnlineRun) Unit() string {
	if r.Stream.sensors == nil {
		return ""
	}
	return r.Stream.sensors.spec.Unit
}
