package lifecycle

import (
	"fmt"
	"strings"

	"github.com/wdgnn/wdgnn/internal/duration"
	"github.com/wdgnn/wdgnn/modelfile"
)

// ForecastAbility is what a model file says of the forecasts that it can make.
type ForecastAbility struct {
	Sensors  []string `json:"sensors"`
	Unit     string   `json:"unit,omitempty"`
	Interval string   `json:"interval,omitempty"` // from one step to the next; empty without a clock
	Lags     int      `json:"lags"`
	Horizons []string `json:"horizons"`
	Season   int      `json:"season,omitempty"` // steps
	Links    int      `json:"links"`
	Next     string   `json:"next,omitempty"` // the first step that it has not met: its time or number; empty if it met none
}

// forecastAbility returns that of a model, nil if it does not forecast.
func forecastAbility(m *modelfile.Model) (*ForecastAbility, error) {
	spec, err := m.Forecast()
	if spec == nil || err != nil {
		return nil, err
	}
	f := &ForecastAbility{Sensors: spec.Sensors, Unit: spec.Unit, Lags: spec.Lags, Season: spec.Season}
	if spec.Interval > 0 {
		f.Interval = duration.Text(spec.Interval)
	}
	for _, h := range spec.Horizons {
		f.Horizons = append(f.Horizons, ahead(spec, h))
	}
	g, err := m.SensorGraph()
	if err != nil {
		return nil, err
	}
	if g != nil {
		f.Links = g.Edges()
	}
	memory, err := m.Sensors()
	if seen := seenBy(memory); seen > 0 {
		f.Next = stepName(spec, seen)
	}
	return f, err
}

// String says it in a line.
func (f *ForecastAbility) String() string {
	words := strings.Join(f.Horizons, ", ") + " ahead"
	if f.Unit != "" {
		words += " in " + f.Unit
	}
	words += fmt.Sprintf(", from the last %d readings", f.Lags)
	if f.Interval != "" {
		words += ", one every " + f.Interval
	}
	if f.Next != "" {
		words += "; it has not met " + f.Next + " and what follows"
	}
	return words
}
