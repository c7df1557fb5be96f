package lifecycle

import (
	"context"
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/modelfile"
)

// evaluateForecasts returns how a model forecasts the part of a configuration's series
// that is called train, valid or test. A part that the model has not met, and that
// follows what it has, it meets as a stream; another one it forecasts as trained.
func evaluateForecasts(ctx context.Context, m *modelfile.Model, c *config.Config, part string) (*ForecastResult, error) {
	spec, err := m.Forecast()
	if err != nil {
		return nil, err
	}
	if spec == nil {
		return nil, ErrNoForecast
	}
	s, told, err := loadSeries(c)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(s.Names, spec.Sensors) {
		return nil, fmt.Errorf("the series has %d sensors, the model knows %d: they are not the same; take the model as trained",
			s.Nodes, len(spec.Sensors))
	}
	fc := &forecasts{series: s}
	ahead, err := c.Forecast.Ahead(s.Interval)
	if err == nil {
		err = fc.divide(c.Forecast.Lags, ahead, c.Forecast.Split)
	}
	if err != nil {
		return nil, err
	}
	at := map[string]span{"train": fc.train, "valid": fc.valid, "test": fc.test}[part]
	memory, err := m.Sensors()
	if err != nil {
		return nil, err
	}
	g, err := linksOf(m, s, SeriesFiles{Graph: pathOf(c, c.Forecast.Graph), Directed: c.Forecast.Directed})
	if err != nil {
		return nil, err
	}
	begin, next := uint64(at.from), seenBy(memory) == uint64(at.from)
	if !next {
		begin -= uint64(min(spec.Lags-1, at.from))
	}
	if told != nil {
		told = told[:at.end*s.Nodes]
	}
	files := SeriesFiles{Series: c.Abs(c.Forecast.Series), training: true, past: true, from: &begin}
	rows, err := placed(m, spec, s.Part(0, at.end), told, g, files)
	if err != nil {
		return nil, err
	}
	rows.warm = at.from - int(begin)
	fc.truths = told
	for step := range begin { // those who repeat what was know all that was
		fc.show(rows.naive, int(step))
	}
	own := *c
	if own.Online == nil {
		own.Online = usualOnline()
	}
	r, err := newOnlineRun(&own, m, beginning{rows: rows, frozen: !next, again: true})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if err := r.Play(ctx, func() error { return nil }, func(OnlineStep) error { return nil }); err != nil {
		return nil, err
	}
	return r.forecastResult(), nil
}
