package lifecycle

import (
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/internal/data"
)

// loadExample writes the forecast example and reads it back, the later series as
// one for a model of the first.
func loadExample(t *testing.T) (first, later *data.Series, links, laterLinks *data.SensorGraphs) {
	t.Helper()
	e, dir := NewForecastExample(), t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{
		"readings.csv": e.Readings, "sensors.csv": e.Sensors, "later.csv": e.Later, "later_sensors.csv": e.LaterSensors,
	} {
		if err := os.WriteFile(path(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	load := func(name string, o data.SeriesOptions, graph string) (*data.Series, *data.SensorGraphs) {
		s, err := data.LoadSeries(path(name), o)
		if err != nil {
			t.Fatal(err)
		}
		g, err := data.LoadSensorGraph(data.SensorGraph{Graph: path(graph)}, s)
		if err != nil {
			t.Fatal(err)
		}
		return s, g
	}
	first, links = load("readings.csv", data.SeriesOptions{}, "sensors.csv")
	o := data.SeriesOptions{Every: first.Interval, Origin: first.Start, Names: first.Names}
	later, laterLinks = load("later.csv", o, "later_sensors.csv")
	return first, later, links, laterLinks
}

// The example is three weeks of 24 sensors with gaps, and a week after them in
// which a sensor breaks and one joins.
func TestForecastExample(t *testing.T) {
	first, later, links, laterLinks := loadExample(t)
	if first.Nodes != 24 || first.Steps != 21*96 || first.Interval != 15*time.Minute || links.At(0).Edges() != 24 {
		t.Errorf("got %d sensors, %d steps of %v, %d links; want 24, 2016 of 15m, 24",
			first.Nodes, first.Steps, first.Interval, links.At(0).Edges())
	}
	want := []string{"4 of 2016 steps have no row in the file: gaps", "998 of 48384 readings are missing (2.1 %)"}
	if !slices.Equal(first.Notes, want) {
		t.Errorf("got notes %q, want %q", first.Notes, want)
	}
	if want := first.Time(first.Steps); !later.Start.Equal(want) || later.Known != 24 || later.Nodes != 25 || later.Names[24] != newcomerName {
		t.Errorf("got a later series from %v on, %d known of %q; want %v, 24, the last %s",
			later.Start, later.Known, later.Names, want, newcomerName)
	}
	for step, want := range map[int]int{0: 24, roadJoins - 1: 24, roadJoins: 26, later.Steps - 1: 26} {
		if got := laterLinks.At(step).Edges(); got != want {
			t.Errorf("step %d: got %d links, want %d", step, got, want)
		}
	}
	broken := slices.Index(later.Names, brokenName)
	for step := roadStuck; step < roadWild; step++ {
		got, want := later.Step(step).At(broken, 0), later.Step(roadStuck).At(broken, 0)
		if got == got && got != want {
			t.Errorf("step %d: the broken sensor reads %v, want %v still", step, got, want)
		}
	}
}

// The numbers are part of what doc and tests show: they must not change from one
// version or machine to the next.
func TestForecastExampleIsStable(t *testing.T) {
	e := NewForecastExample()
	sum := sha256.Sum256([]byte(e.Readings + e.Sensors + e.Later + e.LaterSensors))
	if got, want := fmt.Sprintf("%x", sum[:8]), "e72bbd95bb3728d0"; got != want {
		t.Errorf("got an example with sum %s, want %s", got, want)
	}
}

// In the example the last value and the same time yesterday miss by much half an
// hour ahead, the best line through the last two readings of a sensor by less,
// and one through those of its neighbour nearer to the town as well by least.
func TestNeighboursHelpInForecastExample(t *testing.T) {
	s, _, _, _ := loadExample(t)
	const ahead = 2
	var last, seasonal, alone, together float64
	for i := range s.Nodes {
		if i%roadPlaces == roadPlaces-1 {
			continue // in the town
		}
		var rows [][]float64 // 1, two of the own, two of the neighbour's, yesterday, truth
		for step := roadDaySteps; step+ahead < s.Steps; step++ {
			at := func(t, i int) float64 { return float64(s.Step(t).At(i, 0)) }
			row := []float64{
				1, at(step, i), at(step-1, i), at(step, i+1), at(step-1, i+1), at(step+ahead-roadDaySteps, i), at(step+ahead, i),
			}
			if !slices.ContainsFunc(row, math.IsNaN) {
				rows = append(rows, row)
			}
		}
		last += rms(rows, []float64{0, 1})
		seasonal += rms(rows, []float64{0, 0, 0, 0, 0, 1})
		alone += rms(rows, leastSquares(rows, 3))
		together += rms(rows, leastSquares(rows, 5))
	}
	if !(together < 0.9*alone && together < 0.8*last && together < 0.8*seasonal) {
		t.Errorf("got rms errors of %.3g with the neighbour, %.3g alone, %.3g last value, %.3g yesterday; want the first to be clearly least",
			together/21, alone/21, last/21, seasonal/21)
	}
}

// rms is the error of a weighted sum of the first numbers of rows that end with
// the truth.
func rms(rows [][]float64, weights []float64) float64 {
	sum := 0.0
	for _, r := range rows {
		e := r[len(r)-1]
		for k, w := range weights {
			e -= w * r[k]
		}
		sum += e * e
	}
	return math.Sqrt(sum / float64(len(rows)))
}

// leastSquares returns the best weights of the first n numbers, by elimination.
func leastSquares(rows [][]float64, n int) []float64 {
	m := make([][]float64, n) // normal equations, the right side last
	for i := range m {
		m[i] = make([]float64, n+1)
		for _, r := range rows {
			for j := range n {
				m[i][j] += r[i] * r[j]
			}
			m[i][n] += r[i] * r[len(r)-1]
		}
	}
	for i := range m {
		for k := range m {
			f := m[k][i] / m[i][i]
			for j := i; k != i && j <= n; j++ {
				m[k][j] -= f * m[i][j]
			}
		}
	}
	weights := make([]float64, n)
	for i := range m {
		weights[i] = m[i][n] / m[i][i]
	}
	return weights
}
