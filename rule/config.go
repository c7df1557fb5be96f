package rule

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/wdgnn/wdgnn/conformal"
)

// Config says how a node learns. Its zero value keeps the taps where they are:
// a preset, such as [Paper] or [Own], is where to begin. Presets have a gate.
type Config struct {
	StepSize StepSize `json:"step_size"`

	// Ridge is λ ≥ 0 of a penalty (λ/2)‖𝒜_i - 𝒜†‖² that
	// pulls every node towards what was trained offline.
	//
	// Deviation: eq. (6) has no penalty; λ = 0 is the paper.
	Ridge float64 `json:"ridge,omitempty"`

	// ClipNorm shortens gradients of 𝒜 that are longer; 0 never.
	//
	// Deviation: eq. (6) does not clip; 0 is the paper.
	ClipNorm float64 `json:"clip_norm,omitempty"`

	// Retrain says which parameters learn, always of the wide part. Outputs are
	// linear in them: a convex cost stays convex, and a node has its gradient
	// without asking its neighbours for theirs.
	Retrain Retrain `json:"retrain,omitempty"`

	// Limit is the distance from 𝒜† at which learning counts as diverged; 0
	// means 1e8, far beyond what taps of any use have.
	Limit float64 `json:"limit,omitempty"`

	// Gate, if set, keeps what is learned from doing harm: a node answers as
	// trained where what it learned is not ahead, and updates that diverge are
	// refused at that node alone; see [Answers].
	//
	// Deviation: the paper always answers with what was learned; nil does.
	Gate *Gate `json:"gate,omitempty"`

	// Delay is by how many steps what an answer cost may come late; 0 means
	// before the next step, as in the paper.
	Delay int `json:"delay,omitempty"`

	// Conformal, if set, gives answers sets of classes or intervals of numbers
	// that hold the truth as often as it says, whatever is learned. It changes
	// neither answers nor learning.
	Conformal *conformal.Config `json:"conformal,omitempty"`

	// Newton, if set, learns by second derivatives in the place of gradient steps.
	// It has no use for a step size, a ridge or clipping, and sends nothing.
	Newton *Newton `json:"newton,omitempty"`

	// Season, if set, is how forecasts learn, in the place of everything that moves
	// taps: see [Season]. Its nodes are [SeasonNode].
	Season *Season `json:"season,omitempty"`

	// Rule, if set, replaces Descent: a rule of one's own.
	Rule Rule `json:"-"`
}

// Validate reports everything that is wrong with c.
func (c *Config) Validate() error {
	var errs []error
	complain := func(format string, args ...any) { errs = append(errs, fmt.Errorf("rule: "+format, args...)) }
	errs = append(errs, c.StepSize.Validate())
	for _, p := range []struct {
		name  string
		value float64
	}{{"ridge", c.Ridge}, {"clip_norm", c.ClipNorm}, {"limit", c.Limit}} {
		if !(p.value >= 0) || math.IsInf(p.value, 0) {
			complain("%s is %v, want a number ≥ 0", p.name, p.value)
		}
	}
	if !slices.Contains([]Retrain{"", RetrainTaps, RetrainTapsAndBias, RetrainHeard}, c.Retrain) {
		complain("retrain is %.40q, want taps or taps+bias", c.Retrain)
	}
	if c.Gate != nil {
		errs = append(errs, c.Gate.Validate())
	}
	if c.Conformal != nil {
		if err := c.Conformal.Validate(); err != nil {
			complain("%s", strings.ReplaceAll(err.Error(), "conformal: ", ""))
		}
	}
	if c.Delay < 0 || c.Delay > maxDelay {
		complain("delay is %d, want 0 to %d steps", c.Delay, maxDelay)
	}
	if c.Retrain == RetrainHeard && c.Newton == nil {
		complain("retrain is heard, which learns by newton alone; with gradient steps retrain taps or taps+bias")
	}
	if c.Newton != nil {
		for _, what := range c.Newton.complaints() {
			complain("%s", what)
		}
		if c.Rule != nil || c.StepSize != (StepSize{}) || c.Ridge != 0 || c.ClipNorm != 0 {
			complain("newton goes without a rule of one's own, step size, ridge and clip_norm: leave them out")
		}
	}
	errs = append(errs, c.checkSeason())
	if c.Rule != nil && (c.Rule.Sent() < 1 || c.Rule.Kept() < 0) {
		complain("a %T sends %d vectors and keeps %d, want at least 1, which predictions use, and 0", c.Rule, c.Rule.Sent(), c.Rule.Kept())
	}
	return errors.Join(errs...)
}

const (
	maxAnswers   = 1 << 20
	maxDelay     = 1 << 12
	defaultLimit = 1e8
)

func (c *Config) limit() float64 {
	if c.Limit == 0 {
		return defaultLimit
	}
	return c.Limit
}

// AsLearned says whether nodes always answer with what they learned, and hear at once
// what that cost: they have neither gates nor sets, and no answer waits.
func (c *Config) AsLearned() bool { return c.Gate == nil && c.Delay == 0 && c.Conformal == nil }

// Mixes says whether nodes mix what they send with what they hear, by W.
func (c *Config) Mixes() bool { return c.Newton == nil && (c.Season == nil || !c.Season.Alone) }

// Paper is online learning to the letter of the paper: gradient steps on the taps,
// eq. (7) or eq. (9). The step sizes are those that suit source localization best;
// consensus divides a node's step by the number of nodes, so the distributed one is
// larger.
func Paper(centralized bool) Config {
	c := Config{StepSize: StepSize{Value: 3}, Gate: new(Gate)}
	if centralized {
		c.StepSize.Value = 0.3
	}
	return c
}

// Own is learning by second derivatives: every node keeps taps and bias of its own,
// sends none of them, and needs no step size.
//
// Deviation: eq. (8) asks all nodes to agree on one set of taps. On source
// localization no shared set can do what the paper's table shows; own ones can.
func Own() Config {
	return Config{Newton: &Newton{Doubt: 0.2, Fresh: 100}, Retrain: RetrainTapsAndBias, Gate: new(Gate)}
}

// Neighbours is Own with a weight for every neighbour's shifted values beside taps
// and bias; see Hearing.
func Neighbours() Config {
	return Config{Newton: &Newton{Doubt: 0.1, Fresh: 100}, Retrain: RetrainHeard, Gate: new(Gate)}
}

// Ungated returns c without the gate that presets have: nodes answer with what they
// learned, as in the paper, whatever that costs.
func (c Config) Ungated() Config {
	c.Gate = nil
	return c
}

// Presets returns the names of all presets, the default first.
func Presets() []string { return []string{DefaultPreset, "neighbours", "own", "paper", "season"} }

// presetNames are Presets in a sentence.
var presetNames = func() string {
	names := Presets()
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}()

// Preset returns the preset with the given name: "paper", "own", "neighbours" or
// "season". Which of them "auto" is, Settings.For says.
func Preset(name string, centralized bool) (Config, error) {
	switch name {
	case "paper":
		return Paper(centralized), nil
	case "own":
		return Own(), nil
	case "neighbours":
		return Neighbours(), nil
	case "season":
		return Seasonal(), nil
	}
	return Config{}, fmt.Errorf("rule: no preset is called %q; try %s", name, presetNames)
}

// Retrain says which parameters of the wide part learn online. Nothing means RetrainTaps.
type Retrain string

// What is retrained.
const (
	RetrainTaps        Retrain = "taps"      // A_0 … A_K, as in the paper
	RetrainTapsAndBias Retrain = "taps+bias" // and the wide part's bias

	// These, and a weight for every neighbour's shifted values; see
	// Hearing. Nodes with too many of them learn taps and bias.
	RetrainHeard Retrain = "heard"
)
