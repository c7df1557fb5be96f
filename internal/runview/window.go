package runview

import "math"

// window is the mean of the last values, each of so many answers.
type window struct {
	sums, counts []float64 // rings
	at           int
	sum, count   float64
}

func newWindow(steps int) *window {
	return &window{sums: make([]float64, steps), counts: make([]float64, steps)}
}

// add takes in what a step came to: the sum over its answers, and their number.
func (w *window) add(sum, count float64) {
	w.sums[w.at], w.counts[w.at] = sum, count
	w.at = (w.at + 1) % len(w.sums)
	w.sum, w.count = 0, 0 // anew, so that nothing is left of what has gone
	for k, v := range w.sums {
		w.sum, w.count = w.sum+v, w.count+w.counts[k]
	}
}

// mean returns that of the steps in the window, NaN if there were no answers.
func (w *window) mean() float64 {
	if w.count == 0 {
		return math.NaN()
	}
	return w.sum / w.count
}

// windowOf returns how many steps the mean of a stream of so many is taken over: a
// twentieth of it, as a round number from 10 to 100.
func windowOf(steps int) int {
	for _, w := range []int{100, 50, 20} {
		if 20*w <= steps {
			return w
		}
	}
	return 10
}
