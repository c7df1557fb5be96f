package lifecycle

import (
	"math"

	"github.com/wdgnn/wdgnn/conformal"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
)

// unchanging answers as trained, and learns nothing but how far its forecasts can be
// trusted.
type unchanging struct {
	*online.Observer
	horizons []int
	nodes    []*conformal.Node // nil without intervals
	given    []givenForecasts  // of the last steps, by step modulo their number
	y        mat.Dense         // of the open step
	time     uint64
	truth    []float32 // of one answer: NaN but for its horizon
}

// givenForecasts are the answers of a step.
type givenForecasts struct {
	time   uint64
	used   bool
	y      mat.Dense
	bounds [][]conformal.Bound
}

func (r *OnlineRun) newUnchanging(scores func(node int) [][]float64) (*unchanging, error) {
	s, outputs := r.Stream, r.trained.Network.Outputs()
	u := &unchanging{Observer: r.frozen, horizons: s.sensors.spec.Horizons, y: mat.NewDense(s.Nodes, outputs, nil)}
	if r.Rule.Conformal == nil {
		return u, nil
	}
	for c := range outputs {
		u.truth = append(u.truth, float32(math.NaN()))
		if k := len(u.given); k <= u.horizons[c] {
			u.given = make([]givenForecasts, u.horizons[c]+1)
		}
	}
	for k := range u.given {
		u.given[k].y, u.given[k].bounds = mat.NewDense(s.Nodes, outputs, nil), make([][]conformal.Bound, s.Nodes)
	}
	for i := range s.Nodes {
		n := conformal.New(*r.Rule.Conformal, outputs)
		if scores != nil {
			for c, known := range scores(i) {
				n.Begin(c, known)
			}
		}
		u.nodes = append(u.nodes, n)
	}
	return u, nil
}

// Tell judges the forecasts that were made for step t.
func (u *unchanging) Tell(t uint64, truths []float32) (judged int) {
	u.time = t
	if u.nodes == nil {
		return 0
	}
	for c, h := range u.horizons {
		if t < uint64(h) {
			continue
		}
		g := &u.given[(t-uint64(h))%uint64(len(u.given))]
		if !g.used || g.time != t-uint64(h) {
			continue
		}
		for i, v := range truths {
			u.truth[c] = v
			u.nodes[i].Judge(g.y.Row(i), g.bounds[i], u.truth)
			judged++
		}
		u.truth[c] = float32(math.NaN())
	}
	return judged
}

// Update keeps what was answered.
func (u *unchanging) Update(j loss.Loss) error {
	if u.nodes != nil {
		if err := u.Predict(u.y); err != nil {
			return err
		}
		g := &u.given[u.time%uint64(len(u.given))]
		g.time, g.used = u.time, true
		copy(g.y.Data, u.y.Data)
		for i, n := range u.nodes {
			g.bounds[i] = append(g.bounds[i][:0], n.Bounds()...)
		}
	}
	return u.Observer.Update(j)
}

// Bounds returns those of node i.
func (u *unchanging) Bounds(i int) []conformal.Bound { return u.nodes[i].Bounds() }

// Meter returns how often the intervals of node i held the truth.
func (u *unchanging) Meter(i int) conformal.Meter { return u.nodes[i].Meter() }
