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

	// The mixing matrix W: `metropolis`, `max-degree`, `sinkhorn`, or
	// `identity` for none. For `distributed`.
	MixingMatrix graph.Mixing `yaml:"mixing_matrix" example:"max-degree"`

	// How it learns.
	rule.Settings `yaml:",inline"`
}

// Stream names the files of a stream of T steps on N nodes with F features. The
// formats are those of `data`, with steps in the place of samples.
type Stream struct {
	// The graph, as for `data`. With a time column the graph of a step holds
	// until the next time that appears; for delayed filters, as in training, a
	// step that does not appear has no links. A node without links keeps its
	// number: it sees its own signal and learns alone.
	Graph Path `yaml:"graph,omitempty" default:"that of data, or of the model" example:"stream_graph.csv"`

	// Whether links have a direction: `src` is heard by `dst`. It is true as
	// well if `data` says so.
	Directed bool `yaml:"directed" example:"true"`

	// What the nodes observe: T×N×F, or T×N for one feature.
	Signals Path `yaml:"signals,omitempty" default:"required, but for forecasts" example:"stream_signals.npy"`

	// What the answers should have been, revealed after each step. For
	// `classify` a class, or -1 for none: one per step, or T×N, or T×R for
	// the R nodes that are read. For `regress` values, T×N×C or T×R×C, where C
	// may be left out if it is 1 and NaN means unknown. Where nothing is known
	// the model predicts and does not learn.
	Targets Path `yaml:"targets,omitempty" default:"required, but for forecasts" example:"stream_targets.npy"`

	// The readings that a model of forecasts meets, in place of signals and
	// targets, in a form that `forecast.series` may have. Columns are found by
	// their names; sensors that were not in training join. What a forecast should
	// have been is told when the reading that it spoke of comes, and no sooner.
	Series Path `yaml:"series,omitempty" default:"the test part of forecast.series" example:"tuesday.csv"`

	// What the readings should have been, in the same form, as
	// `forecast.answers`. An empty cell is an answer that never comes.
	Answers Path `yaml:"answers,omitempty" default:"the readings" example:"tuesday_checked.csv"`

	// Which targets of `regress` are known, as for `data`.
	Mask Path `yaml:"mask,omitempty" default:"all but NaN" example:"stream_known.npy"`

	// The nodes whose outputs are read, counted from 0.
	Read []int `yaml:"read,omitempty,flow" default:"those of the model" example:"[3, 17, 29]"`

	// The loss of `regress`, as for `data`.
	Loss string `yaml:"loss,omitempty" default:"that of data, or mse" example:"smooth-l1"`

	// By how many steps targets come late: those of a step are told that many
	// steps later, as those of a forecast are, and learned from with what its
	// answers were made with. 0 tells them before the next step.
	Delay int `yaml:"delay" example:"3"`
}

// Mode says who learns.
type Mode string

// The modes.
const (
	Distributed Mode = "distributed"
	Centralized Mode = "centralized"
)

// Rule returns how nodes of a model learn, the preset with what the configuration
// says otherwise, and the name of the preset.
func (o *Online) Rule(f rule.Facts) (c rule.Config, preset string, err error) {
	f.Heard = f.Heard && o.Mode == Distributed // one set of taps for all has no neighbours
	s := o.For(f)
	s.Delay = o.Stream.Delay
	c, err = s.Config(o.Mode == Centralized, nil)
	return c, s.Preset, err
}

// StreamGraph returns the graph of the stream, and whether its links have a
// direction.
func (c *Config) StreamGraph() (path Path, directed bool) {
	path, directed = c.Online.Stream.Graph, c.Online.Stream.Directed
	switch d, f := c.Data, c.Forecast; {
	case d != nil:
		directed = directed || d.Directed
		if path == "" {
			path = d.Graph
		}
	case f != nil:
		directed = directed || f.Directed
		if path == "" {
			path = f.Graph
		}
	}
	return path, directed
}

// StreamLoss returns the name of the loss of a regression on the stream, empty for
// mse.
func (c *Config) StreamLoss() string {
	switch said := c.Online.Stream.Loss; {
	case said == "" && c.Data != nil:
		return c.Data.Loss
	case said == "" && c.Forecast != nil && c.Forecast.Loss != "":
		return c.Forecast.Loss
	case said == "" && c.Forecasts():
		return "l1"
	default:
		return said
	}
}

func (k *checker) online(c *Config) {
	o := c.Online
	k.check(o.Out != "", "online.out is empty, want a folder")
	k.check(o.Mode == Distributed || o.Mode == Centralized, "online.mode is %q, want distributed or centralized", o.Mode)
	if _, _, err := o.Rule(rule.Facts{Bias: true}); err != nil {
		k.errs = append(k.errs, Under("online.", "rule: ", err))
	}
	s := &o.Stream
	k.check(o.Delay == 0, "online.delay is %d; say it of the stream: online.stream.delay", o.Delay)
	if c.Forecasts() {
		k.series(s)
	} else {
		k.check(s.Signals != "", "online.stream.signals is missing: name a file")
		k.check(s.Targets != "", "online.stream.targets is missing: name a file")
		k.check(s.Answers == "", "online.stream.answers is for a series of readings; name it: online.stream.series")
		graph, _ := c.StreamGraph()
		k.check(graph != "", "online.stream.graph is missing: name a file, or a data section that has one")
	}
	k.read("online.stream.read", s.Read)
	k.check(criterion(s.Loss) != nil, "online.stream.loss is %q, want %s", s.Loss, criteria())
}

// Forecasts says whether the stream of the online section is a series of readings.
func (c *Config) Forecasts() bool {
	s := c.Online.Stream
	return s.Series != "" || c.Forecast != nil && s.Signals == "" && s.Targets == ""
}

// series checks a stream that is a series of readings.
func (k *checker) series(s *Stream) {
	k.check(s.Signals == "" && s.Targets == "" && s.Mask == "",
		"online.stream.series is in place of signals, targets and mask; leave those out")
	k.check(s.Delay == 0, "online.stream.delay is %d, but forecasts are told when their time comes; leave it out", s.Delay)
	k.check(len(s.Read) == 0, "online.stream.read, but every sensor of a series is read; leave it out")
}

// Trains says whether c describes a training run. A configuration may hold an
// online section alone.
func (c *Config) Trains() bool {
	source := c.Data != nil || c.Forecast != nil || c.Scenario != ""
	return source || c.Online == nil || c.Model.Said()
}

// Said says whether there is a model section, which a configuration may leave out
// whose data are for `wdgnn online` alone.
func (m *Model) Said() bool { return m.Features != 0 || m.Wide != nil || m.Deep != nil }
