package recommend

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
)

// GuardConfig says when the model as trained serves instead of the one that
// learns. Both are judged by a panel of users, each by the last few ratings that
// were learned from, predicted from the user's others. It begins with users of
// the data, a fifth of the panel, those first who had no part in training. So a
// user counts once, however much they rate, and those who are silent count too.
//
// On the panel, the learner's RMSE may exceed the frozen model's by the part
// Margin. If it is more, and by more than two standard errors, which is what
// chance does, the service falls back: the frozen model serves, and the learner
// begins anew from the trained parameters, unseen. It serves again once it has
// learned from Window ratings since then and its RMSE is no more than the frozen
// model's. If a step leaves the range of numbers, the same happens at once. It is
// the decision of rule.Gate, by users in the place of answers: one vote each.
type GuardConfig struct {
	Window int     `json:"window"` // users of the panel; 0 means 500
	Margin float64 `json:"margin"` // 0 means 0.01
}

// Validate reports everything that is wrong with c.
func (c GuardConfig) Validate() error {
	var errs []error
	if c.Window < 0 || c.Window > maxGuard {
		errs = append(errs, fmt.Errorf("recommend: guard window is %d, want 1 to %d users, or 0 for 500", c.Window, maxGuard))
	}
	if !(c.Margin >= 0) || math.IsInf(c.Margin, 0) {
		errs = append(errs, fmt.Errorf("recommend: guard margin is %v, want 0 or more", c.Margin))
	}
	return errors.Join(errs...)
}

const maxGuard = 1 << 20

func (c GuardConfig) withDefaults() GuardConfig {
	if c.Window == 0 {
		c.Window = 500
	}
	if c.Margin == 0 {
		c.Margin = 0.01
	}
	return c
}

// seat is a user of the panel, with the last few of their ratings that were
// learned from. It never changes.
type seat struct {
	User int     `json:"user"` // id
	Last []heard `json:"last"`
}

// heard is a rating, and what the models see of it.
type heard struct {
	Z      []float32 `json:"z"`
	Base   float32   `json:"base"` // y†
	Mean   float64   `json:"mean"` // m + b
	Rating float64   `json:"rating"`
}

// seatRatings is how many ratings a seat has at most. They make the judgement of
// a user surer, and no user counts more for having them.
const seatRatings = 5

// guard compares the learner with the frozen model. It round-trips through
// JSON.
type guard struct {
	Panel  []*seat `json:"panel"`  // one per user, who rated longest ago first
	Since  int     `json:"since"`  // ratings learned from since the learner began at the trained parameters
	Fallen bool    `json:"fallen"` // the frozen model serves
	Falls  int     `json:"falls"`  // how often it came to that
}

// watch takes in a rating of a user, who has a seat in a panel of so many from
// now on, if need be that of whoever rated longest ago.
func (g *guard) watch(user int, h heard, window int) {
	s := &seat{User: user}
	if at := slices.IndexFunc(g.Panel, func(p *seat) bool { return p.User == user }); at >= 0 {
		was := g.Panel[at].Last
		s.Last = append(s.Last, was[max(0, len(was)-seatRatings+1):]...)
		g.Panel = slices.Delete(g.Panel, at, at+1)
	}
	s.Last = append(s.Last, h)
	g.Panel = append(g.Panel, s)
	g.trim(window)
	g.Since++
}

// trim keeps the last of a panel.
func (g *guard) trim(window int) {
	if extra := len(g.Panel) - window; extra > 0 {
		g.Panel = slices.Delete(g.Panel, 0, extra)
	}
}

// fill puts users of the data before those who rated, up to the window.
func (g *guard) fill(silent []*seat, window int) {
	sits := make(map[int]bool, len(g.Panel))
	for _, s := range g.Panel {
		sits[s.User] = true
	}
	var more []*seat
	for _, s := range silent {
		if len(more)+len(g.Panel) < window && !sits[s.User] {
			more = append(more, s)
		}
	}
	g.Panel = append(more, g.Panel...)
}

// turn says what the panel asks for: whether to fall back, or to recover. Errors
// that are no numbers ask to fall back.
func (g *guard) turn(c GuardConfig, v verdict) (fall, recover bool) {
	if g.Fallen {
		return false, g.Since >= c.Window && v.online <= v.frozen
	}
	return !(v.excess <= 2*v.chance), false
}

// fall begins a time in which the frozen model serves.
func (g *guard) fall() {
	g.Since = 0
	g.Fallen = true
	g.Falls++
}

// clone returns a copy that shares nothing that changes.
func (g *guard) clone() guard {
	c := *g
	c.Panel = slices.Clone(g.Panel)
	return c
}

// silent returns seats for users of the data, up to a number: those first who
// had no part in training. Their ratings are drawn by the seed.
func (s *Service) silent(most int) []*seat { return s.silentBut(nil, most) }

// silentBut is silent without those who are forgotten.
func (s *Service) silentBut(gone forgotten, most int) []*seat {
	w := s.world
	var list []*seat
	for _, u := range slices.Concat(w.test, w.validation, w.train) {
		if len(list) == most {
			break
		}
		movie, rating := w.ratings.User(u)
		if len(movie) < 2 || gone.has(s, w.ratings.UserID(u)) {
			continue
		}
		one, f := &seat{User: w.ratings.UserID(u)}, s.look.of(&profile{movie: movie, rating: rating})
		order := random.Stream(w.setting.Seed, "panel", u).Perm(len(movie))
		for _, k := range order[:min(seatRatings, len(order))] {
			n := movie[k]
			one.Last = append(one.Last, heard{Z: slices.Clone(f.row(n)), Base: f.base[n], Mean: f.mean[n], Rating: rating[k]})
		}
		list = append(list, one)
	}
	return list
}

// verdict is what the panel finds of predictions as they would be served.
type verdict struct {
	online, frozen float64 // RMSE
	excess         float64 // mean of what squared errors of the learner are beyond the margin
	chance         float64 // standard error of that mean
}

// judge asks the panel; all is 0 while it is empty.
func (l *learner) judge() (v verdict) {
	if len(l.guard.Panel) == 0 {
		return v
	}
	var (
		n      = float64(len(l.guard.Panel))
		gate   = rule.Gate{Margin: float64(l.guards.Margin * (2 + l.guards.Margin))} // of squares: (1+m)² - 1
		spread float64
	)
	for _, s := range l.guard.Panel {
		online, frozen := l.errors(s)
		d := gate.Excess(online, frozen)
		v.online, v.frozen, v.excess, spread = v.online+online, v.frozen+frozen, v.excess+d, spread+float64(d*d)
	}
	v.online, v.frozen, v.excess = math.Sqrt(v.online/n), math.Sqrt(v.frozen/n), v.excess/n
	v.chance = math.Sqrt(max(0, spread/n-float64(v.excess*v.excess)) / n)
	return v
}

// errors returns the mean squared errors of both models at one seat.
func (l *learner) errors(s *seat) (online, frozen float64) {
	square := func(h *heard, y float32) float64 {
		e := l.world.served(h.Mean, y) - h.Rating
		return float64(e * e)
	}
	for k := range s.Last {
		h := &s.Last[k]
		online += square(h, l.output(h.Z, h.Base))
		frozen += square(h, h.Base)
	}
	n := float64(max(1, len(s.Last)))
	return online / n, frozen / n
}
