package lifecycle

import (
	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/online"
)

// ForecastResult is how forecasts turned out, in the user's units, beside what else
// could have been forecast. All are judged by the same truths.
type ForecastResult struct {
	Unit string `json:"unit,omitempty"`
	From string `json:"from"` // the first step of the stream: its time, or its number
	To   string `json:"to"`   // and the last

	Horizons []HorizonResult `json:"horizons"`
	Sensors  []SensorResult  `json:"sensors"`
	Verdicts

	Learned int          `json:"learned"` // sensors that answer with what they learned, at all horizons, at the end
	News    []SensorNews `json:"news,omitempty"`
	Broken  []SensorNews `json:"broken,omitempty"` // sensors that are not believed at the end, and since when
	Notes   []string     `json:"notes,omitempty"`  // what was done to the files
}

// HorizonResult is how forecasts of one horizon turned out, of all sensors together.
type HorizonResult struct {
	Steps   int            `json:"steps"`
	Ahead   string         `json:"ahead"` // in words
	Methods []MethodResult `json:"methods"`
}

// MethodResult is how one way to forecast turned out.
type MethodResult struct {
	Name string `json:"name"` // one of those below
	forecast.Score
}

// SensorResult is how forecasts of one sensor turned out, by horizon.
type SensorResult struct {
	Sensor string           `json:"sensor"`
	Online []forecast.Score `json:"online"`
	Frozen []forecast.Score `json:"frozen"`
}

// Method returns the result of a method; the zero value if there is none.
func (h *HorizonResult) Method(name string) MethodResult {
	for _, m := range h.Methods {
		if m.Name == name {
			return m
		}
	}
	return MethodResult{Name: name}
}

// The names of methods, in the order of tables. The last that is there answers.
const (
	MethodLast   = "last value"     // stays
	MethodSeason = "seasonal naive" // the value one season before returns
	MethodClock  = "clock mean"     // of training at this time of the season
	MethodRidge  = "ridge"          // each sensor by itself, linear in its lags
	MethodFrozen = "frozen"         // the model as trained
	MethodOnline = "online"
)

// method is a way to forecast, and how it does.
type method struct {
	name  string
	meter *forecast.Meter
}

// newMethods returns the ways to forecast: all but those for which something is
// missing, and online only if the model learns.
func newMethods(s *forecast.Spec, nodes int, naive *forecast.Naive, ridge *forecast.Ridge, learns bool) (list []method) {
	for _, m := range []struct {
		name  string
		there bool
	}{
		{MethodLast, true},
		{MethodSeason, s.Season > 0},
		{MethodClock, !naive.Means.Empty()},
		{MethodRidge, ridge != nil},
		{MethodFrozen, true},
		{MethodOnline, learns},
	} {
		if m.there {
			list = append(list, method{m.name, forecast.NewMeter(s, nodes)})
		}
	}
	return list
}

// horizonResults sums up how ways to forecast did, by horizon.
func horizonResults(s *forecast.Spec, list []method) (results []HorizonResult) {
	for c, h := range s.Horizons {
		result := HorizonResult{Steps: h, Ahead: ahead(s, h)}
		for _, m := range list {
			result.Methods = append(result.Methods, MethodResult{m.name, m.meter.Horizon(c, nil)})
		}
		results = append(results, result)
	}
	return results
}

// methods judges what the run forecast, and what it kept to compare with.
func (r *OnlineRun) methods() []method {
	s := r.Stream.sensors
	_, frozen := r.learner.(*unchanging)
	n, outputs := s.series.Nodes, r.y.Cols
	list := newMethods(s.spec, n, s.naive, s.ridge, !frozen)
	for t := range r.State.At {
		for c, h := range s.spec.Horizons {
			for i := range n {
				at := ((t-h)*n+i)*outputs + c
				if v := s.truth[t*n+i]; t-h >= s.warm && v-v == 0 && r.Predictions[at]-r.Predictions[at] == 0 {
					r.compare(list, c, i, at, s.step(t), v)
				}
			}
		}
	}
	return list
}

// answering returns the meters of what the run answered, and of the model as trained.
func answering(list []method) (learned, frozen *forecast.Meter) {
	learned = list[len(list)-1].meter
	for _, m := range list {
		if m.name == MethodFrozen {
			frozen = m.meter
		}
	}
	return learned, frozen
}

// compare judges all methods by the truth v of sensor i at a step; their forecasts of
// horizon c are the at-th of the run.
func (r *OnlineRun) compare(list []method, c, i, at int, step uint64, v float32) {
	answers := list[len(list)-1].meter
	for _, m := range list[:len(list)-1] {
		if m.name == MethodClock {
			m.meter.Judge(c, i, r.Stream.sensors.naive.Clock(i, step), v)
			continue
		}
		m.meter.Judge(c, i, r.Compared[at*compared+comparedAs[m.name]], v)
	}
	answers.Judge(c, i, r.Predictions[at], v)
	if r.saysSets() {
		answers.JudgeInterval(c, i, r.Sets[2*at], r.Sets[2*at+1], v)
	}
}

// forecastResult sums up how forecasts turned out; nil if the model makes none.
func (r *OnlineRun) forecastResult() *ForecastResult {
	s := r.Stream.sensors
	if s == nil {
		return nil
	}
	last := s.step(max(r.State.At-1, 0))
	f := &ForecastResult{
		Unit: s.spec.Unit, From: stepName(s.spec, s.first), To: stepName(s.spec, last), News: r.News, Broken: s.broken(), Notes: s.notes,
	}
	list := r.methods()
	f.Horizons = horizonResults(s.spec, list)
	f.Verdicts = judged(f.Horizons)
	learned, frozen := answering(list)
	for i, name := range s.series.Names {
		one := SensorResult{Sensor: name}
		for c := range s.spec.Horizons {
			one.Online, one.Frozen = append(one.Online, learned.Sensor(c, i)), append(one.Frozen, frozen.Sensor(c, i))
		}
		f.Sensors = append(f.Sensors, one)
	}
	f.Learned = r.learnedSensors()
	return f
}

// learnedSensors returns how many sensors answer with what they learned, at all
// horizons.
func (r *OnlineRun) learnedSensors() (count int) {
	f, ok := r.learner.(*online.Forecaster)
	if !ok && r.Rule.Gate == nil {
		return r.Stream.Nodes
	}
	if !ok {
		for _, g := range r.gateStates() {
			if g.Open {
				count++
			}
		}
		return count
	}
	for i := range r.Stream.Nodes {
		open := f.Joined(i)
		for c := range r.Stream.sensors.spec.Horizons {
			open = open && f.State(i, c).Open
		}
		if open {
			count++
		}
	}
	return count
}

// broken returns the sensors that are not believed, and since when.
func (s *readings) broken() (list []SensorNews) {
	for i, name := range s.series.Names {
		sensor := s.network.Sensor(i)
		if sensor == nil {
			continue
		}
		if why, since := sensor.Broken(); why != "" {
			list = append(list, SensorNews{Sensor: name, Step: since, Time: s.clock(since), What: NewsBroken, Why: why})
		}
	}
	return list
}

// SensorState is what one sensor read at a step, and what it will read by the
// forecasts made then, by horizon. A number that is not known is absent, or null.
type SensorState struct {
	Sensor   string     `json:"sensor"`
	Reading  *float32   `json:"reading,omitempty"`
	Truth    *float32   `json:"truth,omitempty"`
	Forecast []*float32 `json:"forecast"`
	Low      []*float32 `json:"low,omitempty"`
	High     []*float32 `json:"high,omitempty"`
	Broken   string     `json:"broken,omitempty"` // why it is not believed
}

// mostStates is how many sensors a line of the metrics shows.
const mostStates = 16

// watchSensors puts into a step what sensors read and forecast: all of a small network;
// of a large one some, the same at every step, and those that are not believed.
func (r *OnlineRun) watchSensors(step *OnlineStep) {
	s := r.Stream.sensors
	if s == nil {
		return
	}
	n := s.series.Nodes
	every := (n + mostStates - 1) / mostStates
	for i := range n {
		if i%every == 0 || s.trouble[i] != "" {
			step.Sensors = append(step.Sensors, r.sensorState(step.Step, i))
		}
	}
}

func (r *OnlineRun) sensorState(t, i int) SensorState {
	s, outputs := r.Stream.sensors, r.y.Cols
	at := (t*s.series.Nodes + i) * outputs
	state := SensorState{
		Sensor: s.series.Names[i], Reading: known(s.series.Step(t).Row(i)[0]), Truth: known(s.truth[t*s.series.Nodes+i]), Broken: s.trouble[i],
	}
	for c := range outputs {
		state.Forecast = append(state.Forecast, known(r.Predictions[at+c]))
		if r.saysSets() {
			state.Low, state.High = append(state.Low, known(r.Sets[2*(at+c)])), append(state.High, known(r.Sets[2*(at+c)+1]))
		}
	}
	return state
}

// known returns v, nil if it is no finite number.
func known(v float32) *float32 {
	if v-v != 0 {
		return nil
	}
	return &v
}
