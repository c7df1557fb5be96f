package main

import (
	"fmt"
	"io"
	"time"

	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/mat"
)

// book keeps forecasts until their truth is known, and scores those of the week that
// training did not see.
type book struct {
	trained, learned mat.Dense // forecasts of this step, N×C, in units of a sensor's scale
	from             int       // the first step whose truths are scored

	kept                   map[int][2][]float32 // by step, in the user's units
	scoreTrained, scoreNow *forecast.Meter
}

func newBook(s *forecast.Spec, n, from int) *book {
	return &book{
		trained: mat.NewDense(n, len(s.Horizons), nil), learned: mat.NewDense(n, len(s.Horizons), nil), from: from,
		kept: map[int][2][]float32{}, scoreTrained: forecast.NewMeter(s, n), scoreNow: forecast.NewMeter(s, n),
	}
}

// keep writes the forecasts of step t down, and scores those that were made of t by
// what is known to be true.
func (b *book) keep(t int, truths []float32, network *forecast.Network) {
	var said [2][]float32
	for k, y := range []mat.Dense{b.trained, b.learned} {
		for i := range y.Rows {
			for _, v := range y.Row(i) {
				said[k] = append(said[k], network.Sensor(i).Units(v))
			}
		}
	}
	b.kept[t] = said
	for c, h := range horizons {
		then, made := b.kept[t-h]
		if !made || t < b.from {
			continue
		}
		for i, v := range truths {
			at, truth := i*len(horizons)+c, network.Sensor(i).Units(v)
			b.scoreTrained.Judge(c, i, then[0][at], truth)
			b.scoreNow.Judge(c, i, then[1][at], truth)
		}
	}
	delete(b.kept, t-horizons[len(horizons)-1])
}

// print says how forecasts did, and what comes next.
func (b *book) print(out io.Writer, s *table) {
	fmt.Fprintf(out, "%d sensors, %d steps, trained on the first %d\n", len(s.sensors), s.steps, b.from)
	for c, h := range horizons {
		trained, now := b.scoreTrained.Horizon(c, nil), b.scoreNow.Horizon(c, nil)
		fmt.Fprintf(out, "%3.0f minutes ahead: mean error %.2f km/h as trained, %.2f learning\n",
			(time.Duration(h) * s.interval).Minutes(), trained.MAE, now.MAE)
	}
	last := s.steps - 1
	fmt.Fprintf(out, "%s, and then\n", s.begin.Add(time.Duration(last)*s.interval).Format("Monday 15:04"))
	for i, name := range s.sensors[:3] {
		fmt.Fprintf(out, "%-8s %5.1f km/h:", name, s.part(last, s.steps).At(i, 0))
		for c := range horizons {
			fmt.Fprintf(out, " %5.1f", b.kept[last][1][i*len(horizons)+c])
		}
		fmt.Fprintln(out)
	}
}
