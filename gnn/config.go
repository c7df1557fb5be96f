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

// WideConfig describes the wide part.
type WideConfig struct {
	Order     int  `json:"order"`                // K ≥ 0; the filter has K+1 taps
	StartZero bool `json:"start_zero,omitempty"` // Init leaves taps and bias at 0 instead of drawing them
}

// LayerConfig describes one layer of the deep part.
type LayerConfig struct {
	Order      int        `json:"order"`      // K_ℓ ≥ 0
	Features   int        `json:"features"`   // F_ℓ; the last layer's must equal Config.Features
	Activation Activation `json:"activation"` // the zero value is the ReLU
}

// Gains are the starting values of α_W, α_D and β in eq. (2). The zero value
// stands for 1, 1, 0.
type Gains struct {
	Wide float32 `json:"wide"`
	Deep float32 `json:"deep"`
	Bias float32 `json:"bias"`
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
		complain("the last layer gives %d features, the model %d: they are added to the wide part's and must agree", c.Deep[n-1].Features, c.Features)
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
