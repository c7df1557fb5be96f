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
// a preset, [Literal] or [Personal], is where to begin.
type Config struct {
	StepSize StepSize `json:"step_size"`

	// Window is m, the number of last steps whose mean cost is stepped down;
	// 0 means 1, the current step alone, as in the paper. One sample says
	// something of one direction of many; the mean over several does not forget
	// the others each time.
	//
	// Deviation: eq. (7) and (9) look at the current step alone.
	Window int `json:"window,omitempty"`

	// Mixing is η, 0 ≤ η ≤ 1: a node mixes with (1-η)I + ηW. 1 is eq. (9), 0
	// leaves every node to itself. Centralized learning does not mix.
	Mixing float64 `json:"mixing"`

	// Whiten takes the step in whitened coordinates; see Whitening.
	Whiten bool `json:"whiten,omitempty"`

	// Ridge is λ ≥ 0 of a penalty (λ/2)‖𝒜_i - 𝒜†‖², in the metric of the step,
	// that pulls every node towards what was trained offline.
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
	Retrain Retrain `json:"retrain,omitzero"`

	// Limit is the distance from 𝒜† at which learning counts as diverged; 0
	// means 1e8, far beyond what taps of any use have.
	Limit float64 `json:"limit,omitempty"`

	// Outlier is how many times as far from 𝒜† as a node's own taps, and as is
	// usual among its other neighbours, a neighbour's may be; what is farther is
	// left out of the mixture. Up to 10‖𝒜†‖ everything counts as that far; see
	// Basis.Sizes. 0 means 10, less than 0 that everybody is believed.
	//
	// Deviation: eq. (9) believes everybody. Nodes that learn from the same
	// world come nowhere near the bound.
	Outlier float64 `json:"outlier,omitempty"`

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

	// Clip bounds how much single neighbours move a node; see Clip.
	//
	// Deviation: eq. (9) takes from everybody as much as W says; ClipOff is the
	// paper.
	Clip Clip `json:"clip,omitzero"`

	// Newton, if set, learns by second derivatives in the place of gradient steps.
	// It has no use for a step size, a window, whitening, a ridge or clipping, and
	// sends nothing unless Mixing is above 0.
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
	if c.Window < 0 || c.Window > maxWindow {
		complain("window is %d, want 1 to %d steps", c.Window, maxWindow)
	}
	if !(c.Mixing >= 0 && c.Mixing <= 1) {
		complain("mixing is %v, want 0 to 1", c.Mixing)
	}
	for _, p := range []struct {
		name  string
		value float64
	}{{"ridge", c.Ridge}, {"clip_norm", c.ClipNorm}, {"limit", c.Limit}} {
		if !(p.value >= 0) || math.IsInf(p.value, 0) {
			complain("%s is %v, want a number ≥ 0", p.name, p.value)
		}
	}
	if math.IsNaN(c.Outlier) || c.Outlier > 0 && c.Outlier < 2 {
		complain("outlier is %v, want 2 or more, 0 for %d, or less than 0 to believe everybody", c.Outlier, defaultOutlier)
	}
	if int(c.Retrain) >= len(retrainNames) || c.Retrain < 0 {
		complain("%v: want %s", c.Retrain, strings.Join(retrainNames, " or "))
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
	if int(c.Clip) >= len(clipNames) || c.Clip < 0 {
		complain("%v: want %s", c.Clip, strings.Join(clipNames, ", "))
	}
	if c.Retrain == RetrainHeard && c.Newton == nil {
		complain("retrain is heard, which learns by newton alone; with gradient steps and windows retrain taps or taps+bias")
	}
	if c.Retrain == RetrainHeard && c.Mixing != 0 {
		complain("retrain is heard and mixing %v: what a node makes of its neighbours means nothing at others; want mixing 0", c.Mixing)
	}
	if c.Newton != nil {
		for _, what := range c.Newton.complaints() {
			complain("%s", what)
		}
		if c.Rule != nil || c.StepSize != (StepSize{}) || c.Window > 1 || c.Whiten || c.Ridge != 0 || c.ClipNorm != 0 {
			complain("newton goes without a rule of one's own, step size, window, whitening, ridge and clip_norm: leave them out")
		}
	}
	errs = append(errs, c.checkSeason())
	if c.Rule != nil && (c.Rule.Sent() < 1 || c.Rule.Kept() < 0) {
		complain("a %T sends %d vectors and keeps %d, want at least 1, which predictions use, and 0", c.Rule, c.Rule.Sent(), c.Rule.Kept())
	}
	return errors.Join(errs...)
}

const (
	maxWindow    = 1 << 20
	maxDelay     = 1 << 12
	defaultLimit = 1e8
)

func (c *Config) limit() float64 {
	if c.Limit == 0 {
		return defaultLimit
	}
	return c.Limit
}

// Literal is online learning to the letter of the paper: plain gradient steps
// on the taps, eq. (7) or eq. (9) with full mixing. The step sizes are those
// that suit source localization best; consensus divides a node's step by the
// number of nodes, so the distributed one is larger.
func Literal(centralized bool) Config {
	c := Config{StepSize: StepSize{Value: 3}, Mixing: 1}
	if centralized {
		c.StepSize.Value = 0.3
	}
	return c
}

// Personal is our default: every node keeps taps of its own, which its
// neighbours' pull at with η = 0.003 only, none harder than is usual among them,
// and steps in whitened coordinates on the mean cost of the last window steps.
//
// Deviation: eq. (8) asks all nodes to agree on one set of taps. On source
// localization no shared set can do what the paper's table shows; own ones can.
func Personal(window int) Config {
	c := Config{StepSize: StepSize{Value: 1}, Window: window, Mixing: 0.003, Whiten: true, Clip: ClipMedian}
	if window <= 1 {
		c.StepSize.Value = 0.3
	}
	return c
}

// Laplace is learning by second derivatives: every node keeps taps and bias of
// its own, sends none of them, and needs neither step size nor window.
func Laplace() Config {
	return Config{Newton: &Newton{Doubt: 0.2, Fresh: 100}, Retrain: RetrainTapsAndBias}
}

// Hearers is learning by second derivatives with a weight for every neighbour's
// shifted values beside taps and bias; see Hearing.
func Hearers() Config {
	return Config{Newton: &Newton{Doubt: 0.1, Fresh: 100}, Retrain: RetrainHeard}
}

// PersonalWindow is the window of the preset called "window".
const PersonalWindow = 50

// Presets returns the names of today, the default first; earlier ones are read too.
func Presets() []string {
	return []string{DefaultPreset, "season", "heard", "newton", "window", "literal"}
}

// presetNames are Presets in a sentence.
var presetNames = func() string {
	names := Presets()
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}()

// Preset returns the preset with the given name: "season", "heard", "newton", "window" or
// "literal", or by an early name "personal", which is "window", or "personal-single". Which
// of them "auto" is, Settings.For says.
func Preset(name string, centralized bool) (Config, error) {
	switch name {
	case "literal":
		return Literal(centralized), nil
	case "window", "personal":
		return Personal(PersonalWindow), nil
	case "personal-single":
		return Personal(1), nil
	case "newton":
		return Laplace(), nil
	case "heard":
		return Hearers(), nil
	case "season":
		return Seasonal(), nil
	}
	return Config{}, fmt.Errorf("rule: no preset is called %q; try %s", name, presetNames)
}

// Retrain says which parameters of the wide part learn online. It is written
// as text in JSON.
type Retrain int

// What is retrained.
const (
	RetrainTaps        Retrain = iota // "taps": A_0 … A_K, as in the paper
	RetrainTapsAndBias                // "taps+bias": and the wide part's bias

	// "heard": these, and a weight for every neighbour's shifted values; see
	// Hearing. Nodes with too many of them learn taps and bias.
	RetrainHeard
)

var retrainNames = []string{"taps", "taps+bias", "heard"}

// String returns the name that UnmarshalText reads.
func (r Retrain) String() string {
	if r < 0 || int(r) >= len(retrainNames) {
		return fmt.Sprintf("Retrain(%d)", int(r))
	}
	return retrainNames[r]
}

// MarshalText returns the name of r.
func (r Retrain) MarshalText() ([]byte, error) { return marshal("retrain", int(r), retrainNames) }

// UnmarshalText sets r by name.
func (r *Retrain) UnmarshalText(text []byte) error {
	i, err := unmarshal("retrain", string(text), retrainNames)
	if err == nil {
		*r = Retrain(i)
	}
	return err
}

func marshal(what string, i int, names []string) ([]byte, error) {
	if i < 0 || i >= len(names) {
		return nil, fmt.Errorf("rule: %s %d has no name", what, i)
	}
	return []byte(names[i]), nil
}

func unmarshal(what, text string, names []string) (int, error) {
	i := slices.Index(names, text)
	if i < 0 {
		return 0, fmt.Errorf("rule: %s %.40q: want %s", what, text, strings.Join(names, ", "))
	}
	return i, nil
}
