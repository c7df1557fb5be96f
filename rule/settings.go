package rule

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Settings are a Config as people write it: a preset, and what is to differ from
// it. They are the keys under `learn` in agent.yaml and, beside others, under
// `online` in config.yaml; doc/config.md is written from the comments here.
type Settings struct {
	// Where the settings below begin: `personal` (own taps at every node,
	// whitened steps on the last 50 signals), `personal-single` (the same on
	// one signal at a time) or `literal` (the paper's words: plain gradient
	// steps and full consensus).
	Preset string `yaml:"preset,omitempty" default:"personal" example:"literal"`

	// A rule of one's own in the place of gradient steps, by the name that a
	// program gives it; see [A rule of one's own on
	// boxes](runtime.md#a-rule-of-ones-own-on-boxes). `wdgnn` and `wdgnn-agent`
	// have none.
	Rule string `yaml:"rule,omitempty" default:"gradient steps" example:"mine"`

	// The step size γ. Those of the presets suit `classify`; squared errors
	// want a tenth, or `automatic`. A rule of one's own has none.
	StepSize *StepSettings `yaml:"step_size,omitempty"`

	// The number of last steps whose mean cost is stepped down; 0 means that
	// of the preset: 50 for `personal`, otherwise 1.
	Window int `yaml:"window,omitempty" example:"20"`

	// The mixing strength η, 0 to 1: 0 leaves every node to itself, 1 is the
	// paper's consensus. For `distributed`.
	Mixing *float64 `yaml:"mixing,omitempty" default:"of the preset: 0.003, literal 1" example:"0.1"`

	// Whether steps are taken in whitened coordinates, with the second moment
	// of the inputs that `wdgnn train` stores in the model.
	Whiten *bool `yaml:"whiten,omitempty" default:"of the preset: true, literal false" example:"false"`

	// The weight λ of a penalty that pulls the taps towards the trained ones.
	Ridge float64 `yaml:"ridge,omitempty" example:"0.01"`

	// Gradients longer than this are shortened to it; 0 never.
	ClipNorm float64 `yaml:"clip_norm,omitempty" example:"1"`

	// What learns: `taps`, or `taps+bias` for the wide part's bias as well.
	Retrain Retrain `yaml:"retrain,omitempty" example:"taps+bias"`

	// The distance from the trained taps at which learning counts as
	// diverged; 0 means 1e8.
	Limit float64 `yaml:"limit,omitempty" example:"1000"`

	// How many times as far from the trained taps as a node's own, and as is
	// usual among its other neighbours, a neighbour's may be to be mixed in;
	// 0 means 10, less than 0 that everybody is believed. For `distributed`.
	Outlier float64 `yaml:"outlier,omitempty" example:"-1"`

	// How much a single neighbour may move a node: `median` shortens what
	// neighbours differ by from the node to the median of all its neighbours;
	// `trimmed` leaves the farthest quarter of them out; `off` believes all, as
	// the paper does. For `distributed`.
	Clip *Clip `yaml:"clip,omitempty" default:"of the preset: median, literal off" example:"trimmed"`

	// What keeps learning from doing harm: a node answers with what it learned
	// only while that is ahead of the model as trained, and what its answers
	// cost stays below (1 + `margin`) times what those of the model as trained
	// would have cost, and `slack` usual answers. `off` answers with what was
	// learned, whatever it costs. Other keys are `window`, the answers looked
	// back on, and `patience`, those after which a node that stays behind begins
	// again with the trained taps. {margin: 0.05, slack: 10, window: 20,
	// patience: 100} is what `on` means.
	Gate GateSettings `yaml:"gate,omitempty" default:"on" example:"off"`

	// By how many steps what an answer should have been may come late, in
	// agent.yaml: a target of an earlier step is learned from with what its
	// answer was made with. A stream says it itself, `online.stream.delay`.
	Delay int `yaml:"delay,omitempty" example:"3"`
}

// StepSettings are the step size γ of online learning.
type StepSettings struct {
	// How it changes: `fixed`; `decaying`, γ/√(1+t/τ); or `automatic`, a share
	// of 2 W_ii/C_s, from the curvature C_s of the cost and the weight W_ii that
	// a node gives to itself. In `centralized` learning, where W_ii is 1, such
	// a step cannot raise the cost that it is taken on. In `distributed`
	// learning it cannot make mixing and stepping swing further and further,
	// whatever the graph (doc/theory.md); costs may rise all the same, where
	// nodes disagree about what is best.
	Schedule Schedule `yaml:"schedule,omitempty" example:"decaying"`

	// The step size γ, the first one if it decays, or the share, below 1, if
	// it is automatic.
	Value *float64 `yaml:"value,omitempty" default:"1, personal-single 0.3, literal 3 or, centralized, 0.3; automatic 0.5" example:"0.1"`

	// The steps τ of `decaying`; 0 means 100.
	Steps float64 `yaml:"steps,omitempty" example:"500"`
}

// DefaultPreset is the preset of Settings that name none.
const DefaultPreset = "personal"

// Config returns what s means for centralized or distributed learning: the preset
// with what s says otherwise. Own holds the rules that s may name, nil for none.
// It reports everything that is wrong, each complaint with its key.
func (s *Settings) Config(centralized bool, own map[string]Rule) (Config, error) {
	name := s.Preset
	if name == "" {
		name = DefaultPreset
	}
	c, err := Preset(name, centralized)
	if err != nil {
		return c, fmt.Errorf("rule: preset is %.40q, want literal, personal or personal-single", name)
	}
	if s.Rule != "" {
		c.Rule, err = s.own(own)
	}
	if s.Mixing != nil {
		c.Mixing = *s.Mixing
		if centralized {
			err = errors.Join(err, errors.New("rule: mixing is for mode distributed; nobody mixes in a centralized run"))
		}
	}
	if s.StepSize != nil {
		s.StepSize.apply(&c.StepSize)
	}
	if s.Window != 0 {
		c.Window = s.Window
	}
	if s.Whiten != nil {
		c.Whiten = *s.Whiten
	}
	if s.Clip != nil {
		c.Clip = *s.Clip
	}
	c.Ridge, c.ClipNorm, c.Retrain, c.Limit, c.Outlier = s.Ridge, s.ClipNorm, s.Retrain, s.Limit, s.Outlier
	c.Gate, c.Delay = s.Gate.Config(), s.Delay
	return c, errors.Join(err, c.Validate())
}

// own returns the rule that s names.
func (s *Settings) own(rules map[string]Rule) (Rule, error) {
	r := rules[s.Rule]
	switch {
	case r == nil && len(rules) == 0:
		return nil, fmt.Errorf("rule: rule: no rule is called %.40q; this program has none of its own: leave the key out, "+
			"or build a program that has it", s.Rule)
	case r == nil:
		return nil, fmt.Errorf("rule: rule: no rule is called %.40q; this program has: %s",
			s.Rule, strings.Join(slices.Sorted(maps.Keys(rules)), ", "))
	case s.StepSize != nil:
		return nil, fmt.Errorf("rule: step_size is that of gradient steps; the rule %q takes its own: leave the key out", s.Rule)
	}
	return r, nil
}

// apply puts s in the place of the step size of a preset. Its value is no share:
// an automatic step without one begins with the default share.
func (s *StepSettings) apply(to *StepSize) {
	to.Schedule, to.Steps = s.Schedule, s.Steps
	switch {
	case s.Value != nil:
		to.Value = *s.Value
	case s.Schedule == Automatic:
		to.Value = 0
	}
}

// Settings returns how c is written, for distributed learning. A rule of one's
// own cannot be.
func (c Config) Settings() *Settings {
	return &Settings{
		Preset:   "literal",
		StepSize: &StepSettings{Schedule: c.StepSize.Schedule, Value: &c.StepSize.Value, Steps: c.StepSize.Steps},
		Window:   c.Window, Mixing: &c.Mixing, Whiten: &c.Whiten, Ridge: c.Ridge, ClipNorm: c.ClipNorm,
		Retrain: c.Retrain, Limit: c.Limit, Outlier: c.Outlier, Clip: &c.Clip, Gate: c.Gate.settings(), Delay: c.Delay,
	}
}
