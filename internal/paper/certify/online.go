package certify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/internal/paper/theory"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/rule"
)

// OnlineReport is Theorems 2 and 3 for an online run, which is played once
// more.
type OnlineReport struct {
	Mode     config.Mode    `json:"mode"`
	Nodes    int            `json:"nodes"`
	Steps    int            `json:"steps"` // looked at
	StepSize Number         `json:"step_size"`
	Checks   []theory.Check `json:"hypotheses"`

	Smooth    Number `json:"smooth"`    // C_s, the largest of all steps
	Convex    Number `json:"convex"`    // C_c, the smallest
	Lipschitz Number `json:"lipschitz"` // L, the largest, within Radius of 𝒜†
	Radius    Number `json:"radius"`    // how far the run went
	Rank      int    `json:"rank"`      // the smallest of the space in which a step's cost changes
	Dim       int    `json:"dim"`       // that gradients can reach
	SafeStep  Number `json:"safe_step"`

	AsRun    *Tracked      `json:"as_run"`  // the run as it was
	Ridged   *Tracked      `json:"ridged"`  // the same costs with a ridge, learned once more in float64
	Limits   []LimitPoint  `json:"limits"`  // against γ, centralized runs only, with the ridge
	Mixing   *mixingReport `json:"mixing"`  // distributed runs only
	Bounds   []BoundReport `json:"bounds"`  // at the last step
	Messages []string      `json:"missing"` // numbers that are not there, and why
}

// Tracked is a run beside its bounds, step by step.
type Tracked struct {
	StepSize Number   `json:"step_size"`            // γ; of a schedule the mean
	Sizes    []Number `json:"step_sizes,omitempty"` // γ_t of a schedule; the mean over nodes if each has its own
	Ridge    float64  `json:"ridge"`
	Drift    Number   `json:"drift"`       // C_B
	Slowest  Number   `json:"slowest"`     // m̂
	Rates    []Number `json:"contraction"` // m_t
	Missing  int      `json:"missing"`     // first step without an optimum, -1 if there is none
	Measured []Number `json:"measured"`
	Bound    []Number `json:"bound"`         // ours
	Paper    []Number `json:"paper"`         // of Theorem 2; of Theorem 3 its logarithm is in mixingReport
	Mean     []Number `json:"mean_measured"` // ‖mean_i 𝒜_i - 𝒜*‖, distributed runs only

	// Rest is the most that a step was beside a gradient step, and Rough the most
	// of the size of what it rounds: with about 1e-7 in float32. It is part of the
	// bounds.
	Rest  Number `json:"rest"`
	Rough Number `json:"rest_share"`

	// Aside is how far the optimum that nodes with step sizes of their own
	// follow, that of the mean of γ_i J_i, is from 𝒜* at most. Distances are
	// measured from the one that they follow.
	Aside Number `json:"aside"`
}

// mixingReport is Assumptions 3 to 5 for the mixing matrices of a run.
type mixingReport struct {
	theory.Sequence
	PaperConstant Number `json:"paper_constant_log10"` // log₁₀ C_ε
	PaperBound    Number `json:"paper_bound_log10"`    // log₁₀ of the bound of Theorem 3
	SafeStep      Number `json:"safe_step"`            // for which our bound settles, with the ridge
}

// mostCertified is how many steps of a run are looked at.
const mostCertified = 500

// Run plays the online run of a configuration once more, from the model
// as trained, and computes Theorems 2 and 3 for it. It ends soon after ctx does.
// watch, if not nil, hears how far it is.
func Run(ctx context.Context, c *config.Config, file *modelfile.Model, watch func(Stage)) (*OnlineReport, error) {
	run, err := lifecycle.NewOnlineRun(c, file, true)
	if err != nil {
		return nil, err
	}
	defer run.Close()
	if run.State.Forecasts {
		return nil, errors.New("the run forecasts, and what a forecast should have said is known late; " +
			"Theorems 2 and 3 are about costs that are told at once")
	}
	s := StreamRun{
		Distributed: run.State.Mode == config.Distributed, Rule: run.Rule, World: run.Stream, Kind: theory.CrossEntropy,
		read: run.Stream.Read,
	}
	if run.Rule.Delay > 0 {
		return nil, fmt.Errorf("the targets of this stream come %d steps late, and Theorems 2 and 3 are about costs that are told at once; "+
			"try online.stream.delay: 0", run.Rule.Delay)
	}
	s.Rule.Gate = nil // the theorems are about the parameters, not about what is answered
	s.Model, s.Config = run.Setup()
	if run.Stream.Task == config.Regress {
		s.Kind = theory.Quadratic
		if _, ok := c.StreamCriterion().(loss.MSE); !ok {
			return nil, errors.New("the constants of Theorems 2 and 3 are known for the squared error and the cross-entropy, " +
				"not for the loss of this stream")
		}
	}
	rec, err := s.record(&pace{ctx, watch})
	if err == nil {
		err = run.Stream.Err()
	}
	if err != nil {
		return nil, err
	}
	return rec.certify()
}

// certify computes constants, bounds and measurements.
func (r *recording) certify() (*OnlineReport, error) {
	c := &OnlineReport{Mode: r.mode, Nodes: r.nodes, Steps: len(r.met), StepSize: Number(r.rule.StepSize.Value)}
	global, local, err := r.costs("costs", r.rule.Ridge)
	if err != nil {
		return nil, err
	}
	smooth, err := c.constants(r, global)
	if err != nil {
		return nil, err
	}
	taken, err := r.taken(global, local)
	if err != nil {
		return nil, err
	}
	if taken.sizes != nil {
		c.StepSize = Number(math.NaN())
	}
	c.hypotheses(r, taken)
	if r.stopped {
		c.Messages = append(c.Messages, fmt.Sprintf("steps beyond the first %d", r.most))
	}
	if r.mode == config.Distributed {
		c.Mixing = &mixingReport{}
		if err := c.sequence(r); err != nil {
			return nil, err
		}
	}
	if err := c.asRun(r, taken); err != nil {
		return nil, err
	}
	gamma := taken.gamma
	if taken.sizes != nil {
		gamma = 1 / smooth
	}
	if c.Ridged, err = c.again(r, "with a ridge", gamma); err != nil {
		return nil, err
	}
	c.summary(r)
	return c, nil
}

// asRun sets the run as it was beside its bounds.
func (c *OnlineReport) asRun(r *recording, taken *taken) error {
	optima, aside, err := taken.follow(r)
	if err != nil {
		return err
	}
	if c.AsRun, err = r.track(c, "as run", taken.global, taken.local, optima, r.path, taken.gamma); err != nil {
		return err
	}
	t := c.AsRun
	t.StepSize, t.Sizes, t.Aside = Number(taken.gamma), numbersOf(taken.sizes), Number(aside)
	t.Ridge = r.rule.Ridge
	if taken.sizes != nil {
		sum := 0.0
		for _, v := range taken.sizes {
			sum += v / float64(len(taken.sizes))
		}
		t.StepSize = Number(sum)
		if c.Mixing != nil {
			c.Mixing.PaperBound = Number(math.NaN()) // Theorem 3 is about one γ
		}
	}
	if aside > 0 {
		c.Messages = append(c.Messages,
			fmt.Sprintf("the distance from 𝒜*: each node steps by a γ_i of its own, and together they follow the optimum "+
				"of the mean of γ_i J_i, which is up to %.3g away from it", aside))
	}
	if len(t.Measured) > 1 {
		c.check("steps are gradient steps", r.steps(t, false).proven(),
			fmt.Sprintf("up to %.2g beside them, %.2g of what they round; our bounds add it", float64(t.Rest), float64(t.Rough)))
	}
	text, err := taken.existence(optima)
	c.check("optima exist", t.Missing < 0, text)
	return err
}

// hypotheses says which of Theorem 2 hold.
func (c *OnlineReport) hypotheses(r *recording, taken *taken) {
	text := string(cmp.Or(r.rule.StepSize.Schedule, rule.Fixed))
	if r.rule.StepSize.Schedule == rule.Decaying {
		text += "; our bounds take γ_t as it comes"
	}
	c.check("the step size is constant", r.rule.StepSize.Schedule != rule.Decaying, text)
	text = fmt.Sprintf("γ = %.4g, 2/C_s = %.4g", taken.gamma, float64(c.SafeStep))
	if taken.sizes != nil {
		text = fmt.Sprintf("γ_t C_s = %.4g at most, want below 2", taken.bend)
	}
	c.check("γ < 2/C_s at every step", taken.bend < 2, text)
	c.check("costs are strongly convex", c.Convex > 0, fmt.Sprintf("C_c = %.4g; rank %d of %d", float64(c.Convex), c.Rank, c.Dim))
	everywhere := r.kind == theory.CrossEntropy && r.rule.Ridge == 0
	text = fmt.Sprintf("L = %.4g", float64(c.Lipschitz))
	if !everywhere {
		text += fmt.Sprintf(" where the run went, ‖𝒜 - 𝒜†‖ ≤ %.4g; none everywhere", float64(c.Radius))
	}
	c.check("costs are Lipschitz (Assumption 2)", everywhere, text)
	if r.diverged {
		c.check("the run stays within bounds", false,
			fmt.Sprintf("learning diverges at step %d; the steps up to there are looked at", len(r.path)-1))
	}
	text = fmt.Sprintf("clip_norm %v", r.rule.ClipNorm)
	if r.rule.ClipNorm > 0 && r.exact() {
		text += fmt.Sprintf(", active %d times; our bounds take such a step as the smaller one that it is", taken.short)
	}
	c.check("gradients are not clipped", taken.short == 0 && r.exact(), text)
}

func (c *OnlineReport) check(name string, holds bool, text string) {
	c.Checks = append(c.Checks, theory.Check{Name: name, Holds: holds, Text: text})
}

// constants computes those of Assumption 2 over all steps.
func (c *OnlineReport) constants(r *recording, costs []*theory.Problem) (smooth float64, err error) {
	convex, radius, lipschitz := math.Inf(1), 0.0, 0.0
	for _, at := range r.path {
		for _, w := range at {
			radius = max(radius, norm64(w))
		}
	}
	for t, p := range costs {
		if err := r.at("constants", t, len(costs)); err != nil {
			return 0, err
		}
		v, err := p.Curvature()
		if err != nil {
			return 0, fmt.Errorf("step %d: %w", t, err)
		}
		l, err := p.Lipschitz(radius)
		if err != nil {
			return 0, fmt.Errorf("step %d: %w", t, err)
		}
		smooth, convex, lipschitz = max(smooth, v.Smooth), min(convex, v.Convex), max(lipschitz, l)
		if t == 0 || v.Rank < c.Rank {
			c.Rank = v.Rank
		}
		c.Dim = max(c.Dim, v.Dim)
	}
	c.Smooth, c.Convex, c.SafeStep = Number(smooth), Number(convex), Number(2/smooth)
	c.Lipschitz, c.Radius = Number(lipschitz), Number(radius)
	return smooth, nil
}

// sequence examines the mixing matrices.
func (c *OnlineReport) sequence(r *recording) error {
	s, err := theory.CheckSequence(r.mixers, windowOf(r))
	if err != nil {
		return err
	}
	m := c.Mixing
	m.Sequence = *s
	m.PaperConstant = Number(theory.PaperConstant(r.nodes, s.Gap, s.Smallest))
	c.check("graphs are connected together (Assumption 3)", s.Connected, contraction(s))
	c.check("links come back (Assumption 4)", true, fmt.Sprintf("C_d = %d in this record", s.Gap))
	text := fmt.Sprintf("sums within %.2g of 1", s.SumError)
	if !(s.SumError < 1e-5) {
		text += "; our bounds add what columns are off"
	}
	c.check("W is doubly stochastic (Assumption 5)", s.SumError < 1e-5, text)
	c.check("every [W]_ij ≥ ε (Assumption 5 to the letter)", s.Everyone,
		fmt.Sprintf("ε = %.4g on links and the diagonal, 0 elsewhere", s.Smallest))
	return nil
}

func contraction(s *theory.Sequence) string {
	text := fmt.Sprintf("σ₂ = %.4g at worst", s.Worst)
	if s.Window > 1 {
		text += fmt.Sprintf(", %.4g over %d steps", s.Windowed, s.Window)
	}
	return text
}
