package flock

import (
	"fmt"
	"io"
	"slices"

	"github.com/wdgnn/wdgnn/internal/grid"
	"github.com/wdgnn/wdgnn/internal/live"
)

// WriteEvents writes the recording in the form of package live, which wdgnn view
// replays and package livepage puts into one file.
func (r *Recording) WriteEvents(w io.Writer) error {
	out, err := live.NewWriter(w, r.liveScene())
	if err != nil {
		return fmt.Errorf("flock: events: %w", err)
	}
	for k := range r.Frames {
		if err := r.tell(out, k); err != nil {
			return fmt.Errorf("flock: events: %w", err)
		}
		if err := out.Frame(r.liveFrame(&r.Frames[k])); err != nil {
			return fmt.Errorf("flock: events: %w", err)
		}
	}
	return nil
}

// lookExpert is the colour and dash of what is neither frozen nor learning.
const lookExpert = 1

// liveScene is what there is to see of a flight.
func (r *Recording) liveScene() live.Scene {
	const variation, taps = "velocity variation, m²/s²", "taps"
	s := live.Scene{
		Title: fmt.Sprintf("A flight of %d robots", r.World.Robots), About: r.about(), Task: "flocking", Time: "s", Layout: live.LayoutMoving,
		Learners: []string{"expert", "learned"}, Looks: []int{lookExpert, live.LookFrozen},
		Curves: []live.Curve{
			{
				Name: "expert", Chart: variation, Learner: 0, Log: true,
				Note: "How much the robots' velocities differ: less is better, and 0 is a team that flies as one.",
			},
			{Name: "learned", Chart: variation, Learner: 1, Log: true},
		},
		Counters: []live.Counter{{Name: "links"}, {Name: "parts of the team"}, {Name: "collisions"}, {Name: "closest two", Unit: "m"}},
	}
	if r.Frozen != nil {
		s.Learners, s.Looks = []string{"expert", "learning in flight", "frozen"}, []int{lookExpert, live.LookLearning, live.LookFrozen}
		s.Curves[1].Name = s.Learners[1]
		s.Curves = append(s.Curves,
			live.Curve{Name: s.Learners[2], Chart: variation, Learner: 2, Log: true},
			live.Curve{
				Name: "moved from the trained ones", Chart: taps, Learner: 1,
				Note: "How far learning has moved the robots' taps, and how far apart those are.",
			},
			live.Curve{Name: "disagreement of the robots", Chart: taps, Learner: -1})
	}
	for i := range r.World.Robots {
		s.Nodes = append(s.Nodes, fmt.Sprintf("robot %d", i))
	}
	return s
}

// about says in a sentence or two what is flown.
func (r *Recording) about() string {
	c := r.World
	text := fmt.Sprintf("Robots begin with random velocities, hear only those within %v m, and shall come to fly as one. "+
		"They learned it from an expert that sees all. "+
		"Sum of the velocity variation over %d steps of %v s, less is better: %.4g, that of the expert %.4g",
		c.CommRadiusMeters, len(r.Learned.Variation), c.SampleSeconds, r.Learned.Total(), r.Expert.Total())
	if r.Frozen != nil {
		text += fmt.Sprintf(", frozen %.4g", r.Frozen.Total())
	}
	text += "."
	if n := len(c.Faults.Stops); n > 0 {
		text += fmt.Sprintf(" Robots that stop on the way: %d.", n)
	}
	if n := r.Learned.Counts; c.Faults.MessageLoss > 0 {
		text += fmt.Sprintf(" Of %d messages %d are lost.", n.Messages, n.Lost)
	}
	if n := c.Faults.DelaySteps; n > 0 {
		text += fmt.Sprintf(" Messages take %s more.", grid.Count(n, "step"))
	}
	if r.Stride > 1 {
		text += fmt.Sprintf(" One frame in %d steps.", r.Stride)
	}
	return text
}

// liveFrame is one frame of it.
func (r *Recording) liveFrame(f *frame) *live.Frame {
	t := f.Step
	out := &live.Frame{
		Time: r.seconds(t), Links: append([][2]int32{}, f.Links...), Down: []int32{},
		Curves:   live.Numbers{r.Expert.Variation[t], r.Learned.Variation[t]},
		Counters: live.Numbers{float64(len(f.Links)), float64(r.Learned.Components[t]), float64(r.Learned.Collisions[t]), r.Learned.Closest[t]},
	}
	if r.Frozen != nil {
		out.Curves = append(out.Curves, r.Frozen.Variation[t], r.Moved[t], r.Disagreement[t])
	}
	for i, p := range f.Position {
		out.Positions = append(out.Positions, float32(p[0]), float32(p[1]))
		out.Velocities = append(out.Velocities, float32(f.Velocity[i][0]), float32(f.Velocity[i][1]))
		if r.silent(i, t) || r.idle(i, t) {
			out.Down = append(out.Down, int32(i))
		}
	}
	return out
}

// tell says what happened since the frame before: what stopped, how much less velocities
// differ, and in the end how it went.
func (r *Recording) tell(out *live.Writer, k int) error {
	if k == 0 {
		return out.Say(0, "%d robots begin with random velocities.", r.World.Robots)
	}
	if err := r.tellVariation(out, r.Frames[k-1].Step, r.Frames[k].Step); err != nil {
		return err
	}
	for _, stop := range r.World.Faults.Stops {
		if stop.Step > r.Frames[k-1].Step && stop.Step <= r.Frames[k].Step {
			if err := out.Say(r.seconds(stop.Step), "robot %d stops; its neighbours carry on", stop.Robot); err != nil {
				return err
			}
		}
	}
	return nil
}

// shares are parts of the velocity variation at the start, as people say them.
var shares = []struct {
	of   float64
	name string
}{{0.5, "half"}, {0.1, "a tenth"}, {0.01, "a hundredth"}}

// tellVariation says when the velocity variation first was a part of that at the start,
// after one step and up to another; at the last step what it came to.
func (r *Recording) tellVariation(out *live.Writer, from, to int) error {
	v := r.Learned.Variation
	for _, share := range shares {
		first := slices.IndexFunc(v, func(now float64) bool { return now <= share.of*v[0] })
		if first <= from || first > to {
			continue
		}
		if err := out.Say(r.seconds(first), "The velocity variation is %s of that at the start.", share.name); err != nil {
			return err
		}
	}
	if to != r.Frames[len(r.Frames)-1].Step {
		return nil
	}
	text := fmt.Sprintf("The flight ends: the velocity variation is %.2g %% of that at the start, the expert's %.2g %%",
		100*v[to]/v[0], 100*r.Expert.Variation[to]/r.Expert.Variation[0])
	if r.Frozen != nil {
		text += fmt.Sprintf(", that of the frozen model %.2g %%", 100*r.Frozen.Variation[to]/r.Frozen.Variation[0])
	}
	return out.Say(r.seconds(to), "%s.", text)
}

func (r *Recording) seconds(step int) float64 { return float64(step) * r.World.SampleSeconds }
