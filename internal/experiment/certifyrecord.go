package experiment

import (
	"context"
	"errors"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/theory"
	"github.com/wdgnn/wdgnn/train"
)

// observation is one row of a step that carries a cost.
type observation struct {
	node int
	row  theory.Row
}

// recording is what a run met and where it was.
type recording struct {
	mode    config.Mode
	rule    rule.Config
	nodes   int
	kind    theory.Kind
	coords  *theory.Coordinates
	met     [][]observation // by step
	path    [][][]float64   // w_{i,t} before step t; one i if centralized
	mixers  []*theory.Mixer // by step, if distributed
	stopped bool            // there are more steps than were looked at

	diverged bool // learning ended at the last of them
}

// errEnough ends a play after the steps that are looked at.
var errEnough = errors.New("enough steps")

// record plays a run.
func record(ctx context.Context, run *OnlineRun) (*recording, error) {
	r := &recording{mode: run.State.Mode, rule: run.Rule, nodes: run.Stream.Nodes, kind: theory.CrossEntropy}
	s, net := run.Stream, run.trained.Network
	if s.Task == config.Regress {
		r.kind = theory.Quadratic
		if s.criterion != train.MSE {
			return nil, errors.New("the constants of Theorems 2 and 3 are known for the squared error and the cross-entropy, not for the loss of this stream")
		}
	}
	var moment *rule.Moment
	var err error
	if run.Rule.Whiten {
		if moment, err = MomentOf(run.trained); err != nil {
			return nil, err
		}
	}
	if r.coords, err = theory.NewCoordinates(net, run.Rule.Retrain == rule.RetrainTapsAndBias, moment); err != nil {
		return nil, err
	}
	w := newWitness(net, run.trained.Meta.Delayed, s.Nodes)
	known := map[*mat.CSR]*theory.Mixer{}
	err = run.Play(ctx, func() error { return nil }, func(step OnlineStep) error {
		if len(r.path) == mostCertified {
			r.stopped = true
			return errEnough
		}
		z, base := w.observe(s.now.Shift, s.now.Signal)
		var met []observation
		for _, i := range s.Read {
			if row, ok := r.row(s, i, z.Row(i), base.Row(i)); ok {
				met = append(met, observation{i, row})
			}
		}
		r.met = append(r.met, met)
		switch l := run.learner.(type) {
		case *online.Centralized:
			r.path = append(r.path, [][]float64{r.coords.Of(l.Params())})
		case *online.Consensus:
			var all [][]float64
			for i := range l.Nodes() {
				all = append(all, r.coords.Of(l.Params(i)))
			}
			r.path = append(r.path, all)
			return r.mix(s.now.Mixing, known)
		}
		return nil
	})
	if r.diverged = errors.Is(err, online.ErrDiverged); err != nil && !r.diverged && !errors.Is(err, errEnough) {
		return nil, err
	}
	if len(r.path) == 0 {
		return nil, errors.New("the run has no steps")
	}
	return r, nil
}

// row returns what node i met at the current step of the stream, false if
// nothing is known of its answer.
func (r *recording) row(s *Stream, i int, z, base []float32) (theory.Row, bool) {
	row := theory.Row{Input: r.coords.Input(z)}
	for _, v := range base {
		row.Base = append(row.Base, float64(v))
	}
	if r.kind == theory.CrossEntropy {
		label := s.cost.crossEntropy.Labels[i]
		row.Label = int(label)
		return row, label != loss.NoLabel
	}
	for _, v := range s.cost.mse.Target.Row(i) {
		row.Target = append(row.Target, float64(v))
	}
	return row, s.cost.mse.Mask[i]
}

// mix measures the mixing matrix of a step, (1-η) I + η W.
func (r *recording) mix(w *mat.CSR, known map[*mat.CSR]*theory.Mixer) error {
	m := known[w]
	if m == nil {
		var err error
		if w == nil { // nobody mixes
			one := make([]float64, r.nodes*r.nodes)
			for i := range r.nodes {
				one[i*r.nodes+i] = 1
			}
			m, err = theory.MixerOf(r.nodes, one)
		} else if m, err = theory.NewMixer(w); err == nil && r.rule.Mixing != 1 {
			m, err = m.Lazy(r.rule.Mixing)
		}
		if err != nil {
			return err
		}
		known[w] = m
	}
	r.mixers = append(r.mixers, m)
	return nil
}

// witness computes what the taps read and the outputs of the model as trained.
type witness struct {
	net     *gnn.WideDeep
	delayed *gnn.Delayed
	shifter gnn.Shifter
	z, base mat.Dense
}

func newWitness(net *gnn.WideDeep, delayed bool, nodes int) *witness {
	w := &witness{net: net, z: mat.NewDense(nodes, (net.InputOrder()+1)*net.Config.In, nil), base: mat.NewDense(nodes, net.Outputs(), nil)}
	if delayed {
		w.delayed = &gnn.Delayed{Model: net}
	}
	return w
}

func (w *witness) observe(s *mat.CSR, x mat.Dense) (z, base mat.Dense) {
	if w.delayed != nil {
		w.delayed.Predict(w.base, s, x)
		w.z.CopyFrom(w.delayed.Shifted())
		w.delayed.Advance()
		return w.z, w.base
	}
	w.shifter.Shift(w.z, s, x)
	w.net.Forward(w.base, &gnn.Input{Shift: s, Shifted: w.z}, new(gnn.Tape))
	return w.z, w.base
}

// cost returns J_t as package rule has it, of all nodes together or, with a node
// ≥ 0, of one: the mean over the steps of the window that brought a cost, of the
// mean over their rows.
func (r *recording) cost(t, node, window int, ridge float64) *theory.Problem {
	p := r.coords.Problem(r.kind, ridge)
	steps := 0
	for k := max(t-max(window, 1)+1, 0); k <= t; k++ {
		first := len(p.Rows)
		for _, o := range r.met[k] {
			if node < 0 || o.node == node {
				p.Rows = append(p.Rows, o.row)
			}
		}
		if n := len(p.Rows) - first; n > 0 {
			steps++
			for i := first; i < len(p.Rows); i++ {
				p.Rows[i].Share = 1 / float64(n)
			}
		}
	}
	for i := range p.Rows {
		p.Rows[i].Share /= float64(steps)
	}
	return p
}

// costs returns those of all steps: of the network, and of its nodes.
func (r *recording) costs(window int, ridge float64) (global []*theory.Problem, local [][]*theory.Problem) {
	for t := range r.met {
		if r.mode == config.Centralized {
			global = append(global, r.cost(t, -1, window, ridge))
			continue
		}
		var nodes []*theory.Problem
		for i := range r.nodes {
			nodes = append(nodes, r.cost(t, i, window, ridge))
		}
		local, global = append(local, nodes), append(global, theory.Mean(nodes))
	}
	return global, local
}
