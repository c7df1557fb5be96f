package reproduce

import (
	"context"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/scenario/sourceloc"
	"github.com/wdgnn/wdgnn/train"
)

// Localization says how a WD-GNN learns to tell where a pulse started, as in
// Table 1.
type Localization struct {
	Seed    uint64
	Signals int         // 0 means 10,000
	Epochs  int         // 0 means 40
	Shift   graph.Shift // ShiftSpectral as in the tables, or one that nodes can compute themselves

	OnEpoch func(train.Epoch) // nil if nobody wants to know
}

// Localized is a network of Section 6.1 and the model that was trained on it.
type Localized struct {
	World  *sourceloc.World
	Model  *modelfile.Model // with the second moment of its inputs
	Moment *rule.Moment

	test *realization
}

// Localize trains a model as the tables do. It touches no files.
func Localize(ctx context.Context, c Localization) (*Localized, error) {
	z, err := c.realization()
	if err != nil {
		return nil, err
	}
	z.onEpoch = c.OnEpoch
	t, err := z.fit(ctx, wideDeep)
	if err != nil {
		return nil, err
	}
	return &Localized{World: z.world, Model: t.file(z, ""), Moment: t.moment, test: z}, nil
}

// Locate returns the network that a model with the given seed was trained on.
func Locate(model *modelfile.Model, moment *rule.Moment) (*Localized, error) {
	z, err := (&Localization{Seed: model.Meta.Seed, Shift: model.Meta.Shift}).realization()
	if err != nil {
		return nil, err
	}
	return &Localized{World: z.world, Model: model, Moment: moment, test: z}, nil
}

func (c *Localization) realization() (*realization, error) {
	s := sourcelocFrom(Options{Seed: c.Seed, Quick: true, Signals: c.Signals, Epochs: c.Epochs})
	if c.Shift != graph.ShiftSpectral {
		s.Shift = &c.Shift
	}
	return newRealization(&runner{}, s, 0, 0)
}

// Test returns signals that the model has not seen, with their communities.
func (l *Localized) Test(count int) (mat.Dense, []int32) {
	return l.World.Draw(count, l.test.stream("test"))
}

// Subgraph returns what is left of the network if each link is lost with
// probability p, by number: the subgraphs of Table 1.
func (l *Localized) Subgraph(number int, p float64) (*graph.Graph, error) {
	return l.test.subgraph(number, p)
}
