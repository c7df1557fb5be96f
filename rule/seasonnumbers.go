package rule

import (
	"errors"
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/conformal"
	"github.com/wdgnn/wdgnn/mat"
)

// What a node that learns by season remembers is one list of numbers in a file:
//
//	1, C, S, p, forecasts that wait, whether they have bounds, whether there are intervals
//	by horizon:  G, b, A, F, c_k (S), n_k (S), θ (p), P (p(p+1)/2)
//	by forecast: time, φ (p), y† (C), answer (C), f (C), y₁ - y† (C), judged (C), bounds (2C)
//	intervals:   coverage; by horizon level, scores, judged, held, sized, size, and the scores
const seasonNumbers = 1 // of this kind

// Numbers returns m as one list of numbers, nil if there is nothing in it;
// [SeasonOf] reads it.
func (m *SeasonMemory) Numbers() []float64 {
	if len(m.Horizons) == 0 {
		return nil
	}
	first := &m.Horizons[0]
	bounded := len(m.Waiting) > 0 && len(m.Waiting[0].Bounds) > 0
	list := []float64{
		seasonNumbers, float64(len(m.Horizons)), float64(len(first.Table)), float64(len(first.Taps)), float64(len(m.Waiting)),
		one(bounded), one(m.Conformal != nil),
	}
	for c := range m.Horizons {
		h := &m.Horizons[c]
		list = append(list, h.Weight[0], h.Weight[1], h.Answers, h.Trained)
		for _, part := range [][]float64{h.Table, h.Seen, h.Taps, h.Spread} {
			list = append(list, part...)
		}
	}
	for k := range m.Waiting {
		list = m.Waiting[k].appendTo(list)
	}
	if m.Conformal == nil {
		return list
	}
	list = append(list, m.Conformal.Coverage)
	for _, w := range m.Conformal.Windows {
		list = append(list, w.Level, float64(len(w.Scores)), float64(w.Meter.Judged), float64(w.Meter.Held), float64(w.Meter.Sized), w.Meter.Size)
		list = append(list, w.Scores...)
	}
	return list
}

func (f *SeasonForecast) appendTo(list []float64) []float64 {
	list = append(append(list, float64(f.Time)), f.Features...)
	for _, part := range [][]float32{f.Base, f.Answer} {
		for _, v := range part {
			list = append(list, float64(v))
		}
	}
	list = append(append(list, f.Season...), f.First...)
	for _, b := range f.Judged {
		list = append(list, one(b))
	}
	for _, b := range f.Bounds {
		list = append(list, b.Low, b.High)
	}
	return list
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// SeasonOf returns what [SeasonMemory.Numbers] wrote. It may come from outside: what
// it returns holds together; whether it fits a node, SeasonNode.Fits says.
func SeasonOf(numbers []float64) (SeasonMemory, error) {
	var m SeasonMemory
	if len(numbers) == 0 {
		return m, nil
	}
	if !mat.Finite(numbers...) {
		return m, errors.New("rule: memory: a number of the season is not finite")
	}
	r := memoryReader{rest: numbers}
	if kind := r.next(); kind != seasonNumbers {
		return m, fmt.Errorf("rule: memory: a season of kind %v, which this version does not know; try a newer one", kind)
	}
	c, season, p, waiting := r.count(), r.count(), r.count(), r.count()
	bounded, sure := r.next() != 0, r.next() != 0
	for range min(c, len(r.rest)) {
		h := SeasonHorizon{Weight: [2]float64{r.next(), r.next()}, Answers: r.next(), Trained: r.next()}
		h.Table, h.Seen, h.Taps, h.Spread = r.take(season), r.take(season), r.take(p), r.take(p*(p+1)/2)
		m.Horizons = append(m.Horizons, h)
	}
	if r.bad || c == 0 || len(m.Horizons) != c {
		return SeasonMemory{}, errSeason(len(numbers), c)
	}
	for range min(waiting, len(r.rest)) {
		m.Waiting = append(m.Waiting, r.forecast(c, p, bounded))
	}
	if sure {
		m.Conformal = r.conformal(c)
	}
	if r.bad || len(r.rest) > 0 || len(m.Waiting) != waiting {
		return SeasonMemory{}, errSeason(len(numbers), c)
	}
	return m, nil
}

func errSeason(numbers, horizons int) error {
	return fmt.Errorf("rule: memory: %d numbers that are not those of a season with %d horizons", numbers, horizons)
}

// take returns a copy of the next n numbers.
func (r *memoryReader) take(n int) []float64 {
	if r.bad || n < 0 || n > len(r.rest) {
		r.bad = true
		return nil
	}
	if n == 0 {
		return nil
	}
	values := append([]float64(nil), r.rest[:n]...)
	r.rest = r.rest[n:]
	return values
}

// single returns the next n numbers as float32, which they were.
func (r *memoryReader) single(n int) []float32 {
	var values []float32
	for _, v := range r.take(n) {
		values = append(values, float32(v))
		r.bad = r.bad || math.Abs(v) > math.MaxFloat32
	}
	return values
}

func (r *memoryReader) forecast(c, p int, bounded bool) SeasonForecast {
	f := SeasonForecast{Time: uint64(r.count()), Features: r.take(p)}
	f.Base, f.Answer, f.Season, f.First = r.single(c), r.single(c), r.take(c), r.take(c)
	for _, v := range r.take(c) {
		f.Judged = append(f.Judged, v != 0)
	}
	if bounded {
		for range c {
			f.Bounds = append(f.Bounds, conformal.Bound{Low: r.next(), High: r.next()})
		}
	}
	return f
}

func (r *memoryReader) conformal(c int) *conformal.Memory {
	m := &conformal.Memory{Coverage: r.next()}
	for range min(c, len(r.rest)) {
		w := conformal.WindowMemory{Level: r.next()}
		n := r.count()
		w.Meter = conformal.Meter{Judged: uint64(r.count()), Held: uint64(r.count()), Sized: uint64(r.count()), Size: r.next()}
		w.Scores = r.take(n)
		m.Windows = append(m.Windows, w)
	}
	return m
}
