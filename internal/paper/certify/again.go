package certify

import (
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/paper/theory"
)

// ball returns a radius that nodes which begin at 𝒜† never leave, 0 if none is
// known. A cross-entropy pulls with at most L, a ridge back with λ‖w‖; if W_ii ≥
// γλ for every node, and all are within R = max L/λ, then
//
//	‖w_i'‖ ≤ (1 - γλ) R + γ L ≤ R
func ball(local [][]*theory.Problem, mixers []*theory.Mixer, gamma float64) (float64, error) {
	radius := 0.0
	for t, nodes := range local {
		for _, p := range nodes {
			if len(p.Rows) == 0 && p.Ridge == 0 {
				continue // it mixes only, and stays among the others
			}
			if p.Kind != theory.CrossEntropy || p.Ridge == 0 || gamma*p.Ridge > mixers[t].Own {
				return 0, nil
			}
			l, err := p.Lipschitz(0)
			if err != nil {
				return 0, err
			}
			radius = max(radius, l/p.Ridge)
		}
	}
	return radius, nil
}

// again learns from the costs of the run, with a ridge, in float64.
// The ridge is that of the run, or a hundredth of C_s; the step size is the given
// one, if the theorem applies to it, and a safe one otherwise.
func (c *OnlineReport) again(r *recording, how string, gamma float64) (*Tracked, error) {
	plain, _, err := r.costs("costs "+how, r.rule.Ridge)
	if err != nil {
		return nil, err
	}
	smooth := 0.0
	for _, p := range plain {
		v, err := p.Curvature()
		if err != nil {
			return nil, err
		}
		smooth = max(smooth, v.Smooth)
	}
	ridge := r.rule.Ridge
	if ridge == 0 {
		ridge = smooth / 100
		smooth += ridge
	}
	global, local, err := r.costs("costs "+how, ridge)
	if err != nil {
		return nil, err
	}
	if !(gamma > 0 && gamma < 2/smooth) {
		gamma = 1 / smooth
	}
	optima, err := r.follow("optima "+how, global)
	if err != nil {
		return nil, err
	}
	if r.mode == config.Distributed && len(optima) > 0 { // the bound of a network asks for smaller steps
		if gamma, err = r.safe(gamma, local, optima); err != nil {
			return nil, err
		}
	}
	path, err := r.learn("learning "+how, global, local, gamma)
	if err != nil {
		return nil, err
	}
	t, err := r.track(c, how, global, local, optima, path, gamma)
	if err != nil {
		return nil, err
	}
	t.StepSize, t.Ridge = Number(gamma), ridge
	if r.mode == config.Centralized && t.Missing < 0 {
		c.Limits, err = r.limits(global, optima)
	}
	return t, err
}

// safe returns a step size that is not above gamma, at which no node overshoots
// alone and, unless gradients are bounded, the bound of the network settles.
func (r *recording) safe(gamma float64, local [][]*theory.Problem, optima []theory.Optimum) (float64, error) {
	last := len(optima) - 1
	s, err := theory.NewConsensusStep(local[last], optima[last].W, r.mixers[last], 0)
	if err != nil {
		return 0, err
	}
	gamma = min(gamma, 1/s.Most)
	if limit := s.SafeStep(r.nodes) / 2; limit > 0 && r.kind == theory.Quadratic {
		gamma = min(gamma, limit)
	}
	return gamma, nil
}

// learn runs eq. (7) or (9) in float64 from the taps as trained, and returns
// w_{i,t} before every step.
func (r *recording) learn(stage string, global []*theory.Problem, local [][]*theory.Problem, gamma float64) ([][][]float64, error) {
	now := [][]float64{make([]float64, global[0].Len())}
	if r.mode == config.Distributed {
		now = slices.Repeat(now, r.nodes)
	}
	var path [][][]float64
	for t := range global {
		if err := r.at(stage, t, len(global)); err != nil {
			return nil, err
		}
		path = append(path, now)
		if r.mode == config.Distributed {
			now = theory.DescendTogether(local[t:t+1], r.mixers[t:t+1], now, gamma)[1]
		} else {
			now = [][]float64{global[t].Step(now[0], gamma)}
		}
	}
	return path, nil
}

// follow is theory.Follow from the taps as trained.
func (r *recording) follow(stage string, costs []*theory.Problem) ([]theory.Optimum, error) {
	start := make([]float64, costs[0].Len())
	var all []theory.Optimum
	for t := range costs {
		if err := r.at(stage, t, len(costs)); err != nil {
			return nil, err
		}
		next, err := theory.Follow(costs[t:t+1], start)
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", t, err)
		}
		if len(next) == 0 { // there is none
			break
		}
		all, start = append(all, next[0]), next[0].W
	}
	return all, nil
}
