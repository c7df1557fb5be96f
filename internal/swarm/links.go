package swarm

import (
	"math"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/loss"
)

// stopped returns the nodes of hosts that do not run.
func (s *publisher) stopped() []int32 {
	nodes := []int32{}
	for h, list := range s.run.divided {
		if s.up[h] {
			continue
		}
		for _, i := range list {
			nodes = append(nodes, int32(i))
		}
	}
	return nodes
}

// running returns how many hosts run.
func (s *publisher) running() (n int) {
	for _, up := range s.up {
		if up {
			n++
		}
	}
	return n
}

// lost returns the links of the scene that are out.
func (s *publisher) lost() []int32 {
	if now := s.run.Task.World.Graph(); now != s.links {
		s.links, s.out = now, []int32{}
		for k, e := range s.hub.Scene().Edges {
			if now.Adjacency().At(int(e[0]), int(e[1])) == 0 {
				s.out = append(s.out, int32(k))
			}
		}
	}
	return s.out
}

// mostPulses is how many messages are shown at once.
const mostPulses = 300

// pulses returns the links of the scene that carried messages: all that work
// between nodes that run or, if these are too many, those of detectors.
func (s *publisher) pulses(f *live.Frame) []int32 {
	scene := s.hub.Scene()
	out, down, read := map[int32]bool{}, map[int32]bool{}, map[int32]bool{}
	for _, k := range f.Out {
		out[k] = true
	}
	for _, i := range f.Down {
		down[i] = true
	}
	for _, k := range scene.Marks {
		read[int32(k.Node)] = true
	}
	var all, some []int32
	for k, e := range scene.Edges {
		if out[int32(k)] || down[e[0]] || down[e[1]] {
			continue
		}
		all = append(all, int32(k))
		if read[e[0]] || read[e[1]] {
			some = append(some, int32(k))
		}
	}
	if len(all) > mostPulses {
		return some
	}
	return all
}

// costs returns what the answers cost the nodes.
func costs(m *Step, n int) live.Floats {
	v := blank(n)
	j, ok := m.Cost.(loss.Local)
	if !ok {
		return v
	}
	for i := range v {
		v[i] = float32(j.EvalNode(i, nil, m.Outputs.Row(i)))
	}
	return v
}

// pairs returns the links of a graph, each once.
func pairs(g *graph.Graph) [][2]int32 {
	list := [][2]int32{}
	for i := range g.Nodes() {
		for _, j := range g.Neighbors(i) {
			if int32(i) < j {
				list = append(list, [2]int32{int32(i), j})
			}
		}
	}
	return list
}

// blank returns values of n nodes that have none.
func blank(n int) live.Floats {
	v := make(live.Floats, n)
	for i := range v {
		v[i] = float32(math.NaN())
	}
	return v
}
