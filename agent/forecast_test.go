package agent_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/agent/agenttest"
	"github.com/wdgnn/wdgnn/rule"
)

// Agents forecast what one process does, bit for bit, whatever the network does short
// of losing messages: with gaps in readings, links that are lost, a sensor that dies,
// one that joins and truths that come late; as trained, by seasons, and by rules that
// learn when the truths of all horizons are known.
func TestForecastsMatchOneProcess(t *testing.T) {
	own := rule.Config{Newton: &rule.Newton{Doubt: 0.2}, Delay: 3, Gate: &rule.Gate{}}
	paper := rule.Config{StepSize: rule.StepSize{Value: 0.01}, Delay: 3}
	for _, c := range []struct {
		name string
		rule *rule.Config
		told bool
	}{
		{"season", seasonRule(), false},
		{"season, truths apart", seasonRule(), true},
		{"as trained", nil, false},
		{"own", &own, false},
		{"paper, truths apart", &paper, false},
	} {
		seeds := uint64(3)
		if testing.Short() {
			seeds = 2 // of which one is the orderly network
		}
		for seed := range seeds {
			t.Run(fmt.Sprintf("%s/%d", c.name, seed), func(t *testing.T) {
				s := newSensors(t, seed, c.rule, c.told)
				swarm := agenttest.New(s.nodes, s.plan)
				if rng := rand.New(rand.NewPCG(seed, 7)); seed > 0 {
					swarm.Pick = agenttest.Random(rng)
					swarm.Fate = func(*agent.Message, agent.NodeID) int { return 1 + rng.IntN(5)/4 }
				}
				s.compareBits(swarm)
				for i, want := range map[int]string{1: "", 2: "its readings are far outside what training saw"} {
					if why, _ := swarm.Nodes[i].Sensor().Broken(); why != want {
						t.Errorf("node %d is broken because %q, want %q", i, why, want)
					}
				}
			})
		}
	}
}

// A box that is started again in the middle goes on with the same bits.
func TestForecastsGoOn(t *testing.T) {
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
			again := agenttest.New(s.nodes, s.plan)
			for i, n := range swarm.Nodes {
				text, err := json.Marshal(n.Memory())
				check(t, err)
				var m agent.Memory
				check(t, json.Unmarshal(text, &m))
				check(t, again.Nodes[i].Restore(m))
			}
			swarm = again
		}
	}
}
