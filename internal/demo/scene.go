package demo

import (
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/online"
)

var nan = math.NaN()

// scene is what a Live shows.
func (l *Live) scene() live.Scene {
	w := l.world
	s := live.Scene{
		Title: "Where did the pulse start?",
		About: "Links are lost after training. One network stays as it was trained, frozen; " +
			"in the other every node keeps learning from its own mistakes.",
		Task: "sourceloc", Time: "signal", Layout: live.LayoutForce, Edges: w.edges, Trials: true,
		Counters: []live.Counter{
			{Name: "signals"},
			{Name: "signals per second"},
			{Name: "links lost"},
			{Name: "nodes down"},
			{Name: "numbers sent per signal"},
		},
		Controls: []live.Control{
			{Name: live.ControlPause, Label: "Pause", Kind: live.KindSwitch},
			{Name: live.ControlStep, Label: "Step", Kind: live.KindButton},
			{Name: live.ControlSpeed, Label: "Speed", Kind: live.KindRange, Low: 1, High: 500, Log: true, Unit: "signals/s", Value: firstSpeed},
			{Name: live.ControlKill, Label: "Stop", Kind: live.KindNode},
			{Name: live.ControlRestart, Label: "Restart", Kind: live.KindNode},
		},
		Taps: tapColumns(w),
	}
	for _, c := range l.knobControls() {
		c.Knob = true
		s.Controls = append(s.Controls, c)
	}
	for i := range w.all.Nodes() {
		s.Nodes, s.Groups = append(s.Nodes, fmt.Sprintf("node %d, %s", i, community(i/w.World.Members))), append(s.Groups, i/w.World.Members)
	}
	for _, i := range w.Net.Sources {
		s.Marks = append(s.Marks, live.Mark{Node: i, Kind: "source"})
	}
	for _, i := range w.Net.Detectors {
		s.Marks = append(s.Marks, live.Mark{Node: i, Kind: "detector"})
	}
	s.Quantities = append(s.Quantities, live.Quantity{Name: "signal", Learner: -1, High: 0.2})
	const right, cost = "correctness, last 50 signals", "local loss, last 50 signals"
	for k, learner := range l.learners {
		s.Learners = append(s.Learners, learner.name)
		s.Quantities = append(s.Quantities, live.Quantity{
			Name: right + ": " + learner.name, Group: right, Learner: k, Unit: "%", High: 100, Good: "high",
		})
		s.Curves = append(s.Curves,
			live.Curve{Name: learner.name, Chart: "right answers, last 100 signals", Learner: k, Unit: "%", Recent: recent})
	}
	for k, learner := range l.learners {
		s.Quantities = append(s.Quantities, live.Quantity{Name: cost + ": " + learner.name, Group: cost, Learner: k, High: 2, Good: "low"})
		s.Curves = append(s.Curves, live.Curve{Name: learner.name, Chart: "error of the answers, last 50 signals", Learner: k, Recent: recent})
	}
	for k, learner := range l.learners {
		if learner.spec.Mode == recipe.Distributed {
			s.Quantities = append(s.Quantities, live.Quantity{Name: "disagreement: " + learner.name, Group: "disagreement", Learner: k})
			s.Curves = append(s.Curves,
				live.Curve{Name: learner.name, Chart: "disagreement of the nodes' taps", Learner: k, Log: true, Recent: recent})
		}
	}
	n := len(l.learners)
	s.Curves[0].Note = "How often the detectors are right: more is better."
	s.Curves[n].Note = "How surprised the detectors are by the truth: less is better."
	s.Curves[2*n].Note = "How far apart nodes are: small in consensus, large where each has taps of its own."
	return s
}

// recent is how many signals the charts show, so that what a knob does is seen after hours too.
const recent = 1000

// community returns what a community is called: by letters, as on the page.
func community(c int) string { return "community " + string(rune('A'+c%26)) }

// frame is what a Live shows now.
func (l *Live) frame() *live.Frame {
	w, n := l.world, l.world.all.Nodes()
	f := &live.Frame{Time: float64(l.time), Out: w.out, Down: []int32{}, Liars: []int32{}, Trial: l.trial(), Taps: l.taps()}
	if l.knobs.lie != noLie {
		f.Liars = append(f.Liars, int32(w.liar))
	}
	for _, i := range w.down {
		f.Down = append(f.Down, int32(i))
	}
	heard := blank(n)
	for i := range w.now.Rows {
		heard[i] = w.now.At(i, 0)
	}
	f.Values = append(f.Values, heard)
	detectors := func(of func(i int) window) live.Floats {
		v := blank(n)
		for _, i := range w.Net.Detectors {
			v[i] = float32(of(i).mean())
		}
		return v
	}
	for _, k := range l.learners {
		f.Values = append(f.Values, detectors(func(i int) window { return k.right[i] }))
		f.Curves = append(f.Curves, k.accuracy())
	}
	for _, k := range l.learners {
		costs := detectors(func(i int) window { return k.cost[i] })
		f.Values, f.Curves = append(f.Values, costs), append(f.Curves, known(costs))
	}
	for _, k := range l.learners {
		if k.spec.Mode == recipe.Distributed {
			values, most := disagreement(k.learner, n)
			f.Values, f.Curves = append(f.Values, values), append(f.Curves, most)
		}
	}
	links := len(w.edges) - len(w.out)
	f.Counters = live.Numbers{float64(l.time), l.rate.value, float64(len(w.out)), float64(len(w.down)), float64(2 * links * valuesSent(w))}
	for _, c := range l.hub.Scene().Controls {
		f.Settings = append(f.Settings, l.setting(c.Name))
	}
	if l.speed <= 10 || l.paused {
		f.Pulses = l.pulses()
	}
	return f
}

// known returns the mean of the values that are, NaN if there are none.
func known(values live.Floats) float64 {
	sum, n := 0.0, 0
	for _, v := range values {
		if v == v {
			sum, n = sum+float64(v), n+1
		}
	}
	if n == 0 {
		return nan
	}
	return sum / float64(n)
}

// valuesSent returns how many numbers a node sends to a neighbour for one
// signal: a row per hop of each layer.
func valuesSent(w *world) int {
	c := w.Architecture(recipe.WideDeep)
	sum, in := 0, c.In
	for _, layer := range c.Deep {
		sum += layer.Order * in
		in = layer.Features
	}
	return sum
}

// pulses are the links over which detectors hear.
func (l *Live) pulses() []int32 {
	reads := map[int32]bool{}
	for _, i := range l.world.Net.Detectors {
		reads[int32(i)] = true
	}
	lost := map[int32]bool{}
	for _, k := range l.world.out {
		lost[k] = true
	}
	var list []int32
	for k, e := range l.world.edges {
		if (reads[e[0]] || reads[e[1]]) && !lost[int32(k)] {
			list = append(list, int32(k))
		}
	}
	return list
}

// blank returns a NaN per node.
func blank(n int) live.Floats {
	v := make(live.Floats, n)
	for i := range v {
		v[i] = float32(nan)
	}
	return v
}

// disagreement returns ‖𝒜_i - mean of all‖ of every node, and the largest.
func disagreement(l online.Learner, n int) (values live.Floats, most float64) {
	c, ok := l.(*online.Consensus)
	if !ok { // before training
		return blank(n), nan
	}
	mean := make([]float32, c.Basis().Len())
	for e := range mean {
		sum := 0.0
		for i := range n {
			sum += float64(c.Params(i)[e])
		}
		mean[e] = float32(sum / float64(n))
	}
	for i := range n {
		d := c.Basis().Distance(c.Params(i), mean)
		values, most = append(values, float32(d)), max(most, d)
	}
	return values, most
}
