package lifecycle

import (
	"context"
	"fmt"
	"time"

	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/internal/duration"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/train"
)

// HorizonScore is how forecasts of one horizon turned out, in the user's units,
// beside forecasts that need no network. All are judged by the same truths.
type HorizonScore struct {
	Steps int    `json:"steps"`           // ahead
	Ahead string `json:"ahead,omitempty"` // the same as a time, such as 15m; none without a clock

	Model    forecast.Score  `json:"model"`
	Last     forecast.Score  `json:"last"`               // the last value stays
	Seasonal *forecast.Score `json:"seasonal,omitempty"` // the value one season before returns; nil without a season
	Ridge    forecast.Score  `json:"ridge"`              // each sensor by itself, linear in its lags
}

// Name returns how far ahead h is, for people.
func (h HorizonScore) Name() string {
	if h.Ahead != "" {
		return h.Ahead
	}
	if h.Steps == 1 {
		return "1 step"
	}
	return fmt.Sprintf("%d steps", h.Steps)
}

// scorer judges the forecasts of a part, and of those who need no network.
type scorer struct {
	fc                            *forecasts
	naive                         *forecast.Naive
	ridge                         *forecast.Ridge
	model, last, seasonal, linear *forecast.Meter
}

// scoreForecasts returns how the forecasts that m makes in a part turned out, by
// horizon.
func (t *Training) scoreForecasts(ctx context.Context, part *Part, s span, b bound) ([]HorizonScore, error) {
	fc, d := t.Data.forecast, t.Data
	ridge, err := t.forecastRidge(ctx)
	if err != nil {
		return nil, err
	}
	n := d.Nodes
	k := &scorer{fc: fc, naive: forecast.NewNaive(fc.spec, n), ridge: ridge}
	for _, m := range []**forecast.Meter{&k.model, &k.last, &k.seasonal, &k.linear} {
		*m = forecast.NewMeter(fc.spec, n)
	}
	outputs := mat.NewDense(part.Samples*n, d.outputs, nil)
	ev := train.Evaluator{Engine: t.engine, PassRows: t.config.Train.PassRows}
	err = ev.Each(ctx, t.Model, t.watched(ctx, "forecasts", b.data, 1), t.config.Seed, func(p *train.Pass, y mat.Dense) {
		for r, row := range p.Rows {
			copy(outputs.Row(row), y.Row(r))
		}
	})
	if err != nil {
		return nil, err
	}
	for step := range s.to {
		fc.show(k.naive, step)
		if at := step - s.from; at >= 0 {
			k.judge(step, outputs.View(at*n, 0, n, d.outputs), part.signals.View(at*n, 0, n, d.in), part.Values.View(at*n, 0, n, d.outputs))
		}
	}
	return k.scores(), nil
}

// judge compares the forecasts of a step with their truths.
func (k *scorer) judge(step int, y, rows, targets mat.Dense) {
	for i := range y.Rows {
		norm := &k.fc.spec.Norms[i]
		for c, h := range k.fc.spec.Horizons {
			truth := norm.Units(targets.At(i, c))
			k.model.Judge(c, i, norm.Units(y.At(i, c)), truth)
			k.last.Judge(c, i, k.naive.Last(i), truth)
			k.seasonal.Judge(c, i, k.naive.Seasonal(i, uint64(step), h), truth)
			k.linear.Judge(c, i, norm.Units(k.ridge.Forecast(i, c, rows.Row(i))), truth)
		}
	}
}

func (k *scorer) scores() []HorizonScore {
	var list []HorizonScore
	for c, h := range k.fc.spec.Horizons {
		s := HorizonScore{Steps: h, Model: k.model.Horizon(c, nil), Last: k.last.Horizon(c, nil), Ridge: k.linear.Horizon(c, nil)}
		if k.fc.spec.Interval > 0 {
			s.Ahead = duration.Text(time.Duration(h) * k.fc.spec.Interval)
		}
		if k.fc.spec.Season > 0 {
			seasonal := k.seasonal.Horizon(c, nil)
			s.Seasonal = &seasonal
		}
		list = append(list, s)
	}
	return list
}

// forecastRidge returns the regression of every sensor on its own lags, fitted once.
func (t *Training) forecastRidge(ctx context.Context) (*forecast.Ridge, error) {
	fc := t.Data.forecast
	if fc.ridge != nil {
		return fc.ridge, nil
	}
	var err error
	fc.ridge, err = forecast.FitRidge(fc.spec, fc.series.Part(0, fc.train.end).Values, fc.links, t.phase(ctx, "ridge"))
	return fc.ridge, err
}

// reportForecasts adds the scores of a part, valid or test, in the user's units.
func (t *Training) reportForecasts(ctx context.Context, s *Score, name string) (err error) {
	fc, d := t.Data.forecast, t.Data
	if name == "valid" {
		s.Horizons, err = t.scoreForecasts(ctx, d.Valid, fc.valid, t.valid)
	} else {
		s.Horizons, err = t.scoreForecasts(ctx, d.Test, fc.test, t.test)
	}
	return err
}

// show shows what was true at a step to those who need no network.
func (fc *forecasts) show(naive *forecast.Naive, step int) {
	told, readings := fc.told(step), fc.series.Step(step)
	for i := range fc.series.Nodes {
		v := readings.At(i, 0)
		if told != nil {
			v = told[i]
		}
		naive.Read(i, uint64(step), v)
	}
}
