package recipe

import (
	"cmp"
	"context"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/scenario/sourceloc"
	"github.com/wdgnn/wdgnn/train"
)

// Localization says how a WD-GNN of our own learns to tell where a pulse started:
// the network and the signals of Table 1, and the training of Sourceloc.Robust.
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
	Moment *rule.SecondMoment

	test *Source
}

// Localize trains a model. It touches no files.
func Localize(ctx context.Context, c Localization) (*Localized, error) {
	z, err := c.source()
	if err != nil {
		return nil, err
	}
	t, err := z.Fit(ctx, WideDeep, c.OnEpoch)
	if err != nil {
		return nil, err
	}
	return &Localized{World: z.Net, Model: t.file(z, ""), Moment: t.Moment, test: z}, nil
}

// Locate returns the network that a model with the given seed was trained on.
func Locate(model *modelfile.Model, moment *rule.SecondMoment) (*Localized, error) {
	z, err := (&Localization{Seed: model.Meta.Seed, Shift: model.Meta.Shift}).source()
	if err != nil {
		return nil, err
	}
	return &Localized{World: z.Net, Model: model, Moment: moment, test: z}, nil
}

func (c *Localization) source() (*Source, error) {
	s := DefaultSourceloc(c.Seed).Robust()
	s.Train, s.Epochs = cmp.Or(c.Signals, s.Train), cmp.Or(c.Epochs, FewEpochs)
	if c.Shift != graph.ShiftSpectral {
		s.Shift = &c.Shift
	}
	return NewSource(s, 0, 0)
}

// Test returns signals that the model has not seen, with their communities.
func (l *Localized) Test(count int) (mat.Dense, []int32) {
	return l.World.Draw(count, l.test.Stream("test"))
}

// Subgraph returns what is left of the network if each link is lost with
// probability p, by number: the subgraphs of Table 1.
func (l *Localized) Subgraph(number int, p float64) (*graph.Graph, error) {
	return l.test.Subgraph(number, p)
}
