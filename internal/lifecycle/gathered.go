package lifecycle

import (
	"fmt"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/internal/snapshot"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// Gathering says how agents learned what is gathered from them.
type Gathering struct {
	Run     string
	Rule    rule.Config
	Read    []int // nodes whose answers are remembered, ascending; none means all
	Steps   int
	Version string // of this program
}

// Gathered returns the file of a model as online learning would have left it, with
// what agents that began with it remember. Where one set of taps had learned for all
// nodes, that counts as trained, as it did for the agents.
func Gathered(file *modelfile.Model, s online.Snapshot, g Gathering) (*modelfile.Model, error) {
	origin, err := snapshot.OriginOf(file)
	if err != nil {
		return nil, err
	}
	begin := asTrained
	if origin != nil && !origin.Distributed() {
		begin = Settled
	}
	trained, err := begin(file)
	if err != nil {
		return nil, err
	}
	moment, err := recipe.MomentOf(trained)
	if err != nil {
		return nil, err
	}
	o, err := online.NewObserver(trained.Network, online.Config{
		Nodes: len(s.Nodes), Moment: moment, Read: g.Read, Delayed: trained.Meta.Delayed,
	})
	if err != nil {
		return nil, err
	}
	l, err := online.NewConsensus(o, g.Rule)
	if err != nil {
		return nil, err
	}
	if err := l.Restore(s); err != nil {
		return nil, err
	}
	a := &Adaptation{
		Mode: config.Distributed, Preset: g.preset(), Rule: g.Rule, MixingMatrix: graph.MixingMetropolis, Nodes: len(s.Nodes),
		Drift: l.Drift(), Stream: fmt.Sprintf("agents of run %s", g.Run), At: g.Steps, Length: g.Steps,
	}
	if g.Rule.Gate != nil || g.Rule.Conformal != nil {
		if a.Read = g.Read; len(a.Read) == 0 {
			for i := range s.Nodes {
				a.Read = append(a.Read, i)
			}
		}
	}
	m, err := adaptedFile(trained, l, a)
	if err == nil {
		m.Meta.Version = g.Version
	}
	return m, err
}

// preset returns the name of the preset that a rule is most like.
func (g *Gathering) preset() string {
	switch r := &g.Rule; {
	case r.Retrain == rule.RetrainHeard:
		return "heard"
	case r.Newton != nil:
		return "newton"
	case r.Whiten:
		return "window"
	}
	return "literal"
}
