package rule

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wdgnn/wdgnn/conformal"
)

// Settings are a Config as people write it: a preset, and what is to differ from
// it. They are the keys under `learn` in agent.yaml and, beside others, under
// `online` in config.yaml; doc/config.md is written from the comments here.
type Settings struct {
	// Where the settings below begin. `auto` takes one of the others by the
	// model file and this configuration: `season` where it forecasts; `paper` where
	// keys of gradient steps are set; `neighbours` where links stay or come and go,
	// and every node that is read in training classifies and is known to have at
	// most 64 features; `own` otherwise. `own`: taps and bias of its own at every
	// node, learned by second derivatives, without step size and without a byte
	// sent. `neighbours`: the same with a weight for every neighbour's shifted
	// values, which it hears anyway. `paper`: the paper's words, gradient steps and
	// full consensus. `season`, for forecasts: what the model as trained lacks at
	// this time of the season, its weight shared with neighbours, and own taps
	// pulled hard to the trained ones.
	Preset string `yaml:"preset,omitempty" default:"auto" example:"paper"`

	// How links change: `fixed`; `outages`, some are lost or come back now
	// and then; or `every-step`, as among robots. With `outages` what nodes of
	// `own` are sure of fades; those of `neighbours` begin again when their links
	// change, and what they had learned takes over again if it is ahead.
	Links Links `yaml:"links,omitempty" default:"fixed" example:"outages"`

	// A rule of one's own in the place of gradient steps, by the
	// name that a program gives it; see [A rule of one's own on
	// boxes](runtime.md#a-rule-of-ones-own-on-boxes). `wdgnn` and `wdgnn-agent`
	// have none of their own.
	Rule string `yaml:"rule,omitempty" example:"median"`

	// Numbers of the presets `own` and `neighbours`; the defaults suit most tasks.
	Newton *NewtonSettings `yaml:"newton,omitempty"`

	// Numbers of the preset `season`; its defaults suit most sensors.
	Season *Season `yaml:"season,omitempty"`

	// The step size γ of gradient steps. That of `paper` suits `classify`;
	// squared errors want a tenth. Other presets and rules of one's own have none.
	StepSize *StepSettings `yaml:"step_size,omitempty"`

	// The weight λ of a penalty that pulls the taps towards the trained ones.
	Ridge float64 `yaml:"ridge,omitempty" example:"0.01"`

	// Gradients longer than this are shortened to it; 0 never.
	ClipNorm float64 `yaml:"clip_norm,omitempty" example:"1"`

	// What gradient steps move: `taps`, or `taps+bias` for the wide part's bias as
	// well.
	Retrain Retrain `yaml:"retrain,omitempty" default:"taps" example:"taps+bias"`

	// The distance from the trained taps at which learning counts as
	// diverged; 0 means 1e8.
	Limit float64 `yaml:"limit,omitempty" example:"1000"`

	// What keeps learning from doing harm: a node answers with what it learned
	// only while that is ahead of the model as trained, and what its answers
	// cost stays below (1 + `margin`) times what those of the model as trained
	// would have cost, and `slack` usual answers. `off` answers with what was
	// learned, whatever it costs. Other keys are `window`, the answers looked
	// back on, and `patience`, those after which a node that stays behind begins
	// again with the trained taps. {margin: 0.05, slack: 15, window: 30,
	// patience: 100} is what `on` means.
	Gate GateSettings `yaml:"gate,omitempty" default:"on" example:"off"`

	// By how many steps what an answer should have been may come late, in
	// agent.yaml: a target of an earlier step is learned from with what its
	// answer was made with. A stream says it itself, `online.stream.delay`. For
	// `season` it is by how many steps later than the time that was forecast,
	// and 0 means 12.
	Delay int `yaml:"delay,omitempty" example:"3"`

	// How often the sets of classes or intervals of numbers that go with the
	// answers of a node hold the truth, in the long run and on average; 0 for
	// none. They change neither answers nor learning.
	// [doc/uncertainty.md](uncertainty.md) says what is promised.
	Coverage *float64 `yaml:"coverage,omitempty" default:"0.9" example:"0.95"`
}

// StepSettings are the step size γ of online learning.
type StepSettings struct {
	// How it changes: `fixed`, or `decaying`, γ/√(1+t/τ).
	Schedule Schedule `yaml:"schedule,omitempty" default:"fixed" example:"decaying"`

	// The step size γ, the first one if it decays.
	Value *float64 `yaml:"value,omitempty" default:"3; centralized 0.3" example:"0.1"`

	// The steps τ of `decaying`; 0 means 100.
	Steps float64 `yaml:"steps,omitempty" example:"500"`
}

// NewtonSettings are the numbers of own and neighbours; see Newton.
type NewtonSettings struct {
	// The variance τ of what may be learned, in whitened features, before
	// anything was observed: the smaller, the harder it is pulled to the
	// trained taps.
	Prior *float64 `yaml:"prior,omitempty" default:"30 for classes, neighbours 3; otherwise a pull as strong as 100 answers" example:"10"`

	// The share ε of labels that are wrong, 0 to below 1. Unlikely labels then
	// count less. For `classify`.
	Doubt *float64 `yaml:"doubt,omitempty" default:"0.2, neighbours 0.1" example:"0"`

	// By which certainty fades with every answer, above 0 to 1: 1 never.
	Forget *float64 `yaml:"forget,omitempty" default:"1; 0.9999 where links is outages" example:"0.999"`

	// After how many answers, again and again, a second learner begins from the
	// trained taps; it takes over when it is ahead. 0 means never.
	Fresh *int `yaml:"fresh,omitempty" default:"100" example:"0"`

	// Whether a node begins again from the trained taps when its own links
	// change. What it had learned takes over again if it is ahead.
	Restart *bool `yaml:"restart,omitempty" default:"false; true for neighbours where links is outages" example:"true"`
}

// apply puts s in the place of what a preset has.
func (s *NewtonSettings) apply(to *Newton) {
	set(&to.Prior, s.Prior)
	set(&to.Doubt, s.Doubt)
	set(&to.Forget, s.Forget)
	set(&to.Fresh, s.Fresh)
	set(&to.Restart, s.Restart)
}

// set puts v, if it is there, where it belongs.
func set[T any](to, v *T) {
	if v != nil {
		*to = *v
	}
}

// DefaultPreset is the preset of Settings that name none.
const DefaultPreset = "auto"

// Facts are what is known of a run before it begins: what a model file and a
// configuration say. By them, and by nothing else, Settings that leave it open
// choose how nodes learn, so that simulation and agents choose alike.
type Facts struct {
	Bias     bool // the wide part has a bias
	Gradient bool // costs are told as gradients, without a value at other answers
	Heard    bool // nodes classify, and the model file says what each of them heard in training
	Forecast bool // nodes forecast, and learn on their own or from neighbours: not in centralized learning
}

// For returns s with what it leaves open chosen: the preset where it is auto, and
// what is retrained where the model has no bias. s is not changed.
func (s *Settings) For(f Facts) *Settings {
	c := *s
	if c.Preset = cmp.Or(s.Preset, DefaultPreset); c.Preset == DefaultPreset {
		switch {
		case f.Forecast && !s.steps() && s.Newton == nil || s.Season != nil:
			c.Preset = "season"
		case s.steps():
			c.Preset = "paper"
		case f.Heard && !f.Gradient && s.Links != LinksEveryStep:
			c.Preset = "neighbours"
		default:
			c.Preset = "own"
		}
	}
	if c.Preset == "own" && !f.Bias {
		c.Retrain = RetrainTaps
	}
	return &c
}

// steps says whether s has keys of gradient steps, or a rule of one's own.
func (s *Settings) steps() bool {
	return s.Rule != "" || s.StepSize != nil || s.Ridge != 0 || s.ClipNorm != 0 || s.Retrain != ""
}

// Config returns what s means for centralized or distributed learning: the preset
// with what s says otherwise. Own holds the rules that s may name, nil for none.
// It reports everything that is wrong, each complaint with its key. Where s leaves
// the preset open, For comes first; without it nothing is known of a model.
func (s *Settings) Config(centralized bool, own map[string]Rule) (Config, error) {
	name := cmp.Or(s.Preset, DefaultPreset)
	if name == DefaultPreset {
		name = s.For(Facts{Bias: true}).Preset
	}
	c, err := Preset(name, centralized)
	if err != nil {
		return c, fmt.Errorf("rule: preset is %.40q, want %s", name, presetNames)
	}
	if !slices.Contains([]Links{"", LinksFixed, LinksOutages, LinksEveryStep}, s.Links) {
		err = fmt.Errorf("rule: links is %.40q, want fixed, outages or every-step", s.Links)
	}
	if s.Rule != "" {
		c.Rule, err = s.own(own)
	}
	if s.StepSize != nil {
		s.StepSize.apply(&c.StepSize)
	}
	if c.Retrain == RetrainHeard && s.Retrain != "" {
		err = errors.Join(err, errors.New("rule: retrain is for the presets paper and own; neighbours learn all that they can"))
	}
	if c.Retrain = cmp.Or(s.Retrain, c.Retrain); c.Retrain == RetrainTaps {
		c.Retrain = ""
	}
	if c.Newton != nil && s.Links == LinksOutages {
		if c.Retrain == RetrainHeard {
			c.Newton.Restart = true
		} else {
			c.Newton.Forget = 0.9999
		}
	}
	switch {
	case s.Newton != nil && c.Newton != nil:
		s.Newton.apply(c.Newton)
	case s.Newton != nil:
		err = errors.Join(err, fmt.Errorf("rule: newton has numbers of the presets own and neighbours, this is %s: "+
			"leave it out, or change the preset", name))
	}
	switch {
	case s.Season != nil && c.Season != nil:
		*c.Season = *s.Season
	case s.Season != nil:
		err = errors.Join(err, fmt.Errorf("rule: season has numbers of the preset season, this is %s: leave it out, or change the preset", name))
	}
	if c.Season != nil && centralized {
		err = errors.Join(err, errors.New("rule: season is for mode distributed: every node has a season of its own"))
	}
	c.Gate, c.Delay, c.Conformal = s.Gate.Config(), s.Delay, s.conformal()
	c.Ridge, c.ClipNorm, c.Limit = s.Ridge, s.ClipNorm, s.Limit
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

// apply puts s in the place of the step size of a preset.
func (s *StepSettings) apply(to *StepSize) {
	if to.Steps = s.Steps; s.Schedule != Fixed {
		to.Schedule = s.Schedule
	}
	set(&to.Value, s.Value)
}

// Settings returns how c is written, for distributed learning. A rule of one's
// own cannot be.
func (c Config) Settings() *Settings {
	s := &Settings{
		Preset: "paper", Ridge: c.Ridge, ClipNorm: c.ClipNorm, Limit: c.Limit, Gate: c.Gate.settings(), Delay: c.Delay, Coverage: c.coverage(),
	}
	switch w, z := c.Newton, c.Season; {
	case w != nil:
		if s.Preset = "own"; c.Retrain == RetrainHeard {
			s.Preset = "neighbours"
		} else {
			s.Retrain = cmp.Or(c.Retrain, RetrainTaps)
		}
		s.Newton = &NewtonSettings{Prior: &w.Prior, Doubt: &w.Doubt, Forget: &w.Forget, Fresh: &w.Fresh, Restart: &w.Restart}
	case z != nil:
		s.Preset = "season"
		s.Season = z
	default:
		s.Retrain = c.Retrain
		s.StepSize = &StepSettings{Schedule: c.StepSize.Schedule, Value: &c.StepSize.Value, Steps: c.StepSize.Steps}
	}
	return s
}

// Links says how the links of a network change. Nothing means LinksFixed.
type Links string

// How links change.
const (
	LinksFixed     Links = "fixed"
	LinksOutages   Links = "outages" // some are lost or come back now and then
	LinksEveryStep Links = "every-step"
)

// conformal returns what s says of sets and intervals, nil for none.
func (s *Settings) conformal() *conformal.Config {
	switch {
	case s.Coverage == nil:
		return &conformal.Config{Coverage: conformal.DefaultCoverage}
	case *s.Coverage == 0:
		return nil
	}
	return &conformal.Config{Coverage: *s.Coverage}
}

// coverage returns how Conformal is written.
func (c *Config) coverage() *float64 {
	none := 0.0
	if c.Conformal == nil {
		return &none
	}
	return &c.Conformal.Coverage
}
