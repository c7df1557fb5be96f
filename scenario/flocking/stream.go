package flocking

import (
	"errors"
	"fmt"
	"iter"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
)

// Cost names what a Stream tells about an action.
type Cost string

// The costs of online learning.
const (
	CostVariation    Cost = "variation"    // Variation, of all robots: centralized learning
	CostNeighborhood Cost = "neighborhood" // Neighborhood, of each robot: distributed learning
	CostClearance    Cost = "clearance"    // Clearance, of each robot, which knows distances: learning of either kind
)

// Stream is a flight as an online learner sees it: at every step the robots
// show what they know, the learner answers with an action, is told what it
// cost, and the robots move. It is played once, by one goroutine.
//
// Samples carry the shift of the given kind and, for costs of each robot, the
// mixing matrix of Swarm.Mixing. A sample's signal is valid until the next
// sample, and so is the memory behind its shift.
type Stream struct {
	swarm *Swarm
	shift graph.Shift
	cost  Cost

	flight Flight
	signal mat.Dense // X_t, N×6
	action mat.Dense // u_t, N×2
	acted  bool
	err    error

	variation    Variation
	neighborhood Neighborhood
	clearance    Clearance
}

// NewStream returns the flight of s from its present state to time T.
func NewStream(s *Swarm, shift graph.Shift, cost Cost) (*Stream, error) {
	switch cost {
	case CostVariation, CostNeighborhood, CostClearance:
	default:
		return nil, fmt.Errorf("flocking: no cost is called %q; try %q, %q or %q", cost, CostVariation, CostNeighborhood, CostClearance)
	}
	n := len(s.position)
	return &Stream{swarm: s, shift: shift, cost: cost, signal: mat.NewDense(n, Features, nil), action: mat.NewDense(n, 2, nil)}, nil
}

// Samples yields what the robots know, step by step. Between two samples Reveal
// must have been given an action; that, and an action that is NaN, ends the
// flight, and Err says so.
func (st *Stream) Samples() iter.Seq[graph.Sample] {
	return func(yield func(graph.Sample) bool) {
		for st.err == nil && st.swarm.time < st.swarm.config.Steps() {
			sample, err := st.sample()
			if err != nil {
				st.err = err
				return
			}
			st.flight.Watch(st.swarm)
			st.acted = false
			if !yield(sample) {
				return
			}
			st.err = st.move()
		}
	}
}

// sample returns what the robots know now.
func (st *Stream) sample() (sample graph.Sample, err error) {
	sample.Time, sample.Signal = st.swarm.time, st.signal
	st.swarm.Signal(st.signal)
	if sample.Shift, err = st.swarm.Shift(st.shift); err != nil {
		return sample, err
	}
	if st.cost != CostVariation {
		sample.Mixing, err = st.swarm.Mixing()
	}
	return sample, err
}

// move applies the action that was revealed.
func (st *Stream) move() error {
	if !st.acted {
		return errors.New("flocking: the stream was not given an action before the next sample")
	}
	defer func() { st.flight.Counts = st.swarm.Counts() }()
	return st.swarm.StepDense(st.action)
}

// Reveal takes the action u, of which it keeps a copy, and returns what it
// costs. The cost is valid until the next Reveal.
//
//	u: N×2, read
func (st *Stream) Reveal(u mat.Dense) loss.Loss {
	mustFit("Reveal", u, st.action.Rows, st.action.Cols)
	st.action.CopyFrom(u)
	st.acted = true
	switch st.cost {
	case CostVariation:
		st.variation.Reset(st.swarm)
		return &st.variation
	case CostClearance:
		st.clearance.Reset(st.swarm)
		return &st.clearance
	}
	st.neighborhood.Reset(st.swarm, u)
	return &st.neighborhood
}

// Flight returns what the stream has seen so far. It belongs to the stream.
func (st *Stream) Flight() *Flight { return &st.flight }

// Err returns what ended the flight before its time.
func (st *Stream) Err() error { return st.err }
