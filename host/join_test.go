package host_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/transport"
)

// A sensor that a box gets while it runs forecasts as a newcomer does that was there
// from the start: named by its name, with the links of its record, to the bit.
func TestSensorJoins(t *testing.T) {
	played := func(c host.Config, join *host.Member) (answers []string, log string) {
		s := newSensorHost(t, c, nil)
		for k := range uint64(30) {
			if k == 10 && join != nil {
				if a := s.Step(0, host.Shown{Record: signed(join)}); a.Refused != nil {
					t.Fatal(a.Refused)
				}
			}
			nodes, links := "", ""
			if k >= 12 {
				if k == 12 && join == nil {
					links = `,"links":[0,[1,0.5]]`
				}
				nodes = fmt.Sprintf(`,{"sensor":"bypass","row":[%v]%s}`, sensorReading(3, k), links)
			}
			more := ""
			if k == 12 && join == nil {
				more = `,"links":[1,2,[3,1]]`
			}
			half := ""
			if k == 12 && join == nil {
				half = `,"links":[0,2,[3,0.5]]`
			}
			answers = append(answers, s.say(`{"time":%d,"nodes":[{"node":0,"row":[%v]%s},{"node":1,"row":[%v]%s},{"node":2,"row":[%v]}%s]}`,
				k, sensorReading(0, k), more, sensorReading(1, k), half, sensorReading(2, k), nodes))
		}
		return answers, strings.Join(s.log, "\n")
	}
	before := sensorConfig(t, true)
	before.Names = map[agent.NodeID]string{0: "west", 1: "east", 2: "north", 3: "bypass"}
	want, _ := played(before, nil)
	later := sensorConfig(t, true)
	later.Nodes, later.Vouch = later.Nodes[:3], vouch
	got, log := played(later, &host.Member{
		Run: "sensors", Serial: 1, Nodes: "0-3", Sensors: map[agent.NodeID]string{3: "bypass"},
		Links: map[agent.NodeID][]host.Link{3: {{0, 1}, {1, 0.5}}, 0: {{3, 1}}, 1: {{3, 0.5}}},
	})
	for k := range want {
		if got[k] != want[k] {
			t.Fatalf("step %d: got\n%s\nwant\n%s", k, got[k], want[k])
		}
	}
	if !strings.Contains(got[20], `"sensor":"bypass"`) || !strings.Contains(log, "nodes were made that came later") {
		t.Errorf("got %s and the log %s, want forecasts of the sensor that came later", got[20], log)
	}
}

// crowdConfig is that of a host with nodes in a ring, which learn.
func crowdConfig(t *testing.T, nodes, together int) host.Config {
	t.Helper()
	m, err := gnn.NewRandom(gnn.Config{In: 1, Features: 3, Outputs: 2, Wide: &gnn.WideConfig{Order: 2}}, random.Stream(1, "crowd"))
	check(t, err)
	r := rule.Paper(false).Ungated()
	r.Ridge, r.StepSize.Value = 0.01, 0.05
	p := agent.PlanConfig{Model: m, Operator: graph.ShiftRowStochastic, Rule: &r, Cost: host.MSE.Kind(), Forgiving: true}
	p.Basis, err = online.NewBasis(m, r, nil)
	check(t, err)
	c := host.Config{
		Run: "crowd", Plan: must(agent.NewPlan(p)), Cost: host.MSE, Links: map[agent.NodeID][]agent.Link{}, Vouch: vouch, Together: together,
	}
	ring := graph.Ring(nodes)
	for i := range agent.NodeID(nodes) {
		c.Nodes = append(c.Nodes, i)
		c.Links[i] = agent.LinksOf(nil, ring.Adjacency(), int(i))
	}
	return c
}

// Nodes that come later are one with those that step together: what all of them answer,
// learn and remember has the bits of nodes that step one by one.
func TestJoinTogether(t *testing.T) {
	played := func(together int) (text string) {
		m, err := host.NewMachine(crowdConfig(t, 20, together), nil)
		check(t, err)
		m.Step(0, host.Start{})
		nodes := 20
		for k := range uint64(40) {
			if k == 10 {
				a := m.Step(0, host.Shown{Record: signed(&host.Member{Run: "crowd", Serial: 1, Nodes: "0-21", Links: map[agent.NodeID][]host.Link{
					20: {{0, 1}, {21, 1}}, 21: {{10, 0.5}, {20, 1}}, 0: {{20, 1}}, 10: {{21, 0.5}},
				}})})
				check(t, a.Refused)
			}
			if k == 15 {
				nodes = 22
			}
			l := &host.Line{Time: k}
			for i := range nodes {
				x := float32(math.Sin(float64(i) + float64(k)/3))
				l.Nodes = append(l.Nodes, host.NodeLine{Node: agent.NodeID(i), Row: []float32{x}, Target: []float32{x, -x}})
			}
			a := m.Step(0, l)
			answer, err := json.Marshal(a.Answer)
			check(t, err)
			text += string(answer) + "\n"
		}
		memory, err := json.Marshal(m.Checkpoint())
		check(t, err)
		return text + string(memory)
	}
	if alone, joint := played(-1), played(1); alone != joint {
		t.Errorf("one by one\n%.2000s\nand together\n%.2000s", alone, joint)
	}
}

// Who shows record after record takes little of a host's time: few are looked at in a
// deadline, and one that is in order is taken in the next.
func TestRecordFlood(t *testing.T) {
	c := crowdConfig(t, 4, -1)
	looked := 0
	c.Vouch = func(record []byte) ([]byte, error) {
		looked++
		return vouch(record)
	}
	m, err := host.NewMachine(c, nil)
	check(t, err)
	m.Step(0, host.Start{})
	for k := range 1000 {
		m.Step(0, host.Shown{Record: fmt.Appendf(nil, "forged %d", k)})
	}
	if looked > 100 {
		t.Errorf("%d records were looked at within a deadline, want 100 at most", looked)
	}
	good := host.Shown{Record: signed(&host.Member{Run: "crowd", Serial: 1, Nodes: "0-4"})}
	if m.Step(0, good).Refused == nil {
		t.Error("one more is taken, want it refused for now")
	}
	check(t, m.Step(2*time.Second, good).Refused)
	if r := m.Step(2*time.Second, host.Look{}).Report; r.Stats.RefusedRecords != 1001 || r.Stats.Joined != 1 {
		t.Errorf("%d records refused and %d taken, want 1001 and 1", r.Stats.RefusedRecords, r.Stats.Joined)
	}
}

// Whatever a record says, a machine takes it or leaves it, and its nodes go on.
func FuzzRecord(f *testing.F) {
	for _, m := range []host.Member{
		{Run: "crowd", Serial: 1, Nodes: "0-3,9", Links: map[agent.NodeID][]host.Link{9: {{0, 1}}, 0: {{9, 1}}}},
		{Run: "crowd", Host: 1, Serial: 1, Nodes: "4294967294"},
		{Run: "crowd", Host: 1, Serial: 1, Nodes: "5,5-6,5"},
		{Run: "crowd", Serial: 1, Nodes: "0-3,9", Sensors: map[agent.NodeID]string{9: "x"}},
	} {
		f.Add(signed(&m)[len(signature):])
	}
	f.Add([]byte(`{"run":"crowd","nodes":"0-4294967295"}`))
	f.Add([]byte(`{"run":"crowd","nodes":"1-2","links":{"1":[1,[2,-1]]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c := crowdConfig(t, 4, -1)
		d, err := host.NewDirectory(map[transport.HostID][]agent.NodeID{0: c.Nodes, 7: {70}})
		check(t, err)
		c.Directory = d
		m, err := host.NewMachine(c, nil)
		check(t, err)
		m.Step(0, host.Start{})
		a := m.Step(0, host.Shown{Record: append([]byte(signature), text...)})
		taken := a.Refused == nil && len(m.Members()) == 1
		if refused := a.Refused != nil && len(m.Members()) == 0; !taken && !refused {
			t.Errorf("%s: %d hosts joined (%v)", text, len(m.Members()), a.Refused)
		}
		line := &host.Line{Time: 1}
		for _, node := range append(slices.Clone(c.Nodes), 9) {
			line.Nodes = append(line.Nodes, host.NodeLine{Node: node, Row: []float32{1}})
		}
		m.Step(0, line)
		if b := m.Step(0, host.Look{}); b.Report.Stats.Joined+b.Report.Stats.RefusedRecords != 1 {
			t.Errorf("%s: taken %d, refused %d, want one of them", text, b.Report.Stats.Joined, b.Report.Stats.RefusedRecords)
		}
		_, err = json.Marshal(m.Checkpoint())
		check(t, err)
	})
}
