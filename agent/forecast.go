package agent

import (
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/conformal"
	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/rule"
)

// forecasting is what a node has that forecasts.
type forecasting struct {
	plan   *Plan
	norm   *forecast.Norm   // what is known of the sensor; nil of a newcomer that has heard nobody of training yet
	sensor *forecast.Sensor // nil with norm
	season *rule.SeasonNode // nil if it learns by another rule, not at all, or norm is nil
	begin  rule.State       // what season began with; nil for nothing

	near  float32 // what was heard of neighbours' readings
	heard bool    // somebody was
	at    uint64  // in that step

	latest  uint64 // the last step that was read
	started bool   // there was one
	before  uint64 // the step before the present, of nodes that learn by Basis
	stepped bool   // there was one

	late   []PastTruth // truths of earlier steps, in the user's units, for the next one
	truths []pastTruth // by time modulo their number; of nodes that learn by Basis

	normal  []float32         // the answer before it has units
	trained []float32         // y† in the user's units
	bounds  []conformal.Bound // of its intervals
	judged  Judged
}

// newForecasting returns that of a node, nil if the plan does not forecast.
func newForecasting(id NodeID, p *Plan) *forecasting {
	if p.Forecast == nil {
		return nil
	}
	outputs := p.Model.Outputs()
	f := &forecasting{plan: p, normal: make([]float32, outputs), trained: make([]float32, outputs)}
	if p.learns() {
		f.truths = make([]pastTruth, p.furthest()+1)
	}
	i, r := int(min(id, math.MaxInt32)), p.Replayed // there are never so many
	if i < len(p.Forecast.Norms) {
		f.norm = &p.Forecast.Norms[i]
		f.sensor = forecast.NewSensor(p.Forecast, f.norm)
	} else if r != nil && i < len(r.Sensors) && r.Sensors[i].Norm != nil { // it joined in what was replayed
		f.join(*r.Sensors[i].Norm)
	}
	if f.sensor == nil {
		return f
	}
	if r != nil && i < len(r.Seasons) {
		f.begin = r.Seasons[i]
	}
	f.fresh()
	if r != nil && i < len(r.Sensors) {
		must(f.sensor.Restore(r.Sensors[i])) // NewPlan has tried it
		f.latest, f.started = r.Sensors[i].Step, r.Sensors[i].Started
		f.at, f.near, f.heard = r.hears(p.Forecast, i)
	}
	return f
}

// must panics where NewPlan should have complained.
func must(err error) {
	if err != nil {
		panic(fmt.Sprintf("agent: NewNode: %v", err))
	}
}

// fresh begins to learn with what the node began with.
func (f *forecasting) fresh() {
	if f.plan.Season == nil || f.norm == nil {
		return
	}
	f.season = rule.NewSeasonNode(f.plan.Season, f.plan.sigma(f.norm))
	must(f.season.Restore(f.begin))
}

// check reports a Begin that a node which forecasts cannot take.
func (f *forecasting) check(id NodeID, ev *Begin) error {
	want := 1 + f.plan.Forecast.Extras
	if len(ev.Row) != want || ev.Truth != nil && len(ev.Truth) != 1 {
		return fmt.Errorf("%w: node %d: a reading of %d numbers and a truth of %d, want %d, NaN for what is missing, and 1 or none",
			ErrMalformed, id, len(ev.Row), len(ev.Truth), want)
	}
	if ev.Time > mostTime {
		return fmt.Errorf("%w: node %d: step %d, want at most 2⁵³", ErrMalformed, id, ev.Time)
	}
	if f.started && ev.Time <= f.latest {
		return fmt.Errorf("%w: node %d: a reading of step %d, and the sensor has read step %d; streams go on after what was replayed",
			ErrOrder, id, ev.Time, f.latest)
	}
	return nil
}

// mostTime is the last step: up to it a float64, which memories are made of, holds
// every time.
const mostTime = 1 << 53

// read turns a reading into the inputs z, F of them, and learns from the truths that
// are known now: those that came late, in the order of their times, and that of the
// step. It returns how many of the late ones were of use.
func (f *forecasting) read(z []float32, ev *Begin) (late uint64) {
	f.judged = Judged{}
	if f.sensor == nil {
		f.settle(ev.Links)
	}
	if f.sensor == nil {
		f.plan.Forecast.Absent(z, ev.Time)
		f.late = f.late[:0]
		return 0
	}
	f.latest, f.started = ev.Time, true
	truth, told := float32(0), ev.Truth != nil
	if told {
		truth = ev.Truth[0]
	}
	f.sensor.Read(z, ev.Time, ev.Row, truth, told, f.near, f.heard && f.at+1 == ev.Time)
	for _, l := range f.late {
		if v, ok := f.sensor.Normal(l.Value); ok && f.tell(l.Time, v) {
			late++
		}
	}
	f.late = f.late[:0]
	if v, ok := f.sensor.Truth(); ok {
		f.tell(ev.Time, v)
	}
	return late
}

// settle lets a newcomer begin in the first step in which it hears a sensor of
// training: with the mean of what is known of those, and of what they began with.
func (f *forecasting) settle(links []Link) {
	var near []int
	var weights []float32
	for _, l := range links {
		if l.Node < NodeID(len(f.plan.Forecast.Norms)) {
			near, weights = append(near, int(l.Node)), append(weights, l.Weight)
		}
	}
	norm, ok := f.plan.Forecast.Newcomer(near, weights)
	if !ok {
		return
	}
	f.join(norm)
	f.begin = f.plan.meanSeason(near, weights)
	f.fresh()
}

// join makes the sensor of a newcomer.
func (f *forecasting) join(norm forecast.Norm) {
	f.norm, f.sensor, f.begin = &norm, forecast.NewNewcomer(f.plan.Forecast, norm), nil
}

// send writes what the node tells its neighbours of what it learned, overwritten;
// zeros of a newcomer that has learned nothing.
func (f *forecasting) send(to []float32) {
	clear(to)
	if f.season != nil {
		copy(to, f.season.Sent())
	}
}

// hearReadings keeps what was said of readings in the step that ends, by whoever was
// heard in its first exchange, for the estimates of the next.
func (n *Node) hearReadings() {
	f := n.forecasting
	var ear forecast.Ear
	for k := range n.links {
		if n.inbox[0].got[k] {
			ear.Hear(n.plan.Forecast, n.links[k].Weight, n.inbox[0].rows.Row(n.place(k)))
		}
	}
	f.near, f.heard = ear.Near()
	f.at = n.time
}

// mixSeason mixes what is known of the season's weight with what neighbours sent.
func (n *Node) mixSeason() {
	if f := n.forecasting; f.season != nil {
		self := n.mixingRow()
		f.season.Mix(n.scratch.weights, self, n.vectors[0], n.scratch.rows)
	}
}

// answerForecast makes the output one in the user's units, and keeps what goes with
// it. A newcomer of which nothing is known has none.
func (n *Node) answerForecast(base []float32) {
	f, y := n.forecasting, n.output
	copy(f.normal, y)
	if f.season == nil {
		f.bounds = n.answers().Bounds()
	}
	for c := range y {
		if f.sensor == nil {
			y[c], f.trained[c] = float32(math.NaN()), float32(math.NaN())
			continue
		}
		y[c], f.trained[c] = f.sensor.Units(y[c]), f.sensor.Units(base[c])
	}
}
