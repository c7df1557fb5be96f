package sourceloc

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/scenario/sourceloc"
	"github.com/wdgnn/wdgnn/train"
)

// From returns the paper's settings, or smaller ones if o asks.
func From(o study.Options) recipe.Sourceloc {
	s := recipe.DefaultSourceloc(o.Seed)
	s.Train, s.Test, s.Subgraphs = cmp.Or(o.Signals, s.Train), cmp.Or(o.Test, s.Test), cmp.Or(o.Subgraphs, s.Subgraphs)
	if o.Quick {
		s.Epochs = recipe.FewEpochs
	}
	s.Epochs = cmp.Or(o.Epochs, s.Epochs)
	return s
}

// StreamCost is about what a pass over a stream takes, in epochs of a WD-GNN, for
// progress.
const StreamCost = 0.5

// EpochCost is what an epoch takes, likewise.
var EpochCost = map[recipe.Kind]float64{recipe.Filter: 0.3, recipe.GNN: 0.8, recipe.WideDeep: 1, recipe.SGNN: 3}

// Realization is one network with one dataset on it, as a unit of a run.
type Realization struct {
	*recipe.Source
	Run *study.Run
}

// New draws the network.
func New(r *study.Run, s recipe.Sourceloc, g, d int) (*Realization, error) {
	source, err := recipe.NewSource(s, g, d)
	return &Realization{source, r}, err
}

// Prepare trains a model of the given kind, or finds it among those that an
// earlier run saved.
func (z *Realization) Prepare(ctx context.Context, k recipe.Kind) error {
	relevant := z.Sourceloc
	relevant.Test, relevant.Subgraphs = 0, 0
	key := study.Fingerprint([]any{relevant, k, z.Run.Version, mat.Family()})
	name := fmt.Sprintf("sourceloc-%s-%s-graph%d-data%d.safetensors", key, k, z.Graph, z.Data)
	path := filepath.Join(z.Run.Models(), name)
	if !z.Run.Fresh {
		if t, err := recipe.LoadSource(path); err == nil {
			z.Models[k] = t
			z.Run.Advance(EpochCost[k]*float64(z.Epochs), "graph %d, data %d: %s found", z.Graph, z.Data, k)
			return nil
		}
	}
	t, err := z.Fit(ctx, k, func(e train.Epoch) {
		z.Run.Advance(EpochCost[k], "graph %d, data %d: %s, epoch %d of %d, validation %.1f %%",
			z.Graph, z.Data, k, e.Index, z.Epochs, 100*(1-e.Score))
	})
	if err != nil {
		return fmt.Errorf("train %s: %w", k, err)
	}
	t.Info.File = filepath.ToSlash(filepath.Join("models", name))
	return t.Save(path, z.Source, z.Run.Version)
}

// Learners of source localization; other rooms use those of the WD-GNN.
var (
	filterFrozen   = recipe.LearnerSpec{ID: "filter", Kind: recipe.Filter}
	gnnFrozen      = recipe.LearnerSpec{ID: "gnn", Kind: recipe.GNN}
	WideDeepFrozen = recipe.LearnerSpec{ID: "wd-gnn", Kind: recipe.WideDeep}
	sgnnFrozen     = recipe.LearnerSpec{ID: "sgnn", Kind: recipe.SGNN}

	filterCentral = learner("filter central", recipe.Filter, recipe.Centralized, rule.Paper(true).Ungated())
	filterPaper   = learner("filter distributed", recipe.Filter, recipe.Distributed, rule.Paper(false).Ungated())
	filterOwn     = learner("filter own", recipe.Filter, recipe.Distributed, rule.Own().Ungated())

	WideDeepCentral = learner("wd-gnn central", recipe.WideDeep, recipe.Centralized, rule.Paper(true).Ungated())
	WideDeepPaper   = learner("wd-gnn distributed", recipe.WideDeep, recipe.Distributed, rule.Paper(false).Ungated())
	wideDeepCurved  = recipe.LearnerSpec{
		ID: "wd-gnn distributed, curved", Kind: recipe.WideDeep, Mode: recipe.Distributed, Config: rule.Paper(false).Ungated(), Curved: true,
	}
)

// Our presets, without gates, and without an offline model.
var (
	WideDeepOwn        = learner("wd-gnn own", recipe.WideDeep, recipe.Distributed, rule.Own().Ungated())
	WideDeepNeighbours = learner("wd-gnn neighbours", recipe.WideDeep, recipe.Distributed, rule.Neighbours().Ungated())
	blankOwn           = learner("blank own", recipe.Blank, recipe.Distributed, rule.Own().Ungated())
	blankNeighbours    = learner("blank neighbours", recipe.Blank, recipe.Distributed, rule.Neighbours().Ungated())
)

// The reading under which the paper's online rows come out: one γ for both modes,
// the gradient of the sum of the detectors' costs where it is centralized, and
// every signal scored after the update that it brought. Our costs are means, so
// that the sum over five detectors has five times the step.
//
// Deviation: the paper does not say when an answer is scored. Elsewhere it is
// before the update; here after it, which is leakage.
const (
	leakGamma       = 30
	leakFilterGamma = 0.1
)

var (
	leakCentral     = leaking("wd-gnn central, after", recipe.WideDeep, recipe.Centralized, leakGamma)
	leakDistributed = leaking("wd-gnn distributed, after", recipe.WideDeep, recipe.Distributed, leakGamma)

	leakFilterCentral     = leaking("filter central, after", recipe.Filter, recipe.Centralized, leakFilterGamma)
	leakFilterDistributed = leaking("filter distributed, after", recipe.Filter, recipe.Distributed, leakFilterGamma)
)

// leaking is a learner that is scored after the update.
func leaking(id string, k recipe.Kind, mode recipe.Mode, gamma float64) recipe.LearnerSpec {
	c := rule.Paper(mode == recipe.Centralized).Ungated()
	c.StepSize.Value = gamma
	if mode == recipe.Centralized {
		c.StepSize.Value *= detectors
	}
	l := learner(id, k, mode, c)
	l.After = true
	return l
}

// detectors is how many there are: one in each community.
const detectors = 5

// honest is the same learner, scored before the update.
func honest(l recipe.LearnerSpec) recipe.LearnerSpec {
	l.ID, l.After = l.ID+", scored before", false
	return l
}

func learner(id string, k recipe.Kind, mode recipe.Mode, c rule.Config) recipe.LearnerSpec {
	return recipe.LearnerSpec{ID: id, Kind: k, Mode: mode, Config: c}
}

// PlayOne runs a learner over a stream.
func (z *Realization) PlayOne(ctx context.Context, spec recipe.LearnerSpec, stream *sourceloc.Stream, keep bool) (*recipe.Played, error) {
	out, err := z.PlayAll(ctx, []recipe.LearnerSpec{spec}, stream, keep)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// PlayAll runs learners over a stream, side by side.
func (z *Realization) PlayAll(
	ctx context.Context, specs []recipe.LearnerSpec, stream *sourceloc.Stream, keep bool,
) ([]*recipe.Played, error) {
	all, err := z.Play(ctx, specs, stream, keep)
	if err != nil {
		return nil, err
	}
	for k, out := range all {
		z.Run.Advance(StreamCost, "graph %d, data %d: %s %.1f %%", z.Graph, z.Data, specs[k].ID, out.Accuracy)
	}
	return all, nil
}
