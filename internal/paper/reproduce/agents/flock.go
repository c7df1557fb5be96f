package agents

import (
	"context"
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/graph"
	robots "github.com/wdgnn/wdgnn/internal/paper/reproduce/flocking"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// teamUnit is what one realization of robots shows: velocity variation,
// summed over a flight, of the robots that never break, m²/s²; by start.
type teamUnit struct {
	Model recipe.FlockInfo `json:"model"`
	Bits  bits             `json:"bits"` // against online.Consensus, first start at every loss

	Loss   map[string][][]float64 `json:"loss"`   // by pilot, probability and start
	Killed map[string][][]float64 `json:"killed"` // by pilot, number and start

	GivenUp []float64 `json:"given_up"` // links per step of a flight, by probability
}

// The pilots of robots.
const (
	frozenPilot   = "frozen"
	learningPilot = "learning"
)

// pilots are those whose flights are compared.
var pilots = []string{robots.Expert, frozenPilot, learningPilot}

// flightsCost is about what the flights of one setting take, in epochs of
// a WD-GNN.
const flightsCost = 5

func (s *settings) flockWork() float64 {
	return recipe.DatasetCost + s.Flock.Work(s.controller()) + flightsCost*float64(len(s.Loss)+len(s.Robots))
}

// controller returns the model of the robots, the one of Table 2.
func (s *settings) controller() recipe.FlockSpec {
	m := s.Flock.Spec(recipe.WideDeep, recipe.ClipClosest)
	m.Shift = localShift
	return m
}

// swarms is a realization of Table 2 whose robots are agents.
type swarms struct{ *robots.Swarms }

// agents computes a unit.
func (z *swarms) agents(ctx context.Context, s *settings) (*teamUnit, error) {
	t, err := z.Prepare(ctx, s.controller())
	if err != nil {
		return nil, err
	}
	u := &teamUnit{
		Model: t.Info, Loss: map[string][][]float64{}, Killed: map[string][][]float64{}, GivenUp: make([]float64, len(s.Loss)),
	}
	for k, p := range s.Loss {
		faults := func(int) flocking.Faults { return flocking.Faults{MessageLoss: p} }
		if err := z.flyAll(ctx, s, u.Loss, faults, func(f *flight) {
			u.Bits.add(f.bits)
			u.GivenUp[k] += f.givenUp / float64(2*s.Starts) // of both pilots
		}); err != nil {
			return nil, fmt.Errorf("%v of messages lost: %w", p, err)
		}
		z.Advance(flightsCost, "realization %d: robots, %.0f %% of messages lost: %.1f, learning %.1f",
			z.Index, 100*p, study.Mean(u.Loss[frozenPilot][k]), study.Mean(u.Loss[learningPilot][k]))
	}
	for k, n := range s.Robots {
		faults := func(start int) (f flocking.Faults) {
			for _, i := range z.Stream("broken", start).Perm(z.World.Robots)[:n] {
				f.Stops = append(f.Stops, flocking.Stop{Robot: i, Step: s.BreakTime, Part: flocking.PartRobot})
			}
			return f
		}
		if err := z.flyAll(ctx, s, u.Killed, faults, func(*flight) {}); err != nil {
			return nil, fmt.Errorf("%d robots broken: %w", n, err)
		}
		z.Advance(flightsCost, "realization %d: %d robots broken: %.1f, learning %.1f",
			z.Index, n, study.Mean(u.Killed[frozenPilot][k]), study.Mean(u.Killed[learningPilot][k]))
	}
	z.Finish()
	return u, nil
}

// flyAll adds to each pilot's list the totals of its flights with the
// given faults. Look sees the flights that agents flew, in order.
func (z *swarms) flyAll(
	ctx context.Context, s *settings, totals map[string][][]float64,
	faults func(start int) flocking.Faults, look func(*flight),
) error {
	flights := make([]flight, len(pilots)*s.Starts)
	err := recipe.Each(ctx, z.Threads, len(flights), func(k int) error {
		f := &flights[k]
		f.pilot, f.start = pilots[k/s.Starts], k%s.Starts
		c := z.World
		c.Faults = faults(f.start)
		swarm, err := flocking.New(c, z.Stream("test", f.start))
		if err != nil {
			return err
		}
		if f.pilot == robots.Expert {
			return f.flyExpert(swarm)
		}
		p := z.Models[s.controller()].Pilot()
		if f.pilot == learningPilot {
			p.Cost, p.Rule = flocking.CostNeighborhood, recipe.OnlineFlight(z.Gamma, z.OnlineClip)
		}
		return f.fly(ctx, p, swarm)
	})
	if err != nil {
		return err
	}
	for k, name := range pilots {
		list := flights[k*s.Starts : (k+1)*s.Starts]
		total := make([]float64, len(list))
		for e := range list {
			total[e] = list[e].total
			if name != robots.Expert {
				look(&list[e])
			}
		}
		totals[name] = append(totals[name], total)
	}
	return nil
}

// flight is one flight.
type flight struct {
	pilot string
	start int

	total   float64 // velocity variation of the robots that never break
	givenUp float64 // links per step
	bits    bits    // of the first start without broken robots
}

// watch adds the present velocities.
func (f *flight) watch(s *flocking.Swarm) {
	var mean [2]float64
	squares, n := 0.0, 0.0
	broken := s.Config().Faults.Stops
	for i, v := range s.Velocities() {
		if slices.ContainsFunc(broken, func(b flocking.Stop) bool { return b.Robot == i }) {
			continue
		}
		n++
		for d, x := range v {
			step := x - mean[d]
			mean[d] += step / n
			squares += float64(step * (x - mean[d]))
		}
	}
	f.total += squares / n
}

// flyExpert lets the expert fly.
func (f *flight) flyExpert(s *flocking.Swarm) error {
	_, err := flocking.Fly(s, func(accel [][2]float64, s *flocking.Swarm) error {
		f.watch(s)
		return flocking.Expert(accel, s)
	})
	return err
}

// fly lets every robot fly by an agent of its own. A robot expects to hear
// everyone within reach; broken ones and lost messages keep it waiting until
// the deadline.
func (f *flight) fly(ctx context.Context, p *recipe.Pilot, s *flocking.Swarm) error {
	world, err := flocking.NewStream(s, p.Shift, flocking.CostNeighborhood)
	if err != nil {
		return err
	}
	learns := p.Cost != ""
	var how *rule.Config
	if learns {
		how = &p.Rule
	}
	c := online.Config{Nodes: s.Config().Robots, Delayed: true}
	w, err := newCrew(agent.PlanConfig{Model: p.Model, Operator: p.Shift, Rule: how}, c)
	if err != nil {
		return err
	}
	var beside *twin
	stops := s.Config().Faults.Stops
	if f.start == 0 && len(stops) == 0 {
		if beside, err = newTwin(p.Model, c, how); err != nil {
			return err
		}
	}
	var heard *graph.Graph
	arrives := func(_, i, j int) bool { return heard.Adjacency().At(i, j) != 0 }
	for sample := range world.Samples() {
		if err := ctx.Err(); err != nil {
			return err
		}
		f.watch(s)
		for _, stop := range stops {
			if stop.Step == sample.Time {
				w.kill([]int{stop.Robot})
			}
		}
		heard = s.Heard()
		if err := w.step(sample.Time, s.Graph(), sample.Signal, arrives); err != nil {
			return err
		}
		j := world.Reveal(w.outputs)
		if err := beside.step(sample, w.outputs, j); err != nil {
			return err
		}
		if err := w.feedback(j); err != nil {
			return err
		}
	}
	f.givenUp = float64(w.stats().Expired) / float64(s.Config().Steps())
	if beside != nil {
		f.bits = beside.bits
	}
	return world.Err()
}
