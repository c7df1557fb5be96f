package certify

import (
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/paper/theory"
)

// windowOf returns over how many steps products of mixing matrices are formed:
// none if one matrix contracts alone.
func windowOf(r *recording) int {
	for _, m := range r.mixers {
		if m.Second > 1-1e-9 {
			return min(10, len(r.mixers))
		}
	}
	return 1
}

// track sets a path beside the bounds.
func (r *recording) track(c *OnlineReport, how string, global []*theory.Problem, local [][]*theory.Problem,
	optima []theory.Optimum, path [][][]float64, gamma float64,
) (*Tracked, error) {
	if r.mode == config.Centralized {
		one := make([][]float64, len(path))
		for t := range path {
			one[t] = path[t][0]
		}
		t, err := theory.Track(r.ctx, global, optima, one, gamma)
		if err != nil {
			return nil, err
		}
		out := &Tracked{
			Drift: Number(t.Drift), Slowest: Number(t.Slowest), Missing: t.Missing,
			Measured: numbersOf(t.Measured), Bound: numbersOf(t.PerStep), Paper: numbersOf(t.Paper),
		}
		for i, s := range t.Steps {
			out.Rates = append(out.Rates, Number(s.Contraction))
			if i+1 < len(t.Steps) {
				out.rested(s.Rest, stepSize(global[i:i+1], path[i], path[i+1], gamma))
			}
		}
		return out, nil
	}
	return r.trackTogether(c, "bounds "+how, local, optima, path, gamma)
}

// trackTogether does so for distributed learning.
func (r *recording) trackTogether(c *OnlineReport, stage string, local [][]*theory.Problem, optima []theory.Optimum,
	path [][][]float64, gamma float64,
) (*Tracked, error) {
	out := &Tracked{Missing: -1}
	if len(optima) < len(local) {
		out.Missing = len(optima)
	}
	rests, sum := make([]theory.ConsensusError, len(optima)), 0.0
	for t := range max(len(optima)-1, 0) {
		if err := r.at(stage, t, 2*len(optima)); err != nil {
			return nil, err
		}
		var worst float64
		rests[t], worst = theory.ConsensusRest(local[t], r.mixers[t], path[t], path[t+1], gamma)
		out.rested(worst, stepSize(local[t], path[t], path[t+1], gamma))
		round, err := rounds(local[t], path[t], path[t+1], gamma)
		if err != nil {
			return nil, err
		}
		rests[t].Mean += round
		rests[t].Spread += math.Sqrt(float64(r.nodes)) * round
		sum += worst + round
	}
	radius, err := ball(local, r.mixers, gamma)
	if err != nil {
		return nil, err
	}
	if radius > 0 {
		radius += sum // at every step what is beside mixing and gradients may lead so much farther
	}
	var steps []theory.ConsensusStep
	var where []theory.ConsensusError
	drift, slowest, steepest := 0.0, 0.0, 0.0
	window := windowOf(r)
	for t, o := range optima {
		if err := r.at(stage, len(optima)+t, 2*len(optima)); err != nil {
			return nil, err
		}
		s, err := theory.NewConsensusStep(local[t], o.W, r.mixers[t], radius)
		if err != nil {
			return nil, err
		}
		s.Rest = rests[t]
		if t > 0 {
			steps[t-1].Drift = distanceOf(o.W, optima[t-1].W)
			drift = max(drift, steps[t-1].Drift)
		}
		if window > 1 && (t+1)%window == 0 {
			s.Window = theory.Products(r.mixers[t+1-window : t+1])
		}
		steps = append(steps, s)
		e, worst := theory.MeasureConsensus(path[t], o.W)
		where = append(where, e)
		out.Measured, out.Mean = append(out.Measured, Number(worst)), append(out.Mean, Number(e.Mean))
		m := s.Global.Contraction(gamma)
		slowest, out.Rates = max(slowest, m), append(out.Rates, Number(m))
		for i, p := range local[t] {
			steepest = max(steepest, norm64(p.Gradient(path[t][i])))
		}
	}
	out.Drift, out.Slowest = Number(drift), Number(slowest)
	if len(steps) == 0 {
		return out, nil
	}
	for _, b := range theory.ConsensusBound(r.nodes, gamma, steps, where[0])[:len(steps)] {
		out.Bound = append(out.Bound, Number(b.Worst(r.nodes)))
	}
	m := c.Mixing
	m.PaperBound = Number(theory.PaperConsensus(r.nodes, m.Gap, m.Smallest, gamma, steepest, steps, where[0]))
	m.SafeStep = Number(steps[len(steps)-1].SafeStep(r.nodes))
	return out, nil
}

// stepSize returns how large the numbers are that a step of the nodes rounds: the
// largest ‖w_t‖ + ‖w_{t+1}‖ and γ times the terms of its gradient.
func stepSize(costs []*theory.Problem, now, next [][]float64, gamma float64) float64 {
	size := 0.0
	for i, w := range now {
		size = max(size, norm64(w)+norm64(next[i])+gamma*costs[i].Terms(w))
	}
	return size
}

// rounds bounds what float64 rounds of the step of any node.
func rounds(costs []*theory.Problem, now, next [][]float64, gamma float64) (float64, error) {
	longest, worst := 0.0, 0.0
	for _, w := range now {
		longest = max(longest, norm64(w))
	}
	for i, w := range now {
		v, err := costs[i].Rounds(w, next[i], gamma, longest, len(now))
		if err != nil {
			return 0, err
		}
		worst = max(worst, v)
	}
	return worst, nil
}

// rested notes how far a step was from a gradient step.
func (t *Tracked) rested(rest, size float64) {
	t.Rest = max(t.Rest, Number(rest))
	if rest > 0 {
		t.Rough = max(t.Rough, Number(rest/size))
	}
}

// summary sets the bounds of the last step beside what was measured.
func (c *OnlineReport) summary(r *recording) {
	theorem := "Theorem 2"
	if c.Mode == config.Distributed {
		theorem = "Theorem 3 with σ₂"
	}
	for _, s := range []struct {
		name string
		at   *Tracked
	}{{"as run", c.AsRun}, {"with a ridge", c.Ridged}} {
		t := s.at
		if t == nil {
			continue
		}
		p := r.steps(t, t != c.AsRun)
		add := func(name string, bound []Number, note string) {
			if n := min(len(bound), len(t.Measured)); n > 0 {
				c.Bounds = append(c.Bounds, p.bound(name, float64(bound[n-1]), float64(t.Measured[n-1]), note))
			}
		}
		add(theorem+", "+s.name, t.Bound, t.note())
		add("  to the letter", t.Paper, "")
	}
}

// note says what was learned with.
func (t *Tracked) note() string {
	if n := len(t.Sizes); n > 0 {
		return fmt.Sprintf("γ_t = %.3g first, %.3g last, ridge %.3g", float64(t.Sizes[0]), float64(t.Sizes[n-1]), t.Ridge)
	}
	return fmt.Sprintf("γ = %.3g, ridge %.3g", float64(t.StepSize), t.Ridge)
}

func numbersOf(values []float64) []Number {
	out := make([]Number, len(values))
	for i, v := range values {
		out[i] = Number(v)
	}
	return out
}

func norm64(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	return math.Sqrt(sum)
}

func distanceOf(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += (v - b[i]) * (v - b[i])
	}
	return math.Sqrt(sum)
}
