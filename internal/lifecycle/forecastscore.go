package lifecycle

import (
	"context"

	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/train"
)

// scorer judges the forecasts of a part, and of those who need no network.
type scorer struct {
	fc    *forecasts
	naive *forecast.Naive
	ridge *forecast.Ridge
	list  []method
}

// scoreForecasts returns how the forecasts that m makes in a part turned out, by
// horizon.
func (t *Training) scoreForecasts(ctx context.Context, part *Part, s span, b bound) ([]HorizonResult, error) {
	fc, d := t.Data.forecast, t.Data
	ridge, err := t.forecastRidge(ctx)
	if err != nil {
		return nil, err
	}
	n := d.Nodes
	k := &scorer{fc: fc, naive: fc.newNaive(), ridge: ridge}
	k.list = newMethods(fc.spec, n, k.naive, ridge, false)
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
	return horizonResults(fc.spec, k.list), nil
}

// judge compares the forecasts of a step with their truths.
func (k *scorer) judge(step int, y, rows, targets mat.Dense) {
	for i := range y.Rows {
		norm := &k.fc.spec.Norms[i]
		for c, h := range k.fc.spec.Horizons {
			truth := norm.Units(targets.At(i, c))
			for _, m := range k.list {
				var v float32
				switch m.name {
				case MethodLast:
					v = k.naive.Last(i)
				case MethodSeason:
					v = k.naive.Seasonal(i, uint64(step), h)
				case MethodClock:
					v = k.naive.Clock(i, uint64(step+h))
				case MethodRidge:
					v = norm.Units(k.ridge.Forecast(i, c, rows.Row(i)))
				default:
					v = norm.Units(y.At(i, c))
				}
				m.meter.Judge(c, i, v, truth)
			}
		}
	}
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
	for i := range fc.series.Nodes {
		naive.Read(i, uint64(step), fc.truth(step, i))
	}
}

// truth returns what was true of sensor i at a step, in the user's units.
func (fc *forecasts) truth(step, i int) float32 {
	if told := fc.told(step); told != nil {
		return told[i]
	}
	return fc.series.Step(step).At(i, 0)
}

// newNaive returns forecasts that need no model, before the first reading.
func (fc *forecasts) newNaive() *forecast.Naive {
	naive := forecast.NewNaive(fc.spec, fc.series.Nodes)
	naive.Fit(fc.train.end, fc.truth)
	return naive
}
