package lifecycle

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/data"
	"github.com/wdgnn/wdgnn/mat"
)

// forecasts is what a Dataset of forecasts knows beside its samples.
type forecasts struct {
	spec   *forecast.Spec // with σ once the model is trained
	series *data.Series
	truths []float32 // T·N in the user's units, NaN unknown; nil if readings are their own truths
	links  *mat.CSR  // adjacency, N×N
	notes  []string  // what was done with the files, for people

	ridge *forecast.Ridge // fitted when it is asked for

	train, valid, test span
}

// span are the forecasts that a part makes at steps from … to-1. What is known of
// the part lies before end: a forecast whose truth comes later is not judged.
type span struct{ from, to, end int }

// newForecasts makes a dataset of a series, as the forecast section of c says. What
// is known otherwise of the readings is in truths, T·N in the user's units and NaN
// where nobody knows; nil means that a reading is its own truth.
//
// The split is honest: a part ends where the next one begins. Norms, links and
// calendar inputs come from the steps before the end of the training part; a
// forecast of the training part whose truth lies in the validation part is not
// learned from, and likewise for the next two.
func newForecasts(c *config.Config, s *data.Series, truths []float32) (*Dataset, error) {
	f := c.Forecast
	ahead, err := f.Ahead(s.Interval)
	if err != nil {
		return nil, err
	}
	fc := &forecasts{series: s, truths: truths, notes: slices.Clone(s.Notes)}
	if err := fc.divide(f.Lags, ahead, f.Split); err != nil {
		return nil, err
	}
	first := s.Part(0, fc.train.end)
	g, err := fc.graph(c, first)
	if err != nil {
		return nil, err
	}
	spec := forecast.Spec{
		Sensors: s.Names, Interval: s.Interval, Origin: s.Start, Steps: uint64(s.Steps), Unit: f.Unit,
		Lags: f.Lags, Horizons: ahead, Extras: s.Features - 1, Missing: f.Missing,
	}
	if spec.Season, err = season(f.Season, s.Interval); err != nil {
		return nil, err
	}
	setCalendar(&spec, f, first)
	fc.links = g.Adjacency()
	if fc.spec, err = forecast.Fit(spec, first.Values, fc.links, forecast.Scaling(f.Scaling)); err != nil {
		return nil, err
	}
	d := &Dataset{
		task: config.Regress, Shift: f.Shift, Nodes: s.Nodes, Edges: g.Edges(), in: fc.spec.Inputs(), outputs: len(ahead),
		graph: g, criterion: f.Criterion(), forecast: fc,
	}
	fc.samples(d, f.SensorLoss, c.Seed)
	return d, nil
}

// divide sets forecasts aside for validation and test, the last ones. Those are
// counted that are made when all lags are there, and of which at least the shortest
// comes true within the series.
func (fc *forecasts) divide(lags int, ahead []int, split config.ForecastSplit) error {
	steps, first := fc.series.Steps, lags-1
	count := steps - first - ahead[0]
	valid, test := int(float64(max(count, 0))*split.Valid), int(float64(max(count, 0))*split.Test)
	left := count - valid - test
	fc.train = span{first, first + left, first + left}
	fc.valid = span{fc.train.to, fc.train.to + valid, fc.train.to + valid}
	fc.test = span{fc.valid.to, fc.valid.to + test, steps}
	switch {
	case test == 0 && valid == 0:
		fc.train.end = steps
	case test == 0:
		fc.valid.end = steps
	}
	if left < 1 || fc.train.end-first <= ahead[0] {
		return fmt.Errorf("forecast: a series of %d steps is too short for %d lags, %d steps ahead and a split of %v and %v: "+
			"%d forecasts are left to train on", steps, lags, ahead[0], split.Valid, split.Test, max(left, 0))
	}
	if far := ahead[len(ahead)-1]; fc.train.end-first <= far {
		return fmt.Errorf("forecast.horizons: none of the %d steps to train on has another %d steps later; "+
			"want shorter horizons, or a longer series", fc.train.end-first, far)
	}
	if valid > 0 && fc.valid.end-fc.valid.from <= ahead[0] {
		return fmt.Errorf("forecast.split.valid sets %d steps aside, of which no forecast of %d steps ahead comes true; want more, or 0",
			valid, ahead[0])
	}
	return nil
}

// graph returns the links of training, and notes where they come from.
func (fc *forecasts) graph(c *config.Config, first *data.Series) (*graph.Graph, error) {
	f := c.Forecast
	g, err := data.LoadSensorGraph(data.SensorGraph{
		Graph: pathOf(c, f.Graph), Directed: f.Directed, Coordinates: pathOf(c, f.Coordinates),
		Radius: f.Radius, Nearest: f.Nearest, Correlated: f.Correlated,
	}, first)
	if err != nil {
		return nil, err
	}
	if g.Note != "" {
		fc.notes = append(fc.notes, g.Note)
	}
	if len(g.Graphs) > 1 {
		fc.notes = append(fc.notes, "links change over time; training has those of its last step")
	}
	return g.At(first.Steps - 1), nil
}

const day = 24 * time.Hour

// season returns the steps after which readings repeat.
func season(s config.Span, interval time.Duration) (int, error) {
	if !s.Auto() {
		steps, err := s.Steps(interval)
		if err != nil {
			return 0, fmt.Errorf("forecast.season: %w", err)
		}
		return steps, nil
	}
	switch {
	case interval <= 0 || day%interval != 0:
		return 0, nil
	case interval == day:
		return 7, nil
	}
	return int(day / interval), nil
}

// mostSlots bounds the parts of the day that calendar inputs tell apart.
const mostSlots = 1440

// setCalendar adds calendar inputs as the configuration says, or as the training
// part has enough of them.
func setCalendar(spec *forecast.Spec, f *config.Forecast, first *data.Series) {
	cycle := spec.Season // where the time of day says nothing, that of the season does
	if spec.Interval > 0 && spec.Interval < day {
		cycle = int(day / spec.Interval)
	}
	enough := f.TimeOfDay == config.Auto && first.Steps >= 2*cycle
	if cycle >= 2 && (f.TimeOfDay == config.Yes || enough) {
		spec.Day = forecast.Cycle(min(cycle, mostSlots))
	}
	if spec.Interval > 0 && (f.Weekday == config.Yes || f.Weekday == config.Auto && everyWeekdayTwice(first)) {
		spec.Week = forecast.Weekdays()
	}
}

// everyWeekdayTwice says whether a series has every day of the week at least twice.
func everyWeekdayTwice(s *data.Series) bool {
	return s.Interval <= day && time.Duration(s.Steps)*s.Interval >= 14*day
}

// samples makes the parts of d: the inputs of every forecast by the same rule as
// later, one step after the other, and what came true. Where sensors die in training
// the training part begins with a copy in which they do.
func (fc *forecasts) samples(d *Dataset, dead float64, seed uint64) {
	n, copies := d.Nodes, 0
	if dead > 0 {
		copies = fc.train.to - fc.train.from
	}
	made := copies + fc.test.to - fc.train.from
	rows, targets := mat.NewDense(made*n, d.in, nil), mat.NewDense(made*n, d.outputs, nil)
	known := fc.play(rows.View(copies*n, 0, rows.Rows-copies*n, d.in))
	for p, span := range []span{fc.train, fc.valid, fc.test} {
		at := copies + span.from - fc.train.from
		fc.aim(targets.View(at*n, 0, (span.to-span.from)*n, d.outputs), span, known)
		if p == 0 && copies > 0 {
			targets.View(0, 0, copies*n, d.outputs).CopyFrom(targets.View(at*n, 0, copies*n, d.outputs))
			at = 0
		}
		part := &Part{Samples: copies + span.to - span.from}
		if p > 0 {
			part.Samples = span.to - span.from
		}
		part.signals = rows.View(at*n, 0, part.Samples*n, d.in)
		part.Values, part.Outputs = targets.View(at*n, 0, part.Samples*n, d.outputs), d.outputs
		*[]**Part{&d.Train, &d.Valid, &d.Test}[p] = part
	}
	if copies > 0 {
		fc.playDead(rows.View(0, 0, copies*n, d.in), dead, seed)
	}
}

// play reads the whole series and writes the inputs of all forecasts to rows, those
// of the first forecast first. It returns what was true, T·N, normalised: NaN where
// nobody knows, or where a sensor before the test part is not to be believed.
func (fc *forecasts) play(rows mat.Dense) []float32 {
	s, n := fc.series, fc.series.Nodes
	network := forecast.NewNetwork(fc.spec, n)
	known := make([]float32, s.Steps*n)
	spare := mat.NewDense(n, rows.Cols, nil)
	for t := range s.Steps {
		row := spare
		if at := t - fc.train.from; at >= 0 && at < rows.Rows/n {
			row = rows.View(at*n, 0, n, rows.Cols)
		}
		network.Read(row, uint64(t), s.Step(t), fc.told(t), fc.links)
		if network.Truths(known[t*n : (t+1)*n]); t >= max(fc.train.end, fc.valid.end) {
			fc.seen(known[t*n:(t+1)*n], t)
		}
	}
	return known
}

// told returns what answers say of step t; nil if readings are their own truths.
func (fc *forecasts) told(t int) []float32 {
	if fc.truths == nil {
		return nil
	}
	return fc.truths[t*fc.series.Nodes : (t+1)*fc.series.Nodes]
}

// seen writes what was true at step t, normalised, whatever a sensor is believed.
func (fc *forecasts) seen(dst []float32, t int) {
	for i := range dst {
		dst[i] = fc.spec.Norms[i].Normal(fc.truth(t, i))
	}
}

// aim writes what the forecasts of a part should have said.
func (fc *forecasts) aim(targets mat.Dense, part span, known []float32) {
	n := fc.series.Nodes
	for t := part.from; t < part.to; t++ {
		for c, h := range fc.spec.Horizons {
			for i := range n {
				v := float32(math.NaN())
				if t+h < part.end {
					v = known[(t+h)*n+i]
				}
				targets.Set((t-part.from)*n+i, c, v)
			}
		}
	}
}
