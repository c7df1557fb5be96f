package experiment

import (
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/theory"
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
func (r *recording) track(c *OnlineCertificate, global []*theory.Problem, local [][]*theory.Problem, optima []theory.Optimum, path [][][]float64, gamma float64) (*Tracked, error) {
	if r.mode == config.Centralized {
		one := make([][]float64, len(path))
		for t := range path {
			one[t] = path[t][0]
		}
		t, err := theory.Track(global, optima, one, gamma)
		if err != nil {
			return nil, err
		}
		out := &Tracked{
			Drift: Number(t.Drift), Slowest: Number(t.Slowest), Missing: t.Missing,
			Measured: numbersOf(t.Measured), Bound: numbersOf(t.PerStep), Paper: numbersOf(t.Paper),
		}
		for _, s := range t.Steps {
			out.Rates = append(out.Rates, Number(s.Contraction))
		}
		return out, nil
	}
	return r.trackTogether(c, local, optima, path, gamma)
}

// trackTogether does so for distributed learning.
func (r *recording) trackTogether(c *OnlineCertificate, local [][]*theory.Problem, optima []theory.Optimum, path [][][]float64, gamma float64) (*Tracked, error) {
	out := &Tracked{Missing: -1}
	if len(optima) < len(local) {
		out.Missing = len(optima)
	}
	radius, err := ball(local, r.mixers, gamma)
	if err != nil {
		return nil, err
	}
	var steps []theory.ConsensusStep
	var where []theory.ConsensusError
	drift, slowest, steepest := 0.0, 0.0, 0.0
	window := windowOf(r)
	for t, o := range optima {
		s, err := theory.NewConsensusStep(local[t], o.W, r.mixers[t], radius)
		if err != nil {
			return nil, err
		}
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

// summary sets the bounds of the last step beside what was measured. Proven says
// whether those of the run as it was are.
func (c *OnlineCertificate) summary(proven bool) {
	add := func(name string, bound, measured []Number, proven bool, note string) {
		if n := min(len(bound), len(measured)); n > 0 {
			b, m := float64(bound[n-1]), float64(measured[n-1])
			c.Bounds = append(c.Bounds, BoundReport{name, Number(b), Number(m), Number(b / m), proven, note})
		}
	}
	theorem := "Theorem 2"
	if c.Mode == config.Distributed {
		theorem = "Theorem 3 with σ₂"
	}
	for _, s := range []struct {
		name string
		at   *Tracked
	}{{"as run", c.AsRun}, {"with a ridge", c.Ridged}, {"with a ridge and a window", c.Windowed}} {
		if t := s.at; t != nil {
			proven := proven || t != c.AsRun
			add(theorem+", "+s.name, t.Bound, t.Measured, proven, t.note(proven))
			add("  to the letter", t.Paper, t.Measured, proven, "")
		}
	}
}

// note says what was learned with.
func (t *Tracked) note(proven bool) string {
	text := fmt.Sprintf("γ = %.3g, ridge %.3g, window %d", float64(t.StepSize), t.Ridge, t.Window)
	if n := len(t.Sizes); n > 0 {
		text = fmt.Sprintf("γ_t = %.3g first, %.3g last, ridge %.3g, window %d", float64(t.Sizes[0]), float64(t.Sizes[n-1]), t.Ridge, t.Window)
	}
	if !proven {
		text += "; not proven: gradients may be clipped"
	}
	return text
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
