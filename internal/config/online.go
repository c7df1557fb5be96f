package config

import (
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/rule"
)

// Online is one run of `wdgnn online`: a trained model meets a stream and keeps
// learning. The deep part is frozen; the taps of the wide part move.
type Online struct {
	// The folder that the run is written to; `--out` overrides it.
	Out Path `yaml:"out" example:"runs/online"`

	// What the nodes meet, step by step.
	Stream Stream `yaml:"stream"`

	// Who learns: `distributed`, every node has taps of its own and hears its
	// neighbours, eq. (9) of the paper; or `centralized`, one set of taps for
	// all, eq. (7).
	Mode Mode `yaml:"mode" example:"centralized"`

	// Where the settings below begin: `personal` (own taps at every node,
	// whitened steps on the last 50 signals), `personal-single` (the same on
	// one signal at a time) or `literal` (the paper's words: plain gradient
	// steps and full consensus).
	Preset string `yaml:"preset" example:"literal"`

	// The step size γ. Those of the presets suit `classify`; squared errors
	// want a tenth, or `automatic`.
	StepSize *StepSize `yaml:"step_size,omitempty"`

	// The number of last steps whose mean cost is stepped down; 0 means that
	// of the preset: 50 for `personal`, otherwise 1.
	Window int `yaml:"window" example:"20"`

	// The mixing strength η, 0 to 1: 0 leaves every node to itself, 1 is the
	// paper's consensus. For `distributed`.
	Mixing *float64 `yaml:"mixing,omitempty" default:"of the preset: 0.003, literal 1" example:"0.1"`

	// The mixing matrix W: `metropolis`, `max-degree`, `sinkhorn`, or
	// `identity` for none. For `distributed`.
	MixingMatrix graph.Mixing `yaml:"mixing_matrix" example:"max-degree"`

	// Whether steps are taken in whitened coordinates, with the second moment
	// of the inputs that `wdgnn train` stores in the model.
	Whiten *bool `yaml:"whiten,omitempty" default:"of the preset: true, literal false" example:"false"`

	// The weight λ of a penalty that pulls the taps towards the trained ones.
	Ridge float64 `yaml:"ridge" example:"0.01"`

	// Gradients longer than this are shortened to it; 0 never.
	ClipNorm float64 `yaml:"clip_norm" example:"1"`

	// What learns: `taps`, or `taps+bias` for the wide part's bias as well.
	Retrain rule.Retrain `yaml:"retrain" example:"taps+bias"`

	// The distance from the trained taps at which learning counts as
	// diverged; 0 means 1e8.
	Limit float64 `yaml:"limit" example:"1000"`

	// How many times as far from the trained taps as a node's own, and as is
	// usual among its other neighbours, a neighbour's may be to be mixed in;
	// 0 means 10, less than 0 that everybody is believed. For `distributed`.
	Outlier float64 `yaml:"outlier" example:"-1"`
}

// Stream names the files of a stream of T steps on N nodes with F features. The
// formats are those of `data`, with steps in the place of samples.
type Stream struct {
	// The graph, as for `data`. With a time column the graph of a step holds
	// until the next time that appears; for delayed filters, as in training, a
	// step that does not appear has no links. A node without links keeps its
	// number: it sees its own signal and learns alone.
	Graph Path `yaml:"graph,omitempty" default:"that of data" example:"stream_graph.csv"`

	// Whether links have a direction: `src` is heard by `dst`. It is true as
	// well if `data` says so.
	Directed bool `yaml:"directed" example:"true"`

	// What the nodes observe: T×N×F, or T×N for one feature.
	Signals Path `yaml:"signals" default:"required" example:"stream_signals.npy"`

	// What the answers should have been, revealed after each step. For
	// `classify` a class, or -1 for none: one per step, or T×N, or T×R for
	// the R nodes that are read. For `regress` values, T×N×C or T×R×C, where C
	// may be left out if it is 1 and NaN means unknown. Where nothing is known
	// the model predicts and does not learn.
	Targets Path `yaml:"targets" default:"required" example:"stream_targets.npy"`

	// Which targets of `regress` are known, as for `data`.
	Mask Path `yaml:"mask,omitempty" default:"all but NaN" example:"stream_known.npy"`

	// The nodes whose outputs are read, counted from 0.
	Read []int `yaml:"read,omitempty,flow" default:"those of the model" example:"[3, 17, 29]"`

	// The loss of `regress`: `mse`, `smooth-l1` or `hinge`.
	Loss string `yaml:"loss,omitempty" default:"that of data, or mse" example:"smooth-l1"`
}

// StepSize is the step size γ of online learning.
type StepSize struct {
	// How it changes: `fixed`; `decaying`, γ/√(1+t/τ); or `automatic`, a share
	// of 2 W_ii/C_s, from the curvature C_s of the cost and the weight W_ii that
	// a node gives to itself. In `centralized` learning, where W_ii is 1, such
	// a step cannot raise the cost that it is taken on. In `distributed`
	// learning it cannot make mixing and stepping swing further and further,
	// whatever the graph (doc/theory.md); costs may rise all the same, where
	// nodes disagree about what is best.
	Schedule rule.Schedule `yaml:"schedule" example:"decaying"`

	// The step size γ, the first one if it decays, or the share, below 1, if
	// it is automatic.
	Value *float64 `yaml:"value,omitempty" default:"of the preset: 1, personal-single 0.3, literal 3 or, centralized, 0.3; automatic 0.5" example:"0.1"`

	// The steps τ of `decaying`; 0 means 100.
	Steps float64 `yaml:"steps" example:"500"`
}

// Mode says who learns.
type Mode string

// The modes.
const (
	Distributed Mode = "distributed"
	Centralized Mode = "centralized"
)

// Rule returns how nodes learn: the preset with what the configuration says
// otherwise.
func (o *Online) Rule() (rule.Config, error) {
	c, err := rule.Preset(o.Preset, o.Mode == Centralized)
	if err != nil {
		return c, err
	}
	if s := o.StepSize; s != nil {
		c.StepSize.Schedule, c.StepSize.Steps = s.Schedule, s.Steps
		switch {
		case s.Value != nil:
			c.StepSize.Value = *s.Value
		case s.Schedule == rule.Automatic:
			c.StepSize.Value = 0
		}
	}
	if o.Window != 0 {
		c.Window = o.Window
	}
	if o.Mixing != nil {
		c.Mixing = *o.Mixing
	}
	if o.Whiten != nil {
		c.Whiten = *o.Whiten
	}
	c.Ridge, c.ClipNorm, c.Retrain, c.Limit, c.Outlier = o.Ridge, o.ClipNorm, o.Retrain, o.Limit, o.Outlier
	return c, nil
}

// StreamGraph returns the graph of the stream, and whether its links have a
// direction.
func (c *Config) StreamGraph() (path Path, directed bool) {
	path, directed = c.Online.Stream.Graph, c.Online.Stream.Directed
	if d := c.Data; d != nil {
		directed = directed || d.Directed
		if path == "" {
			path = d.Graph
		}
	}
	return path, directed
}

// StreamLoss returns the loss of a regression on the stream.
func (c *Config) StreamLoss() string {
	if c.Online.Stream.Loss == "" && c.Data != nil {
		return c.Data.Loss
	}
	return c.Online.Stream.Loss
}

func (k *checker) online(c *Config) {
	o := c.Online
	k.check(o.Out != "", "online.out is empty, want a folder")
	k.check(o.Mode == Distributed || o.Mode == Centralized, "online.mode is %q, want distributed or centralized", o.Mode)
	k.check(o.Mixing == nil || o.Mode != Centralized, "online.mixing is for mode distributed; nobody mixes in a centralized run")
	k.check(o.Window >= 0, "online.window is %d, want 0 for that of the preset, or more", o.Window)
	if r, err := o.Rule(); err != nil {
		k.complain("online.preset is %q, want literal, personal or personal-single", o.Preset)
	} else if o.Window >= 0 {
		k.take("online", "rule", r.Validate())
	}
	s := &o.Stream
	k.check(s.Signals != "", "online.stream.signals is missing: name a file")
	k.check(s.Targets != "", "online.stream.targets is missing: name a file")
	graph, _ := c.StreamGraph()
	k.check(graph != "", "online.stream.graph is missing: name a file, or a data section that has one")
	k.read("online.stream.read", s.Read)
	_, ok := criterion(s.Loss)
	k.check(ok, "online.stream.loss is %q, want mse, smooth-l1 or hinge", s.Loss)
}

// Trains says whether c describes a training run. A configuration may hold an
// online section alone.
func (c *Config) Trains() bool {
	return c.Data != nil || c.Scenario != "" || c.Online == nil || c.Model.Features != 0 || c.Model.Wide != nil || c.Model.Deep != nil
}
