package config

import (
	"strings"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/scenario/flocking"
	"github.com/wdgnn/wdgnn/scenario/sourceloc"
	"github.com/wdgnn/wdgnn/train"
)

// Criterion returns the loss of a regression, without targets; nil if there is
// none of that name.
func (d *Data) Criterion() loss.Regression { return criterion(d.Loss) }

// StreamCriterion is Criterion for the stream of the online section.
func (c *Config) StreamCriterion() loss.Regression { return criterion(c.StreamLoss()) }

func criterion(name string) loss.Regression {
	if name == "" {
		return loss.MSE{}
	}
	kind, _ := loss.Named(name).(loss.Regression)
	return kind
}

// criteria lists the losses of a regression for a message.
func criteria() string {
	names := loss.Names(true)
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// Settings returns those of the scenario sourceloc, with defaults.
func (c *Config) Settings() Sourceloc { return *settings(c.Sourceloc) }

// Flights returns the settings of the scenario flocking, with defaults.
func (c *Config) Flights() Flocking { return *settings(c.Flocking) }

// settings returns what was said, or the defaults if nothing was.
func settings[T any](said *T) *T {
	if said != nil {
		return said
	}
	return freshOf[T]()
}

// World returns the part of s that describes the network.
func (s Sourceloc) World() sourceloc.Config { return s.Config }

// World returns the part of f that describes a flight.
func (f Flocking) World() flocking.Config {
	w := flocking.Default()
	w.Robots, w.CommRadiusMeters, w.DurationSeconds, w.SampleSeconds = f.Robots, f.CommRadiusMeters, f.DurationSeconds, f.SampleSeconds
	w.MaxAccelMPS2, w.NearCap = f.MaxAccelMPS2, f.NearCap
	return w
}

// Architecture returns the model for signals of the given number of features
// and the given number of outputs.
func (m *Model) Architecture(in, outputs int) gnn.Config {
	c := gnn.Config{
		In: in, Features: m.Features, Wide: m.Wide, Deep: m.Deep, Outputs: outputs, NoBias: m.NoBias, FixedGains: m.FixedGains,
	}
	if m.NoReadout {
		c.Outputs = 0
	}
	if n := len(m.Deep); c.Features == 0 && n > 0 {
		c.Features = m.Deep[n-1].Features
	}
	if m.Gains != nil {
		c.Gains = *m.Gains
	}
	return c
}

// Training returns how to train.
func (c *Config) Training() train.Config {
	t := &c.Train
	cfg := train.Config{
		Epochs: t.Epochs, BatchSize: t.BatchSize, Seed: c.Seed,
		ClipNorm: t.ClipNorm, Ridge: t.Ridge, ValidateEvery: t.ValidateEvery,
		Patience: t.Patience, Restarts: t.Restarts, PassRows: t.PassRows, SGD: t.SGD, Average: t.Average,
	}
	if t.Adam != nil {
		cfg.Adam = *t.Adam
	}
	if t.Lipschitz != nil {
		cfg.Lipschitz = *t.Lipschitz
	}
	if t.Inputs != nil {
		cfg.Inputs = *t.Inputs
	}
	return cfg
}

// Losses returns which links fail in training; the zero value is none.
func (t *Train) Losses() train.Outage {
	if t.Outage != nil {
		return *t.Outage
	}
	return train.Outage{From: t.OutageProb, To: t.OutageProb}
}

// Select returns what validation compares: "loss", or what the task has beside
// it.
func (c *Config) Select() string {
	if c.Train.Select != "" {
		return c.Train.Select
	}
	return c.measure()
}

// measure returns what the task has beside its loss; "loss" if it has nothing.
func (c *Config) measure() string {
	switch {
	case c.Scenario == "flocking":
		return "cost"
	case linked[c.Scenario] != nil:
		return "rmse"
	case c.Forecast != nil, c.Data != nil && c.Data.Task == Regress:
		return "loss"
	}
	return "accuracy"
}
