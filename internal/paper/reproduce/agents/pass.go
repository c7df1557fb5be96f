package agents

import (
	"context"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// pass is one pass of agents over the test signals.
type pass struct {
	spec   recipe.LearnerSpec
	sub    int     // the subgraph
	loss   float64 // probability of losing a message
	killed []int   // nodes that fall silent

	forgiving bool // a message that is lost leaves its sender out of one hop only

	graph *graph.Graph
	crew  *crew
	twin  *twin // if nothing goes wrong, else nil
	drift meanDrift

	all  int         // right answers
	late map[int]int // those of a detector from the signal on at which nodes fall
	outcome
}

// accuracy returns the share of right answers, in %, that detectors gave from
// the signal on at which nodes fall.
func (p *pass) accuracy(s *settings, detectors []int) float64 {
	right := 0
	for _, d := range detectors {
		right += p.late[d]
	}
	return 100 * float64(right) / float64((s.Source.Test-s.KillTime)*len(detectors))
}

func (p *pass) learns() bool { return p.spec.Mode != recipe.Frozen }

// prepare puts the agents in their places.
func (p *pass) prepare(z *realization) (err error) {
	if p.graph, err = z.Subgraph(p.sub, z.OutageProb); err != nil {
		return err
	}
	t := z.Models[p.spec.Kind]
	c := online.Config{Nodes: p.graph.Nodes(), Moment: t.Moment, HopByHop: true}
	var how *rule.Config
	if p.learns() {
		how = &p.spec.Config
	}
	plan := agent.PlanConfig{Model: t.Network, Operator: z.Operator(), Rule: how, Cost: loss.CrossEntropy{}, Forgiving: p.forgiving}
	if p.crew, err = newCrew(plan, c); err != nil {
		return err
	}
	if p.loss == 0 && len(p.killed) == 0 {
		if p.twin, err = newTwin(t.Network, c, how); err != nil {
			return err
		}
	}
	p.late = map[int]int{}
	return nil
}

// localize fills in what comes of a pass. What is lost at one probability is
// lost at all larger ones.
func (z *realization) localize(ctx context.Context, s *settings, p *pass) error {
	if err := p.prepare(z); err != nil {
		return err
	}
	stream, err := z.TestStream(p.sub, z.OutageProb)
	if err != nil {
		return err
	}
	var arrives func(e, i, j int) bool
	if p.loss > 0 {
		rng := z.Stream("message loss", p.sub)
		arrives = func(int, int, int) bool { return rng.Float64() >= p.loss }
	}
	detectors := z.Read()
	for sample := range stream.Samples() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if sample.Time == s.KillTime {
			p.crew.kill(p.killed)
		}
		if err := p.crew.step(sample.Time, p.graph, sample.Signal, arrives); err != nil {
			return err
		}
		j := stream.Reveal(p.crew.outputs)
		p.count(j.(loss.CrossEntropy).Labels, detectors, sample.Time >= s.KillTime)
		if p.learns() && p.spec.Config.Mixes() {
			p.drift.watch(p.crew, p.graph)
		}
		if err := p.twin.step(sample, p.crew.outputs, j); err != nil {
			return err
		}
		if err := p.crew.feedback(j); err != nil {
			return err
		}
	}
	p.sum(stream.Len(), len(detectors))
	z.Run.Advance(passCost, "graph %d: agents, %s, %.0f %% of messages lost, %d nodes killed: %.1f %%",
		z.Graph, p.spec.ID, 100*p.loss, len(p.killed), p.Accuracy)
	return nil
}

// count counts right answers.
func (p *pass) count(labels []int32, detectors []int, late bool) {
	for _, d := range detectors {
		if p.crew.dead[d] || int32(mat.Argmax(p.crew.outputs.Row(d))) != labels[d] {
			continue
		}
		p.all++
		if late {
			p.late[d]++
		}
	}
}

// sum fills in the figures of the pass.
func (p *pass) sum(signals, detectors int) {
	stats := p.crew.stats()
	p.Accuracy = 100 * float64(p.all) / float64(signals*detectors)
	p.GivenUp, p.Diverged = float64(stats.Expired)/float64(signals), float64(stats.Diverged)
	if p.learns() {
		p.Drift, p.Way = p.drift.against(p.crew)
	}
}
