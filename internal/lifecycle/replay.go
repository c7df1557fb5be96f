package lifecycle

import (
	"context"
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/snapshot"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/train"
)

// replayed is what a model of forecasts knows of the past when a stream begins.
type replayed struct {
	sensors []forecast.Memory
	learned online.Snapshot
	naive   *forecast.Naive
}

// measureSigma stores the rms error of the model as it is on the training part, by
// sensor and horizon.
func (t *Training) measureSigma(ctx context.Context) error {
	d, spec := t.Data, t.Data.forecast.spec
	sums, counts := make([]float64, d.Nodes*d.outputs), make([]float64, d.Nodes*d.outputs)
	ev := train.Evaluator{Engine: t.engine, PassRows: t.config.Train.PassRows}
	err := ev.Each(ctx, t.Model, t.watched(ctx, "usual errors", t.train.data, 1), t.config.Seed, func(p *train.Pass, y mat.Dense) {
		for r, row := range p.Rows {
			i := d.nodeOf(row)
			for c, v := range d.Train.Values.Row(row) {
				if e := float64(y.At(r, c)) - float64(v); e == e {
					sums[i*d.outputs+c] += float64(e * e)
					counts[i*d.outputs+c]++
				}
			}
		}
	})
	if err != nil {
		return err
	}
	rms := make([]float64, d.Nodes)
	for c := range d.outputs {
		for i := range rms {
			rms[i] = math.Sqrt(sums[i*d.outputs+c] / counts[i*d.outputs+c]) // NaN if nothing was known
		}
		spec.SetSigma(c, rms)
	}
	return nil
}

// seasonRule returns how nodes learn in the replay: as the online section says, if
// it has them learn by season, or else by its default.
func seasonRule(c *config.Config) (rule.Config, error) {
	facts := rule.Facts{Bias: true, Forecast: true}
	if o := c.Online; o != nil && o.Mode == config.Distributed {
		if r, preset, err := o.Rule(facts); err == nil && preset == "season" {
			return r, nil
		}
	}
	s := rule.Settings{Preset: "season"}
	return s.For(facts).Config(false, nil)
}

// replayMixing returns W of the replay, as the online section asks for it.
func replayMixing(c *config.Config, g *graph.Graph) (*mat.CSR, error) {
	asked := graph.MixingMetropolis
	if c.Online != nil {
		asked = c.Online.MixingMatrix
	}
	kind, _ := sensorMixing(asked, g)
	return kind.Of(g)
}

// replay lets the network live through the training and the validation part once
// more, now with the trained model: sensors read, nodes forecast, hear what came
// true when it did, and learn. A stream that follows begins with what they know
// then. Nothing is counted yet of how answers did: on the training part the model as
// trained has an edge that it will not have again.
func (t *Training) replay(ctx context.Context) error {
	fc, d := t.Data.forecast, t.Data
	learner, observer, err := t.newForecaster()
	if err != nil {
		return err
	}
	network, naive := forecast.NewNetwork(fc.spec, d.Nodes), fc.newNaive()
	rows, truths := mat.NewDense(d.Nodes, d.in, nil), make([]float32, d.Nodes)
	told, steps := t.phase(ctx, "replay"), max(fc.train.end, fc.valid.end)
	for step := range steps {
		if err := told(step, steps); err != nil {
			return err
		}
		network.Read(rows, uint64(step), fc.series.Step(step), fc.told(step), fc.links)
		fc.show(naive, step)
		if step < fc.train.from {
			continue // lags are not all there yet
		}
		network.Truths(truths)
		learner.Tell(uint64(step), truths)
		err := observer.Observe(graph.Sample{Time: step, Signal: rows, Shift: t.shift, Mixing: t.mixing})
		if err == nil {
			err = learner.Update(nil)
		}
		if err != nil {
			return fmt.Errorf("replay of step %d: %w", step, err)
		}
	}
	if _, err := t.forecastRidge(ctx); err != nil {
		return err
	}
	learner.Uncounted()
	t.replayed = &replayed{sensors: network.Memory(), learned: learner.Snapshot(), naive: naive}
	return nil
}

// newForecaster returns the learner of the replay, and what it observes with.
func (t *Training) newForecaster() (*online.Forecaster, *online.Observer, error) {
	d, spec, order := t.Data, t.Data.forecast.spec, 0
	r, err := seasonRule(t.config)
	if err != nil {
		return nil, nil, err
	}
	if wide := t.Model.Config.Wide; wide != nil {
		order = wide.Order
	} else {
		r.Season.Taps = -1 // there are none to begin from
	}
	observer, err := online.NewObserver(t.Model, online.Config{Nodes: d.Nodes, Moment: t.moment, Engine: t.engine})
	if err != nil {
		return nil, nil, err
	}
	sigma := make([][]float64, d.Nodes)
	for i := range sigma {
		sigma[i] = spec.Norms[i].Sigma
	}
	learner, err := online.NewForecaster(observer, r, rule.SeasonTask{
		Season: spec.Season, Horizons: spec.Horizons, Lagged: spec.Lagged(order),
	}, sigma)
	return learner, observer, err
}

// keepForecast adds to a model file what forecasts need beside the model: the
// sensors, the links of training, and what is known of the past. All of it was
// checked when it was made.
func (t *Training) keepForecast(file *modelfile.Model) {
	must := func(err error) {
		if err != nil {
			panic("lifecycle: File: " + err.Error())
		}
	}
	must(file.SetForecast(t.Data.forecast.spec))
	file.SetSensorGraph(t.Data.graph)
	if t.replayed != nil {
		snapshot.Put(file, t.replayed.learned)
		must(file.SetSensors(t.replayed.sensors))
		must(file.SetBaselines(t.Data.forecast.ridge, t.replayed.naive))
	}
}
