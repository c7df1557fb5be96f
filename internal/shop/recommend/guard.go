package recommend

import (
	"errors"
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/random"
)

// GuardConfig says how much worse than the model as trained the one that learns may
// become. Both are judged by users of the data, who are drawn by lot, on all of their
// ratings. Nobody who comes later gets a place among them, so accounts that attack
// together cannot outvote them.
//
// A step is held back, and the parameters stay, if it would lift the learner's RMSE on
// these ratings above the frozen model's and the part Margin of it. If a step leaves
// the range of numbers, the service falls back: the frozen model serves, and the
// learner begins anew from the trained parameters, unseen. It serves again after
// Window ratings, once its RMSE is no more than the frozen model's.
type GuardConfig struct {
	Window int     `json:"window"` // judges at most; 0 means 1,000
	Margin float64 `json:"margin"` // 0 means 0.02
}

// Validate reports everything that is wrong with c.
func (c GuardConfig) Validate() error {
	var errs []error
	if c.Window < 0 || c.Window > maxGuard {
		errs = append(errs, fmt.Errorf("recommend: guard window is %d, want 1 to %d users, or 0 for 1000", c.Window, maxGuard))
	}
	if !(c.Margin >= 0) || math.IsInf(c.Margin, 0) {
		errs = append(errs, fmt.Errorf("recommend: guard margin is %v, want 0 or more", c.Margin))
	}
	return errors.Join(errs...)
}

const maxGuard = 1 << 20

func (c GuardConfig) withDefaults() GuardConfig {
	if c.Window == 0 {
		c.Window = 1000
	}
	if c.Margin == 0 {
		c.Margin = 0.02
	}
	return c
}

// guard is what became of the learner. It round-trips through JSON.
type guard struct {
	Since  int  `json:"since"`  // ratings since the learner began at the trained parameters
	Fallen bool `json:"fallen"` // the frozen model serves
	Falls  int  `json:"falls"`  // how often it came to that
	Held   int  `json:"held"`   // steps that were held back
}

// fall begins a time in which the frozen model serves.
func (g *guard) fall() {
	g.Since = 0
	g.Fallen = true
	g.Falls++
}

// judges know what the ratings of some users of the data sum up to.
//
// What is learned is linear in z: where the frozen model misses a rating by e, the learner
// misses it by e - xᵀp, with x = (z, 1) and p the taps and the bias that it has added. So
// the squares of what it misses sum up to
//
//	Σ e² - 2 pᵀ Σ e x + pᵀ (Σ x xᵀ) p
//
// which costs a step next to nothing, however many ratings there are. Predictions are not
// clipped here.
type judges struct {
	users, ratings int
	frozen         float64     // Σ e²
	cross          []float64   // Σ e x, K+2
	square         [][]float64 // Σ x xᵀ, (K+2)×(K+2)
}

// judges draws those who judge. Who is forgotten does not.
func (s *Service) judges(gone forgotten) *judges {
	w := s.world
	var users []int
	for _, u := range random.Stream(w.setting.Seed, "judges").Perm(w.ratings.Users()) {
		if len(users) < s.config.Guard.Window && !gone.has(s, w.ratings.UserID(u)) {
			users = append(users, u)
		}
	}
	return w.judges(s.model.network, users, s.config.Threads)
}

// judges returns what the ratings of the given users sum up to.
func (w *world) judges(net *gnn.WideDeep, users []int, threads int) *judges {
	r, width := w.rowsOf(users, w.graph, threads), w.setting.Order+2
	j := &judges{users: len(users), ratings: r.Len(), cross: make([]float64, width), square: make([][]float64, width)}
	for a := range width {
		j.square[a] = make([]float64, width)
	}
	x := make([]float64, width)
	x[width-1] = 1
	r.outputs(net, func(i int, y float32) {
		for k, z := range r.z.Row(i) {
			x[k] = float64(z)
		}
		e := float64(r.target[i]) - float64(y)
		j.frozen += float64(e * e)
		for a, xa := range x {
			j.cross[a] += float64(e * xa)
			for b, xb := range x {
				j.square[a][b] += float64(xa * xb)
			}
		}
	})
	return j
}

// rmse returns that of a learner with p, in the unit of the network.
func (j *judges) rmse(p []float64) float64 {
	sum := j.frozen
	for a, pa := range p {
		row := -2 * j.cross[a]
		for b, pb := range p {
			row += float64(j.square[a][b] * pb)
		}
		sum += float64(pa * row)
	}
	return math.Sqrt(max(0, sum) / float64(max(1, j.ratings)))
}
