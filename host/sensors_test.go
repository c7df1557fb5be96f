package host_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/conformal"
	"github.com/wdgnn/wdgnn/forecast"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
)

// sensorConfig is that of a host with three sensors in a ring, west, east and north,
// and a newcomer, node 3. They read 60, 70 and 80, and a wave of eight steps.
func sensorConfig(t testing.TB, learn bool) host.Config {
	t.Helper()
	const nodes, steps = 3, 64
	readings := mat.NewDense(steps*nodes, 1, nil)
	for k := range readings.Rows {
		readings.Set(k, 0, sensorReading(k%nodes, uint64(k/nodes)))
	}
	ring := graph.Ring(nodes)
	spec, err := forecast.Fit(forecast.Spec{Sensors: []string{"west", "east", "north"}, Lags: 2, Horizons: []int{1, 2}, Season: 8},
		readings, ring.Adjacency(), forecast.ScalePerSensor)
	check(t, err)
	for c := range spec.Horizons {
		spec.SetSigma(c, []float64{0.3, 0.4, 0.5})
	}
	config := gnn.Config{In: spec.Inputs(), Features: 2, Outputs: 2, Wide: &gnn.WideConfig{Order: 1}}
	model, err := gnn.NewRandom(config, random.Stream(1, "sensors"))
	check(t, err)
	plan := agent.PlanConfig{Model: model, Operator: graph.ShiftRowStochastic, Forecast: spec}
	if learn {
		r := rule.Seasonal().Ungated()
		r.Gate, r.Conformal = &rule.Gate{}, &conformal.Config{Coverage: 0.8, Window: 20}
		r.Season.Taps = -1
		plan.Rule = &r
		plan.Season, err = rule.NewSeasonPlan(&r, rule.SeasonTask{Season: spec.Season, Horizons: spec.Horizons})
		check(t, err)
	}
	links := map[agent.NodeID][]agent.Link{}
	for i := range agent.NodeID(nodes) {
		links[i] = agent.LinksOf(nil, ring.Adjacency(), int(i))
	}
	return host.Config{
		Run: "sensors", Nodes: []agent.NodeID{0, 1, 2, 3}, Plan: must(agent.NewPlan(plan)), Cost: "l1", Links: links,
		Names: map[agent.NodeID]string{0: "west", 1: "east", 2: "north"},
	}
}

// sensorReading is what node i reads at a step; it does not round the same
// everywhere, and need not.
func sensorReading(i int, t uint64) float32 {
	return float32(60+10*i) + 5*float32(math.Sin(2*math.Pi*float64(t)/8)) + float32((t*7+uint64(i)*3)%5)/4
}

// sensorHost is a machine that is played lines of text.
type sensorHost struct {
	*host.Machine
	t   testing.TB
	log []string
}

func newSensorHost(t testing.TB, c host.Config, checkpoint []byte) *sensorHost {
	t.Helper()
	m, err := host.NewMachine(c, checkpoint)
	check(t, err)
	m.Step(0, host.Start{})
	return &sensorHost{Machine: m, t: t}
}

// say plays a line, and returns the answer as text.
func (s *sensorHost) say(format string, args ...any) string {
	s.t.Helper()
	l, err := host.ParseLine(fmt.Appendf(nil, format, args...))
	check(s.t, err)
	a := s.Step(0, l)
	for _, e := range a.Log {
		if e.Level >= slog.LevelInfo {
			s.log = append(s.log, fmt.Sprint(e.Level, " ", e.Text, " ", e.Args))
		}
	}
	if a.Answer == nil {
		return ""
	}
	text, err := json.Marshal(a.Answer)
	check(s.t, err)
	return string(text)
}

// read plays a step in which all three sensors read well but those named, in JSON.
func (s *sensorHost) read(t uint64, other map[int]string) string {
	s.t.Helper()
	var nodes []string
	for i, name := range []string{"west", "east", "north"} {
		row, ok := other[i]
		if !ok {
			row = fmt.Sprint(sensorReading(i, t))
		}
		nodes = append(nodes, fmt.Sprintf(`{"sensor":%q,"row":[%s]}`, name, row))
	}
	return s.say(`{"time":%d,"nodes":[%s]}`, t, strings.Join(nodes, ","))
}

// Readings come and forecasts go in the user's units, with names; a missing reading
// is null, and changes nothing about who is answered.
func TestForecastLines(t *testing.T) {
	s := newSensorHost(t, sensorConfig(t, true), nil)
	for k := range uint64(40) {
		other := map[int]string{}
		if k%5 == 2 {
			other[int(k)%3] = "null"
		}
		if k == 20 {
			continue // a step that is left out
		}
		var a host.Answer
		check(t, json.Unmarshal([]byte(s.read(k, other)), &a))
		if len(a.Outputs) != 3 || a.Error != "" {
			t.Fatalf("step %d: got %+v, want three forecasts", k, a)
		}
		for i, o := range a.Outputs {
			if o.Sensor != []string{"west", "east", "north"}[i] || len(o.Value) != 2 || k > 30 && len(o.Intervals) != 2 {
				t.Fatalf("step %d: got %+v, want two forecasts with intervals of sensor %d", k, o, i)
			}
			for c, y := range o.Value {
				if math.Abs(float64(y)-float64(60+10*i)) > 40 {
					t.Errorf("step %d: sensor %d is forecast to read %v", k, i, y)
				}
				if k > 30 && (o.Intervals[c].Low > y || o.Intervals[c].High < y || o.Intervals[c].High-o.Intervals[c].Low < 0.1) {
					t.Errorf("step %d: forecast %v of sensor %d has the interval %v", k, y, i, o.Intervals[c])
				}
			}
		}
	}
	r := s.Step(0, host.Look{}).Report
	if r.Coverage == nil || r.Coverage.Judged < 100 || r.Coverage.Share < 0.5 || r.Coverage.Size < 0.1 {
		t.Errorf("got coverage %+v, want most of the answers to hold the truth", r.Coverage)
	}
	if r.Gate == nil || r.Gate.Adapted+r.Gate.Trained != 4 || r.Learning == nil || r.Learning.Steps < 30 || !(r.Learning.Frozen > 0) {
		t.Errorf("got gate %+v and learning %+v, want all nodes in the one and all steps in the other", r.Gate, r.Learning)
	}
	if want := uint64(0); r.Stats.BadTargets+r.Stats.StaleLines+r.Stats.StrayLines+r.Stats.RefusedEvents+r.Stats.LostOutputs != want {
		t.Errorf("got %+v, want nothing refused", r.Stats)
	}
}

// A broken sensor is announced once, with its name and why, stands in reports, and is
// announced again when it is back.
func TestBrokenSensorIsAnnounced(t *testing.T) {
	s := newSensorHost(t, sensorConfig(t, true), nil)
	for k := range uint64(10) {
		s.read(k, nil)
	}
	for k := uint64(10); k < 20; k++ {
		s.read(k, map[int]string{1: "-99999"})
	}
	r := s.Step(0, host.Look{}).Report
	want := []host.BrokenSensor{{Node: 1, Sensor: "east", Why: "its readings are far outside what training saw", Since: 10}}
	if !reflect.DeepEqual(r.Broken, want) || r.BrokenSensors != 1 || r.Stats.Broken != 1 {
		t.Errorf("got %+v, %d now and %d in all, want %+v", r.Broken, r.BrokenSensors, r.Stats.Broken, want)
	}
	for k := uint64(20); k < 25; k++ {
		s.read(k, nil)
	}
	r = s.Step(0, host.Look{}).Report
	if r.Broken != nil || r.BrokenSensors != 0 || r.Stats.Broken != 1 {
		t.Errorf("got %+v, want none after it is back", r.Broken)
	}
	log := []string{
		"WARN a sensor is broken: its readings are not used until they are trusted again " +
			"[sensor east node 1 time 10 why its readings are far outside what training saw since 10]",
		"INFO a sensor is back: its readings are used again [sensor east node 1 time 20 broken_since 10]",
	}
	if !slices.Equal(s.log, log) {
		t.Errorf("the log says\n%s\nwant\n%s", strings.Join(s.log, "\n"), strings.Join(log, "\n"))
	}
	for k := uint64(25); k < 75; k++ { // one that comes and goes is not said for ever
		s.read(k, map[int]string{1: []string{"-99999", "70"}[k%2]})
	}
	if len(s.log) > 2+2*5 {
		t.Errorf("the log has %d lines about one sensor", len(s.log))
	}
}

// How long ago a sensor was last read is in answers, reports and checkpoints; after twelve
// steps the log has it, once, and again when it is back. A world may say how old a reading is.
func TestSilentSensor(t *testing.T) {
	c := sensorConfig(t, false)
	s := newSensorHost(t, c, nil)
	s.read(0, nil)
	for k := uint64(1); k < 20; k++ {
		if k == 10 {
			text := must(json.Marshal(s.Checkpoint()))
			log := s.log
			s = newSensorHost(t, c, text)
			s.log = log
		}
		a, want := s.read(k, map[int]string{1: "null"}), fmt.Sprintf(`"age":%d}`, k)
		if strings.Count(a, `"age"`) != 1 || !strings.Contains(a, want) {
			t.Fatalf("step %d: got %s, want %s once", k, a, want)
		}
	}
	r := s.Step(0, host.Look{}).Report
	want := []host.SensorAge{{Node: 1, Sensor: "east", Steps: 19}, {Node: 0, Sensor: "west"}, {Node: 2, Sensor: "north"}}
	if !slices.Equal(r.Ages, want) || r.SilentSensors != 1 {
		t.Errorf("got %+v, %d silent, want %+v and one", r.Ages, r.SilentSensors, want)
	}
	if a := s.say(`{"time":20,"nodes":[{"node":1,"row":[70],"age":30}]}`); !strings.Contains(a, `"age":30}`) {
		t.Errorf("got %s, want a reading of 30 steps ago", a)
	}
	if r := s.Step(0, host.Look{}).Report; r.SilentSensors != 0 || r.Ages[0].Steps != 30 || r.Ages[1].Steps != 1 {
		t.Errorf("got %+v, %d silent, want one of 30 steps, which is used, and two of 1", r.Ages, r.SilentSensors)
	}
	log := []string{
		"WARN sensors are silent: are they dead, or cut off? [sensors east time 12 steps 12]",
		"INFO sensors that were silent are read again [sensors east time 20]",
	}
	if !slices.Equal(s.log, log) {
		t.Errorf("the log says\n%s\nwant\n%s", strings.Join(s.log, "\n"), strings.Join(log, "\n"))
	}
}

// A node that was not in training forecasts when its links name a sensor that was.
func TestNewcomerJoins(t *testing.T) {
	s := newSensorHost(t, sensorConfig(t, true), nil)
	answer := func(k uint64, links string) string {
		return s.say(`{"time":%d,"nodes":[{"node":0,"row":[60]},{"node":1,"row":[70]},{"node":2,"row":[80]},{"node":3,"row":[65]%s}]}`, k, links)
	}
	if a := answer(0, ""); strings.Contains(a, `"node":3`) || strings.Contains(a, "error") {
		t.Errorf("got %s, want no forecast of node 3, which knows nobody", a)
	}
	for k := uint64(1); k < 6; k++ {
		links := ""
		if k == 1 {
			links = `,"links":[0,[1,0.5]]`
		}
		if a := answer(k, links); !strings.Contains(a, `"node":3`) || strings.Contains(a, "error") {
			t.Fatalf("step %d: got %s, want a forecast of node 3", k, a)
		}
	}
	if len(s.log) != 2 || !strings.Contains(s.log[0], "as soon as it hears a sensor") || !strings.Contains(s.log[1], "has joined") {
		t.Errorf("the log says %q, want that node 3 waits and that it has joined", s.log)
	}
}

// Truths may be told apart from readings, with them or late; what makes no sense is
// refused, and the reading is used all the same.
func TestTruthsApart(t *testing.T) {
	s := newSensorHost(t, sensorConfig(t, true), nil)
	for k := range uint64(6) {
		s.say(`{"time":%d,"nodes":[{"node":0,"row":[61],"target":[null]}]}`, k)
	}
	for _, c := range []struct{ line, wrong string }{
		{`{"time":6,"nodes":[{"node":0,"row":[61],"target":[60.5]}]}`, ""},
		{`{"time":7,"nodes":[{"node":0,"row":[61],"target":[60.5,1]}]}`, "a target is one number, the truth of its time"},
		{`{"time":8,"nodes":[{"node":0,"row":[61],"gradient":[1,2]}]}`, "a target is one number"},
		{`{"time":9,"nodes":[{"node":0,"row":[61,62]}]}`, "a reading of 2 numbers"},
	} {
		a := s.say("%s", c.line)
		if !strings.Contains(a, c.wrong) || c.wrong == "" && strings.Contains(a, "error") {
			t.Errorf("%s: got %s, want %q", c.line, a, c.wrong)
		}
		if outputs := strings.Contains(a, `"output"`); outputs != (!strings.Contains(c.line, "62")) {
			t.Errorf("%s: got %s", c.line, a)
		}
	}
	before := s.Step(0, host.Look{}).Report
	for _, k := range []int{4, 2, 5, 5, 1} { // late, in any order
		s.say(`{"time":%d,"nodes":[{"sensor":"west","target":[60.25]}]}`, k)
	}
	s.say(`{"time":5,"nodes":[{"sensor":"west","target":[null]}]}`)
	s.say(`{"time":12,"nodes":[{"node":0,"row":[61],"target":[null]}]}`)
	after := s.Step(0, host.Look{}).Report
	if got := after.Agents.Late - before.Agents.Late; got != 4 || after.Stats.StaleLines != 0 {
		t.Errorf("got %d late truths of use and %d stale lines, want 4 and 0", got, after.Stats.StaleLines)
	}
	s.say(`{"time":90,"nodes":[{"node":0,"row":[61]}]}`)
	s.say(`{"time":3,"nodes":[{"node":0,"target":[60.25]}]}`)
	if r := s.Step(0, host.Look{}).Report; r.Stats.StaleLines != 1 {
		t.Errorf("got %d stale lines, want 1: nobody waits for a truth of step 3 in step 90", r.Stats.StaleLines)
	}
}

// Where the model knows a clock, lines may say when in place of which step, and answers
// say both, with the times that are forecast.
func TestLinesByTheClock(t *testing.T) {
	c := sensorConfig(t, false)
	a := newSensorHost(t, c, nil).say(`{"at":"2031-05-04T01:00:00Z","nodes":[{"node":0,"row":[61]}]}`)
	if !strings.Contains(a, "knows no clock") {
		t.Errorf("got %s, want that the model knows no clock", a)
	}
	spec := c.Plan.Forecast
	spec.Interval, spec.Origin = 15*time.Minute, time.Date(2031, 5, 4, 0, 0, 0, 0, time.UTC)
	s := newSensorHost(t, c, nil)
	for _, c := range []struct{ at, want string }{
		{`"at":"2031-05-04T01:00:00Z"`, `"time":4,`},
		{`"at":"2031-05-04T03:15:00+02:00"`, `"time":5,`},
		{`"at":"2031-05-04 01:37:29"`, `"time":6,`}, // the nearest step
		{`"at":"2031-05-04 01:37:30"`, `"time":7,`}, // of two the later
		{`"time":8`, `"at":"2031-05-04T02:00:00Z","for":["2031-05-04T02:15:00Z","2031-05-04T02:30:00Z"]`},
		{`"at":"2031-05-04T02:30Z"`, `"time":10,`},
		{`"at":"2031-05-05","time":96`, `"time":96,`},
		{`"at":"2031-05-05T00:15:00Z","time":96`, "also said to be step 96, and is step 97"},
		{`"at":"2031-05-03T23:00:00Z"`, "before"},
		{`"at":"4031-05-03T23:00:00Z"`, "290 years"},
		{`"at":"yesterday"`, "this is no time"},
		{`"at":"2031-05-04T01:00:00Z"`, "step 4 is over"},
	} {
		if a := s.say(`{%s,"nodes":[{"node":0,"row":[61]}]}`, c.at); !strings.Contains(a, c.want) {
			t.Errorf("%s: got %s, want %s in it", c.at, a, c.want)
		}
	}
	if a := s.say(`{"at":"2031-05-05","nodes":[{"node":0,"target":[61]}]}`); a != "" || s.Step(0, host.Look{}).Report.Stats.StaleLines != 5 {
		t.Errorf("got %s, want a late truth to be heard", a)
	}
}

// A host that is started again goes on with the same bits, broken sensors and
// newcomers included, and its checkpoint is one that an earlier program refuses.
func TestForecastCheckpoint(t *testing.T) {
	c := sensorConfig(t, true)
	c.Every = 1 // so that one is due after each step
	whole := newSensorHost(t, c, nil)
	parts := newSensorHost(t, c, nil)
	line := func(s *sensorHost, k uint64) string {
		west := fmt.Sprintf(`{"node":0,"row":[%v]}`, sensorReading(0, k))
		north := fmt.Sprintf(`{"node":2,"row":[null],"target":[%v]}`, sensorReading(2, k))
		return s.say(`{"time":%d,"nodes":[%s,{"node":1,"row":[-99999]},%s,{"node":3,"row":[65],"links":[0,2]}]}`, k, west, north)
	}
	for k := range uint64(30) {
		if a, b := line(whole, k), line(parts, k); a != b {
			t.Fatalf("step %d: got %s after a start, want %s", k, b, a)
		}
		if k%9 == 8 {
			text, err := json.Marshal(parts.Checkpoint())
			check(t, err)
			parts = newSensorHost(t, c, text)
		}
	}
}

// Whatever the world says, whatever of it nobody knows, a host that forecasts does not
// panic, answers with finite numbers or none, and does the same as another.
func FuzzForecastLines(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 0, 9, 200, 255, 1, 254, 253, 252})
	f.Add([]byte{0, 255, 255, 255, 0, 255, 255, 255, 3, 0, 0, 255, 2, 1, 1, 1, 0, 8, 8, 8})
	f.Add([]byte{'0', 255, '(', '.'}) // a link whose weight is no number
	f.Fuzz(func(t *testing.T, program []byte) {
		c := sensorConfig(t, true)
		a, b := newSensorHost(t, c, nil), newSensorHost(t, c, nil)
		var now uint64
		for len(program) >= 4 && len(program) < 4*256 {
			step := [4]byte(program)
			program = program[4:]
			l := fuzzedReadings(step, &now)
			x, y := a.Step(0, l), b.Step(0, l)
			if !reflect.DeepEqual(x, y) {
				t.Fatalf("two machines that were told the same do not do the same:\n%+v\n%+v", x, y)
			}
			if x.Answer == nil {
				continue
			}
			for _, o := range x.Answer.Outputs {
				if !mat.Finite(o.Value...) {
					t.Fatalf("node %d is forecast to read %v", o.Node, o.Value)
				}
			}
		}
		_, err := json.Marshal(a.Step(0, host.Look{Final: true}).Report)
		check(t, err)
		if checkpoint := a.Checkpoint(); checkpoint != nil {
			text, err := json.Marshal(checkpoint)
			check(t, err)
			newSensorHost(t, c, text)
		}
	})
}

// fuzzedReadings is a line, mostly of readings.
func fuzzedReadings(b [4]byte, now *uint64) *host.Line {
	number := func(v byte) float32 {
		switch v {
		case 255:
			return float32(math.NaN())
		case 254:
			return float32(math.Inf(1))
		case 253:
			return math.Float32frombits(binary.LittleEndian.Uint32(b[:]))
		}
		return float32(v)
	}
	if b[0]%4 == 3 { // a truth that comes late, or too early
		n := host.NodeLine{Node: agent.NodeID(b[2] % 5), Target: host.Numbers{number(b[3])}}
		return &host.Line{Time: *now + 1 - uint64(b[1]%16), Nodes: []host.NodeLine{n}}
	}
	*now += 1 + uint64(b[0]>>6)*uint64(b[0]>>5)
	l := &host.Line{Time: *now}
	for i := range 3 {
		n := host.NodeLine{Node: agent.NodeID(i), Row: host.Numbers{number(b[1+i])}}
		if b[0]&4 != 0 {
			n.Target = host.Numbers{number(b[1+(i+1)%3])}
		}
		if b[0]&8 != 0 {
			n.Node++
		}
		if b[0]&16 != 0 && i == 2 {
			n.SetLinks([]agent.Link{{Node: 0, Weight: number(b[1])}})
		}
		l.Nodes = append(l.Nodes, n)
	}
	return l
}
