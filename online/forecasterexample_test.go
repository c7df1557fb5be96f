package online_test

import (
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// Three sensors swing with a rhythm of 24 steps, and the model says that in 2 steps
// they read what they read now. Its sensors learn what it lacks, by the time of the
// day.
func ExampleForecaster() {
	model, err := gnn.New(gnn.Config{In: 1, Features: 1, Wide: &gnn.WideConfig{Order: 0}, NoBias: true})
	if err != nil {
		panic(err)
	}
	model.Params.Flat[0] = 1 // y = x
	observer, err := online.NewObserver(model, online.Config{Nodes: 3})
	if err != nil {
		panic(err)
	}
	config := rule.Seasonal()
	config.Gate = &rule.Gate{} // never much worse than the model
	config.Season.Taps = -1    // the season alone
	task := rule.SeasonTask{Season: 24, Horizons: []int{2}, Lagged: []int{0}}
	learner, err := online.NewForecaster(observer, config, task, [][]float64{{0.4}, {0.4}, {0.4}})
	if err != nil {
		panic(err)
	}

	line := graph.Grid(1, 3)
	shift, err := graph.ShiftRowStochastic.Of(line)
	if err != nil {
		panic(err)
	}
	mixing, err := graph.Metropolis(line)
	if err != nil {
		panic(err)
	}
	reading := func(t, i int) float32 { return float32(math.Sin(2 * math.Pi * float64(t+i) / 24)) }
	signal, y := mat.NewDense(3, 1, nil), mat.NewDense(3, 1, nil)
	for t := range 24*20 + 1 {
		for i := range 3 {
			signal.Set(i, 0, reading(t, i))
		}
		learner.Tell(uint64(t), signal.Data) // what was forecast 2 steps ago
		if err := learner.Observe(graph.Sample{Time: t, Shift: shift, Mixing: mixing, Signal: signal}); err != nil {
			panic(err)
		}
		if err := learner.Predict(y); err != nil {
			panic(err)
		}
		if t == 0 || t == 24*20 {
			fmt.Printf("day %2d: sensor 0 will read %.2f, the forecast is %.2f\n", t/24, reading(t+2, 0), y.At(0, 0))
		}
		if err := learner.Update(nil); err != nil {
			panic(err)
		}
	}
	// Output:
	// day  0: sensor 0 will read 0.50, the forecast is 0.00
	// day 20: sensor 0 will read 0.50, the forecast is 0.49
}
