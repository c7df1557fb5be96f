package recipe

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/jsonfile"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/optim"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/scenario/sourceloc"
	"github.com/wdgnn/wdgnn/train"
)

// Sourceloc are the settings of Section 6.1. Everything that changes a
// number is here, so that its fingerprint tells results apart.
type Sourceloc struct {
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

	// Inputs, Outage and Average are how models of our own are trained; see Robust.
	// The zero values are the paper's: inputs as they are, no link lost, and the
	// parameters themselves. An SGNN loses links with OutageProb whatever Outage
	// says.
	Inputs  train.Inputs  `json:"inputs,omitzero"`
	Outage  *train.Outage `json:"outage,omitempty"`
	Average float64       `json:"average,omitempty"`

	// Weak is how often, in epochs, the links are looked for that flip answers: half
	// of the batches then lose one of them. 0 means never.
	Weak int `json:"weak,omitempty"`
}

// Operator returns the shift of the models.
func (s *Sourceloc) Operator() graph.Shift {
	if s.Shift == nil {
		return graph.ShiftSpectral
	}
	return *s.Shift
}

// Subgraphs is from how many, drawn beforehand, batches see one where links are
// lost in training.
const Subgraphs = 1024

// FewEpochs suffice for a model that is good, if not the table's.
const FewEpochs = 40

// DefaultSourceloc returns the paper's settings.
func DefaultSourceloc(seed uint64) Sourceloc {
	return Sourceloc{
		Seed: seed, World: sourceloc.Default(),
		Train: 10000, Valid: 2500, Test: 1000,
		Epochs: 100, BatchSize: 50, StepSize: 5e-3,
		OutageProb: 0.3, Subgraphs: 20, ValidSubgraphs: 3,
	}
}

// Robust returns s with the training of models of our own: inputs are whitened,
// links are lost with a probability that is uniform from 0 to 0.4, and steps are
// twice as long and averaged.
//
// Deviation: the paper trains on signals as they are and on the whole network.
func (s Sourceloc) Robust() Sourceloc {
	s.Inputs, s.Outage = train.Inputs{Scale: train.ScaleFull}, &train.Outage{To: 0.4, Subgraphs: Subgraphs}
	s.StepSize, s.Average = 0.01, 0.999
	return s
}

// Architecture returns the network of Section 6.1: 32 features, filters of
// order 5, two layers.
func (s *Sourceloc) Architecture(k Kind) gnn.Config {
	const order, features = 5, 32
	c := gnn.Config{In: 1, Features: features, Outputs: s.World.Communities}
	if k == Filter || k == WideDeep {
		c.Wide = &gnn.WideConfig{Order: order}
	}
	if k != Filter {
		c.Deep = []gnn.LayerConfig{{Order: order, Features: features}, {Order: order, Features: features}}
	}
	if k == WideDeep && s.Gains != nil {
		c.FixedGains, c.Gains = true, *s.Gains
	}
	return c
}

// Source is one network with one dataset on it, and the models trained there.
type Source struct {
	Sourceloc
	Graph, Data int // numbers of the network and of the dataset on it

	Net    *sourceloc.World      // the network that was drawn
	Models map[Kind]*SourceModel // those trained so far
}

// SourceModel is a model ready for the online phase.
type SourceModel struct {
	Network *gnn.WideDeep
	Moment  *rule.SecondMoment // nil without a wide part
	Norms   []float64          // of rows; see RowNorms
	Info    SourceInfo
}

// SourceInfo is what is worth knowing about a trained model.
type SourceInfo struct {
	Kind     Kind      `json:"kind"`
	Valid    float64   `json:"valid"`           // accuracy on validation signals, %
	Restarts int       `json:"restarts"`        // because the deep part was dead
	Gains    []float32 `json:"gains,omitempty"` // α_W, α_D, β
	Live     int       `json:"live,omitempty"`  // units of the last layer that are positive for some validation signal
	File     string    `json:"file"`            // below the output folder of who trains
}

// NewSource draws network g of the settings; dataset d is drawn from it as it is
// needed.
func NewSource(s Sourceloc, g, d int) (*Source, error) {
	net, err := sourceloc.New(s.World, random.Stream(s.Seed, "world", g))
	if err != nil {
		return nil, err
	}
	return &Source{Sourceloc: s, Graph: g, Data: d, Net: net, Models: map[Kind]*SourceModel{}}, nil
}

// Stream returns the random stream for one purpose of this realization.
func (z *Source) Stream(name string, index ...int) *rand.Rand {
	return random.Stream(z.Seed, name, append([]int{z.Graph, z.Data}, index...)...)
}

// samples draws signals for a model that hears them over g, in which links fail
// as outage says, and weak ones beside, unless it is nil.
func (z *Source) samples(
	m *gnn.WideDeep, g *graph.Graph, count int, stream string, outage train.Outage, weak *weakLinks,
) (*train.Signals, *train.Classes, error) {
	signals, labels := z.Net.Draw(count, z.Stream(stream))
	classes, err := train.NewSampleClasses(labels, len(z.Net.Detectors), z.World.Communities)
	if err != nil {
		return nil, nil, err
	}
	c := train.SignalsConfig{
		Graph: g, Operator: z.Operator(), Signals: signals, Read: z.Net.Detectors, Targets: classes, Outage: outage,
	}
	if weak != nil {
		c.Outage.Subgraphs, c.Subgraph = 0, weak.without
	}
	data, err := train.NewSignals(m, c)
	return data, classes, err
}

// Fit trains a model of the given kind and puts it into Models. OnEpoch, if not
// nil, is called after every epoch.
func (z *Source) Fit(ctx context.Context, k Kind, onEpoch func(train.Epoch)) (*SourceModel, error) {
	m, err := gnn.NewRandom(z.Architecture(k), z.Stream("init"))
	if err != nil {
		return nil, err
	}
	var weak *weakLinks
	if z.Weak > 0 {
		weak = &weakLinks{source: z, model: m}
	}
	data, _, err := z.samples(m, z.Net.Graph, z.Train, "train", z.outage(k), weak)
	if err != nil {
		return nil, err
	}
	score, valid, err := z.score(m, k)
	if err != nil {
		return nil, err
	}
	result, err := train.Run(ctx, m, train.Job{
		Config: train.Config{
			Epochs: z.Epochs, BatchSize: z.BatchSize, Seed: z.Seed,
			Adam: optim.AdamConfig{StepSize: z.StepSize}, Lipschitz: gnn.Lipschitz{Strength: z.Lipschitz},
			Inputs: z.Inputs, Average: z.Average,
		},
		Train: data, Valid: valid, Score: score,
		OnEpoch: func(e train.Epoch) error {
			if onEpoch != nil {
				onEpoch(e)
			}
			if weak != nil && e.Index%z.Weak == 0 {
				return weak.find(ctx)
			}
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	t := &SourceModel{Network: m, Info: SourceInfo{Kind: k, Valid: 100 * (1 - result.Best), Restarts: result.Restarts}}
	t.Info.Gains = slices.Clone(m.Params.Gain)
	if len(m.Config.Deep) > 0 {
		ev := train.Evaluator{}
		if t.Info.Live, err = ev.LiveUnits(ctx, m, valid, z.Seed); err != nil {
			return nil, err
		}
	}
	if m.Config.Wide != nil {
		signals, _ := z.Net.Draw(z.Train, z.Stream("train"))
		shift, err := z.Operator().Of(z.Net.Graph)
		if err != nil {
			return nil, err
		}
		t.Moment = online.InputMoment(m, shift, signals, z.Read(), nil, nil)
		online.HearEach(t.Moment, m, shift, signals, z.Read(), nil)
		t.Norms = RowNorms(m, shift, signals, nil)
	}
	z.Models[k] = t
	return t, nil
}

// outage returns how links fail while a model of the given kind is trained.
func (z *Source) outage(k Kind) train.Outage {
	switch {
	case k == SGNN:
		return train.Outage{From: z.OutageProb, To: z.OutageProb}
	case z.Outage != nil:
		return *z.Outage
	}
	return train.Outage{}
}

// judge is what a model in training is judged by.
type judge struct {
	data    *train.Signals
	classes *train.Classes
}

// score returns how a model is validated: by its errors on the network, on some of
// the subgraphs an SGNN is to live with, or, where links are lost, by the mean of
// its errors on the network and on subgraphs, one for every 64 signals.
func (z *Source) score(m *gnn.WideDeep, k Kind) (func(context.Context, *gnn.WideDeep) (float64, error), train.Data, error) {
	judges, err := z.judges(m, k)
	if err != nil {
		return nil, nil, err
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

func (z *Source) judges(m *gnn.WideDeep, k Kind) (list []judge, err error) {
	add := func(g *graph.Graph, outage train.Outage) {
		var j judge
		if err == nil {
			j.data, j.classes, err = z.samples(m, g, z.Valid, "valid", outage, nil)
			list = append(list, j)
		}
	}
	if k != SGNN {
		add(z.Net.Graph, train.Outage{})
		if z.Outage != nil {
			add(z.Net.Graph, train.Outage{From: z.Outage.From, To: z.Outage.To})
		}
		return list, err
	}
	for v := range z.ValidSubgraphs {
		g, err := graph.NewOutage(z.Net.Graph, z.Stream("valid outage", v)).At(z.OutageProb)
		if err != nil {
			return nil, err
		}
		add(g, train.Outage{})
	}
	return list, err
}

// beside is what stands next to a saved model.
type beside struct {
	Info   SourceInfo         `json:"info"`
	Moment *rule.SecondMoment `json:"moment,omitempty"`
}

// Save writes a model that z trained to a file, and what a later run wants to
// know of it beside.
func (t *SourceModel) Save(path string, z *Source, version string) error {
	if err := modelfile.Save(path, t.file(z, version)); err != nil {
		return err
	}
	return jsonfile.Write(path+".json", beside{t.Info, t.Moment}, " ")
}

// file returns the model as a file holds it.
func (t *SourceModel) file(z *Source, version string) *modelfile.Model {
	m := &modelfile.Model{Network: t.Network, Meta: modelfile.Meta{
		Shift: z.Operator(), Scale: z.Operator().Scale(z.Net.Graph), Task: "classify", Nodes: z.Read(), Seed: z.Seed, Version: version,
	}}
	PutMoment(m, t.Moment)
	m.SetRowNorms(t.Norms)
	return m
}

// LoadSource is the inverse of Save.
func LoadSource(path string) (*SourceModel, error) {
	var b beside
	if err := jsonfile.Read(path+".json", &b); err != nil {
		return nil, err
	}
	m, err := modelfile.Load(path)
	if err != nil {
		return nil, err
	}
	norms, _ := m.RowNorms()
	return &SourceModel{Network: m.Network, Moment: b.Moment, Norms: norms, Info: b.Info}, nil
}

// Take puts a model that Localize trained on this network before into Models.
func (z *Source) Take(m *modelfile.Model) error {
	moment, err := MomentOf(m)
	k := KindOf(m.Network.Config)
	switch {
	case err != nil:
		return err
	case moment == nil:
		return errors.New("the model holds no second moment of its inputs: want one that was saved to learn online")
	case m.Meta.Shift != z.Operator():
		return fmt.Errorf("the model shifts by %v, want %v", m.Meta.Shift, z.Operator())
	case m.Meta.Seed != z.Seed || !slices.Equal(m.Meta.Nodes, z.Read()):
		return fmt.Errorf("the model was trained on another network, with seed %d, want %d", m.Meta.Seed, z.Seed)
	case !reflect.DeepEqual(m.Network.Config, z.Architecture(k)):
		return fmt.Errorf("the model is %+v, want %+v", m.Network.Config, z.Architecture(k))
	}
	norms, _ := m.RowNorms()
	z.Models[k] = &SourceModel{Network: m.Network, Moment: moment, Norms: norms, Info: SourceInfo{Kind: k}}
	return nil
}

// Read returns the detectors in ascending order.
func (z *Source) Read() []int { return slices.Sorted(slices.Values(z.Net.Detectors)) }
