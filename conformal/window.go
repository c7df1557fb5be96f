package conformal

import "slices"

// window is what is remembered of one output.
type window struct {
	ring   []float64 // in the order of time, from next on once it is full
	sorted []float64 // the same, ascending
	next   int
	level  float64 // α_t
	meter  Meter
}

// add remembers a score, and forgets the oldest if there is no room.
func (w *window) add(score float64, room int) {
	if len(w.ring) < room {
		w.ring = append(w.ring, score)
	} else {
		at, _ := slices.BinarySearch(w.sorted, w.ring[w.next])
		w.sorted = slices.Delete(w.sorted, at, at+1)
		w.ring[w.next] = score
		w.next = (w.next + 1) % room
	}
	at, _ := slices.BinarySearch(w.sorted, score)
	w.sorted = slices.Insert(w.sorted, at, score)
}

// bound returns the bound of the next answer.
func (w *window) bound(c *Config) Bound { return quantiles(w.sorted, c, w.level) }

// quantiles returns the bound that sorted scores give at a level.
func quantiles(sorted []float64, c *Config, level float64) Bound {
	n := len(sorted)
	k := c.rank(n, level)
	switch {
	case level <= 0 || k > n:
		return everything
	case c.Classes:
		return Bound{High: sorted[k-1]}
	}
	return Bound{sorted[n-k], sorted[k-1]} // level < 1, so that k > n/2
}

// judged takes in whether an answer held the truth, and its score.
func (w *window) judged(c *Config, held bool, score float64) {
	if n := len(w.ring); c.rank(n, c.miss()) <= n { // else it could not but hold it
		miss := 0.0
		if !held {
			miss = 1
		}
		w.level = min(w.level+float64(c.Rate*(c.miss()-miss)), c.most())
	}
	w.add(score, c.Window)
}
