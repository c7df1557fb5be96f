package agent_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/agent/agenttest"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/rule"
)

// erred returns the mean absolute error of a swarm's forecasts, in the units of the
// readings, of the nodes of training that live; it fails if one is not finite.
func (s *sensors) erred(swarm *agenttest.Swarm, after func(k int)) float64 {
	s.t.Helper()
	sum, count := 0.0, 0
	given := map[[3]uint64]float32{}
	for k := range s.steps {
		step := &s.steps[k]
		s.agents(swarm, k)
		for i := range s.nodes - 1 {
			for c, h := range s.spec.Horizons {
				y := swarm.Outputs().At(i, c)
				if !mat.Finite(y) || math.Abs(float64(y)) > 1e4 {
					s.t.Fatalf("step %d: forecast %d of node %d is %v", k, c, i, y)
				}
				if x, ok := given[[3]uint64{step.time, uint64(i), uint64(c)}]; ok && i != 2 && i != 4 && mat.Finite(step.readings.At(i, 0)) {
					sum += math.Abs(float64(x) - float64(step.readings.At(i, 0)))
					count++
				}
				given[[3]uint64{step.time + uint64(h), uint64(i), uint64(c)}] = y
			}
		}
		if after != nil {
			after(k)
		}
	}
	return sum / float64(count)
}

// Where messages are lost forecasts stay finite, and about as good.
func TestForecastsWithLosses(t *testing.T) {
	s := newSensors(t, 3, seasonRule(), false)
	whole := s.erred(agenttest.New(s.nodes, s.plan), nil)
	for _, share := range []int{10, 30, 100} { // per cent
		swarm, rng := agenttest.New(s.nodes, s.plan), rand.New(rand.NewPCG(4, uint64(share)))
		swarm.Fate = func(*agent.Message, agent.NodeID) int {
			if rng.IntN(100) < share {
				return 0
			}
			return 1
		}
		if got := s.erred(swarm, nil); got > 1.5*whole {
			t.Errorf("with %d %% of the messages lost forecasts err by %.3g, want at most half more than %.3g", share, got, whole)
		}
	}
}

// A neighbour that sends absurd weights of its season does no more harm than one that
// says nothing of it: what cannot be is not mixed, and what is no number is refused.
func TestForecastsBesideALiar(t *testing.T) {
	s := newSensors(t, 5, seasonRule(), false)
	honest := s.erred(agenttest.New(s.nodes, s.plan), nil)
	width := s.spec.Inputs()
	for _, lie := range []float32{1e30, -1e30, 1e9, -5} {
		swarm := agenttest.New(s.nodes, s.plan)
		swarm.Fate = func(m *agent.Message, _ agent.NodeID) int {
			if m.From == 1 && m.Exchange == 0 {
				for k := range m.Values[width:] {
					m.Values[width+k] = lie
				}
			}
			return 1
		}
		if got := s.erred(swarm, nil); got > 1.1*honest {
			t.Errorf("beside one who sends %g forecasts err by %.3g, want about %.3g", lie, got, honest)
		}
	}
	n := agent.NewNode(0, s.plan, nil)
	values := make([]float32, s.plan.Length(0))
	values[width] = nan
	_, err := n.Step(agent.Receive{Message: &agent.Message{From: 1, To: agent.Everyone, Kind: agent.Row, Values: values}})
	if !errors.Is(err, agent.ErrMalformed) || n.Stats().Refused != 1 {
		t.Errorf("got %v, want a weight that is no number to be refused", err)
	}
}

// What a node that forecasts cannot take changes nothing.
func TestForecastsRefuse(t *testing.T) {
	s := newSensors(t, 1, seasonRule(), false)
	n, last := agent.NewNode(0, s.plan, nil), s.spec.Steps-1
	for _, c := range []struct {
		ev   agent.Event
		want error
	}{
		{agent.Begin{Time: last + 1, Row: []float32{1}}, agent.ErrMalformed},
		{agent.Begin{Time: last + 1, Row: []float32{1, 2, 3}}, agent.ErrMalformed},
		{agent.Begin{Time: last + 1, Row: []float32{1, 2}, Truth: []float32{1, 2}}, agent.ErrMalformed},
		{agent.Begin{Time: 1 << 60, Row: []float32{1, 2}}, agent.ErrMalformed},
		{agent.Begin{Time: last, Row: []float32{1, 2}}, agent.ErrOrder}, // it was replayed
		{agent.Told{Time: last, Truth: 1}, agent.ErrOrder},              // nothing was answered yet
		{agent.Begin{Time: last + 1, Row: []float32{nan, nan}}, nil},
		{agent.Told{Time: last + 2, Truth: 1}, agent.ErrOrder},
		{agent.Told{Time: last + 1, Truth: nan}, agent.ErrMalformed},
		{agent.Feedback{Loss: loss.L1{}}, agent.ErrOrder},
		{agent.Told{Time: last + 1, Truth: 60}, nil},
		{agent.Feedback{}, nil},
		{agent.Begin{Time: last + 2, Row: []float32{float32(math.Inf(1)), 1}, Truth: []float32{nan}}, nil},
	} {
		if _, err := n.Step(c.ev); !errors.Is(err, c.want) {
			t.Errorf("%+v: got %v, want %v", c.ev, err, c.want)
		}
	}
}

// A memory that does not fit is refused and leaves the node as it was.
func TestForecastMemoryThatDoesNotFit(t *testing.T) {
	s := newSensors(t, 1, seasonRule(), false)
	swarm := agenttest.New(s.nodes, s.plan)
	for k := range 8 {
		s.agents(swarm, k)
	}
	for name, spoil := range map[string]func(m *agent.Memory){
		"no sensor":    func(m *agent.Memory) { m.Forecast.Sensor = nil },
		"no season":    func(m *agent.Memory) { m.State = nil },
		"short season": func(m *agent.Memory) { m.State = m.State[1:] },
		"other lags":   func(m *agent.Memory) { m.Forecast.Sensor.Lags = m.Forecast.Sensor.Lags[1:] },
		"near is none": func(m *agent.Memory) { m.Forecast.Near = &nan },
		"late is none": func(m *agent.Memory) { m.Forecast.Late = []agent.PastTruth{{Time: 1, Value: nan}} },
	} {
		m := swarm.Nodes[0].Memory()
		spoil(&m)
		if err := swarm.Nodes[0].Restore(m); err == nil {
			t.Errorf("%s: got no error, want one", name)
		}
	}
	s.agents(swarm, 8)
	plan := s.plan.PlanConfig
	plan.Forecast, plan.Season, plan.Replayed, plan.Rule = nil, nil, nil, nil
	if err := agent.NewNode(0, newPlan(t, plan), nil).Restore(swarm.Nodes[0].Memory()); err == nil {
		t.Error("got no error, want one: this node does not forecast")
	}
}

// Boxes that know something else of their sensors, or learn seasons otherwise, do not
// take each other for their own.
func TestDigestOfForecasts(t *testing.T) {
	seen := map[uint32]string{}
	for name, change := range map[string]func(p *agent.PlanConfig){
		"as it is": func(*agent.PlanConfig) {},
		"a mean":   func(p *agent.PlanConfig) { p.Forecast.Norms[2].Mean++ },
		"a unit":   func(p *agent.PlanConfig) { p.Forecast.Unit = "mph" },
		"a season": func(p *agent.PlanConfig) { p.Rule.Season = &rule.Season{Ridge: 31} },
		"frozen":   func(p *agent.PlanConfig) { p.Season, p.Rule = nil, nil },
	} {
		p := newSensors(t, 1, seasonRule(), false).plan.PlanConfig
		change(&p)
		d := p.Digest()
		if other, twice := seen[d]; twice {
			t.Errorf("%s and %s have the digest %06x", name, other, d)
		}
		seen[d] = name
	}
}
