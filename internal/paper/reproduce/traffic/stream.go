package traffic

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/wdgnn/wdgnn/random"
)

// stream is what happens to the world that changes: some links are gone from the
// first row that is forecast from, and some sensors send 0 or noise from row
// BrokenFrom on, counted from the first of the series. A folder may hold one, so that
// others can be compared with; otherwise it is drawn.
type stream struct {
	Lost       [][2]int    `json:"lost"` // pairs of sensors
	BrokenFrom int         `json:"broken_from"`
	Zero       []int       `json:"zero"`
	Noise      []int       `json:"noise"`
	Readings   [][]float64 `json:"noise_readings"` // of the sensors of Noise, a row per reading from BrokenFrom on
}

// readStream reads the stream that a folder holds; nil if it holds none.
func readStream(path string, w *week) (*stream, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	s := new(stream)
	if err == nil {
		err = json.Unmarshal(text, s)
	}
	if err == nil {
		err = s.check(w)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return s, nil
}

// check reports what does not fit the week.
func (s *stream) check(w *week) error {
	for _, i := range slices.Concat(s.Zero, s.Noise) {
		if i < 0 || i >= len(w.Sensors) {
			return fmt.Errorf("sensor %d of %d", i, len(w.Sensors))
		}
	}
	if s.BrokenFrom < 0 || s.BrokenFrom+len(s.Readings) < len(w.Speeds) {
		return fmt.Errorf("noise of %d rows from row %d on, of %d rows", len(s.Readings), s.BrokenFrom, len(w.Speeds))
	}
	for _, row := range s.Readings {
		if len(row) != len(s.Noise) {
			return fmt.Errorf("noise of %d sensors in a row, want %d", len(row), len(s.Noise))
		}
	}
	return nil
}

// What is drawn: shares of links and of sensors.
const (
	lostShare = 0.3
	deadShare = 0.2
)

// drawStream draws what happens to a week whose test begins at row first: three
// links in ten are lost, and halfway one sensor in five dies, half of these with 0
// and half with noise of the mean and the deviation of training.
func drawStream(w *week, seed uint64, first int) *stream {
	s := &stream{BrokenFrom: first + (len(w.Speeds)-first)/2}
	links := random.Stream(seed, "traffic lost")
	for _, l := range w.Links {
		if links.Float64() < lostShare {
			s.Lost = append(s.Lost, [2]int{l.A, l.B})
		}
	}
	dead := random.Stream(seed, "traffic dead").Perm(len(w.Sensors))[:max(2, int(deadShare*float64(len(w.Sensors))))]
	s.Zero, s.Noise = slices.Sorted(slices.Values(dead[:len(dead)/2])), slices.Sorted(slices.Values(dead[len(dead)/2:]))
	mean, deviation := moments(w.Speeds[:first])
	noise := random.Stream(seed, "traffic noise")
	for range w.Speeds[s.BrokenFrom:] {
		row := make([]float64, len(s.Noise))
		for k := range row {
			row[k] = math.Round(1000*(mean+float64(deviation*noise.NormFloat64()))) / 1000
		}
		s.Readings = append(s.Readings, row)
	}
	return s
}

// moments returns mean and standard deviation of all numbers.
func moments(rows [][]float64) (mean, deviation float64) {
	count := float64(len(rows) * len(rows[0]))
	for _, row := range rows {
		for _, v := range row {
			mean += v / count
		}
	}
	for _, row := range rows {
		for _, v := range row {
			deviation += float64((v-mean)*(v-mean)) / count
		}
	}
	return mean, math.Sqrt(deviation)
}

// readings returns what the sensors send in the rows from first on.
func (s *stream) readings(w *week, first int) [][]float64 {
	var rows [][]float64
	for t := first; t < len(w.Speeds); t++ {
		row := slices.Clone(w.Speeds[t])
		if t >= s.BrokenFrom {
			for _, i := range s.Zero {
				row[i] = 0
			}
			for k, i := range s.Noise {
				row[i] = s.Readings[t-s.BrokenFrom][k]
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// withheld returns the true speeds of the rows from first on, without those of dead
// sensors: NaN.
func (s *stream) withheld(w *week, first int) [][]float64 {
	var rows [][]float64
	for t := first; t < len(w.Speeds); t++ {
		row := slices.Clone(w.Speeds[t])
		if t >= s.BrokenFrom {
			for _, i := range slices.Concat(s.Zero, s.Noise) {
				row[i] = math.NaN()
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// left returns the links that are not lost.
func (s *stream) left(w *week) []link {
	return slices.DeleteFunc(slices.Clone(w.Links), func(l link) bool {
		return slices.Contains(s.Lost, [2]int{l.A, l.B}) || slices.Contains(s.Lost, [2]int{l.B, l.A})
	})
}

// dead says which sensors die.
func (s *stream) dead(nodes int) []bool {
	dead := make([]bool, nodes)
	for _, i := range slices.Concat(s.Zero, s.Noise) {
		dead[i] = true
	}
	return dead
}
