package forecast

import (
	"cmp"
	"math"
	"slices"
)

// Score is how forecasts turned out, in the user's units.
type Score struct {
	Count uint64  `json:"count"` // forecasts whose truth became known
	MAE   float64 `json:"mae"`   // mean |error|
	RMSE  float64 `json:"rmse"`  // root of the mean of error²

	// MAPE is the mean of |error/truth|, 0.1 for ten percent, over truths that are not
	// near 0: no nearer than a tenth of the sensor's scale. It is 0 if there is none.
	MAPE float64 `json:"mape"`

	// Unknown intervals have no ends: they hold everything and say nothing. Coverage and
	// Width are of the others.
	Intervals uint64  `json:"intervals"` // whose truth became known
	Unknown   uint64  `json:"unknown"`
	Coverage  float64 `json:"coverage"` // the share that held the truth
	Width     float64 `json:"width"`    // mean
}

// Sums is what a Score is made of; sums of parts add up.
type Sums struct {
	Count    uint64  `json:"count"`
	Absolute float64 `json:"absolute"`
	Squared  float64 `json:"squared"`

	RelativeCount uint64  `json:"relative_count"`
	Relative      float64 `json:"relative"`

	Intervals uint64  `json:"intervals"`
	Sized     uint64  `json:"sized"` // of them, that have ends
	Held      uint64  `json:"held"`  // of those
	Width     float64 `json:"width"`
}

// Add takes in what other summed up.
func (s *Sums) Add(other Sums) {
	s.Count += other.Count
	s.Absolute += other.Absolute
	s.Squared += other.Squared
	s.RelativeCount += other.RelativeCount
	s.Relative += other.Relative
	s.Intervals += other.Intervals
	s.Held += other.Held
	s.Sized += other.Sized
	s.Width += other.Width
}

// Score returns the means; zeros where nothing was counted.
func (s *Sums) Score() Score {
	n := s.Count
	return Score{
		Count: n, MAE: mean(s.Absolute, n), RMSE: math.Sqrt(mean(s.Squared, n)), MAPE: mean(s.Relative, s.RelativeCount),
		Intervals: s.Intervals, Unknown: s.Intervals - s.Sized, Coverage: mean(float64(s.Held), s.Sized), Width: mean(s.Width, s.Sized),
	}
}

func mean(sum float64, count uint64) float64 {
	if count == 0 {
		return 0
	}
	return sum / float64(count)
}

// nearZero is the part of a sensor's scale below which a truth has no percentage.
const nearZero = 0.1

// Meter judges forecasts when their truth becomes known, by horizon and sensor.
type Meter struct {
	sums   [][]Sums // by horizon and sensor
	floors []float64
}

// NewMeter returns a meter for the horizons of s and the given number of nodes.
// Newcomers have the mean scale of all sensors.
func NewMeter(s *Spec, nodes int) *Meter {
	m := &Meter{sums: make([][]Sums, len(s.Horizons)), floors: make([]float64, nodes)}
	for c := range m.sums {
		m.sums[c] = make([]Sums, nodes)
	}
	all := 0.0
	for i := range s.Norms {
		all += nearZero * s.Norms[i].Scale / float64(len(s.Norms))
	}
	for i := range m.floors {
		m.floors[i] = all
		if i < len(s.Norms) {
			m.floors[i] = nearZero * s.Norms[i].Scale
		}
	}
	return m
}

// Judge counts the forecast y of sensor i at horizon c, whose truth is v. What is not
// a number is not counted.
func (m *Meter) Judge(c, i int, y, v float32) {
	e := float64(y) - float64(v)
	if e-e != 0 {
		return
	}
	s := &m.sums[c][i]
	s.Count++
	s.Absolute += math.Abs(e)
	s.Squared += float64(e * e)
	if size := math.Abs(float64(v)); size >= m.floors[i] && size > 0 {
		s.RelativeCount++
		s.Relative += math.Abs(e) / size
	}
}

// JudgeInterval counts an interval of sensor i at horizon c.
func (m *Meter) JudgeInterval(c, i int, low, high, v float32) {
	if v-v != 0 {
		return
	}
	s := &m.sums[c][i]
	s.Intervals++
	w := float64(high) - float64(low)
	if w-w != 0 {
		return
	}
	s.Sized++
	s.Width += w
	if v >= low && v <= high {
		s.Held++
	}
}

// Sums returns what was counted of sensor i at horizon c.
func (m *Meter) Sums(c, i int) Sums { return m.sums[c][i] }

// SetSums makes the meter go on from what Sums returned.
func (m *Meter) SetSums(c, i int, s Sums) { m.sums[c][i] = s }

// Horizon returns the score at horizon c over the sensors that keep accepts; nil
// accepts all.
func (m *Meter) Horizon(c int, keep func(i int) bool) Score {
	var all Sums
	for i, s := range m.sums[c] {
		if keep == nil || keep(i) {
			all.Add(s)
		}
	}
	return all.Score()
}

// Sensor returns the score of sensor i at horizon c.
func (m *Meter) Sensor(c, i int) Score { return m.sums[c][i].Score() }

// Ranking returns the sensors that have a score at horizon c, by MAE ascending, equals
// by number: the middle one is typical, the last the worst.
func (m *Meter) Ranking(c int) []int {
	var ranked []int
	for i := range m.sums[c] {
		if m.sums[c][i].Count > 0 {
			ranked = append(ranked, i)
		}
	}
	slices.SortStableFunc(ranked, func(i, j int) int { return cmp.Compare(m.Sensor(c, i).MAE, m.Sensor(c, j).MAE) })
	return ranked
}
