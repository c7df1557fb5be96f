package agent_test

import (
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/agent/agenttest"
	"github.com/wdgnn/wdgnn/rule"
)

// Nodes that take the place of others under the same plan go on with the same bits:
// sensors, seasons, second derivatives, gates and answers that are judged late.
func TestInheritGoesOn(t *testing.T) {
	newton := rule.Config{Newton: &rule.Newton{Doubt: 0.2}, Delay: 3, Gate: &rule.Gate{}}
	for _, r := range []*rule.Config{nil, seasonRule(), &newton} {
		s := newSensors(t, 1, r, r != nil && r.Season != nil)
		swarm := agenttest.New(s.nodes, s.plan)
		for k := range s.steps {
			s.agents(swarm, k)
			s.sameBits(swarm, k, s.process(k))
			if k%7 != 5 {
				continue
			}
			heirs := agenttest.New(s.nodes, s.plan)
			for i, n := range swarm.Nodes {
				if kept := heirs.Nodes[i].Inherit(n, false); kept != (r != nil) && n.Sensor() != nil {
					t.Errorf("rule %v, step %d: node %d kept what it learned: %v, want %v", r, k, i, kept, r != nil)
				}
			}
			swarm = heirs
		}
	}
}

// Under a model with other norms, readings mean what they did, in the new units, and
// seasons begin with what the new model brings.
func TestInheritOtherNorms(t *testing.T) {
	s := newSensors(t, 1, seasonRule(), true)
	swarm := agenttest.New(s.nodes, s.plan)
	for k := range 30 {
		s.agents(swarm, k)
	}
	plan, spec := s.plan.PlanConfig, *s.plan.Forecast
	spec.Norms = slices.Clone(spec.Norms)
	for i := range spec.Norms {
		spec.Norms[i].Mean, spec.Norms[i].Scale = spec.Norms[i].Mean+3, 2*spec.Norms[i].Scale
	}
	plan.Forecast = &spec
	other := newPlan(t, plan)
	for i, old := range swarm.Nodes[:len(spec.Norms)] {
		heir := agent.NewNode(agent.NodeID(i), other, nil)
		if heir.Inherit(old, false) {
			t.Errorf("node %d kept a season of other units", i)
		}
		was, now := old.Memory().Forecast.Sensor, heir.Memory().Forecast.Sensor
		for k, v := range now.Lags {
			got, want := spec.Norms[i].Units(v), s.plan.Forecast.Norms[i].Units(was.Lags[k])
			if d := got - want; d > 1e-3 || d < -1e-3 {
				t.Errorf("node %d: lag %d is %v, want %v", i, k, got, want)
			}
		}
		if now.Step != was.Step || heir.Stats() != old.Stats() {
			t.Errorf("node %d is at step %d with %+v, want %d with %+v", i, now.Step, heir.Stats(), was.Step, old.Stats())
		}
	}
}
