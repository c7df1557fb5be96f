package snapshot

import (
	"fmt"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
)

// Agent returns what node id remembers in s, which a learner of a model left, as
// [agent.Node.Seed] takes it.
func Agent(file *modelfile.Model, s *online.Snapshot, id agent.NodeID) (agent.Memory, error) {
	i := int(id)
	if i >= len(s.Nodes) {
		return agent.Memory{}, fmt.Errorf("there is no node %d among the %d that learned", i, len(s.Nodes))
	}
	first, err := firstStep(file)
	return agent.Memory{Node: id, Time: first - 1, State: s.Nodes[i], Delay: delayOf(file, s, i)}, err
}

// Agents is the inverse: what a learner in one process would remember if its nodes
// had learned as these agents did, who began with what [Agent] said of before. One
// node is one memory, ascending from 0; time is the latest step of any.
func Agents(file *modelfile.Model, before *online.Snapshot, nodes []agent.Memory, time uint64) (s online.Snapshot, err error) {
	first, err := firstStep(file)
	if err != nil {
		return s, err
	}
	s.Given = before.Given + time + 1 - first
	for i := range nodes {
		s.Nodes = append(s.Nodes, nodes[i].State)
	}
	if file.Meta.Delayed {
		s.Delay = delays(file.Network, nodes)
	}
	return s, nil
}

// firstStep returns the step that agents of a model begin with: 0, or the one after
// those that its sensors have read.
func firstStep(file *modelfile.Model) (uint64, error) {
	if file.Meta.Forecast == "" {
		return 0, nil
	}
	sensors, err := file.Sensors()
	first := uint64(0)
	for i := range sensors {
		if sensors[i].Started {
			first = max(first, sensors[i].Step+1)
		}
	}
	return first, err
}

// delayLine is one layer's: Z_0 over Z_1 over … over Z_K, N×F each. A node sends
// its rows of all but the last.
type delayLine struct{ order, features int }

// delayLines returns those of a model.
func delayLines(m *gnn.WideDeep) []delayLine {
	lines := []delayLine{{m.InputOrder(), m.Config.In}}
	for l := 1; l < len(m.Params.Deep); l++ {
		lines = append(lines, delayLine{m.Params.Deep[l].Order(), m.Params.Deep[l].In()})
	}
	return lines
}

// delayOf returns the delay lines of node i as its agent has them; nil if there
// are none.
func delayOf(file *modelfile.Model, s *online.Snapshot, i int) []float32 {
	if !file.Meta.Delayed {
		return nil
	}
	var all []float32
	n := len(s.Nodes)
	for l, d := range delayLines(file.Network) {
		for k := range d.order {
			row := make([]float32, d.features)
			if at := (k*n + i) * d.features; l < len(s.Delay) && len(s.Delay[l]) >= at+d.features {
				copy(row, s.Delay[l][at:])
			}
			all = append(all, row...)
		}
	}
	return all
}

// delays puts the delay lines of agents together. Z_K, which nobody reads again, is
// 0.
func delays(m *gnn.WideDeep, nodes []agent.Memory) [][]float32 {
	var all [][]float32
	n, from := len(nodes), 0
	for _, d := range delayLines(m) {
		line := make([]float32, (d.order+1)*n*d.features)
		for k := range d.order {
			for i := range nodes {
				copy(line[(k*n+i)*d.features:], nodes[i].Delay[from+k*d.features:from+(k+1)*d.features])
			}
		}
		from += d.order * d.features
		all = append(all, line)
	}
	return all
}
