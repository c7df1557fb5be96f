package reproduce

import (
	"context"
	"fmt"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/train"
)

// Demo shows in a minute what this is about: a WD-GNN learns to tell where a
// pulse started in a network, links are lost, the frozen model stumbles, and
// nodes that keep learning from their neighbours and their own mistakes recover.
type Demo struct {
	Seed uint64 // root of every random stream

	Signals   int // for training; 0 means 10,000
	Epochs    int // of training; 0 means 40
	Subgraphs int // random subgraphs of the table; 0 means 8

	// OnStart, if set, is told what is about to be trained.
	OnStart func(DemoSetup)

	// OnEpoch, if set, is called after every epoch of training.
	OnEpoch func(train.Epoch)

	// OnSignal, if set, is called after every test signal on the first
	// subgraph, with the running accuracy of every learner.
	OnSignal func(DemoFrame) error
}

// DemoSetup describes what a Demo works on.
type DemoSetup struct {
	Nodes      int        `json:"nodes"`
	Edges      int        `json:"edges"`
	Detectors  int        `json:"detectors"`
	Parameters int        `json:"parameters"`
	Signals    int        `json:"signals"`
	Epochs     int        `json:"epochs"`
	Model      gnn.Config `json:"model"`
}

// DemoFrame is one moment of the online phase.
type DemoFrame struct {
	Signal   int       // 1 is the first
	Signals  int       // in all
	Lost     int       // links
	Names    []string  // of the learners
	Accuracy []float64 // so far, 0 to 1
}

// DemoResult is what a Demo found.
type DemoResult struct {
	Setup    DemoSetup  `json:"setup"`
	Seed     uint64     `json:"seed"`
	Restarts int        `json:"restarts"` // of training, because the deep part was dead
	Learners []DemoMean `json:"learners"`
}

// DemoMean is how one learner did. Accuracies are shares of right answers.
type DemoMean struct {
	Name      string  `json:"name"`
	Same      float64 `json:"same"`      // with all links
	First     float64 `json:"first"`     // on the first subgraph
	Accuracy  float64 `json:"accuracy"`  // mean over subgraphs
	Deviation float64 `json:"deviation"` // standard deviation between subgraphs
	Last      float64 `json:"last"`      // over the last 30 % of the signals
	Better    int     `json:"better"`    // subgraphs on which it beats the frozen model
	Subgraphs int     `json:"subgraphs"`
	Warning   string  `json:"warning,omitempty"` // that learning did harm at the end
}

// demoLearners run side by side.
var demoLearners = []struct {
	Name string
	Spec learnerSpec
}{
	{"frozen", wideDeepFrozen},
	{"literal (eq. 9)", wideDeepLiteral},
	{"personal", mixed(50, 0.003)},
	{"own taps, no mixing", mixed(50, 0)},
}

// Run runs the demo.
func (d Demo) Run(ctx context.Context) (*DemoResult, error) {
	s := sourcelocFrom(Options{Seed: d.Seed, Quick: true, Signals: d.Signals, Epochs: d.Epochs, Subgraphs: or(d.Subgraphs, 8)})
	z, err := newRealization(&runner{}, s, 0, 0)
	if err != nil {
		return nil, err
	}
	z.onEpoch = d.OnEpoch
	c := s.architecture(wideDeep)
	params := gnn.NewParams(c, nil)
	result := &DemoResult{Seed: d.Seed, Setup: DemoSetup{
		Nodes: z.world.Graph.Nodes(), Edges: z.world.Graph.Edges(), Detectors: len(z.world.Detectors),
		Parameters: len(params.Flat), Signals: s.Train, Epochs: s.Epochs, Model: c,
	}}
	if d.OnStart != nil {
		d.OnStart(result.Setup)
	}
	t, err := z.fit(ctx, wideDeep)
	if err != nil {
		return nil, err
	}
	z.models[wideDeep] = t
	result.Restarts = t.info.Restarts
	if d.OnSignal != nil {
		if err := d.show(ctx, z); err != nil {
			return nil, err
		}
	}
	return result, d.measure(ctx, z, result)
}

// show runs the learners in step over the first subgraph.
func (d Demo) show(ctx context.Context, z *realization) error {
	stream, err := z.test(0, z.OutageProb)
	if err != nil {
		return err
	}
	left, err := z.subgraph(0, z.OutageProb)
	if err != nil {
		return err
	}
	frame := DemoFrame{Signals: stream.Len(), Lost: z.world.Graph.Edges() - left.Edges(), Accuracy: make([]float64, len(demoLearners))}
	learners, meters := make([]online.Learner, len(demoLearners)), make([]online.Meter, len(demoLearners))
	for k, l := range demoLearners {
		frame.Names = append(frame.Names, l.Name)
		if learners[k], err = z.learner(l.Spec); err != nil {
			return err
		}
	}
	y := mat.NewDense(z.world.Graph.Nodes(), z.World.Communities, nil)
	for sample := range stream.Samples() {
		if err := ctx.Err(); err != nil {
			return err
		}
		var j loss.Loss
		for k, l := range learners {
			if err := l.Predict(y, sample); err != nil {
				return err
			}
			j = stream.Reveal(y)
			meters[k].Watch(y, j)
			frame.Accuracy[k] = meters[k].Accuracy()
			if err := l.Update(j); err != nil {
				return fmt.Errorf("%s: %w", frame.Names[k], err)
			}
		}
		frame.Signal++
		if err := d.OnSignal(frame); err != nil {
			return err
		}
	}
	return nil
}

// measure fills the table.
func (d Demo) measure(ctx context.Context, z *realization, result *DemoResult) error {
	accuracy := make([][]float64, len(demoLearners))
	last := make([][]float64, len(demoLearners))
	for sub := -1; sub < z.Subgraphs; sub++ {
		p := z.OutageProb
		if sub < 0 {
			p = 0
		}
		stream, err := z.test(sub, p)
		if err != nil {
			return err
		}
		for k, l := range demoLearners {
			out, err := z.play(ctx, l.Spec, stream, false)
			if err != nil {
				return err
			}
			if sub < 0 {
				result.Learners = append(result.Learners, DemoMean{Name: l.Name, Same: out.Accuracy / 100, Subgraphs: z.Subgraphs})
				continue
			}
			accuracy[k], last[k] = append(accuracy[k], out.Accuracy/100), append(last[k], out.Last/100)
			if out.Accuracy/100 > accuracy[0][sub] {
				result.Learners[k].Better++
			}
		}
	}
	for k := range result.Learners {
		m := &result.Learners[k]
		v := summary(accuracy[k])
		m.First, m.Accuracy, m.Deviation, m.Last = accuracy[k][0], v.Mean, v.Spread, mean(last[k])
		m.Warning = mistakes(m.Name, 100*m.Last, 100*result.Learners[0].Last, 100*result.Learners[0].Accuracy)
	}
	return nil
}
