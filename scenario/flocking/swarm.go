package flocking

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
)

// Swarm is one flight: where the robots are at the current time step, what
// they sense and what has gone wrong so far. Graphs, shifts and slices that
// its methods return are the swarm's own: they must not be changed and are
// valid until the next Step. It is not safe for concurrent use.
//
// States are pairs of coordinates, one per robot, because every loop over
// robots reads both and package graph takes them so.
type Swarm struct {
	config Config
	time   int

	position, velocity [][2]float64 // p, v
	accel              [][2]float64 // scratch of StepDense

	frames   []frame // what there was to sense at the latest steps; see sense
	nothing  frame   // what robots know before the first message arrives
	wide     graph.Builder
	reach    *graph.Graph // robots close enough to repel each other or to collide
	parts    partition
	operator operator

	idle, mute []bool // robots whose actuator or radio is out
	losses     *rand.Rand
	counts     Counts
}

// newSwarm takes position and velocity over.
func newSwarm(c Config, position, velocity [][2]float64, rng *rand.Rand) *Swarm {
	s := &Swarm{
		config: c, position: position, velocity: velocity,
		accel:  make([][2]float64, c.Robots),
		frames: make([]frame, c.Faults.DelaySteps+1),
		idle:   make([]bool, c.Robots),
		mute:   make([]bool, c.Robots),
	}
	if c.Faults.MessageLoss > 0 {
		s.losses = rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64()))
	}
	s.nothing = silence(c.Robots)
	s.fail()
	s.sense()
	return s
}

// Config returns what the swarm was made with.
func (s *Swarm) Config() Config { return s.config }

// Time returns t, the number of steps since the start.
func (s *Swarm) Time() int { return s.time }

// Positions returns p_i of every robot, in metres.
func (s *Swarm) Positions() [][2]float64 { return s.position }

// Velocities returns v_i of every robot, in metres per second.
func (s *Swarm) Velocities() [][2]float64 { return s.velocity }

// Step applies accelerations u_i, metres per second squared, for one sampling
// time:
//
//	p_i ← p_i + v_i T_s + ½ u_i T_s²
//	v_i ← v_i + u_i T_s                  eq. (21)
//
// Each component of u is first clamped to ±MaxAccelMPS2; a robot whose
// actuator is out has u = 0. A component that is NaN is an error and moves
// nobody. Step panics unless there is one acceleration per robot.
func (s *Swarm) Step(accel [][2]float64) error {
	if len(accel) != len(s.position) {
		panic(fmt.Sprintf("flocking: Step: %d accelerations for %d robots", len(accel), len(s.position)))
	}
	for i, u := range accel {
		if math.IsNaN(u[0]) || math.IsNaN(u[1]) {
			return fmt.Errorf("flocking: step %d: the acceleration of robot %d is %v", s.time, i, u)
		}
	}
	ts, limit := s.config.SampleSeconds, s.config.MaxAccelMPS2
	half := ts * ts / 2
	for i, u := range accel {
		if s.idle[i] {
			u = [2]float64{}
			s.counts.Idle++
		}
		p, v := &s.position[i], &s.velocity[i]
		for d := range u {
			if u[d] < -limit || u[d] > limit {
				s.counts.Saturated++
			}
			a := clamp(u[d], limit)
			p[d] += float64(v[d]*ts) + float64(a*half)
			v[d] += float64(a * ts)
		}
	}
	s.time++
	s.fail()
	s.sense()
	return nil
}

// StepDense is Step with the output of a model.
//
//	u: N×2, read
func (s *Swarm) StepDense(u mat.Dense) error {
	mustFit("StepDense", u, len(s.position), 2)
	for i := range s.accel {
		row := u.Row(i)
		s.accel[i] = [2]float64{float64(row[0]), float64(row[1])}
	}
	return s.Step(s.accel)
}

// clamp returns u held within ±limit. It keeps NaN.
func clamp(u, limit float64) float64 { return min(max(u, -limit), limit) }

// mustFit panics unless a is rows×cols.
func mustFit(op string, a mat.Dense, rows, cols int) {
	if a.Rows != rows || a.Cols != cols {
		panic(fmt.Sprintf("flocking: %s: %d×%d, want %d×%d", op, a.Rows, a.Cols, rows, cols))
	}
}
