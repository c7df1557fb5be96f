package reproduce

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/optim"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/scenario/sourceloc"
	"github.com/wdgnn/wdgnn/train"
)

// sourcelocSettings are the settings of Section 6.1. Everything that changes a
// number is here, so that its fingerprint tells results apart.
type sourcelocSettings struct {
	Seed  uint64           `json:"seed"`
	World sourceloc.Config `json:"world"`

	Train int `json:"train"` // signals
	Valid int `json:"valid"`
	Test  int `json:"test"`

	Epochs    int     `json:"epochs"`
	BatchSize int     `json:"batch_size"`
	StepSize  float64 `json:"step_size"` // of Adam

	OutageProb float64 `json:"outage_prob"` // of the different scenario
	Subgraphs  int     `json:"subgraphs"`   // random subgraphs per realization

	// ValidSubgraphs is how many fixed subgraphs judge an SGNN in training.
	ValidSubgraphs int `json:"valid_subgraphs"`

	// Lipschitz is the strength of a penalty on filters that bend sharply.
	Lipschitz float64 `json:"lipschitz,omitempty"`

	// Gains, if set, fixes α_W and α_D of the WD-GNN instead of learning them.
	Gains *gnn.Gains `json:"gains,omitempty"`

	// Shift, if set, is what models use instead of A/λmax. Signals spread by
	// A/λmax whatever models do.
	Shift *graph.Shift `json:"shift,omitempty"`
}

// operator returns the shift of the models.
func (s *sourcelocSettings) operator() graph.Shift {
	if s.Shift == nil {
		return graph.ShiftSpectral
	}
	return *s.Shift
}

// sourcelocFrom returns the paper's settings, or smaller ones if o asks.
func sourcelocFrom(o Options) sourcelocSettings {
	s := sourcelocSettings{
		Seed: o.Seed, World: sourceloc.Default(),
		Train: or(o.Signals, 10000), Valid: 2500, Test: or(o.Test, 1000),
		Epochs: 100, BatchSize: 50, StepSize: 5e-3,
		OutageProb: 0.3, Subgraphs: or(o.Subgraphs, 20), ValidSubgraphs: 3,
	}
	if o.Quick {
		s.Epochs = 40
	}
	s.Epochs = or(o.Epochs, s.Epochs)
	return s
}

// kind is an architecture of Table 1.
type kind string

const (
	filterKind kind = "filter"
	gnnKind    kind = "gnn"
	wideDeep   kind = "wd-gnn"
	sgnnKind   kind = "sgnn"
)

// epochCost is about what an epoch takes compared to others, for progress.
var epochCost = map[kind]float64{filterKind: 0.3, gnnKind: 0.8, wideDeep: 1, sgnnKind: 3}

// architecture returns the network of Section 6.1: 32 features, filters of
// order 5, two layers.
func (s *sourcelocSettings) architecture(k kind) gnn.Config {
	const order, features = 5, 32
	c := gnn.Config{In: 1, Features: features, Outputs: s.World.Communities}
	if k == filterKind || k == wideDeep {
		c.Wide = &gnn.WideConfig{Order: order}
	}
	if k != filterKind {
		c.Deep = []gnn.LayerConfig{{Order: order, Features: features}, {Order: order, Features: features}}
	}
	if k == wideDeep && s.Gains != nil {
		c.FixedGains, c.Gains = true, *s.Gains
	}
	return c
}

// realization is one network with one dataset on it, and models trained there.
type realization struct {
	sourcelocSettings
	Graph, Data int // numbers of the network and of the dataset on it

	world  *sourceloc.World
	models map[kind]*trained
	runner *runner

	onEpoch func(train.Epoch) // nil if nobody wants to know
}

// trained is a model ready for the online phase.
type trained struct {
	network *gnn.WideDeep
	moment  *rule.Moment // nil without a wide part
	norms   []float64    // of rows; see recipe.RowNorms
	info    modelInfo
}

// modelInfo is what is worth knowing about a trained model.
type modelInfo struct {
	Kind     kind      `json:"kind"`
	Valid    float64   `json:"valid"`           // accuracy on validation signals, %
	Restarts int       `json:"restarts"`        // because the deep part was dead
	Gains    []float32 `json:"gains,omitempty"` // α_W, α_D, β
	File     string    `json:"file"`            // below the output folder
}

// newRealization draws the network.
func newRealization(r *runner, s sourcelocSettings, g, d int) (*realization, error) {
	world, err := sourceloc.New(s.World, random.Stream(s.Seed, "world", g))
	if err != nil {
		return nil, err
	}
	return &realization{sourcelocSettings: s, Graph: g, Data: d, world: world, models: map[kind]*trained{}, runner: r}, nil
}

// stream returns the random stream for one purpose of this realization.
func (z *realization) stream(name string, index ...int) *rand.Rand {
	return random.Stream(z.Seed, name, append([]int{z.Graph, z.Data}, index...)...)
}

// samples draws signals for a model that hears them over g, in which links fail
// anew for every batch with probability outage.
func (z *realization) samples(m *gnn.WideDeep, g *graph.Graph, count int, stream string, outage float64) (*train.Signals, *train.Classes, error) {
	signals, labels := z.world.Draw(count, z.stream(stream))
	classes, err := train.NewSampleClasses(labels, len(z.world.Detectors), z.World.Communities)
	if err != nil {
		return nil, nil, err
	}
	data, err := train.NewSignals(m, train.SignalsConfig{
		Graph: g, Operator: z.operator(), Signals: signals, Read: z.world.Detectors, Targets: classes, OutageProb: outage,
	})
	return data, classes, err
}

// train trains a model of the given kind, or finds it among those that an
// earlier run saved.
func (z *realization) train(ctx context.Context, k kind) error {
	relevant := z.sourcelocSettings
	relevant.Test, relevant.Subgraphs = 0, 0
	key := fingerprint([]any{relevant, k, z.runner.manifest.Version, z.runner.manifest.Kernels})
	name := fmt.Sprintf("sourceloc-%s-%s-graph%d-data%d.safetensors", key, k, z.Graph, z.Data)
	work := epochCost[k] * float64(z.Epochs)
	path := filepath.Join(z.runner.models(), name)
	if !z.runner.Fresh {
		if t, err := loadTrained(path); err == nil {
			z.models[k] = t
			z.runner.advance(work, "graph %d, data %d: %s found", z.Graph, z.Data, k)
			return nil
		}
	}
	t, err := z.fit(ctx, k)
	if err != nil {
		return fmt.Errorf("train %s: %w", k, err)
	}
	t.info.File = filepath.ToSlash(filepath.Join("models", name))
	z.models[k] = t
	return t.save(path, z)
}

// fit trains a model.
func (z *realization) fit(ctx context.Context, k kind) (*trained, error) {
	m, err := gnn.NewRandom(z.architecture(k), z.stream("init"))
	if err != nil {
		return nil, err
	}
	outage := 0.0
	if k == sgnnKind {
		outage = z.OutageProb
	}
	data, _, err := z.samples(m, z.world.Graph, z.Train, "train", outage)
	if err != nil {
		return nil, err
	}
	score, valid, err := z.score(m, k)
	if err != nil {
		return nil, err
	}
	result, err := train.Run(ctx, m, train.Job{
		Config: train.Config{Epochs: z.Epochs, BatchSize: z.BatchSize, Seed: z.Seed, Adam: optim.AdamConfig{StepSize: z.StepSize}, Lipschitz: gnn.Lipschitz{Strength: z.Lipschitz}},
		Train:  data, Valid: valid, Score: score,
		OnEpoch: func(e train.Epoch) error {
			if z.onEpoch != nil {
				z.onEpoch(e)
			}
			z.runner.advance(epochCost[k], "graph %d, data %d: %s, epoch %d of %d, validation %.1f %%", z.Graph, z.Data, k, e.Index, z.Epochs, 100*(1-e.Score))
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	t := &trained{network: m, info: modelInfo{Kind: k, Valid: 100 * (1 - result.Best), Restarts: result.Restarts}}
	t.info.Gains = slices.Clone(m.Params.Gain)
	if m.Config.Wide != nil {
		signals, _ := z.world.Draw(z.Train, z.stream("train"))
		shift, err := z.operator().Of(z.world.Graph)
		if err != nil {
			return nil, err
		}
		t.moment = online.InputMoment(m, shift, signals, z.read(), nil)
		t.norms = recipe.RowNorms(m, shift, signals, nil)
	}
	return t, nil
}

// score returns how a model is validated: by its errors on the network, or on
// some of the subgraphs it is to live with.
func (z *realization) score(m *gnn.WideDeep, k kind) (func(context.Context, *gnn.WideDeep) (float64, error), train.Data, error) {
	graphs := []*graph.Graph{z.world.Graph}
	if k == sgnnKind {
		graphs = nil
		for v := range z.ValidSubgraphs {
			g, err := graph.NewOutage(z.world.Graph, z.stream("valid outage", v)).At(z.OutageProb)
			if err != nil {
				return nil, nil, err
			}
			graphs = append(graphs, g)
		}
	}
	type judge struct {
		data    *train.Signals
		classes *train.Classes
	}
	var judges []judge
	for _, g := range graphs {
		data, classes, err := z.samples(m, g, z.Valid, "valid", 0)
		if err != nil {
			return nil, nil, err
		}
		judges = append(judges, judge{data, classes})
	}
	ev := train.Evaluator{}
	return func(ctx context.Context, m *gnn.WideDeep) (float64, error) {
		sum := 0.0
		for _, j := range judges {
			accuracy, err := ev.Accuracy(ctx, m, j.data, j.classes, z.Seed)
			if err != nil {
				return 0, err
			}
			sum += 1 - accuracy
		}
		return sum / float64(len(judges)), nil
	}, judges[0].data, nil
}

// beside is what stands next to a saved model.
type beside struct {
	Info   modelInfo    `json:"info"`
	Moment *rule.Moment `json:"moment,omitempty"`
}

// save writes the model to a file, and what a later run wants to know of it
// beside.
func (t *trained) save(path string, z *realization) error {
	m := t.file(z, z.runner.manifest.Version)
	if err := modelfile.Save(path, m); err != nil {
		return err
	}
	return writeJSON(path+".json", beside{t.info, t.moment})
}

// file returns the model as a file holds it.
func (t *trained) file(z *realization, version string) *modelfile.Model {
	m := &modelfile.Model{Network: t.network, Meta: modelfile.Meta{
		Shift: z.operator(), Task: "classify", Nodes: z.read(), Seed: z.Seed, Version: version,
	}}
	if t.moment != nil {
		recipe.PutMoment(m, t.moment)
	}
	m.SetRowNorms(t.norms)
	return m
}

// loadTrained is the inverse of save.
func loadTrained(path string) (*trained, error) {
	var b beside
	if err := readJSON(path+".json", &b); err != nil {
		return nil, err
	}
	m, err := modelfile.Load(path)
	if err != nil {
		return nil, err
	}
	norms, _ := m.RowNorms()
	return &trained{network: m.Network, moment: b.Moment, norms: norms, info: b.Info}, nil
}

// read returns the detectors in ascending order.
func (z *realization) read() []int { return slices.Sorted(slices.Values(z.world.Detectors)) }
