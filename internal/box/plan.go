package box

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/snapshot"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// loadModel reads the model.
func (c *Config) loadModel() (*modelfile.Model, error) {
	m, err := modelfile.Load(c.abs(c.Model))
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	return m, nil
}

// cost returns what targets mean: by the configuration, or by the model's task.
func (c *Config) cost(m *modelfile.Model) (host.Cost, error) {
	switch {
	case c.Cost != "":
		return c.Cost, nil
	case forecasts(m):
		return forecastCost, nil
	case m.Meta.Task == "classify":
		return host.CrossEntropy, nil
	case m.Meta.Task == "regress":
		return host.MSE, nil
	}
	return "", fmt.Errorf("cost: the model's task is %q, which does not say what targets mean; try cost: %s", m.Meta.Task, host.MSE)
}

// Plan returns what all agents of the run share.
func (c *Config) Plan(m *modelfile.Model) (*agent.Plan, error) {
	cost, err := c.cost(m)
	if err != nil {
		return nil, err
	}
	p := agent.PlanConfig{
		Model: m.Network, Operator: m.Meta.Shift, Scale: cmp.Or(c.Scale, m.Meta.Scale), Delayed: m.Meta.Delayed,
		Cost: cost.Kind(), Forgiving: !c.Strict, MaxNorm: max(c.MaxNorm, 0), ClipNorm: c.ClipNorm,
	}
	if c.MaxNorm == 0 {
		if p.MaxRows, _, err = maxRows(m); err != nil {
			return nil, err
		}
	}
	if err := planForecast(&p, m); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	if c.learns() || c.Learn != nil && p.Forecast != nil {
		if err := c.planLearning(&p, m, cost); err != nil {
			return nil, err
		}
	}
	plan, err := agent.NewPlan(p)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", c.Model, err)
	}
	return plan, nil
}

// planLearning gives a plan how its nodes learn.
func (c *Config) planLearning(p *agent.PlanConfig, m *modelfile.Model, cost host.Cost) error {
	moment, err := momentOf(m)
	if err != nil {
		return err
	}
	facts := online.Facts(m.Network, m.Meta.Task, moment, m.Meta.Nodes)
	facts.Gradient, facts.Heard = cost == host.Gradient, facts.Heard && !m.Meta.Delayed
	facts.Forecast = p.Forecast != nil
	r, err := c.rule(facts)
	if err != nil {
		return err
	}
	if facts.Gradient && r.Newton != nil {
		return fmt.Errorf("learn: preset %s needs to know how a cost bends, and cost: gradient tells its slope alone; "+
			"set preset: paper and a step_size", r.Settings().Preset)
	}
	if origin, err := snapshot.OriginOf(m); err != nil {
		return fmt.Errorf("model: %w", err)
	} else if origin.Distributed() {
		p.Start = snapshot.Digest(m)
	}
	if r.Season != nil {
		if p.Forecast == nil {
			return errors.New("learn: season is how forecasts learn, and this model does not forecast; try preset auto")
		}
		return seasonPlan(p, m, r, moment)
	}
	if p.Forecast != nil {
		r.Delay = slices.Max(p.Forecast.Horizons) // the truths of an answer are all known then
	}
	if p.Basis, err = online.NewBasis(m.Network, *r, moment); err != nil {
		return fmt.Errorf("learn: %w", err)
	}
	p.Rule = r
	p.Scores, err = beginSure(m, r, cost)
	return err
}

// beginSure completes what a rule says of sets and intervals by what targets are,
// and returns the scores that nodes begin with: those of training, if the model
// file holds some of answers of that kind.
func beginSure(m *modelfile.Model, r *rule.Config, cost host.Cost) (func(agent.NodeID) [][]float64, error) {
	if r.Conformal == nil {
		return nil, nil
	}
	r.Conformal.Classes = cost == host.CrossEntropy
	known, err := m.Calibration()
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	if known == nil || (m.Meta.Task == "classify") != r.Conformal.Classes {
		return nil, nil
	}
	return func(id agent.NodeID) [][]float64 { return known.Begin(int(id), m.Meta.Nodes) }, nil
}

// momentOf returns the second moment that a model holds, with those of single
// nodes; nil if it holds none.
func momentOf(m *modelfile.Model) (*rule.SecondMoment, error) {
	mean, count, found := m.Moment()
	if !found {
		return nil, nil
	}
	moment := &rule.SecondMoment{Inputs: mean.Rows - 1, Mean: mean.Data, Count: count}
	if wide := m.Network.Config.Wide; wide != nil {
		shape := online.NewHearing(m.Network, nil)
		heard, err := m.Heard(shape.Inputs, shape.Hops*shape.Features)
		if err != nil {
			return nil, fmt.Errorf("model: %w", err)
		}
		moment.Heard = make(map[int]*rule.Hearing, len(heard))
		for i, h := range heard {
			moment.Heard[i] = online.NewHearing(m.Network, h.Neighbors)
			moment.Heard[i].Moment = h.Moment
		}
	}
	if err := moment.Validate(); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	return moment, nil
}

// learns says whether nodes learn. A section without a word is none.
func (c *Config) learns() bool { return c.Learn != nil && *c.Learn != rule.Settings{} }

// rule returns how nodes learn: the preset, and what Learn changes of it.
func (c *Config) rule(f rule.Facts) (*rule.Config, error) {
	r, err := c.Learn.For(f).Config(false, c.rules)
	if err != nil {
		return nil, config.Under("learn.", "rule: ", err)
	}
	return &r, nil
}
