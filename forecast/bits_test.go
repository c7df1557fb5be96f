package forecast_test

import (
	"encoding/binary"
	"hash/fnv"
	"testing"

	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/mat"
)

// What is measured in training, the inputs of every step and the baseline have the
// same bits on every processor: machines that fuse products and sums, too.
func TestBits(t *testing.T) {
	const nodes, train, last = 6, 500, 900
	x := mat.NewDense(nodes*last, 2, nil)
	for k := range last {
		for i := range nodes {
			wave := (k+5*i)%48 - 24
			row := x.Row(k*nodes + i)
			row[0], row[1] = float32(float32(wave*wave)*.37)+float32(scatter(k, i)%100)/17, float32(scatter(i, k)%1000)/7
			if scatter(k, i+nodes)%10 < 2 {
				row[0] = nan
			}
			if k > train+100 && i == 2 {
				row[0] = float32(scatter(k, 0) % 200)
			}
		}
	}
	s := forecast.Spec{Lags: 5, Horizons: []int{1, 4}, Extras: 1}
	for i := range nodes {
		s.Sensors = append(s.Sensors, string(rune('a'+i)))
	}
	links := line(t, nodes)
	digest := fnv.New64a()
	put := func(v any) { _ = binary.Write(digest, binary.LittleEndian, v) }
	for _, scaling := range []forecast.Scaling{forecast.ScalePerSensor, forecast.ScaleCommon} {
		spec, err := forecast.Fit(s, x.View(0, 0, train*nodes, 2), links, scaling)
		if err != nil {
			t.Fatal(err)
		}
		spec.SetSigma(0, []float64{.1, .2, .3, .4, .5, .6})
		ridge, err := forecast.FitRidge(spec, x.View(0, 0, train*nodes, 2), links, nil)
		if err != nil {
			t.Fatal(err)
		}
		put(ridge.Weights)
		network, rows := forecast.NewNetwork(spec, nodes), mat.NewDense(nodes, spec.Inputs(), nil)
		meter := forecast.NewMeter(spec, nodes)
		for k := range last - 1 {
			network.Read(rows, uint64(k), x.View(k*nodes, 0, nodes, 2), nil, links)
			put(rows.Data)
			for i := range nodes {
				y := spec.Norms[i].Units(ridge.Forecast(i, 0, rows.Row(i)))
				put(y)
				meter.Judge(0, i, y, x.Row((k+1)*nodes + i)[0])
			}
		}
		for _, n := range spec.Norms {
			put([]float64{n.Mean, n.Scale, n.Level, n.NearLevel, n.Near, n.Keep, n.Alone, n.Rough, n.Low, n.High, n.Sigma[0]})
		}
		put(meter.Horizon(0, nil).RMSE)
	}
	if got, want := digest.Sum64(), uint64(0x961ac3a5c98b7364); got != want {
		t.Errorf("digest %#x, want %#x", got, want)
	}
}
