package recommend

import (
	"errors"
	"fmt"
	"math"
)

// GuardConfig says when the model as trained serves instead of the one that
// learns. Both predict every rating that is learned from, before it is.
//
// Over the last Window of them, the learner's RMSE may exceed the frozen
// model's by the part Margin. If it is more, the service falls back: the frozen
// model serves, and the learner begins anew from the trained parameters, unseen.
// It serves again once its RMSE over a whole window since then is no more than
// the frozen model's. If a step leaves the range of numbers, the same happens
// at once.
type GuardConfig struct {
	Window int     `json:"window"` // ratings; 0 means 500
	Margin float64 `json:"margin"` // 0 means 0.01
}

// Validate reports everything that is wrong with c.
func (c GuardConfig) Validate() error {
	var errs []error
	if c.Window < 0 || c.Window > maxGuard {
		errs = append(errs, fmt.Errorf("recommend: guard window is %d, want 1 to %d ratings, or 0 for 500", c.Window, maxGuard))
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

// guard compares the learner with the frozen model. It round-trips through
// JSON.
type guard struct {
	Online []float64 `json:"online"` // squared errors of the learner, the oldest first
	Frozen []float64 `json:"frozen"`
	Fallen bool      `json:"fallen"` // the frozen model serves
	Falls  int       `json:"falls"`  // how often it came to that
}

// watch takes in a pair of squared errors.
func (g *guard) watch(online, frozen float64, window int) {
	g.Online, g.Frozen = append(g.Online, online), append(g.Frozen, frozen)
	if extra := len(g.Online) - window; extra > 0 {
		g.Online, g.Frozen = g.Online[extra:], g.Frozen[extra:]
	}
}

// turn says what the squared errors ask for: whether to fall back, or to
// recover.
func (g *guard) turn(c GuardConfig) (fall, recover bool) {
	if len(g.Online) < c.Window {
		return false, false
	}
	online, frozen := g.rmse()
	if g.Fallen {
		return false, online <= frozen
	}
	return online > frozen*(1+c.Margin), false
}

// rmse returns both over the window, 0 while it is empty.
func (g *guard) rmse() (online, frozen float64) {
	return rootMean(g.Online), rootMean(g.Frozen)
}

func rootMean(squares []float64) float64 {
	if len(squares) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range squares {
		sum += v
	}
	return math.Sqrt(sum / float64(len(squares)))
}

// fall begins a time in which the frozen model serves.
func (g *guard) fall() {
	g.Online, g.Frozen = nil, nil
	g.Fallen = true
	g.Falls++
}

// clone returns a copy that shares nothing.
func (g *guard) clone() guard {
	c := *g
	c.Online, c.Frozen = append([]float64(nil), g.Online...), append([]float64(nil), g.Frozen...)
	return c
}
