package certify

import (
	"fmt"

	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/paper/theory"
	"github.com/wdgnn/wdgnn/rule"
)

// taken are the steps of a run: eq. (7) or (9) on these costs with the step size
// gamma. Under a schedule they are the costs scaled by the step sizes, and gamma
// is 1; see theory.Problem.Scaled.
type taken struct {
	global []*theory.Problem
	local  [][]*theory.Problem
	plain  []*theory.Problem // the global ones as they are
	gamma  float64
	sizes  []float64 // γ_t of a schedule, nil of a constant step; the mean over nodes if each has its own
	bend   float64   // the largest γ_t C_s
	own    bool      // nodes have step sizes of their own
	short  int       // steps that clipping made smaller, over all nodes
}

// exact says whether all steps of the run are gradient steps. A gradient that is
// clipped is a smaller step in the same direction; but a ridge is not clipped with
// it.
func (r *recording) exact() bool {
	return r.rule.ClipNorm == 0 || r.rule.Ridge == 0
}

// taken returns the steps that the rule of the run takes on the costs.
func (r *recording) taken(global []*theory.Problem, local [][]*theory.Problem) (*taken, error) {
	out := &taken{global: global, local: local, plain: global, gamma: r.rule.StepSize.Value}
	if r.mode == config.Centralized {
		sizes, short := r.sizes(global, 0)
		if r.rule.StepSize.Schedule == rule.Decaying || short > 0 {
			out.global, out.gamma, out.sizes, out.short = scaled(global, sizes), 1, sizes, short
		}
	} else if err := out.each(r); err != nil {
		return nil, err
	}
	for _, p := range out.global {
		c, err := p.Curvature()
		if err != nil {
			return nil, err
		}
		out.bend = max(out.bend, out.gamma*c.Smooth)
	}
	return out, nil
}

// sizes returns the step sizes that node i took on costs, and how many of them
// clipping made smaller.
func (r *recording) sizes(costs []*theory.Problem, i int) (sizes []float64, short int) {
	sizes = theory.StepSizes(r.rule.StepSize, len(costs))
	if r.rule.ClipNorm == 0 || !r.exact() {
		return sizes, 0
	}
	for t, p := range costs {
		if g := norm64(p.Gradient(r.path[t][i])); g > r.rule.ClipNorm {
			sizes[t] *= r.rule.ClipNorm / g
			short++
		}
	}
	return sizes, short
}

// each scales the costs of every node by the step sizes that it took, unless all
// are one constant.
func (k *taken) each(r *recording) error {
	moved, mean := make([][]*theory.Problem, len(k.local)), make([]float64, len(k.local))
	for i := range r.nodes {
		if err := r.at("step sizes", i, r.nodes); err != nil {
			return err
		}
		mine := make([]*theory.Problem, len(k.local))
		for t := range mine {
			mine[t] = k.local[t][i]
		}
		sizes, short := r.sizes(mine, i)
		k.short += short
		for t, p := range scaled(mine, sizes) {
			moved[t] = append(moved[t], p)
			mean[t] += sizes[t] / float64(r.nodes)
		}
	}
	if r.rule.StepSize.Schedule != rule.Decaying && k.short == 0 {
		return nil
	}
	k.gamma, k.sizes, k.own = 1, mean, k.short > 0
	k.local, k.global = moved, nil
	for _, nodes := range moved {
		k.global = append(k.global, theory.Mean(nodes))
	}
	return nil
}

func scaled(costs []*theory.Problem, sizes []float64) []*theory.Problem {
	out := make([]*theory.Problem, len(costs))
	for t, p := range costs {
		out[t] = p.Scaled(sizes[t])
	}
	return out
}

// existence says at which step there is no optimum, and why.
func (k *taken) existence(optima []theory.Optimum) (string, error) {
	costs, missing := k.plain, len(optima)
	if k.own {
		costs = k.global
	}
	if missing == len(costs) {
		return "at every step", nil
	}
	start := make([]float64, costs[0].Len())
	if missing > 0 {
		start = optima[missing-1].W
	}
	o, err := costs[missing].Optimum(start)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("not at step %d: %s", missing, o.Missing()), nil
}

// follow returns the optima that the run follows, and how far they are from 𝒜* at
// most: 0, unless nodes have step sizes of their own.
func (k *taken) follow(r *recording) (optima []theory.Optimum, aside float64, err error) {
	plain, err := r.follow("optima", k.plain)
	if err != nil || !k.own {
		return plain, 0, err
	}
	costs := make([]*theory.Problem, len(k.global))
	for t, p := range k.global { // as large as the costs themselves, for the sake of rounding
		costs[t] = p
		if k.sizes[t] > 0 {
			costs[t] = p.Scaled(1 / k.sizes[t])
		}
	}
	if optima, err = r.follow("optima that nodes follow", costs); err != nil {
		return nil, 0, err
	}
	for t := range min(len(plain), len(optima)) {
		aside = max(aside, distanceOf(plain[t].W, optima[t].W))
	}
	return optima, aside, nil
}
