package gnn

import (
	"errors"
	"fmt"
)

// Config describes a WideDeep. With Wide and Deep it is the WD-GNN of eq. (2);
// with Wide alone the graph filter, with Deep alone the GNN.
type Config struct {
	In       int           `json:"in"`             // F, features of the signal; at least 1
	Features int           `json:"features"`       // G, features that both parts give; at least 1
	Wide     *WideConfig   `json:"wide,omitempty"` // nil leaves the wide part out
	Deep     []LayerConfig `json:"deep,omitempty"` // empty leaves the deep part out
	Outputs  int           `json:"outputs"`        // C of the readout; 0 means no readout: outputs are the G features

	// NoBias removes the biases of filters and readout, as eq. (3) and (4)
	// are written.
	//
	// Deviation: by default every filter feature and readout output has a
	// bias; the paper's experiments cannot be reproduced without.
	NoBias bool `json:"no_bias,omitempty"`

	// FixedGains keeps α_W, α_D, β at Gains instead of learning them.
	FixedGains bool  `json:"fixed_gains,omitempty"`
	Gains      Gains `json:"gains,omitzero"`
}

// WideConfig describes the wide part. doc/config.md is written from the comments
// of its fields, and those of LayerConfig and Gains.
type WideConfig struct {
	// How many hops the filter reaches, K: it has K+1 taps.
	Order int `json:"order" yaml:"order" example:"5"`

	// Whether the taps start at 0 instead of random values.
	StartZero bool `json:"start_zero,omitempty" yaml:"start_zero" example:"true"`
}

// LayerConfig describes one layer of the deep part.
type LayerConfig struct {
	// How many hops the filters of the layer reach.
	Order int `json:"order" yaml:"order" example:"5"`

	// Features that the layer gives; those of the last one are the model's.
	Features int `json:"features" yaml:"features" default:"required" example:"32"`

	// The nonlinearity: `relu`, `tanh`, `leaky-relu` or `identity`.
	Activation Activation `json:"activation" yaml:"activation" example:"tanh"`
}

// Gains are the starting values of α_W, α_D and β in eq. (2): outputs are
// wide·A + deep·Φ + bias. The zero value stands for 1, 1, 0.
type Gains struct {
	// The gain of the wide part.
	Wide float32 `json:"wide" yaml:"wide" example:"1"`

	// The gain of the deep part.
	Deep float32 `json:"deep" yaml:"deep" example:"1"`

	// What is added to the sum of both.
	Bias float32 `json:"bias" yaml:"bias" example:"0"`
}

// Validate reports everything that is wrong with c.
func (c *Config) Validate() error {
	var errs []error
	complain := func(format string, args ...any) { errs = append(errs, fmt.Errorf("gnn: "+format, args...)) }
	if c.In < 1 {
		complain("in is %d, a signal has at least 1 feature", c.In)
	}
	if c.Features < 1 {
		complain("features is %d, want at least 1", c.Features)
	}
	if c.Outputs < 0 {
		complain("outputs is %d, want 0 for no readout or more", c.Outputs)
	}
	if c.Wide == nil && len(c.Deep) == 0 {
		complain("neither a wide nor a deep part: configure at least one")
	}
	if c.Wide != nil && c.Wide.Order < 0 {
		complain("wide.order is %d, want 0 or more", c.Wide.Order)
	}
	for l, layer := range c.Deep {
		if layer.Order < 0 {
			complain("deep[%d].order is %d, want 0 or more", l, layer.Order)
		}
		if layer.Features < 1 {
			complain("deep[%d].features is %d, want at least 1", l, layer.Features)
		}
		if int(layer.Activation) >= len(activationNames) {
			complain("deep[%d].activation is unknown", l)
		}
	}
	if n := len(c.Deep); n > 0 && c.Deep[n-1].Features != c.Features {
		complain("the last layer gives %d features, the model %d: they are added to the wide part's and must agree",
			c.Deep[n-1].Features, c.Features)
	}
	if (c.FixedGains || c.Gains != Gains{}) && (c.Wide == nil || len(c.Deep) == 0) {
		complain("gains weigh a wide against a deep part; this model has one part only")
	}
	return errors.Join(errs...)
}

// hasGains says whether the model weighs two parts.
//
// Deviation: with one part left out eq. (2) reduces to that part, without α
// and β, which a readout could absorb.
func (c *Config) hasGains() bool { return c.Wide != nil && len(c.Deep) > 0 }
