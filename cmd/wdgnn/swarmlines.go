package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/wdgnn/wdgnn/internal/grid"
	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/internal/swarm"
)

// swarmView shows how a swarm is doing: a table that changes on a terminal, a
// line every second elsewhere.
type swarmView struct {
	screen
	lines  int    // printed where they do not change
	score  string // what the head above them calls it
	events int    // printed so far
}

func newSwarmView(out io.Writer) *swarmView { return &swarmView{screen: newScreen(out)} }

// mostHosts is how many hosts a table shows.
const mostHosts = 16

func (s *swarmView) show(v *swarm.View) {
	for _, words := range v.Events[s.events:] {
		s.say(words)
		s.events++
	}
	if !s.terminal() {
		if s.lines%20 == 0 || s.score != viewScore(v) { // which is known with the first answer
			s.score = viewScore(v)
			fmt.Fprintf(s.out, "%7s %7s %8s %7s %9s %8s %8s %12s\n",
				"seconds", "step", "steps/s", "up", viewScore(v), "late", "lost", "disagreement")
		}
		s.lines++
		fmt.Fprintf(s.out, "%7.0f %7d %8.1f %4d/%-2d %9s %6.2f %% %8d %12.3g\n",
			v.Seconds, v.Step, v.Rate, v.HostsUp, v.Hosts, viewValue(v), 100*v.Counters.LateShare(), v.Counters.Host.Gaps, v.Disagreement)
		return
	}
	head := s.parts(fmt.Sprintf("%.0f s", v.Seconds), fmt.Sprintf("step %d", v.Step), fmt.Sprintf("%.1f steps/s", v.Rate),
		fmt.Sprintf("%d of %d up", v.HostsUp, v.Hosts), viewScore(v)+" "+viewValue(v),
		fmt.Sprintf("late %.2f %%", 100*v.Counters.LateShare()), fmt.Sprintf("disagreement %.3g", v.Disagreement))
	table := strings.Split(strings.TrimSuffix(swarm.Table(v.Reports, mostHosts), "\n"), "\n")
	s.draw(append([]string{head}, table...)...)
}

// viewScore names what viewValue prints.
func viewScore(v *swarm.View) string {
	if v.Accuracy < 0 {
		return "cost"
	}
	return "right"
}

func viewValue(v *swarm.View) string {
	if v.Accuracy < 0 {
		return fmt.Sprintf("%.4f", v.Cost)
	}
	return fmt.Sprintf("%.1f %%", 100*v.Accuracy)
}

// printSwarm prints how a run went.
func printSwarm(w io.Writer, r *swarm.Result) error {
	out := lines{w: w}
	out.printf("%s in %.1f s: %.1f steps/s, %s on %s over %s\n",
		grid.Count(r.Steps, "step"), r.Seconds, r.Rate, grid.Count(r.Nodes, "node"), grid.Count(r.Hosts, "host"), r.Bus)
	switch {
	case r.Accuracy >= 0:
		out.printf("right answers        %.1f %%, frozen %.1f %%\n", 100*r.Accuracy, 100*r.Frozen)
	case r.Forecast != nil:
		printForecasts(&out, r.Forecast)
	case r.FrozenCost != 0:
		out.printf("mean cost            %.5f, frozen %.5f\n", r.Cost, r.FrozenCost)
	default:
		out.printf("mean cost            %.5f\n", r.Cost)
	}
	if r.Missing > 0 {
		out.printf("answers that did not come in time: %d\n", r.Missing)
	}
	c := &r.Counters
	out.printf("messages per step    %.0f rows in %.0f frames, %.1f kB\n", r.MessagesPerStep, r.FramesPerStep, r.BytesPerStep/1000)
	out.printf("late                 %.3f %% of the rows (%d given up)\n", 100*r.LateShare, c.Agents.Expired)
	out.printf("latency of a step    median %s, 99 %% %s, worst %s\n", fine(c.Latency.Median), fine(c.Latency.P99), fine(c.Latency.Max))
	if c.Host.Gaps+c.Agents.Asked+c.Agents.Duplicates+c.Host.Suspected > 0 {
		out.printf("network              %s lost, %s asked for again, %d doubled, %s given up for a while\n",
			grid.Count(c.Host.Gaps, "frame"), grid.Count(c.Agents.Asked, "row"), c.Agents.Duplicates,
			grid.Count(c.Host.Suspected, "neighbour"))
	}
	for _, words := range r.Events {
		out.printf("%s\n", words)
	}
	if r.Warning != "" {
		out.printf("warning              %s\n", r.Warning)
	}
	if v := r.Verified; v != nil {
		verdict := "the same bits as one process"
		if !v.Same() {
			verdict = "DIFFERENT from one process: " + v.First
		}
		out.printf("verified             %d of %d steps, parameters of %d of %d nodes: %s\n",
			v.SameOutputs, v.Steps, v.SameParams, v.Nodes, verdict)
	}
	return out.err
}

// printForecasts prints the mean absolute error of agents that forecast beside others,
// by horizon.
func printForecasts(out *lines, f *lifecycle.ForecastResult) {
	head := "mean absolute error"
	if f.Unit != "" {
		head += ", " + f.Unit
	}
	width := max(len([]rune(head)), 16)
	out.printf("%-*s", width, head)
	for _, h := range f.Horizons {
		out.printf(" %9s", h.Ahead)
	}
	out.printf("\n")
	for k, m := range f.Horizons[0].Methods {
		name := m.Name
		if name == lifecycle.MethodOnline {
			name = "agents"
		}
		out.printf("  %-*s", width-2, name)
		for _, h := range f.Horizons {
			out.printf(" %9.4g", h.Methods[k].MAE)
		}
		out.printf("\n")
	}
}

// fine rounds a short duration for reading.
func fine(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }
