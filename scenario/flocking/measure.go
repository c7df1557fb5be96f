package flocking

import (
	"math"

	"github.com/wdgnn/wdgnn/graph"
)

// VelocityVariation returns how much the robots' velocities differ, in square
// metres per second squared:
//
//	(1/N) Σ_i ‖v_i - v̄‖²        Section 6.2, Measurements
func (s *Swarm) VelocityVariation() float64 {
	n, sum := float64(len(s.velocity)), total(s.velocity)
	mean, squares := [2]float64{sum[0] / n, sum[1] / n}, 0.0
	for _, v := range s.velocity {
		squares += squaredDistance(&v, &mean)
	}
	return squares / n
}

// Closest returns the number of pairs of robots that are closer than
// CollisionMeters, and the distance in metres of the two closest robots. It is
// the communication radius if no two robots are within it: robots do not sense
// each other beyond.
func (s *Swarm) Closest() (collisions int, meters float64) {
	limit := s.config.CollisionMeters * s.config.CollisionMeters
	least := s.config.CommRadiusMeters * s.config.CommRadiusMeters
	adj := s.reach.Adjacency()
	for i, p := range s.position {
		col, _ := adj.Row(i)
		for _, j := range col {
			if int(j) > i {
				break // the pair comes again in row j
			}
			d2 := squaredDistance(&p, &s.position[j])
			least = min(least, d2)
			if d2 < limit {
				collisions++
			}
		}
	}
	return collisions, math.Sqrt(least)
}

// Components returns into how many parts Graph falls; 1 is a connected swarm.
func (s *Swarm) Components() int { return s.parts.count(s.Graph()) }

func squaredDistance(a, b *[2]float64) float64 {
	dx, dy := a[0]-b[0], a[1]-b[1]
	return float64(dx*dx) + float64(dy*dy)
}

// partition is the memory for counting the components of undirected graphs.
type partition struct {
	reached []bool
	stack   []int32
}

// count returns the number of components of g, which is undirected.
func (p *partition) count(g *graph.Graph) int {
	n, adj, parts := g.Nodes(), g.Adjacency(), 0
	if len(p.reached) != n {
		p.reached, p.stack = make([]bool, n), make([]int32, 0, n)
	}
	clear(p.reached)
	for root := range n {
		if p.reached[root] {
			continue
		}
		parts++
		p.reached[root] = true
		p.stack = append(p.stack[:0], int32(root))
		for len(p.stack) > 0 {
			i := p.stack[len(p.stack)-1]
			p.stack = p.stack[:len(p.stack)-1]
			col, _ := adj.Row(int(i))
			for _, j := range col {
				if !p.reached[j] {
					p.reached[j] = true
					p.stack = append(p.stack, j)
				}
			}
		}
	}
	return parts
}
