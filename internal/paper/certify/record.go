package certify

import (
	"errors"
	"fmt"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/crown"
	"github.com/wdgnn/wdgnn/internal/paper/theory"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// Observation is one row of a step that carries a cost. All rows of a step
// count alike.
type Observation struct {
	Node int
	Row  theory.Row
}

// recording is what a run met and where it was.
type recording struct {
	mode    config.Mode
	rule    rule.Config
	nodes   int
	kind    theory.Kind
	coords  *theory.Coordinates
	met     [][]Observation // by step
	path    [][][]float64   // w_{i,t} before step t; one i if centralized
	mixers  []*theory.Mixer // by step, if distributed
	stopped bool            // there are more steps than were looked at

	diverged bool // learning ended at the last of them

	*pace
	witness *witness
	known   map[*mat.CSR]*theory.Mixer
	most    int // steps that are looked at
}

// errEnough ends a play after the steps that are looked at.
var errEnough = errors.New("enough steps")

// newRecording returns one of a run that has not begun.
func newRecording(p *pace, mode config.Mode, net *gnn.WideDeep, c online.Config, how rule.Config, kind theory.Kind) (*recording, error) {
	if mode == config.Distributed && c.Nodes > theory.MostDense {
		return nil, fmt.Errorf("a distributed run of %d nodes: the contraction of mixing matrices is computed up to %d",
			c.Nodes, theory.MostDense)
	}
	if how.Newton != nil {
		return nil, errors.New("these nodes learn by second derivatives, and Theorems 2 and 3 are about steps down a gradient; " +
			"try the preset paper")
	}
	r := &recording{pace: p, mode: mode, rule: how, nodes: c.Nodes, kind: kind, known: map[*mat.CSR]*theory.Mixer{}, most: mostCertified}
	var err error
	r.coords, err = theory.NewCoordinates(net, how.Retrain == rule.RetrainTapsAndBias)
	r.witness = newWitness(net, c.Delayed, c.Nodes)
	return r, err
}

// end judges how a play ended.
func (r *recording) end(err error) error {
	if r.diverged = errors.Is(err, online.ErrDiverged); err != nil && !r.diverged && !errors.Is(err, errEnough) {
		return err
	}
	if len(r.path) == 0 {
		return errors.New("the run has no steps")
	}
	return nil
}

// take looks at one step before its update: what it brought, which rows makes of
// the shifted inputs and the outputs of the model as trained, and where the
// learner is.
func (r *recording) take(l online.Learner, sample graph.Sample, rows func(z, base mat.Dense) []Observation) error {
	if len(r.path) == r.most {
		r.stopped = true
		return errEnough
	}
	if err := r.at("playing the run", len(r.path), 0); err != nil {
		return err
	}
	r.met = append(r.met, rows(r.witness.observe(sample.Shift, sample.Signal)))
	switch l := l.(type) {
	case *online.Centralized:
		r.path = append(r.path, [][]float64{r.coords.Of(l.Params())})
	case *online.Consensus:
		var all [][]float64
		for i := range l.Nodes() {
			all = append(all, r.coords.Of(l.Params(i)))
		}
		r.path = append(r.path, all)
		return r.mix(sample.Mixing)
	}
	return nil
}

// rows returns what the nodes that answer met under a loss.CrossEntropy or a
// loss.MSE, without those of whose answer nothing is known.
func (r *recording) rows(read []int, z, base mat.Dense, j loss.Loss) []Observation {
	var met []Observation
	for _, i := range read {
		o := Observation{Node: i, Row: theory.Row{Input: r.coords.Input(z.Row(i)), Base: crown.Signal(base.View(i, 0, 1, base.Cols))}}
		known := false
		if p, ok := j.(*loss.CrossEntropy); ok {
			j = *p
		}
		switch j := j.(type) {
		case loss.CrossEntropy:
			o.Row.Label, known = int(j.Labels[i]), j.Labels[i] != loss.NoLabel
		case loss.MSE:
			o.Row.Target, known = crown.Signal(j.Target.View(i, 0, 1, j.Target.Cols)), j.Mask == nil || j.Mask[i]
		}
		if known {
			met = append(met, o)
		}
	}
	return met
}

// mix measures the mixing matrix of a step.
func (r *recording) mix(w *mat.CSR) error {
	m := r.known[w]
	if m == nil {
		var err error
		if w == nil { // nobody mixes
			one := make([]float64, r.nodes*r.nodes)
			for i := range r.nodes {
				one[i*r.nodes+i] = 1
			}
			m, err = theory.MixerOf(r.nodes, one)
		} else {
			m, err = theory.NewMixer(w)
		}
		if err != nil {
			return err
		}
		r.known[w] = m
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
// ≥ 0, of one: the mean over the rows of the step.
func (r *recording) cost(t, node int, ridge float64) *theory.Problem {
	p := r.coords.Problem(r.kind, ridge)
	for _, o := range r.met[t] {
		if node < 0 || o.Node == node {
			p.Rows = append(p.Rows, o.Row)
		}
	}
	for i := range p.Rows {
		p.Rows[i].Share = 1 / float64(len(p.Rows))
	}
	return p
}

// costs returns those of all steps: of the network, and of its nodes.
func (r *recording) costs(stage string, ridge float64) (global []*theory.Problem, local [][]*theory.Problem, err error) {
	for t := range r.met {
		if err := r.at(stage, t, len(r.met)); err != nil {
			return nil, nil, err
		}
		if r.mode == config.Centralized {
			global = append(global, r.cost(t, -1, ridge))
			continue
		}
		var nodes []*theory.Problem
		for i := range r.nodes {
			nodes = append(nodes, r.cost(t, i, ridge))
		}
		local, global = append(local, nodes), append(global, theory.Mean(nodes))
	}
	return global, local, nil
}
