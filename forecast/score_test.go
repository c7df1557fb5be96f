package forecast_test

import (
	"math"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/forecast"
)

// Errors are counted by horizon and sensor; percentages leave out truths near 0, and
// what is not a number counts nothing.
func TestMeter(t *testing.T) {
	s := spec() // a scale of 10: truths within 1 of 0 have no percentage
	m := forecast.NewMeter(s, 2)
	m.Judge(0, 0, 12, 10)
	m.Judge(0, 0, -4.5, -.5)
	m.Judge(0, 0, nan, 10)
	m.Judge(0, 0, 10, nan)
	m.Judge(0, 1, 10, 20)
	want := forecast.Score{Count: 2, MAE: 3, RMSE: math.Sqrt(10), MAPE: .2}
	if got := m.Sensor(0, 0); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := m.Horizon(0, nil); got.Count != 3 || got.MAE != 16./3 || math.Abs(got.MAPE-.35) > 1e-15 {
		t.Errorf("all: got %+v, want 3 errors of 16/3 and 35 %%", got)
	}
	if got := m.Horizon(0, func(i int) bool { return i == 1 }); got.Count != 1 || got.MAE != 10 {
		t.Errorf("sensor 1: got %+v, want one error of 10", got)
	}
	if got, want := m.Ranking(0), []int{0, 1}; !slices.Equal(got, want) {
		t.Errorf("best to worst %v, want %v", got, want)
	}
	again := forecast.NewMeter(s, 2)
	again.SetSums(0, 0, m.Sums(0, 0))
	if got := again.Sensor(0, 0); got != want {
		t.Errorf("from its sums: got %+v, want %+v", got, want)
	}
}

// Intervals hold the truth or not, their ends too; those without ends are counted and
// earn nothing.
func TestMeterIntervals(t *testing.T) {
	inf := float32(math.Inf(1))
	hit, miss := forecast.Score{Intervals: 1, Coverage: 1, Width: 4}, forecast.Score{Intervals: 1, Width: 4}
	for _, c := range []struct {
		low, high, truth float32
		want             forecast.Score
	}{
		{8, 12, 10, hit},
		{8, 12, 8, hit},
		{8, 12, 12, hit},
		{8, 12, 7, miss},
		{8, 12, 13, miss},
		{-inf, inf, 10, forecast.Score{Intervals: 1, Unknown: 1}},
		{8, inf, 10, forecast.Score{Intervals: 1, Unknown: 1}},
		{8, 12, nan, forecast.Score{}},
	} {
		m := forecast.NewMeter(spec(), 1)
		m.JudgeInterval(0, 0, c.low, c.high, c.truth)
		if got := m.Sensor(0, 0); got != c.want {
			t.Errorf("%v in %v to %v: got %+v, want %+v", c.truth, c.low, c.high, got, c.want)
		}
	}
	m := forecast.NewMeter(spec(), 1)
	m.JudgeInterval(0, 0, 8, 12, 10)
	m.JudgeInterval(0, 0, 8, 14, 20)
	m.JudgeInterval(0, 0, -inf, inf, 20)
	if got, want := m.Sensor(0, 0), (forecast.Score{Intervals: 3, Unknown: 1, Coverage: .5, Width: 5}); got != want {
		t.Errorf("of three: got %+v, want %+v", got, want)
	}
}

// The seasonal forecast is the newest value of the target's slot that is known when it
// is made.
func TestNaive(t *testing.T) {
	s := spec()
	s.Season = 3
	n := forecast.NewNaive(s, 2)
	if got := n.Seasonal(0, 0, 1); got != 50 {
		t.Errorf("before any reading %v, want the mean of training, 50", got)
	}
	for k, v := range []float32{10, 11, 12, 20, nan} {
		n.Read(0, uint64(k), v)
	}
	for ahead, want := range map[int]float32{1: 12, 2: 20, 3: 11, 4: 12, 5: 20} {
		if got := n.Seasonal(0, 4, ahead); got != want {
			t.Errorf("%d ahead of step 4: %v, want %v", ahead, got, want)
		}
	}
	if got := n.Last(0); got != 20 {
		t.Errorf("last value %v, want 20", got)
	}
	n = forecast.NewNaive(s, 2)
	n.Fit(5, func(t, i int) float32 { return []float32{10, nan, nan, 20, nan}[t] + float32(i) })
	for k, want := range []float32{15, 50, 50, 15} {
		if got := n.Clock(0, uint64(k)); got != want || n.Clock(1, uint64(k)) < 16 {
			t.Errorf("mean of step %d: %v and %v, want %v and a larger one", k, got, n.Clock(1, uint64(k)), want)
		}
	}
	s.Season = 0
	n = forecast.NewNaive(s, 1)
	n.Read(0, 0, 7)
	if got := n.Seasonal(0, 0, 1); got != 7 {
		t.Errorf("without a season %v, want the last value, 7", got)
	}
}
