package config

import (
	"strings"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/scenario/sourceloc"
	"github.com/wdgnn/wdgnn/train"
)

// Criterion returns the loss of a regression, without targets; nil if there is
// none of that name.
func (d *Data) Criterion() loss.Regression { return criterion(d.Loss) }

// StreamCriterion is Criterion for the stream of the online section.
func (c *Config) StreamCriterion() loss.Regression { return criterion(c.streamLoss()) }

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
func (c *Config) Settings() Sourceloc {
	if c.Sourceloc != nil {
		return *c.Sourceloc
	}
	return *freshOf[Sourceloc]()
}

// World returns the part of s that describes the network.
func (s Sourceloc) World() sourceloc.Config { return s.Config }

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
		Patience: t.Patience, Restarts: t.Restarts, PassRows: t.PassRows, SGD: t.SGD,
	}
	if t.Adam != nil {
		cfg.Adam = *t.Adam
	}
	if t.Lipschitz != nil {
		cfg.Lipschitz = *t.Lipschitz
	}
	return cfg
}

// Select returns what validation compares: "accuracy" or "loss".
func (c *Config) Select() string {
	switch {
	case c.Train.Select != "":
		return c.Train.Select
	case c.Data != nil && c.Data.Task == Regress:
		return "loss"
	}
	return "accuracy"
}
