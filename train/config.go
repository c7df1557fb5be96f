package train

import (
	"errors"
	"fmt"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/optim"
)

// Config says how to train. It round-trips through JSON.
type Config struct {
	Epochs    int    `json:"epochs"`     // passes over the training data; at least 1
	BatchSize int    `json:"batch_size"` // samples per step; at least 1
	Seed      uint64 `json:"seed"`       // root of every random stream

	// The optimiser is Adam unless SGD is set.
	Adam optim.AdamConfig `json:"adam,omitzero"`
	SGD  *optim.SGDConfig `json:"sgd,omitempty"`

	// ClipNorm shortens gradients whose norm, over all parameters together,
	// is larger; 0 means never. A few outliers in the data can otherwise
	// spoil Adam's memory for hundreds of steps.
	ClipNorm float64 `json:"clip_norm,omitempty"`

	// Ridge is λ of (λ/2)‖θ‖², added to J; 0 means none. θ is what training
	// moves: all parameters, less gains that are fixed. Where inputs are scaled
	// they are those of the scaled ones.
	Ridge float64 `json:"ridge,omitempty"`

	// Inputs says in which coordinates of its inputs a model is trained. The
	// parameters that training begins with are then taken for those of the
	// scaled inputs: draw them, and go on with a Checkpoint, not with a model that
	// was trained before.
	Inputs Inputs `json:"inputs,omitzero"`

	// Average is a, 0 ≤ a < 1, of a running mean of the parameters over steps,
	// θ̄ = a θ̄ + (1-a) θ. What is validated and kept are then the means, which
	// steps of a few samples shake less. 0 means the parameters themselves.
	Average float64 `json:"average,omitempty"`

	// Lipschitz penalises filters that bend sharply, which makes the model
	// stable to changes of the graph; the zero value does not.
	Lipschitz gnn.Lipschitz `json:"lipschitz,omitzero"`

	// ValidateEvery is the number of steps between two validations; 0 means
	// once per epoch.
	ValidateEvery int `json:"validate_every,omitempty"`

	// Patience ends training after that many validations without a better
	// score; 0 means never.
	Patience int `json:"patience,omitempty"`

	// Restarts is how often training may begin anew, from other starting
	// values, because every unit of a ReLU deep part was dead in one of the
	// first three epochs; 0 means 3, a negative number never.
	//
	// Deviation: the paper does not mention dead networks.
	Restarts int `json:"restarts,omitempty"`

	// PassRows is about how many rows (nodes × samples) run through the model
	// at once. Larger batches take several passes, so that what they leave on
	// the tape stays in the cache; threads share out the passes. 0 means
	// 1024. It is part of what fixes the bits of a result; the number of
	// threads is not.
	PassRows int `json:"pass_rows,omitempty"`

	// FoldWide multiplies the taps of the wide part by the readout before the
	// signal; see gnn.Tape. Where a model has few outputs training is faster
	// and agrees within rounding.
	FoldWide bool `json:"fold_wide,omitempty"`
}

const (
	defaultRestarts = 3
	defaultPassRows = 1024
	watchedEpochs   = 3 // epochs in which a dead deep part leads to a restart
)

// Validate reports everything that is wrong with c.
func (c *Config) Validate() error {
	errs := []error{c.Adam.Validate(), c.Lipschitz.Validate(), c.Inputs.Validate()}
	atLeast := func(name string, value, least int) {
		if value < least {
			errs = append(errs, fmt.Errorf("train: %s is %d, want at least %d", name, value, least))
		}
	}
	atLeast("epochs", c.Epochs, 1)
	atLeast("batch_size", c.BatchSize, 1)
	atLeast("validate_every", c.ValidateEvery, 0)
	atLeast("patience", c.Patience, 0)
	atLeast("pass_rows", c.PassRows, 0)
	if !(c.ClipNorm >= 0) {
		errs = append(errs, fmt.Errorf("train: clip_norm is %v, want 0 for none or more", c.ClipNorm))
	}
	if !(c.Average >= 0 && c.Average < 1) {
		errs = append(errs, fmt.Errorf("train: average is %v, want 0 for none, or less than 1", c.Average))
	}
	if !(c.Ridge >= 0) {
		errs = append(errs, fmt.Errorf("train: ridge is %v, want 0 for none or more", c.Ridge))
	}
	if c.SGD != nil {
		errs = append(errs, c.SGD.Validate())
		if c.Adam != (optim.AdamConfig{}) {
			errs = append(errs, fmt.Errorf("train: both adam and sgd are configured: choose one"))
		}
	}
	return errors.Join(errs...)
}

// newOptimizer returns the configured optimiser for n parameters.
func (c *Config) newOptimizer(n int) (optim.Optimizer, error) {
	if c.SGD != nil {
		return optim.NewSGD(n, *c.SGD)
	}
	return optim.NewAdam(n, c.Adam)
}

func (c *Config) passRows() int {
	if c.PassRows == 0 {
		return defaultPassRows
	}
	return c.PassRows
}

func (c *Config) restarts() int {
	if c.Restarts == 0 {
		return defaultRestarts
	}
	return c.Restarts
}
