package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"time"

	"github.com/wdgnn/wdgnn/internal/flock"
	"github.com/wdgnn/wdgnn/internal/grid"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// flightView shows a flight as it goes: a few lines that change on a terminal,
// about twenty plain lines elsewhere.
type flightView struct {
	screen
	plan   *flock.Plan
	first  float64       // velocity variation at the start, the full length of a bar
	paused time.Duration // for people to watch
}

func newFlightView(out io.Writer, p *flock.Plan) *flightView {
	return &flightView{screen: newScreen(out), plan: p}
}

// show shows one step.
func (v *flightView) show(ctx context.Context, m flock.Instant) error {
	step, steps := m.Swarm.Time(), m.Swarm.Config().Steps()
	last := step == steps-1
	if step == 0 {
		v.first = m.Swarm.VelocityVariation()
	}
	if !v.terminal() {
		every := (steps*v.plan.Flights + plainLines - 1) / plainLines
		if done := m.Flight*steps + step; done%every == 0 || last && m.Flight == v.plan.Flights-1 {
			fmt.Fprintf(v.out, "%s  variation %8.4f  expert %8.4f  %s\n", v.clock(m), m.Swarm.VelocityVariation(), m.Expert, v.state(m))
		}
		return nil
	}
	from := time.Now()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pace):
	}
	v.paused += time.Since(from)
	if !last && !v.due() {
		return nil
	}
	now, bar := m.Swarm.VelocityVariation(), min(50, v.wide-20)
	v.draw(v.clock(m),
		fmt.Sprintf("learned  %8.4f  %s", now, gauge(v.share(now), bar)),
		fmt.Sprintf("expert   %8.4f  %s", m.Expert, gauge(v.share(m.Expert), bar)),
		v.state(m))
	return nil
}

// share is a velocity variation as a share of that at the start, by decades:
// each fifth of a bar is a factor of about 6.
func (v *flightView) share(variation float64) float64 {
	if !(variation > 0 && v.first > 0) {
		return 0
	}
	return min(max(1+math.Log10(variation/v.first)/4, 0), 1)
}

func (v *flightView) clock(m flock.Instant) string {
	c := m.Swarm.Config()
	text := fmt.Sprintf("%5.2f of %.2f s", float64(m.Swarm.Time())*c.SampleSeconds, float64(c.Steps())*c.SampleSeconds)
	if v.plan.Flights > 1 {
		text = fmt.Sprintf("flight %d/%d  %s", m.Flight+1, v.plan.Flights, text)
	}
	return text
}

func (v *flightView) state(m flock.Instant) string {
	collisions, closest := m.Swarm.Closest()
	text := "connected"
	if parts := m.Swarm.Components(); parts > 1 {
		text = fmt.Sprintf("%d parts", parts)
	}
	text = fmt.Sprintf("%-9s  closest %.2f m  collisions %d", text, closest, collisions)
	if v.plan.Online != flock.OnlineOff {
		text += fmt.Sprintf("  drift %.3f", m.Learner.Drift().Moved)
	}
	return text
}

// print prints the table of a flight.
func (c *FlockCommand) print(r *flock.Result, took time.Duration) error {
	out := lines{w: c.Stdout}
	w := r.Plan.World
	out.printf("\n%d robots, radius %v m, %d × %v s, shift %s", w.Robots, w.CommRadiusMeters, r.Plan.Flights, w.DurationSeconds, r.Shift)
	if w.NearCap > 0 {
		out.printf(", features bounded by %v", w.NearCap)
	}
	if r.Frozen != nil {
		out.printf("; %s learning from %s, step size %v", r.Plan.Online, r.Plan.Cost, r.Plan.Gamma)
		if r.Plan.Carry {
			out.printf(", carried from flight to flight")
		}
	}
	out.printf("\n")
	expert := r.Expert.Mean()
	rows := []*flock.Row{&r.Learned}
	if r.Frozen != nil {
		rows = append(rows, r.Frozen)
	}
	var cells [][]string
	for _, row := range append(rows, &r.Expert) {
		cells = append(cells, append([]string{row.Name}, flown(row.Mean(), expert)...))
	}
	out.table(append([]string{"Velocity variation"}, flownHeader...), cells)
	m := r.Learned.Mean()
	c.printFaults(&out, w.Faults, m.Counts)
	if r.Frozen != nil {
		out.printf("taps moved by %.4f, disagreement %.4f, %s refused\n", r.Drift.Moved, r.Drift.Disagreement, grid.Count(m.Refused, "update"))
		if r.Plan.Cost == flock.CostDistances && !r.Plan.Ungated {
			out.printf("gates: %d of %d robots flew as trained at the end, %d began to learn anew\n",
				m.AsTrained, w.Robots*r.Plan.Flights, m.Anew)
		}
	}
	simulated := float64(m.Steps) * w.SampleSeconds
	all := 1 + len(rows) // controllers that flew
	out.printf("%.1f s of flight by %d controllers in %v\n", simulated*float64(all), all, brief(took))
	out.printf("playback   %s\nFoxglove   %s\nnumbers    %s\n", filepath.Join(c.out, flightPage),
		filepath.Join(c.out, flightMCAP), filepath.Join(c.out, flightJSON))
	return out.err
}

// flownHeader names what flown writes.
var flownHeader = []string{"total", "× expert", "final", "× expert", "connected", "closest", "steps with collisions"}

// flown writes how flights went, beside those of the expert.
func flown(m, expert flock.Summary) []string {
	return []string{
		fmt.Sprintf("%.2f", m.Total), relative(m.Total, expert.Total), fmt.Sprintf("%.4f", m.Final), relative(m.Final, expert.Final),
		fmt.Sprintf("%.0f %%", 100*flock.Ratio(float64(m.Connected), float64(m.Steps))), fmt.Sprintf("%.2f m", m.Closest),
		fmt.Sprintf("%d of %d", m.Crashed, m.Steps),
	}
}

// relative writes a as a multiple of b.
func relative(a, b float64) string {
	if b == 0 {
		return "–"
	}
	return fmt.Sprintf("%.3f", flock.Ratio(a, b))
}

// printFaults says what faults did, if there were any, and how often actions
// were out of bounds.
func (c *FlockCommand) printFaults(out *lines, f flocking.Faults, n flocking.Counts) {
	if len(f.Stops) > 0 {
		out.printf("stopped: %d; %s without effect, %s not sent\n", len(f.Stops), grid.Count(n.Idle, "action"), grid.Count(n.Muted, "message"))
	}
	if f.MessageLoss > 0 {
		out.printf("lost: %d of %d messages\n", n.Lost, n.Messages)
	}
	if f.DelaySteps > 0 {
		out.printf("delay: %s, %s before the first message\n", grid.Count(f.DelaySteps, "step"), grid.Count(n.Blind, "step"))
	}
	if n.Saturated > 0 {
		out.printf("%d components of actions were beyond what robots can do, and cut\n", n.Saturated)
	}
}

// runTransfer flies other teams and radii and prints how performance carries
// over.
func (c *FlockCommand) runTransfer(ctx context.Context, pilot *flock.Controller) error {
	out := lines{w: c.Stdout}
	plans := c.plan.Worlds(c.large)
	if !c.json {
		out.printf("Velocity variation of the learned controller, mean of %s of %v s each\n",
			grid.Count(c.plan.Flights, "flight"), c.plan.World.DurationSeconds)
	}
	var rows [][]string
	list, err := pilot.Transfer(ctx, plans, func(k int, t flock.Transfer) {
		fmt.Fprintf(c.Stderr, "transfer %d of %d\n", k+1, len(plans))
		name := fmt.Sprintf("%6d  %5.1f m", t.Robots, t.Radius)
		rows = append(rows, append([]string{name}, flown(t.Result.Learned.Mean(), t.Result.Expert.Mean())...))
	})
	if err != nil {
		return during("flock", err)
	}
	path := filepath.Join(c.out, transferJSON)
	if err := modelfile.WriteFile(path, func(w io.Writer) error { return writeJSON(w, list) }); err != nil {
		return during("flock", err)
	}
	if c.json {
		return writeJSON(c.Stdout, list)
	}
	out.table(append([]string{"robots   radius"}, flownHeader...), rows)
	if most := int(2 / c.plan.World.SampleSeconds); slices.ContainsFunc(plans, func(p flock.Plan) bool { return p.World.Robots > most }) {
		out.printf("The expert corrects by N times a robot's deviation: beyond %d robots it overshoots within one step.\n", most)
	}
	out.printf("numbers    %s\n", path)
	return out.err
}
