package reproduce

import (
	"context"
	"fmt"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/scenario/sourceloc"
)

// learnerSpec is a model with a way to learn online.
type learnerSpec struct {
	ID     string
	Kind   kind
	Mode   mode
	Config rule.Config
}

// mode is how a learner adapts.
type mode int

const (
	frozen mode = iota
	centralized
	distributed
)

// learners of the source localization experiments.
var (
	filterFrozen   = learnerSpec{ID: "filter", Kind: filterKind}
	gnnFrozen      = learnerSpec{ID: "gnn", Kind: gnnKind}
	wideDeepFrozen = learnerSpec{ID: "wd-gnn", Kind: wideDeep}
	sgnnFrozen     = learnerSpec{ID: "sgnn", Kind: sgnnKind}

	filterCentral  = learnerSpec{"filter central", filterKind, centralized, rule.Literal(true)}
	filterLiteral  = learnerSpec{"filter distributed", filterKind, distributed, rule.Literal(false)}
	filterSingle   = learnerSpec{"filter personal 1", filterKind, distributed, rule.Personal(1)}
	filterPersonal = learnerSpec{"filter personal 50", filterKind, distributed, rule.Personal(50)}

	wideDeepCentral = learnerSpec{"wd-gnn central", wideDeep, centralized, rule.Literal(true)}
	wideDeepLiteral = learnerSpec{"wd-gnn distributed", wideDeep, distributed, rule.Literal(false)}
)

// mixed is the personal preset of a WD-GNN with another mixing strength.
func mixed(window int, eta float64) learnerSpec {
	c := rule.Personal(window)
	c.Mixing = eta
	return learnerSpec{fmt.Sprintf("wd-gnn personal %d, eta %v", window, eta), wideDeep, distributed, c}
}

// learner returns the learner that spec describes.
func (z *realization) learner(spec learnerSpec) (online.Learner, error) {
	t := z.models[spec.Kind]
	c := online.Config{Nodes: z.world.Graph.Nodes(), Rule: spec.Config, Moment: t.moment, Read: z.read()}
	switch spec.Mode {
	case centralized:
		return online.NewCentralized(t.network, c)
	case distributed:
		return online.NewConsensus(t.network, c)
	}
	return online.NewFrozen(t.network, c)
}

// run is what came out of one pass of a learner over a stream.
type run struct {
	Accuracy float64 // of all answers, %
	Last     float64 // of those to the last 30 % of the signals
	Right    []int   // right answers up to and including each signal
	Answers  []int32 // by signal and detector, if kept
	Drift    online.Drift
}

// play runs a learner over a stream.
func (z *realization) play(ctx context.Context, spec learnerSpec, stream *sourceloc.Stream, keep bool) (*run, error) {
	learner, err := z.learner(spec)
	if err != nil {
		return nil, err
	}
	y := mat.NewDense(z.world.Graph.Nodes(), z.World.Communities, nil)
	var m online.Meter
	r := &run{}
	err = online.Play(ctx, y, learner, stream, func(_ int, y mat.Dense, j loss.Loss) error {
		m.Watch(y, j)
		r.Right = append(r.Right, m.Right)
		if keep {
			for _, i := range z.read() {
				r.Answers = append(r.Answers, answer(y.Row(i)))
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", spec.ID, err)
	}
	r.Accuracy, r.Drift = 100*m.Accuracy(), learner.Drift()
	detectors, from := len(z.world.Detectors), stream.Len()*7/10
	r.Last = 100 * float64(m.Right-r.Right[from-1]) / float64((stream.Len()-from)*detectors)
	z.runner.advance(streamCost, "graph %d, data %d: %s %.1f %%", z.Graph, z.Data, spec.ID, r.Accuracy)
	return r, nil
}

// streamCost is about what a pass over a stream takes, in epochs of a WD-GNN.
const streamCost = 0.5

// answer returns the class with the largest score.
func answer(y []float32) int32 { return int32(mat.Argmax(y)) }

// subgraph returns what is left of the network if each link is lost with
// probability p. Subgraphs of one number are nested over p.
func (z *realization) subgraph(number int, p float64) (*graph.Graph, error) {
	if p == 0 {
		return z.world.Graph, nil
	}
	return graph.NewOutage(z.world.Graph, z.stream("outage", number)).At(p)
}

// test returns the test signals as they are heard over a subgraph.
func (z *realization) test(number int, p float64) (*sourceloc.Stream, error) {
	return z.testOver(z.operator().Of, number, p)
}

// testOver is test with another shift of the subgraph.
func (z *realization) testOver(shift func(*graph.Graph) (*mat.CSR, error), number int, p float64) (*sourceloc.Stream, error) {
	g, err := z.subgraph(number, p)
	if err != nil {
		return nil, err
	}
	signals, labels := z.world.Draw(z.Test, z.stream("test"))
	return z.world.NewStreamOver(shift, []*graph.Graph{g}, 0, signals, labels)
}
