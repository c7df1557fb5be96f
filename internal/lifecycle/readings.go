package lifecycle

import (
	"fmt"
	"math"
	"time"

	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/data"
	"github.com/wdgnn/wdgnn/internal/duration"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
)

// readings are a series as the sensors of a forecast model meet it, step by step.
// Rows of the stream count from 0, steps of the model from Spec.Origin: row r is
// step first+r.
//
// A truth is known from the step on at which it is read, and no sooner: what is here
// of later rows is only looked at by Read of that row.
type readings struct {
	spec   *forecast.Spec
	series *data.Series
	told   []float32 // answers that come apart from readings, T·N, NaN unknown; nil if a reading is its own
	graphs *data.SensorGraphs
	first  uint64
	warm   int      // rows whose forecasts are not judged, for want of lags
	again  bool     // the model met these rows before
	notes  []string // what was done to the files, for people to read

	network *forecast.Network
	before  []forecast.Memory // what sensors remembered before the row that was read last
	last    int               // that row; -1 before the first
	rows    mat.Dense         // N×F, inputs of the row that was read last
	normal  []float32         // T·N truths so far, normalised; NaN unknown
	truth   []float32         // T·N, the same in the user's units
	trouble []string          // why each sensor is not believed, at the row that was read last; empty if it is
	joined  []bool            // sensors of which something is known
	arrived []int             // newcomers of whom it is since the row that was read last

	naive *forecast.Naive
	ridge *forecast.Ridge // nil if the model file holds none
}

// newReadings makes a series ready to be read from its first row on, with sensors
// that remember what the model file says, if anything.
func newReadings(spec *forecast.Spec, s *data.Series, told []float32, g *data.SensorGraphs) *readings {
	unknown := func() []float32 {
		v := make([]float32, s.Steps*s.Nodes)
		for k := range v {
			v[k] = float32(math.NaN())
		}
		return v
	}
	r := &readings{
		spec: spec, series: s, told: told, graphs: g, network: forecast.NewNetwork(spec, s.Nodes),
		rows: mat.NewDense(s.Nodes, spec.Inputs(), nil), normal: unknown(), truth: unknown(),
		trouble: make([]string, s.Nodes), joined: make([]bool, s.Nodes), naive: forecast.NewNaive(spec, s.Nodes), last: -1,
	}
	for i := range r.joined {
		r.joined[i] = i < len(spec.Norms)
	}
	return r
}

// restore gives the sensors back what they remembered, and heard by the given links.
func (s *readings) restore(all []forecast.Memory, links *graph.Graph) error {
	if err := s.network.Restore(all, links.Adjacency()); err != nil {
		return err
	}
	for i := range s.trouble {
		sensor := s.network.Sensor(i)
		s.joined[i] = sensor != nil
		if sensor != nil {
			s.trouble[i], _ = sensor.Broken()
		}
	}
	return nil
}

// step returns the step of row r.
func (s *readings) step(r int) uint64 { return s.first + uint64(r) }

// graph returns the links of row r.
func (s *readings) graph(r int) *graph.Graph { return s.graphs.At(r) }

// read shows row r to the sensors and returns their inputs, N×F, which hold until the
// next call.
func (s *readings) read(r int) mat.Dense {
	n := s.series.Nodes
	s.before, s.last = s.network.Memory(), r
	var told []float32
	if s.told != nil {
		told = s.told[r*n : (r+1)*n]
	}
	s.network.Read(s.rows, s.step(r), s.series.Step(r), told, s.graph(r).Adjacency())
	normal := s.normal[r*n : (r+1)*n]
	s.network.Truths(normal)
	s.arrived = s.arrived[:0]
	for i, v := range normal {
		if v-v == 0 {
			s.truth[r*n+i] = s.said(r, i)
			s.naive.Read(i, s.step(r), s.said(r, i))
		}
		if !s.joined[i] && s.network.Sensor(i) != nil {
			s.arrived = append(s.arrived, i)
		}
	}
	return s.rows
}

// said returns the truth of row r and sensor i as the files have it.
func (s *readings) said(r, i int) float32 {
	if s.told != nil {
		return s.told[r*s.series.Nodes+i]
	}
	return s.series.Step(r).Row(i)[0]
}

// truths returns what became known at row r, by sensor, normalised.
func (s *readings) truths(r int) []float32 {
	n := s.series.Nodes
	return s.normal[r*n : (r+1)*n]
}

// target writes what sensor i was to be forecast as at row r, by horizon and
// normalised, and says whether any of it is known by now.
func (s *readings) target(dst []float32, r, i int) (known bool) {
	n := s.series.Nodes
	for c, h := range s.spec.Horizons {
		dst[c] = float32(math.NaN())
		if at := r + h; r >= 0 && at < s.series.Steps {
			dst[c] = s.normal[at*n+i]
		}
		known = known || dst[c]-dst[c] == 0
	}
	return known
}

// units returns a number of sensor i in the user's units; NaN for a newcomer of whom
// nothing is known.
func (s *readings) units(i int, y float32) float32 {
	sensor := s.network.Sensor(i)
	if sensor == nil {
		return float32(math.NaN())
	}
	return sensor.Units(y)
}

// SensorNews is a sensor that is no longer believed, is again, or joined.
type SensorNews struct {
	Sensor string `json:"sensor"`
	Step   uint64 `json:"step"`           // of the model's clock
	Time   string `json:"time,omitempty"` // empty without a clock
	What   string `json:"what"`           // broken, back or joined
	Why    string `json:"why,omitempty"`  // of broken: in words
}

// When names the step.
func (n SensorNews) When() string {
	if n.Time == "" {
		return fmt.Sprintf("step %d", n.Step)
	}
	return n.Time
}

// String says it in words.
func (n SensorNews) String() string {
	when := n.When()
	switch n.What {
	case NewsBroken:
		return fmt.Sprintf("%s  sensor %s is not believed: %s", when, n.Sensor, n.Why)
	case NewsBack:
		return fmt.Sprintf("%s  sensor %s is believed again", when, n.Sensor)
	}
	return fmt.Sprintf("%s  sensor %s joined, with what its neighbours know", when, n.Sensor)
}

// What may be new of a sensor.
const (
	NewsBroken = "broken"
	NewsBack   = "back"
	NewsJoined = "joined"
)

// news returns what changed with row r, which was read last.
func (s *readings) news(r int) (list []SensorNews) {
	say := func(i int, what, why string) {
		list = append(list, SensorNews{Sensor: s.series.Names[i], Step: s.step(r), Time: s.clock(s.step(r)), What: what, Why: why})
	}
	for i := range s.trouble {
		sensor := s.network.Sensor(i)
		if sensor == nil {
			continue
		}
		if !s.joined[i] {
			s.joined[i] = true
			say(i, NewsJoined, "")
		}
		why, _ := sensor.Broken()
		switch {
		case why != "" && s.trouble[i] == "":
			say(i, NewsBroken, why)
		case why == "" && s.trouble[i] != "":
			say(i, NewsBack, "")
		}
		s.trouble[i] = why
	}
	return list
}

// How times are written, and those of series that say how far from UTC they are.
const (
	clockLayout = "2006-01-02 15:04:05"
	zoneLayout  = "2006-01-02 15:04:05-07:00"
)

// clock writes the time of a step; empty without a clock.
func (s *readings) clock(step uint64) string { return clockOf(s.spec, step) }

// clockOf writes the time of a step of a model; empty without a clock.
func clockOf(spec *forecast.Spec, step uint64) string {
	at := spec.Time(step)
	if at.IsZero() {
		return ""
	}
	if _, offset := at.Zone(); offset != 0 {
		return at.Format(zoneLayout)
	}
	return at.Format(clockLayout)
}

// ParseClock reads the time of a step as it stands in a line of an online run.
func ParseClock(text string) (time.Time, error) {
	if at, err := time.Parse(zoneLayout, text); err == nil {
		return at, nil
	}
	return time.Parse(clockLayout, text)
}

// ahead writes a horizon in words: 15m, or 3 steps without a clock.
func ahead(spec *forecast.Spec, h int) string {
	if spec.Interval == 0 {
		if h == 1 {
			return "1 step"
		}
		return fmt.Sprintf("%d steps", h)
	}
	return duration.Text(spec.Interval * time.Duration(h))
}

// newSeriesStream returns a series as a stream for a model.
func newSeriesStream(r *readings, m *modelfile.Model, criterion loss.Regression) *Stream {
	n := r.series.Nodes
	s := &Stream{
		Stream:  &data.Stream{Steps: r.series.Steps, Nodes: n, Graphs: r.graphs.Graphs, Changes: 1},
		Task:    config.Regress,
		sensors: r, criterion: criterion, shift: m.Meta.Shift, matrices: map[*graph.Graph]*matrices{}, byContent: map[string]*matrices{},
	}
	for i := range n {
		s.Read = append(s.Read, i)
	}
	for t, g := range s.Graphs {
		if t > 0 && g != s.Graphs[t-1] {
			s.Changes++
		}
	}
	outputs := m.Network.Outputs()
	s.cost, s.late = s.newCosts(outputs), s.newCosts(outputs)
	return s
}
