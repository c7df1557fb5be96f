package flock

import (
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// Recording is a flight as it can be played back.
type Recording struct {
	World  flocking.Config
	Stride int     // steps from one frame to the next
	Frames []frame // at steps 0, Stride, 2·Stride, …

	Learned, Expert *flocking.Flight // every step
	Frozen          *flocking.Flight // nil if nothing was learned
	Moved           []float64        // ‖𝒜 - 𝒜†‖ of the learner, every step
	Disagreement    []float64        // of its robots
}

// frame is where the robots are at one step.
type frame struct {
	Step               int
	Position, Velocity [][2]float64
	Links              [][2]int32 // i < j: within the communication radius, both radios working
}

// mostStates bounds robots times frames, so that a recording can be looked at
// in a browser: 50 robots may fly 3,000 steps, 1,000 robots 150.
const mostStates = 150_000

func newRecording(c flocking.Config) *Recording {
	states := c.Robots * c.Steps()
	return &Recording{World: c, Stride: max((states+mostStates-1)/mostStates, 1)}
}

// add takes the present step down.
func (r *Recording) add(s *flocking.Swarm, l online.Learner) {
	drift := l.Drift()
	r.Moved, r.Disagreement = append(r.Moved, drift.Moved), append(r.Disagreement, drift.Disagreement)
	if s.Time()%r.Stride != 0 {
		return
	}
	f := frame{
		Step:     s.Time(),
		Position: append([][2]float64(nil), s.Positions()...),
		Velocity: append([][2]float64(nil), s.Velocities()...),
	}
	g := s.Graph()
	for i := range g.Nodes() {
		if r.silent(i, f.Step) {
			continue
		}
		for _, j := range g.Neighbors(i) {
			if int(j) > i && !r.silent(int(j), f.Step) {
				f.Links = append(f.Links, [2]int32{int32(i), j})
			}
		}
	}
	r.Frames = append(r.Frames, f)
}

// silent says whether the radio of a robot is out at a step.
func (r *Recording) silent(robot, step int) bool {
	return r.stopped(robot, step, flocking.PartActuator)
}

// idle says whether the actuator of a robot is out at a step.
func (r *Recording) idle(robot, step int) bool { return r.stopped(robot, step, flocking.PartRadio) }

// stopped says whether a part other than the given one is out at a step.
func (r *Recording) stopped(robot, step int, other flocking.Part) bool {
	for _, stop := range r.World.Faults.Stops {
		if stop.Robot == robot && stop.Step <= step && stop.Part != other {
			return true
		}
	}
	return false
}
