package box

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/internal/snapshot"
	"github.com/wdgnn/wdgnn/rule"
)

// readSeed returns what the nodes of this box begin with: what a model that has
// learned online, node by node, remembers of them; nil if there is nothing. Where
// one set of taps learned for all, the network holds it.
func (b *Box) readSeed(p *agent.Plan) ([]agent.Memory, error) {
	origin, err := snapshot.OriginOf(b.model)
	if err != nil || !origin.Distributed() || p.Season != nil { // seasons are in the plan
		return nil, err
	}
	preset := cmp.Or(origin.Preset, rule.DefaultPreset)
	if p.Basis == nil {
		return nil, fmt.Errorf("model: every node of %s has learned online, and without learn: nodes answer as trained; "+
			"try learn: {preset: %s}, or name the file that wdgnn train left", b.Model, preset)
	}
	s, found, err := snapshot.Of(b.model)
	if err == nil && !found {
		err = errors.New("it does not hold what its nodes remember")
	}
	if err != nil {
		return nil, fmt.Errorf("model: %s has learned online: %w; name the file that wdgnn train left", b.Model, err)
	}
	scratch := new(agent.Scratch)
	var all []agent.Memory
	for _, id := range b.nodes {
		m, err := snapshot.Agent(b.model, &s, id)
		if err != nil {
			return nil, fmt.Errorf("model: %s has learned online: %w; nodes count from 0", b.Model, err)
		}
		if err := agent.NewNode(id, p, scratch).Seed(m); err != nil {
			return nil, fmt.Errorf("model: node %d cannot begin with what it learned online in %s: %w; choose what it learned with, "+
				"learn: {preset: %s} (wdgnn inspect shows all of it), or name the file that wdgnn train left",
				id, b.Model, err, preset)
		}
		all = append(all, m)
	}
	return all, nil
}

// describeSeed says what nodes begin with.
func (b *Box) describeSeed() string {
	if b.State != "" {
		return "nodes begin with what they learned online; a checkpoint goes before that"
	}
	return "nodes begin with what they learned online"
}
