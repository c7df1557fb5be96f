package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/data"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/train"
)

// Backtest is a series cut at several origins: at each a model is trained on what came
// before, and then meets what comes after, up to the next origin, as a stream. So every
// forecast is made by a model that has seen nothing later.
type Backtest struct {
	config  *config.Config
	series  *data.Series
	truths  []float32 // of the series, T·N; nil if readings are their own
	origins []int     // steps, and the end of the series behind them
}

// BacktestResult is what a backtest leaves.
type BacktestResult struct {
	Version string `json:"version"`
	Kernels string `json:"kernels"`
	Seed    uint64 `json:"seed"`
	Unit    string `json:"unit,omitempty"`

	Origins []OriginResult  `json:"origins"` // that were played
	Planned int             `json:"planned"` // origins in all
	Mean    []HorizonResult `json:"mean"`    // of the scores of all origins, by horizon
	Seconds float64         `json:"seconds"` // filled in by whoever has a clock
	Verdicts
}

// OriginResult is what came of one origin.
type OriginResult struct {
	Origin  string          `json:"origin"`  // the first step of the stream, its time or number
	Trained int             `json:"trained"` // steps before it
	Played  int             `json:"played"`  // steps of the stream
	Epochs  int             `json:"epochs"`
	Preset  string          `json:"preset"`
	Result  *ForecastResult `json:"result"`
	Warning string          `json:"warning,omitempty"` // learning did harm
}

// NewBacktest loads the series of a configuration and cuts the last part of it, a
// share of the steps, into stretches of equal length, one for each origin.
func NewBacktest(c *config.Config, origins int, part float64) (*Backtest, error) {
	if c.Forecast == nil {
		return nil, errors.New("the configuration has no section forecast: say which series to forecast")
	}
	s, truths, err := loadSeries(c)
	if err != nil {
		return nil, err
	}
	if part == 0 {
		part = c.Forecast.Split.Test
	}
	b := &Backtest{config: c, series: s, truths: truths}
	first := s.Steps - int(part*float64(s.Steps))
	for k := range origins {
		b.origins = append(b.origins, first+(s.Steps-first)*k/origins)
	}
	b.origins = append(b.origins, s.Steps)
	ahead, err := c.Forecast.Ahead(s.Interval)
	if err != nil {
		return nil, err
	}
	for k := range origins {
		if length := b.origins[k+1] - b.origins[k]; length <= ahead[0] {
			return nil, fmt.Errorf("%d stretches of the last %d steps have %d each, and no forecast of %d steps ahead comes true in one; "+
				"want fewer origins, or a larger part", origins, s.Steps-first, length, ahead[0])
		}
	}
	return b, nil
}

// Origins returns how many there are.
func (b *Backtest) Origins() int { return len(b.origins) - 1 }

// Notes says what was done to the files.
func (b *Backtest) Notes() []string { return b.series.Notes }

// Span returns how many steps come before origin k, and how many it is to play.
func (b *Backtest) Span(k int) (before, play int) { return b.origins[k], b.origins[k+1] - b.origins[k] }

// Train trains the model of origin k, and makes it ready to meet what follows. Epochs
// are reported to onEpoch. Close the run after use.
func (b *Backtest) Train(ctx context.Context, k int, version string, onEpoch func(train.Epoch) error) (*OnlineRun, error) {
	model, err := trainForecast(ctx, b.config, b.series, b.truths, b.origins[k], version, onEpoch)
	if err != nil {
		return nil, err
	}
	spec, err := model.Forecast()
	if err != nil {
		return nil, err
	}
	s := b.series.Part(0, b.origins[k+1])
	g, err := linksOf(model, b.series, SeriesFiles{Graph: pathOf(b.config, b.config.Forecast.Graph), Directed: b.config.Forecast.Directed})
	if err != nil {
		return nil, err
	}
	var told []float32
	if b.truths != nil {
		told = b.truths[:s.Steps*s.Nodes]
	}
	rows, err := placed(model, spec, s, told, g, SeriesFiles{training: true, AnyUnits: true})
	if err != nil {
		return nil, err
	}
	c := *b.config
	if c.Online == nil {
		c.Online = usualOnline()
	}
	return newOnlineRun(&c, model, beginning{rows: rows})
}

// Result sums up the run of origin k.
func (b *Backtest) Result(k int, r *OnlineRun, epochs int) OriginResult {
	f := r.forecastResult()
	f.Notes = nil // said once, of all
	return OriginResult{
		Origin: f.From, Trained: b.origins[k], Played: r.State.At, Epochs: epochs, Preset: r.State.Preset, Result: f, Warning: r.State.Warning(),
	}
}

// Report sums up the origins that were played.
func (b *Backtest) Report(origins []OriginResult, version string) *BacktestResult {
	r := &BacktestResult{
		Version: version, Kernels: mat.Kernels(), Seed: b.config.Seed, Unit: b.config.Forecast.Unit, Origins: origins, Planned: b.Origins(),
	}
	if len(origins) == 0 {
		return r
	}
	for c, h := range origins[0].Result.Horizons {
		mean := HorizonResult{Steps: h.Steps, Ahead: h.Ahead}
		for _, m := range h.Methods {
			var scores []forecast.Score
			for _, o := range origins {
				if one := o.Result.Horizons[c].Method(m.Name); one.Count > 0 {
					scores = append(scores, one.Score)
				}
			}
			mean.Methods = append(mean.Methods, MethodResult{m.Name, meanScore(scores)})
		}
		r.Mean = append(r.Mean, mean)
	}
	r.Verdicts = judged(r.Mean)
	return r
}

// meanScore returns the mean of scores, each counting the same; counts are added up.
func meanScore(scores []forecast.Score) (m forecast.Score) {
	n := float64(max(len(scores), 1))
	with := 0.0
	for _, s := range scores {
		m.Count += s.Count
		m.MAE += s.MAE / n
		m.RMSE += s.RMSE / n
		m.MAPE += s.MAPE / n
		m.Intervals += s.Intervals
		m.Unknown += s.Unknown
		if s.Intervals > s.Unknown {
			with++
			m.Coverage += s.Coverage
			m.Width += s.Width
		}
	}
	m.Coverage, m.Width = m.Coverage/math.Max(with, 1), m.Width/math.Max(with, 1)
	return m
}
