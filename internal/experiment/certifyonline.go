package experiment

import (
	"context"
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/theory"
)

// OnlineCertificate is Theorems 2 and 3 for an online run, which is played once
// more.
type OnlineCertificate struct {
	Mode     config.Mode    `json:"mode"`
	Nodes    int            `json:"nodes"`
	Steps    int            `json:"steps"` // looked at
	StepSize Number         `json:"step_size"`
	Checks   []theory.Check `json:"hypotheses"`

	Smooth   Number `json:"smooth"` // C_s, the largest of all steps
	Convex   Number `json:"convex"` // C_c, the smallest
	Rank     int    `json:"rank"`   // the smallest of the space in which a step's cost changes
	Dim      int    `json:"dim"`    // that gradients can reach
	SafeStep Number `json:"safe_step"`

	AsRun    *Tracked      `json:"as_run"`   // the run as it was
	Ridged   *Tracked      `json:"ridged"`   // the same costs with a ridge, learned once more in float64
	Windowed *Tracked      `json:"windowed"` // and with a window of the last steps as well
	Limits   []LimitPoint  `json:"limits"`   // with that ridge
	Mixing   *MixingReport `json:"mixing"`   // distributed runs only
	Bounds   []BoundReport `json:"bounds"`   // at the last step
	Messages []string      `json:"missing"`  // numbers that are not there, and why
}

// Tracked is a run beside its bounds, step by step.
type Tracked struct {
	StepSize float64  `json:"step_size"`
	Window   int      `json:"window"`
	Ridge    float64  `json:"ridge"`
	Drift    Number   `json:"drift"`   // C_B
	Slowest  Number   `json:"slowest"` // m̂
	Missing  int      `json:"missing"` // first step without an optimum, -1 if there is none
	Measured []Number `json:"measured"`
	Bound    []Number `json:"bound"`         // ours
	Paper    []Number `json:"paper"`         // of Theorem 2; of Theorem 3 its logarithm is in MixingReport
	Mean     []Number `json:"mean_measured"` // ‖mean_i 𝒜_i - 𝒜*‖, distributed runs only
}

// LimitPoint is where learning with a step size ends.
type LimitPoint struct {
	StepSize float64 `json:"step_size"`
	Bound    Number  `json:"bound"`
	Measured float64 `json:"measured"`
}

// MixingReport is Assumptions 3 to 5 for the mixing matrices of a run.
type MixingReport struct {
	theory.Sequence
	PaperConstant Number `json:"paper_constant_log10"` // log₁₀ C_ε
	PaperBound    Number `json:"paper_bound_log10"`    // log₁₀ of the bound of Theorem 3
	SafeStep      Number `json:"safe_step"`            // for which our bound settles, with the ridge
}

// mostCertified is how many steps of a run are looked at.
const mostCertified = 500

// CertifyRun plays the online run of a configuration once more, from the model
// as trained, and computes Theorems 2 and 3 for it.
func CertifyRun(ctx context.Context, c *config.Config, file *modelfile.Model) (*OnlineCertificate, error) {
	run, err := NewOnlineRun(c, file, true)
	if err != nil {
		return nil, err
	}
	defer run.Close()
	rec, err := record(ctx, run)
	if err != nil {
		return nil, err
	}
	return rec.certify()
}

// certify computes constants, bounds and measurements.
func (r *recording) certify() (*OnlineCertificate, error) {
	c := &OnlineCertificate{Mode: r.mode, Nodes: r.nodes, Steps: len(r.met), StepSize: Number(r.rule.StepSize.Value)}
	global, local := r.costs(r.rule.Window, r.rule.Ridge)
	smooth, convex, err := c.constants(global)
	if err != nil {
		return nil, err
	}
	fixed := r.rule.StepSize.Schedule == rule.Fixed
	gamma := r.rule.StepSize.Value
	if !fixed {
		gamma = 1 / smooth
		c.StepSize = Number(math.NaN())
	}
	c.check("the step size is constant", fixed, fmt.Sprintf("%v", r.rule.StepSize.Schedule))
	c.check("γ < 2/C_s at every step", fixed && gamma < 2/smooth, fmt.Sprintf("γ = %.4g, 2/C_s = %.4g", gamma, 2/smooth))
	c.check("costs are strongly convex", convex > 0, fmt.Sprintf("C_c = %.4g; rank %d of %d", convex, c.Rank, c.Dim))
	if r.diverged {
		c.check("the run stays within bounds", false, fmt.Sprintf("learning diverges at step %d; the steps up to there are looked at", len(r.path)-1))
	}
	c.check("gradients are not clipped", r.rule.ClipNorm == 0, fmt.Sprintf("clip_norm %v", r.rule.ClipNorm))
	if r.stopped {
		c.Messages = append(c.Messages, fmt.Sprintf("steps beyond the first %d", mostCertified))
	}
	if r.rule.Whiten {
		c.Messages = append(c.Messages, "distances of taps: steps are whitened, and all distances are in whitened coordinates")
	}
	if r.mode == config.Distributed {
		c.Mixing = &MixingReport{}
		if err := c.sequence(r); err != nil {
			return nil, err
		}
	}
	if fixed {
		optima, err := theory.Follow(global, make([]float64, global[0].Len()))
		if err != nil {
			return nil, err
		}
		if c.AsRun, err = r.track(c, global, local, optima, r.path, gamma); err != nil {
			return nil, err
		}
		c.AsRun.StepSize, c.AsRun.Window, c.AsRun.Ridge = gamma, max(r.rule.Window, 1), r.rule.Ridge
		c.check("optima exist", c.AsRun.Missing < 0, existence(c.AsRun.Missing))
	}
	if c.Ridged, err = c.again(r, max(r.rule.Window, 1), gamma); err != nil {
		return nil, err
	}
	if r.rule.Window < rule.PersonalWindow && len(r.met) > 1 {
		if c.Windowed, err = c.again(r, rule.PersonalWindow, gamma); err != nil {
			return nil, err
		}
	}
	c.summary()
	return c, nil
}

func existence(missing int) string {
	if missing < 0 {
		return "at every step"
	}
	return fmt.Sprintf("not at step %d: its samples are separable, the infimum of the cost is at infinity", missing)
}

func (c *OnlineCertificate) check(name string, holds bool, text string) {
	c.Checks = append(c.Checks, theory.Check{Name: name, Holds: holds, Text: text})
}

// constants computes those of Assumption 2 over all steps.
func (c *OnlineCertificate) constants(costs []*theory.Problem) (smooth, convex float64, err error) {
	convex = math.Inf(1)
	for t, p := range costs {
		v, err := p.Curvature()
		if err != nil {
			return 0, 0, fmt.Errorf("step %d: %w", t, err)
		}
		smooth, convex = max(smooth, v.Smooth), min(convex, v.Convex)
		if t == 0 || v.Rank < c.Rank {
			c.Rank = v.Rank
		}
		c.Dim = max(c.Dim, v.Dim)
	}
	c.Smooth, c.Convex, c.SafeStep = Number(smooth), Number(convex), Number(2/smooth)
	return smooth, convex, nil
}

// sequence examines the mixing matrices.
func (c *OnlineCertificate) sequence(r *recording) error {
	s, err := theory.CheckSequence(r.mixers, windowOf(r))
	if err != nil {
		return err
	}
	m := c.Mixing
	m.Sequence = *s
	m.PaperConstant = Number(theory.PaperConstant(r.nodes, s.Gap, s.Smallest))
	c.check("graphs are connected together (Assumption 3)", s.Connected, contraction(s))
	c.check("links come back (Assumption 4)", true, fmt.Sprintf("C_d = %d in this record", s.Gap))
	c.check("W is doubly stochastic (Assumption 5)", s.SumError < 1e-5, fmt.Sprintf("sums within %.2g of 1", s.SumError))
	c.check("every [W]_ij ≥ ε (Assumption 5 to the letter)", s.Everyone, fmt.Sprintf("ε = %.4g on links and the diagonal, 0 elsewhere", s.Smallest))
	return nil
}

func contraction(s *theory.Sequence) string {
	text := fmt.Sprintf("σ₂ = %.4g at worst", s.Worst)
	if s.Window > 1 {
		text += fmt.Sprintf(", %.4g over %d steps", s.Windowed, s.Window)
	}
	return text
}

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
		return &Tracked{
			Drift: Number(t.Drift), Slowest: Number(t.Slowest), Missing: t.Missing,
			Measured: numbersOf(t.Measured), Bound: numbersOf(t.PerStep), Paper: numbersOf(t.Paper),
		}, nil
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
		slowest = max(slowest, s.Global.Contraction(gamma))
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

// summary sets the bounds of the last step beside what was measured.
func (c *OnlineCertificate) summary() {
	add := func(name string, bound, measured []Number, note string) {
		if n := min(len(bound), len(measured)); n > 0 {
			b, m := float64(bound[n-1]), float64(measured[n-1])
			c.Bounds = append(c.Bounds, BoundReport{name, Number(b), Number(m), Number(b / m), true, note})
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
			note := fmt.Sprintf("γ = %.3g, ridge %.3g, window %d", t.StepSize, t.Ridge, t.Window)
			add(theorem+", "+s.name, t.Bound, t.Measured, note)
			add("  to the letter", t.Paper, t.Measured, "")
		}
	}
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
