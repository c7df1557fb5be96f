package forecast

import "github.com/wdgnn/wdgnn/mat"

// Naive makes the forecasts that need no model: the last value, the value one season
// before, and the mean of training at that time of the season. It takes readings, or what
// else is the truth, in the user's units. Before the first reading it answers with the
// mean of training.
type Naive struct {
	Newest []float32 // by node
	Slots  mat.Dense // N×Season: the newest reading of each slot of the season, t mod Season; empty without one
	Means  mat.Dense // N×Season: the mean of training in each slot; empty without one, and before Fit
}

// NewNaive returns one for the sensors of s, and newcomers behind them, who begin with
// the mean of all.
func NewNaive(s *Spec, nodes int) *Naive {
	n := &Naive{Newest: make([]float32, nodes), Slots: mat.NewDense(nodes, s.Season, nil)}
	all := 0.0
	for i := range s.Norms {
		all += s.Norms[i].Mean / float64(len(s.Norms))
	}
	for i := range n.Newest {
		v := float32(all)
		if i < len(s.Norms) {
			v = float32(s.Norms[i].Mean)
		}
		n.Newest[i] = v
		for k := range s.Season {
			n.Slots.Row(i)[k] = v
		}
	}
	return n
}

// Fit measures the means of the first steps, those of training, before the first Read;
// truth is NaN where there is none. A slot without a truth has the mean of all.
func (n *Naive) Fit(steps int, truth func(t, i int) float32) {
	n.Means = n.Slots.Clone()
	if n.Means.Empty() {
		return
	}
	season := n.Means.Cols
	for i := range n.Newest {
		for k := range season {
			sum, count := 0.0, 0
			for t := k; t < steps; t += season {
				if v := truth(t, i); v-v == 0 {
					sum, count = sum+float64(v), count+1
				}
			}
			if count > 0 {
				n.Means.Set(i, k, float32(sum/float64(count)))
			}
		}
	}
}

// Clock returns the mean of training of node i at the time of the season that step t is.
func (n *Naive) Clock(i int, t uint64) float32 { return n.Means.Row(i)[t%uint64(n.Means.Cols)] }

// Read takes the truth of node i at step t; NaN is none.
func (n *Naive) Read(i int, t uint64, v float32) {
	if v-v != 0 {
		return
	}
	n.Newest[i] = v
	if n.Slots.Cols > 0 {
		n.Slots.Row(i)[t%uint64(n.Slots.Cols)] = v
	}
}

// Last returns the last value of node i, whatever the horizon.
func (n *Naive) Last(i int) float32 { return n.Newest[i] }

// Seasonal returns, after Read at step t, the newest value that is known at t of the
// slot of the season in which t+ahead is: for horizons up to a season, that of one
// season before t+ahead. Without a season it is the last value.
func (n *Naive) Seasonal(i int, t uint64, ahead int) float32 {
	if n.Slots.Cols == 0 {
		return n.Newest[i]
	}
	return n.Slots.Row(i)[(t+uint64(ahead))%uint64(n.Slots.Cols)]
}
