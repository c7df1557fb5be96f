package lifecycle

import (
	"context"
	"math/rand/v2"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/train"
)

// scenario is what a built-in world adds to its samples: the parts of its recipe
// that a configuration does not say, and what counts beside the loss.
type scenario interface {
	// start returns the random stream of a model's starting values.
	start(m gnn.Config) *rand.Rand

	// tune sets what the recipe adds to the settings of training.
	tune(c *train.Config)

	// grow says after how many epochs samples of the model's own join those of
	// training, and how many epochs there are in all; 0 and 0 if none do.
	grow() (half, all int)

	// grown returns the samples of training with those of the model's own, which
	// m makes with the parameters that it has.
	grown(ctx context.Context, m *gnn.WideDeep) (*Part, error)

	// measure judges a model on the part of the data that is called train, valid
	// or test. Less is better.
	measure(ctx context.Context, m *gnn.WideDeep, part string) (float64, error)

	// report puts a measure into a score, with what to compare it with.
	report(ctx context.Context, s *Score, part string, measured float64) error

	// keep adds to a model file what models of the scenario need beside.
	keep(file *modelfile.Model)
}

// drawScenario draws the samples of the scenario that c names.
func drawScenario(ctx context.Context, c *config.Config) (*Dataset, error) {
	if w, ok := c.Linked().(World); ok {
		return drawLinked(c, w)
	}
	if c.Scenario == "flocking" {
		return drawFlights(ctx, c)
	}
	return drawSourceloc(c)
}

// judge adds to a score what counts in the scenario of d, if it is one that has
// such a thing.
func (d *Dataset) judge(ctx context.Context, s *Score, m *gnn.WideDeep, part string) error {
	if d.scenario == nil {
		return nil
	}
	v, err := d.scenario.measure(ctx, m, part)
	if err != nil {
		return err
	}
	return d.scenario.report(ctx, s, part, v)
}
