package runview

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/wdgnn/wdgnn/internal/lifecycle"
	"github.com/wdgnn/wdgnn/internal/live"
)

// Learners of an online run, by the names that its result has.
const (
	learnerFrozen = iota
	learnerOnline
)

var learners = []string{lifecycle.MethodFrozen, lifecycle.MethodOnline}

// About is what is known of an online run beside its lines.
type About struct {
	Title, Words string // Words are a sentence for people
	Steps        int    // of the stream
	Classes      bool   // answers are classes
	Gates        bool   // nodes answer as trained where that is better
	Sets         bool   // answers come with sets or intervals
	Asked        float64
	Unit         string      // of forecasts
	Ahead        []string    // how far ahead they look, in words; empty if the run does not forecast
	Horizons     []int       // and in steps
	Sensors      []string    // of which the lines speak
	Network      *Network    // nil if it is not known
	Clock        *live.Clock // nil if steps have no times

	// Errors returns the absolute error of the forecast of a node that came due at a
	// step, at the middle one of the horizons, by learner; NaN where there is none. It
	// is nil if the run does not forecast.
	Errors func(step, node int) [2]float64

	Watched bool // it goes on, and those who watch may pause it
}

// Online turns the lines of an online run into frames.
type Online struct {
	about  About
	window int

	right, cost [2]*window // of all nodes
	before      [2]float64 // right answers so far
	asked       float64
	moved       [2]float64 // and disagreement, as they were told last
	nodes       *nodes     // nil without a network
	sensors     []*sensor
	steps       int // with a known cost
}

// NewOnline returns an Online that has seen no line.
func NewOnline(about About) *Online {
	o := &Online{about: about, window: windowOf(about.Steps), moved: [2]float64{math.NaN(), math.NaN()}}
	for l := range learners {
		o.right[l], o.cost[l] = newWindow(o.window), newWindow(o.window)
	}
	if about.Network != nil {
		o.nodes = newNodes(&about)
	}
	if len(about.Horizons) > 0 {
		o.sensors = chooseSensors(&about)
	}
	return o
}

// Scene returns what the run shows.
func (o *Online) Scene() live.Scene {
	a := &o.about
	s := live.Scene{
		Title: a.Title, About: a.Words, Task: "online", Time: "step", Clock: a.Clock, Layout: live.LayoutNone,
		Learners: learners, Looks: []int{live.LookFrozen, live.LookLearning},
	}
	both := func(chart, unit, note string) {
		s.Curves = append(s.Curves,
			live.Curve{Name: learners[learnerFrozen], Chart: chart, Learner: learnerFrozen, Unit: unit, Note: note},
			live.Curve{Name: learners[learnerOnline], Chart: chart, Learner: learnerOnline, Unit: unit})
	}
	last := fmt.Sprintf(", last %d steps", o.window)
	if a.Classes {
		both("right answers"+last, "%", "How often the nodes that are read answer right: more is better.")
	}
	unit, note := "", "What the answers cost, by the loss that the model was trained with: less is better."
	if len(a.Horizons) > 0 {
		unit, note = a.Unit, "How far all forecasts were off when what they forecast came true: less is better."
	}
	both(o.costName()+last, unit, note)
	s.Hero = &live.Hero{Chart: s.Curves[0].Chart, Learner: learnerOnline}
	if a.Gates {
		s.Curves = append(s.Curves, live.Curve{
			Name: "nodes", Chart: "nodes that answer with what they learned", Learner: learnerOnline,
			Note: "The others answer as trained, until what they learned has been better for a while.",
		})
	}
	for _, k := range o.sensors {
		k.scene(&s, a)
	}
	if a.Sets {
		held := fmt.Sprintf("answers whose %s held the truth, all steps", o.setName())
		s.Curves = append(s.Curves,
			live.Curve{
				Name: learners[learnerOnline], Chart: held, Learner: learnerOnline, Unit: "%",
				Note: fmt.Sprintf("The %s should hold the truth as often as was asked for; one without ends holds everything.", o.setName()),
			},
			live.Curve{Name: "asked for", Chart: held, Learner: -1, Unit: "%"})
	}
	const taps = "taps of the nodes"
	s.Curves = append(s.Curves,
		live.Curve{
			Name: "distance from the trained ones", Chart: taps, Learner: learnerOnline,
			Note: "How far learning has moved the nodes' taps, and how far apart those are.",
		},
		live.Curve{Name: "disagreement", Chart: taps, Learner: -1})
	o.counters(&s)
	if o.nodes != nil {
		o.nodes.scene(&s, a, o.window)
	}
	if a.Watched {
		s.Controls = paceControls()
	}
	return s
}

// costName says what the cost of a step is.
func (o *Online) costName() string {
	if len(o.about.Horizons) == 0 {
		return "cost"
	}
	if o.about.Unit == "" {
		return "mean absolute error"
	}
	return "mean absolute error in " + o.about.Unit
}

func (o *Online) setName() string {
	if o.about.Classes {
		return "set"
	}
	return "interval"
}

// counters adds numbers of all steps so far.
func (o *Online) counters(s *live.Scene) {
	for _, name := range learners {
		if o.about.Classes {
			s.Counters = append(s.Counters, live.Counter{Name: name + ", right answers of all steps", Unit: "%"})
		} else {
			s.Counters = append(s.Counters, live.Counter{Name: fmt.Sprintf("%s, %s of all steps", name, o.costName())})
		}
	}
	s.Counters = append(s.Counters, live.Counter{Name: "steps"})
}

// Take returns the frame of a line, and what happened, in words.
func (o *Online) Take(s lifecycle.OnlineStep) (*live.Frame, []live.Words) {
	o.judge(s)
	f := &live.Frame{Time: float64(s.Step)}
	if o.about.Classes {
		f.Curves = append(f.Curves, o.told(s, 100*o.right[learnerFrozen].mean()), o.told(s, 100*o.right[learnerOnline].mean()))
	}
	f.Curves = append(f.Curves, o.told(s, o.cost[learnerFrozen].mean()), o.told(s, o.cost[learnerOnline].mean()))
	if o.about.Gates {
		f.Curves = append(f.Curves, number(s.Adapted))
	}
	for _, k := range o.sensors {
		f.Curves = append(f.Curves, k.take(s)...)
	}
	if o.about.Sets {
		f.Curves = append(f.Curves, percent(s.Coverage), 100*o.about.Asked)
	}
	for k, v := range []*float64{s.Moved, s.Disagreement} { // told now and then
		if v != nil {
			o.moved[k] = *v
		}
		f.Curves = append(f.Curves, o.moved[k])
	}
	f.Counters = live.Numbers{round(s.FrozenMeanCost), round(s.MeanCost), float64(s.Step + 1)}
	if o.about.Classes {
		f.Counters[learnerFrozen], f.Counters[learnerOnline] = tenth(percent(s.FrozenAccuracy)), tenth(percent(s.Accuracy))
	}
	if o.nodes != nil {
		o.nodes.take(s, f)
	}
	return f, o.words(s)
}

// judge takes what a line says of answers into the windows.
func (o *Online) judge(s lifecycle.OnlineStep) {
	for l, cost := range []*float64{learnerFrozen: s.FrozenCost, learnerOnline: s.Cost} {
		if cost != nil {
			o.cost[l].add(*cost, 1)
		} else {
			o.cost[l].add(0, 0)
		}
	}
	if s.Accuracy == nil || s.FrozenAccuracy == nil {
		return
	}
	if s.Cost != nil {
		o.steps++
	}
	asked := float64(s.Asked)
	if s.Asked == 0 { // of an earlier version: as many at every step that is known
		asked = float64(o.steps)
	}
	for l, share := range []float64{learnerFrozen: *s.FrozenAccuracy, learnerOnline: *s.Accuracy} {
		o.right[l].add(share*asked-o.before[l], asked-o.asked)
		o.before[l] = share * asked
	}
	o.asked = asked
}

// told returns v, NaN at a step of which nobody knows how it went: there is a gap.
func (o *Online) told(s lifecycle.OnlineStep, v float64) float64 {
	if s.Cost == nil {
		return math.NaN()
	}
	return v
}

// words says what is new at a step.
func (o *Online) words(s lifecycle.OnlineStep) (list []live.Words) {
	at := float64(s.Step)
	if o.nodes != nil {
		if w := o.nodes.linked(s.Step); w.Text != "" {
			list = append(list, w)
		}
	}
	for _, n := range s.News {
		list = append(list, live.Words{Time: at, Text: n.String(), Mark: n.Sensor + " " + newsMarks[n.What]})
	}
	for _, turned := range []struct {
		nodes []int
		how   string
	}{{s.Opened, "with what was learned"}, {s.Closed, "as trained"}} {
		if len(turned.nodes) > 0 {
			list = append(list, live.Words{Time: at, Text: fmt.Sprintf("%s from now on %s.", answering(turned.nodes), turned.how)})
		}
	}
	return list
}

// newsMarks are what stands at the axis of time when something is new of a sensor.
var newsMarks = map[string]string{
	lifecycle.NewsBroken: "not believed", lifecycle.NewsBack: "believed again", lifecycle.NewsJoined: "joined",
}

// mostNamed is how many nodes are named in a sentence.
const mostNamed = 6

func answering(nodes []int) string {
	if len(nodes) == 1 {
		return fmt.Sprintf("Node %d answers", nodes[0])
	}
	var names []string
	for _, i := range nodes[:min(len(nodes), mostNamed)] {
		names = append(names, fmt.Sprint(i))
	}
	if more := len(nodes) - mostNamed; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	last := len(names) - 1
	return fmt.Sprintf("Nodes %s and %s answer", strings.Join(names[:last], ", "), names[last])
}

func number(v *int) float64 {
	if v == nil {
		return math.NaN()
	}
	return float64(*v)
}

func percent(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return 100 * *v
}

// tenth rounds for people: one digit behind the point.
func tenth(v float64) float64 { return math.Round(10*v) / 10 }

// round keeps four digits.
func round(v float64) float64 {
	if v == 0 || v-v != 0 {
		return v
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-3)
	return math.Round(v/unit) * unit
}

// AboutOnline returns what is known of a run that is about to be played.
func AboutOnline(run *lifecycle.OnlineRun, title string) About {
	a := About{
		Title: title, Steps: run.Stream.Steps, Classes: run.Stream.Task == "classify" && run.Stream.Names() == nil,
		Gates: run.Rule.Gate != nil && run.Rule.Season == nil, Sets: run.SetsName() != "", Asked: run.Coverage(), Unit: run.Unit(),
		Words: aboutOnline, Network: networkOf(run),
	}
	a.Ahead, a.Horizons = run.Horizons()
	if start, every, ok := run.Stream.Clock(); ok {
		a.Clock = clockOf(start, every)
	}
	if names := run.Stream.Names(); names != nil {
		a.Words, a.Sensors = aboutForecasts, slices.Clone(names)
		a.Errors = errorsOf(a.Horizons, len(names), func() forecasts {
			truths, _ := run.Truths()
			return forecasts{run.Predictions, run.Compared, truths}
		})
	}
	return a
}

// clockOf returns a clock that shows the time of the place where the readings come from.
func clockOf(start time.Time, every time.Duration) *live.Clock {
	_, offset := start.Zone()
	return &live.Clock{Start: float64(start.Unix()+int64(offset)) + float64(start.Nanosecond())/1e9, Every: every.Seconds()}
}

// clockOfLines returns the clock of a run by what its lines say, nil if they have no times.
func clockOfLines(steps []lifecycle.OnlineStep) *live.Clock {
	last := len(steps) - 1
	if last < 1 || steps[last].Step <= steps[0].Step {
		return nil
	}
	var times [2]time.Time
	for k, text := range []string{steps[0].Time, steps[last].Time} {
		at, err := lifecycle.ParseClock(text)
		if err != nil {
			return nil
		}
		times[k] = at
	}
	every := times[1].Sub(times[0]) / time.Duration(steps[last].Step-steps[0].Step)
	if every <= 0 {
		return nil
	}
	return clockOf(times[0].Add(-every*time.Duration(steps[0].Step)), every)
}
