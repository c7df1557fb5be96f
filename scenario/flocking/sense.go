package flocking

import (
	"fmt"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
)

// Features is the number of local features per robot, the width of X.
const Features = 6

// floorMeters is the distance below which two robots do not repel each other
// more.
const floorMeters = 1e-3

// frame is what there is to sense at one time step.
type frame struct {
	near   *graph.Graph // robots within the communication radius
	linked *graph.Graph // those of near whose radios work
	heard  *graph.Graph // linked without lost messages; directed then

	builders [3]graph.Builder
	features [][Features]float64
}

// silence returns the frame of robots that know nothing of each other.
func silence(robots int) frame {
	g, err := graph.FromEdges(robots, nil, false)
	if err != nil {
		panic(err) // a valid configuration has a number of robots that is possible
	}
	return frame{near: g, linked: g, heard: g, features: make([][Features]float64, robots)}
}

// sense fills the frame of the current time. Frames are used in turn, so that
// the one of DelaySteps ago is still there.
func (s *Swarm) sense() {
	f := s.now()
	f.near = s.geometric(&f.builders[0], s.config.CommRadiusMeters)
	f.linked = s.radios(f)
	f.heard = s.messages(f)
	if f.features == nil {
		f.features = make([][Features]float64, len(s.position))
	}
	features(f.features, f.heard.Adjacency(), s.position, s.velocity)
	if limit := s.config.NearCap; limit > 0 {
		for i := range f.features {
			x := &f.features[i]
			x[2], x[3] = clamp(x[2], limit), clamp(x[3], limit)
		}
	}
	s.reach = f.near
	if wide := max(s.config.RepulsionRadiusMeters, s.config.CollisionMeters); wide > s.config.CommRadiusMeters {
		s.reach = s.geometric(&s.wide, wide)
	}
	s.operator.fresh = false
}

func (s *Swarm) geometric(b *graph.Builder, radius float64) *graph.Graph {
	g, err := b.Geometric(s.position, radius)
	if err != nil {
		panic(fmt.Sprintf("flocking: step %d: %v", s.time, err)) // Validate, Start and Step keep positions finite
	}
	return g
}

// now returns the frame of the current time.
func (s *Swarm) now() *frame { return &s.frames[s.time%len(s.frames)] }

// seen returns the frame that controllers look at.
func (s *Swarm) seen() *frame {
	at := s.time - s.config.Faults.DelaySteps
	if at < 0 {
		return &s.nothing
	}
	return &s.frames[at%len(s.frames)]
}

// Graph returns the robots that are within the communication radius of each
// other now. Faults play no part in it.
func (s *Swarm) Graph() *graph.Graph { return s.now().near }

// Heard returns whose messages each robot has, 𝒩_i of eq. (23) and (24). It is
// Graph if there are no faults, and else the graph of DelaySteps ago without
// broken radios and lost messages, directed if messages can be lost.
func (s *Swarm) Heard() *graph.Graph { return s.seen().heard }

// Features returns x_i, what each robot knows of its surroundings, from Heard:
//
//	x_i = [ Σ_j (v_i - v_j),  Σ_j (p_i - p_j)/d⁴,  Σ_j (p_i - p_j)/d² ]    j ∈ 𝒩_i, eq. (23)
//
// The second pair is clamped to ±NearCap if that is set.
//
// Deviation: d is at least 1 mm here, so that robots in one place, whose
// direction from each other is not defined, add 0 rather than NaN.
func (s *Swarm) Features() [][Features]float64 { return s.seen().features }

// Signal writes Features to x as float32.
//
//	x: N×6, overwritten
func (s *Swarm) Signal(x mat.Dense) {
	mustFit("Signal", x, len(s.position), Features)
	for i, f := range s.Features() {
		row := x.Row(i)
		for k, v := range f {
			row[k] = float32(v)
		}
	}
}

// features overwrites x with eq. (23).
func features(x [][Features]float64, heard *mat.CSR, position, velocity [][2]float64) {
	for i := range x {
		p, v := position[i], velocity[i]
		var vx, vy, near4x, near4y, near2x, near2y float64
		col, _ := heard.Row(i)
		for _, j := range col {
			q, w := &position[j], &velocity[j]
			vx += v[0] - w[0]
			vy += v[1] - w[1]
			dx, dy := p[0]-q[0], p[1]-q[1]
			inv2 := inverseSquare(dx, dy)
			inv4 := inv2 * inv2
			near4x += float64(dx * inv4)
			near4y += float64(dy * inv4)
			near2x += float64(dx * inv2)
			near2y += float64(dy * inv2)
		}
		x[i] = [Features]float64{vx, vy, near4x, near4y, near2x, near2y}
	}
}

// inverseSquare returns 1/d² for robots that are (dx, dy) apart, with d at
// least floorMeters.
func inverseSquare(dx, dy float64) float64 {
	d2 := float64(dx*dx) + float64(dy*dy)
	if d2 < floorMeters*floorMeters {
		d2 = floorMeters * floorMeters
	}
	return 1 / d2
}
