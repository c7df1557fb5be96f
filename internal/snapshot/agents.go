package snapshot

import (
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// Agent returns what node id remembers in s, which a learner of a model left with
// the given nodes read, none meaning all, as [agent.Node.Seed] takes it: steps are
// counted back from the one that comes next.
func Agent(file *modelfile.Model, s *online.Snapshot, read []int, id agent.NodeID) (agent.Memory, error) {
	i := int(id)
	if i >= len(s.Nodes) {
		return agent.Memory{}, fmt.Errorf("there is no node %d among the %d that learned", i, len(s.Nodes))
	}
	learner := s.Nodes[i]
	a := agent.Memory{Node: id, Learner: &learner, Delay: delayOf(file, s, i)}
	if k, ok := rowOf(read, i); ok && k < len(s.Answers) {
		first, err := firstStep(file)
		if err != nil {
			return a, err
		}
		answers := later(s.Answers[k], first-s.Given)
		a.Answers = &answers
	}
	return a, nil
}

// Agents is the inverse: what a learner in one process would remember if its nodes
// had learned as these agents did, who began with what [Agent] said of before. One
// node is one memory, ascending from 0; time is the latest step of any.
func Agents(
	file *modelfile.Model, before *online.Snapshot, read []int, nodes []agent.Memory, time uint64,
) (s online.Snapshot, err error) {
	first, err := firstStep(file)
	if err != nil {
		return s, err
	}
	if file.Meta.Forecast != "" && seasons(&s, before, nodes) {
		return s, nil
	}
	for i := range nodes {
		n := &nodes[i]
		if n.Learner != nil {
			s.Nodes = append(s.Nodes, *n.Learner)
		}
		if _, ok := rowOf(read, i); ok && n.Answers != nil {
			s.Answers = append(s.Answers, later(*n.Answers, before.Given-first))
		}
	}
	if len(s.Answers) > 0 {
		s.Given = before.Given + time + 1 - first
	}
	if file.Meta.Delayed {
		s.Delay = delays(file.Network, nodes)
	}
	return s, nil
}

// seasons writes what nodes that learn by seasons remember to s; it returns false if
// they do not.
func seasons(s, before *online.Snapshot, nodes []agent.Memory) bool {
	any, steps := false, uint64(0)
	s.Season = make([]rule.SeasonMemory, len(nodes))
	for i := range nodes {
		if f := nodes[i].Forecast; f != nil && f.Season != nil {
			s.Season[i], any = *f.Season, true
		}
		steps = max(steps, nodes[i].Stats.Steps)
	}
	if !any {
		s.Season = nil
		return false
	}
	s.Given = before.Given + steps
	return true
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

// rowOf returns the place of node i among those that are read.
func rowOf(read []int, i int) (int, bool) {
	if len(read) == 0 {
		return i, true
	}
	return slices.BinarySearch(read, i)
}

// later returns answers with times that are by so much later.
func later(a rule.AnswersMemory, by uint64) rule.AnswersMemory {
	if a.Gate != nil {
		gate := *a.Gate
		gate.Since += by
		a.Gate = &gate
	}
	a.Given = slices.Clone(a.Given)
	for k := range a.Given {
		a.Given[k].Time += by
	}
	return a
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
