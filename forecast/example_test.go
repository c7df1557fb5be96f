package forecast_test

import (
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/mat"
)

// Two thermometers hear each other. The second fails: its inputs are an estimate, and
// say so.
func ExampleNetwork() {
	const steps = 200
	readings := mat.NewDense(2*steps, 1, nil) // step after step, °C
	for t := range steps {
		warm := float32(5 * math.Sin(2*math.Pi*float64(t)/24))
		readings.Data[2*t], readings.Data[2*t+1] = 15+warm, 12+2*warm
	}
	links, err := mat.FromEntries(2, 2, []mat.Entry{{Row: 0, Col: 1, Val: 1}, {Row: 1, Col: 0, Val: 1}})
	if err != nil {
		panic(err)
	}
	spec, err := forecast.Fit(forecast.Spec{
		Sensors: []string{"roof", "yard"}, Unit: "°C", Lags: 2, Horizons: []int{1}, Season: 24,
	}, readings, links, forecast.ScalePerSensor)
	if err != nil {
		panic(err)
	}

	network, rows := forecast.NewNetwork(spec, 2), mat.NewDense(2, spec.Inputs(), nil)
	nan := float32(math.NaN())
	for t, x := range [][]float32{{20, 22}, {19.8, nan}, {19.3, nan}} {
		network.Read(rows, spec.Steps+uint64(t), mat.NewDense(2, 1, x), nil, links)
		row := rows.Row(1)
		fmt.Printf("yard: %.1f °C now, %.1f before, estimated: %t\n",
			network.Sensor(1).Units(row[0]), network.Sensor(1).Units(row[1]), row[spec.Flag()] == 1)
	}
	// Output:
	// yard: 22.0 °C now, 22.0 before, estimated: false
	// yard: 21.7 °C now, 22.0 before, estimated: true
	// yard: 21.3 °C now, 21.7 before, estimated: true
}
