package lifecycle

import (
	"fmt"

	"github.com/wdgnn/wdgnn/forecast"
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
	Nodes   int   // of the network
	Read    []int // nodes whose answers are remembered, ascending; none means all
	Steps   int
	Version string // of this program

	// Of nodes that forecast: what their sensors remember, their names, and their
	// links.
	Sensors []forecast.Memory
	Names   []string
	Links   *graph.Graph
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
		Nodes: g.Nodes, Moment: moment, Read: g.Read, Delayed: trained.Meta.Delayed,
	})
	if err != nil {
		return nil, err
	}
	spec, err := g.sensors(trained)
	if err != nil {
		return nil, err
	}
	var l online.Learner
	if g.Rule.Season != nil && spec != nil {
		l, err = forecasterOf(o, g.Rule, trained, spec, g.Nodes)
	} else {
		l, err = online.NewConsensus(o, g.Rule)
	}
	if err != nil {
		return nil, err
	}
	if err := l.Restore(s); err != nil {
		return nil, err
	}
	a := &Adaptation{
		Mode: config.Distributed, Preset: g.Rule.Settings().Preset, Rule: g.Rule, MixingMatrix: graph.MixingMetropolis, Nodes: g.Nodes,
		Drift: l.Drift(), Stream: fmt.Sprintf("agents of run %s", g.Run), At: g.Steps, Length: g.Steps,
	}
	if g.Rule.Gate != nil || g.Rule.Conformal != nil {
		if a.Read = g.Read; len(a.Read) == 0 {
			for i := range g.Nodes {
				a.Read = append(a.Read, i)
			}
		}
	}
	m, err := adaptedFile(trained, l, a)
	if err != nil {
		return nil, err
	}
	m.Meta.Version = g.Version
	if spec != nil {
		err = g.keep(m, spec, trained)
	}
	return m, err
}

// sensors returns what a model of forecasts knows of its sensors, newcomers among
// them that have heard one of training; nil if it does not forecast.
func (g *Gathering) sensors(m *modelfile.Model) (*forecast.Spec, error) {
	spec, err := m.Forecast()
	if spec == nil || err != nil {
		return nil, err
	}
	for i := len(spec.Sensors); i < len(g.Sensors) && g.Sensors[i].Norm != nil; i++ {
		spec.Sensors, spec.Norms = append(spec.Sensors, g.Names[i]), append(spec.Norms, *g.Sensors[i].Norm)
	}
	return spec, nil
}

// keep stores what sensors remember in a model file. What agents are compared with
// stays as it was when they began.
func (g *Gathering) keep(m *modelfile.Model, spec *forecast.Spec, trained *modelfile.Model) error {
	ridge, naive, err := trained.Baselines(len(spec.Sensors))
	if err != nil {
		return err
	}
	if err := m.SetForecast(spec); err != nil {
		return err
	}
	if err := m.SetSensors(g.Sensors[:len(spec.Sensors)]); err != nil {
		return err
	}
	if g.Links != nil { // otherwise the model has none
		links, err := narrowed(g.Links, len(spec.Sensors))
		if err != nil {
			return err
		}
		m.SetSensorGraph(links)
	}
	if ridge == nil {
		return nil
	}
	if ridge, err = widenedRidge(ridge, len(spec.Sensors)); err != nil {
		return err
	}
	return m.SetBaselines(ridge, naive)
}

// forecasterOf returns a learner of seasons for a network of so many nodes.
func forecasterOf(o *online.Observer, r rule.Config, m *modelfile.Model, spec *forecast.Spec, nodes int) (*online.Forecaster, error) {
	order := 0
	if w := m.Network.Config.Wide; w != nil {
		order = w.Order
	}
	sigma := make([][]float64, nodes)
	for i := range spec.Norms {
		sigma[i] = spec.Norms[i].Sigma
	}
	return online.NewForecaster(o, r, rule.SeasonTask{
		Season: spec.Season, Horizons: spec.Horizons, Lagged: spec.Lagged(order),
	}, sigma)
}
