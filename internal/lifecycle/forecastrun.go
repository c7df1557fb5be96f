package lifecycle

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// loadSeries makes the stream of a forecast model. What a forecast should have been
// is known as many steps later as it looked ahead; learners of other presets than
// season are told all horizons of a step together, when the farthest is known.
func (r *OnlineRun) loadSeries(spec *forecast.Spec, before *Adaptation, b beginning) error {
	if r.Rule.Season == nil {
		r.Rule.Delay = slices.Max(spec.Horizons)
	}
	rows := b.rows
	if rows == nil {
		files := b.series
		if files == nil {
			f := streamFiles(r.config)
			f.AnyUnits = b.anyUnits || b.resume
			files = &f
		}
		if b.resume && before != nil {
			files.from = &before.First
		}
		var err error
		if rows, err = loadReadings(r.trained, spec, *files); err != nil {
			return err
		}
	}
	if want := spec.Inputs(); r.trained.Network.Config.In != want || r.trained.Network.Outputs() != len(spec.Horizons) {
		return fmt.Errorf("the model maps %d inputs to %d outputs, but its sensors have %d inputs and %d horizons; the file is damaged",
			r.trained.Network.Config.In, r.trained.Network.Outputs(), want, len(spec.Horizons))
	}
	r.Stream = newSeriesStream(rows, r.trained, r.config.StreamCriterion())
	at := 0
	if b.resume && before != nil {
		at = before.At
	}
	return r.beginSensors(at)
}

// beginSensors gives sensors what the model file remembers of the steps before row at.
func (r *OnlineRun) beginSensors(at int) error {
	rows := r.Stream.sensors
	memory, err := r.trained.Sensors()
	if err != nil {
		return err
	}
	ridge, naive, err := r.trained.Baselines(rows.series.Nodes)
	if err != nil {
		return err
	}
	if rows.ridge = ridge; naive != nil {
		rows.naive.Means = naive.Means
	}
	if seen := seenBy(memory); seen == 0 || seen > rows.step(at) {
		return nil
	}
	if naive != nil {
		rows.naive = naive
	}
	links := rows.graph(max(at-1, 0))
	if at == 0 { // what was heard in the step before was heard by the links of the model file
		if links, err = linksOfModel(r.trained, rows.series.Nodes); err != nil {
			return err
		}
	}
	if err := rows.restore(memory, links); err != nil {
		return fmt.Errorf("what the sensors remember: %w", err)
	}
	return nil
}

// sensorMixing returns the mixing matrix for links between sensors: the one that was
// asked for, but nobody's where links have a direction and the default knows none. A
// note says so.
func sensorMixing(asked graph.Mixing, g *graph.Graph) (m graph.Mixing, note string) {
	if asked != graph.MixingMetropolis || !g.Directed() {
		return asked, ""
	}
	return graph.MixingIdentity, "links have a direction: sensors do not share what they learn of the season; " +
		"online.mixing_matrix: sinkhorn does, where every link lies on a cycle"
}

// newForecaster returns the learner of the preset season. Newcomers join it when they
// hear a sensor of training.
func (r *OnlineRun) newForecaster() (*online.Forecaster, error) {
	s := r.Stream.sensors
	if s == nil {
		return nil, errors.New("preset season is for models of forecasts; try auto")
	}
	order := 0
	if w := r.trained.Network.Config.Wide; w != nil {
		order = w.Order
	}
	if len(s.spec.Norms[0].Sigma) == 0 {
		return nil, errors.New("the training of the model was stopped before its usual errors were measured, by which sensors learn; " +
			"end it with wdgnn train --resume")
	}
	task := rule.SeasonTask{Season: s.spec.Season, Horizons: s.spec.Horizons, Lagged: s.spec.Lagged(order)}
	sigma := make([][]float64, s.series.Nodes)
	for i := range s.spec.Norms {
		sigma[i] = s.spec.Norms[i].Sigma
	}
	return online.NewForecaster(r.frozen, r.Rule, task, sigma)
}

// welcome lets newcomers join who heard a sensor of training at the row just read,
// with the mean of what those sensors knew when the run began.
func (r *OnlineRun) welcome(f *online.Forecaster) error {
	s := r.Stream.sensors
	for _, i := range s.arrived {
		columns, weights := s.graph(r.Stream.row).Adjacency().Row(i)
		var near []int
		var sizes []float32
		var states []rule.State
		var shares []float64
		for k, j := range columns {
			if int(j) == i || int(j) >= len(s.spec.Norms) {
				continue
			}
			near, sizes = append(near, int(j)), append(sizes, weights[k])
			if int(j) < len(r.states) {
				states, shares = append(states, r.states[j]), append(shares, math.Abs(float64(weights[k])))
			}
		}
		norm, ok := s.spec.Newcomer(near, sizes)
		if !ok {
			continue
		}
		if err := f.Join(i, norm.Sigma, f.Average(states, shares)); err != nil {
			return fmt.Errorf("sensor %s joins: %w", s.series.Names[i], err)
		}
	}
	return nil
}

// What forecasts are compared with, in the order of OnlineRun.Compared.
const (
	comparedFrozen = iota
	comparedRidge
	comparedSeason
	comparedLast
	compared
)

var comparedAs = map[string]int{
	MethodFrozen: comparedFrozen, MethodRidge: comparedRidge, MethodSeason: comparedSeason, MethodLast: comparedLast,
}

// keepForecasts writes down the outputs y of a step, and what others would have said,
// in the user's units; NaN for newcomers of whom nothing is known yet.
func (r *OnlineRun) keepForecasts(y mat.Dense) {
	s := r.Stream.sensors
	step := s.step(r.Stream.row)
	for i := range y.Rows {
		for c, v := range y.Row(i) {
			r.Predictions = append(r.Predictions, s.units(i, v))
			ridge := float32(math.NaN())
			if s.ridge != nil {
				ridge = s.units(i, s.ridge.Forecast(i, c, s.rows.Row(i)))
			}
			r.Compared = append(r.Compared, s.units(i, r.yFrozen.Row(i)[c]), ridge,
				s.naive.Seasonal(i, step, s.spec.Horizons[c]), s.naive.Last(i))
		}
	}
}

// judgeForecasts counts what forecasts cost whose truth became known at row t, each
// of the horizons' that was made for it: the mean absolute error in the user's units.
func (r *OnlineRun) judgeForecasts(t int) OnlineStep {
	s, scores := r.Stream.sensors, &r.State.Scores
	learned, frozen, judged := 0.0, 0.0, 0
	n, outputs := s.series.Nodes, r.y.Cols
	for c, h := range s.spec.Horizons {
		if t < h {
			continue
		}
		for i := range n {
			v, at := float64(s.truth[t*n+i]), ((t-h)*n+i)*outputs+c
			a, b := float64(r.Predictions[at]), float64(r.Compared[at*compared+comparedFrozen])
			if v-v == 0 && a-a == 0 && b-b == 0 {
				learned, frozen, judged = learned+math.Abs(a-v), frozen+math.Abs(b-v), judged+1
			}
		}
	}
	if judged > 0 {
		learned, frozen = learned/float64(judged), frozen/float64(judged)
		scores.Online.add(learned)
		scores.Frozen.add(frozen)
		if t >= r.lateFrom() {
			scores.LateOnline.add(learned)
			scores.LateFrozen.add(frozen)
		}
		if t >= r.endFrom() {
			scores.EndOnline.add(learned)
			scores.EndFrozen.add(frozen)
		}
	}
	step := scores.step(t, judged > 0)
	step.Time, step.News = s.clock(s.step(t)), s.news(t)
	r.News = append(r.News, step.News...)
	return step
}

// add takes in what a step cost.
func (t *tally) add(cost float64) {
	t.Steps++
	t.Cost = cost
	t.Sum += cost
}
