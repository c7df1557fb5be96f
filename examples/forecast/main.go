// Command forecast is what a program of one's own looks like that forecasts what
// sensors will read: it reads a table, trains a model, and lets every sensor keep
// learning from how its forecasts turn out.
//
//	wdgnn init --task forecast DIR     a series to begin with
//	go run ./examples/forecast DIR
//
// What it does wdgnn train, online and forecast do for any table; doc/forecast.md
// walks through them. Here every step is in sight.
package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/optim"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/train"
)

const (
	lags   = 12
	order  = 2  // hops that the wide part and each layer reach
	day    = 96 // steps of 15 minutes
	epochs = 15
	first  = lags - 1 // the first step that has all lags
)

var horizons = []int{1, 2, 4} // 15 minutes, 30 minutes, an hour

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: forecast DIR, which wdgnn init --task forecast DIR writes")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "forecast:", err)
		os.Exit(1)
	}
}

func run(dir string, out io.Writer) error {
	series, err := readSeries(filepath.Join(dir, "readings.csv"))
	if err != nil {
		return err
	}
	links, err := readLinks(filepath.Join(dir, "sensors.csv"), series.sensors)
	if err != nil {
		return err
	}
	later, err := readSeries(filepath.Join(dir, "later.csv"))
	if err != nil {
		return err
	}
	p := &program{series: series, links: links, trained: series.steps}
	if err := series.follow(later); err != nil {
		return err
	}
	if err := p.measure(); err != nil {
		return err
	}
	if err := p.train(); err != nil {
		return err
	}
	return p.live(out)
}

// program is a network of sensors from its first reading to its last.
type program struct {
	series  *table
	links   *graph.Graph
	trained int // steps that training sees, the first ones

	spec   *forecast.Spec // what is known of the sensors: means, scales, limits
	model  *gnn.WideDeep
	shift  *mat.CSR // S
	moment *rule.SecondMoment
}

// measure finds what training says of each sensor.
func (p *program) measure() (err error) {
	p.spec, err = forecast.Fit(forecast.Spec{
		Sensors: p.series.sensors, Interval: p.series.interval, Origin: p.series.begin, Unit: "km/h",
		Lags: lags, Horizons: horizons, Season: day, Day: forecast.Cycle(day), Week: forecast.Weekdays(),
	}, p.series.part(0, p.trained), p.links.Adjacency(), forecast.ScalePerSensor)
	if err == nil {
		p.shift, err = graph.ShiftRowStochastic.Of(p.links)
	}
	return err
}

// train fits a model to the training part: from the rows of inputs of a step to what
// the sensors read later.
func (p *program) train() error {
	n, samples := len(p.series.sensors), p.trained-first
	rows, truths := p.inputs()
	targets := mat.NewDense(samples*n, len(horizons), nil)
	for s := range samples {
		for c, h := range horizons {
			for i := range n {
				v := float32(math.NaN()) // after the training part: not known
				if t := first + s + h; t < p.trained {
					v = truths[t*n+i]
				}
				targets.Set(s*n+i, c, v)
			}
		}
	}
	config := gnn.Config{
		In: p.spec.Inputs(), Features: 16, Outputs: len(horizons),
		Wide: &gnn.WideConfig{Order: order}, Deep: []gnn.LayerConfig{{Order: order, Features: 16}},
	}
	var err error
	if p.model, err = gnn.NewRandom(config, random.Stream(1, "init")); err != nil {
		return err
	}
	objective, err := train.NewTargets(loss.L1{}, targets, nil)
	if err != nil {
		return err
	}
	data, err := train.NewSignals(p.model, train.SignalsConfig{
		Graph: p.links, Operator: graph.ShiftRowStochastic, Signals: rows, Targets: objective,
	})
	if err != nil {
		return err
	}
	_, err = train.Run(context.Background(), p.model, train.Job{Train: data, Config: train.Config{
		Epochs: epochs, BatchSize: 32, Seed: 1, Adam: optim.AdamConfig{StepSize: 0.003}, Average: 0.99,
	}})
	if err != nil {
		return err
	}
	p.moment = online.InputMoment(p.model, p.shift, rows, nil, nil, nil)
	p.usualErrors(rows, targets)
	return nil
}

// inputs lets all sensors read the training part. It returns the rows of every step
// that has all lags, and what was true at every step.
func (p *program) inputs() (rows mat.Dense, truths []float32) {
	n := len(p.series.sensors)
	rows = mat.NewDense((p.trained-first)*n, p.spec.Inputs(), nil)
	truths = make([]float32, p.trained*n)
	network, spare := forecast.NewNetwork(p.spec, n), mat.NewDense(n, p.spec.Inputs(), nil)
	for t := range p.trained {
		row := spare
		if t >= first {
			row = rows.View((t-first)*n, 0, n, rows.Cols)
		}
		network.Read(row, uint64(t), p.series.part(t, t+1), nil, p.links.Adjacency())
		network.Truths(truths[t*n : (t+1)*n])
	}
	return rows, truths
}

// usualErrors stores σ, the rms error of the trained model by sensor and horizon.
func (p *program) usualErrors(rows, targets mat.Dense) {
	n := len(p.series.sensors)
	y := mat.NewDense(n, len(horizons), nil)
	sums, counts := mat.NewDense(n, len(horizons), nil), mat.NewDense(n, len(horizons), nil)
	for at := 0; at < rows.Rows; at += n {
		p.model.Predict(y, p.shift, rows.View(at, 0, n, rows.Cols))
		for i := range n {
			for c := range horizons {
				if e := y.At(i, c) - targets.At(at+i, c); e == e {
					sums.Set(i, c, sums.At(i, c)+e*e)
					counts.Set(i, c, counts.At(i, c)+1)
				}
			}
		}
	}
	for c := range horizons {
		rms := make([]float64, n)
		for i := range rms {
			rms[i] = math.Sqrt(float64(sums.At(i, c) / counts.At(i, c)))
		}
		p.spec.SetSigma(c, rms)
	}
}

// live plays the whole series to sensors that learn: over the training part once
// more, and on through the week after it, which is scored.
func (p *program) live(out io.Writer) error {
	n := len(p.series.sensors)
	observer, err := online.NewObserver(p.model, online.Config{Nodes: n, Moment: p.moment})
	if err != nil {
		return err
	}
	sigma := make([][]float64, n)
	for i := range sigma {
		sigma[i] = p.spec.Norms[i].Sigma
	}
	learner, err := online.NewForecaster(observer, rule.Seasonal(), rule.SeasonTask{
		Season: day, Horizons: horizons, Lagged: p.spec.Lagged(order),
	}, sigma)
	if err != nil {
		return err
	}
	mixing, err := graph.Metropolis(p.links)
	if err != nil {
		return err
	}
	network := forecast.NewNetwork(p.spec, n)
	rows, truths := mat.NewDense(n, p.spec.Inputs(), nil), make([]float32, n)
	book := newBook(p.spec, n, p.trained)
	for t := range p.series.steps {
		network.Read(rows, uint64(t), p.series.part(t, t+1), nil, p.links.Adjacency())
		if t < first {
			continue
		}
		network.Truths(truths)          // readings that can be believed
		learner.Tell(uint64(t), truths) // what earlier forecasts should have been
		sample := graph.Sample{Time: t, Shift: p.shift, Mixing: mixing, Signal: rows}
		if err := observer.Observe(sample); err != nil {
			return err
		}
		if err := observer.Predict(book.trained); err != nil { // what the model as trained says
			return err
		}
		if err := learner.Predict(book.learned); err != nil {
			return err
		}
		if err := learner.Update(nil); err != nil { // these are its answers
			return err
		}
		book.keep(t, truths, network)
	}
	book.print(out, p.series)
	return nil
}
