package host_test

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/script"
)

// A null is a number that nobody knows, not 0: a reading that is missing must not
// be taken for one of 0.
func TestNullIsUnknown(t *testing.T) {
	l, err := host.ParseLine([]byte(`{"time":7,"nodes":[{"node":3,"row":[null,2],"target":[null]},{"node":4,"row":null}]}`))
	check(t, err)
	row, target := l.Nodes[0].Row, l.Nodes[0].Target
	if len(row) != 2 || !math.IsNaN(float64(row[0])) || row[1] != 2 || len(target) != 1 || !math.IsNaN(float64(target[0])) {
		t.Errorf("got row %v and target %v, want [NaN 2] and [NaN]", row, target)
	}
	if l.Nodes[1].Row != nil {
		t.Errorf("got row %v, want none", l.Nodes[1].Row)
	}
}

// A node that does not forecast is shown no reading that nobody knows: it is refused,
// in the answer. A target that nobody knows is none.
func TestUnknownReadingIsRefusedWhereNothingForecasts(t *testing.T) {
	m := namedMachine(t)
	l, err := host.ParseLine([]byte(`{"time":0,"nodes":[{"node":0,"row":[null]},{"node":1,"row":[1],"target":[null]}]}`))
	check(t, err)
	a := m.Step(0, l).Answer
	if a == nil || len(a.Outputs) != 1 || a.Outputs[0].Node != 1 {
		t.Fatalf("got answer %+v, want that of node 1 alone", a)
	}
	if !strings.Contains(a.Error, "node 0: ") || !strings.Contains(a.Error, "want 1 finite ones") || strings.Contains(a.Error, "node 1") {
		t.Errorf("got error %q, want one about the reading of node 0 alone", a.Error)
	}
}

// Nothing may stand behind a line's object, a bracket that closes nothing included.
func TestLineThatGoesOn(t *testing.T) {
	for _, text := range []string{`{"time":7}}`, `{"time":7}]`, `{"time":7} {"time":8}`, `{"time":7}} garbage {"time":8}`} {
		if l, err := host.ParseLine([]byte(text)); err == nil {
			t.Errorf("%s: got a line of step %d, want an error", text, l.Time)
		}
	}
}

// Lines may name sensors; answers have the name beside the number.
func TestSensorsByName(t *testing.T) {
	for _, c := range []struct{ line, outputs, wrong string }{
		{`{"time":0,"nodes":[{"sensor":"east","row":[1]},{"node":0,"row":[2]}]}`, "0 west, 1 east", ""},
		{`{"time":0,"nodes":[{"sensor":"east","node":1,"row":[1]}]}`, "1 east", ""},
		{`{"time":0,"nodes":[{"sensor":"west","node":1,"row":[1]}]}`, "", `the sensor "west" is node 0, not 1`},
		{`{"time":0,"nodes":[{"sensor":"north","row":[1]}]}`, "", `no sensor is called "north"`},
		{`{"time":0,"nodes":[{"sensor":"far","row":[1]}]}`, "", `node 7 is not one of host 0`},
	} {
		l, err := host.ParseLine([]byte(c.line))
		check(t, err)
		a := namedMachine(t).Step(0, l).Answer
		var outputs []string
		for _, o := range a.Outputs {
			outputs = append(outputs, string(rune('0'+o.Node))+" "+o.Sensor)
		}
		if got := strings.Join(outputs, ", "); got != c.outputs || !strings.Contains(a.Error, c.wrong) || c.wrong == "" && a.Error != "" {
			t.Errorf("%s: got outputs of %q and error %q, want %q and %q", c.line, got, a.Error, c.outputs, c.wrong)
		}
	}
}

// namedMachine has two nodes with names and no neighbours; a third is elsewhere.
func namedMachine(t *testing.T) *host.Machine {
	t.Helper()
	plan, err := scriptPlan(script.Split("exchanges=1 learns"))
	check(t, err)
	m, err := host.NewMachine(host.Config{
		Run: "named", Nodes: []agent.NodeID{0, 1}, Plan: plan, Cost: host.MSE,
		Names: map[agent.NodeID]string{0: "west", 1: "east", 7: "far"},
	}, nil)
	check(t, err)
	m.Step(0, host.Start{})
	return m
}

func TestNamesStandForOneNode(t *testing.T) {
	plan, err := scriptPlan(script.Split("exchanges=1"))
	check(t, err)
	c := host.Config{Run: "named", Nodes: []agent.NodeID{0}, Plan: plan, Cost: host.MSE, Names: map[agent.NodeID]string{0: "a", 2: "a", 3: ""}}
	err = c.Validate()
	for _, want := range []string{`nodes 0 and 2 are both called "a"`, "node 3 has an empty name"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
}

// A line that can be read says the same when it was written and read again,
// whatever of it nobody knows.
func FuzzLine(f *testing.F) {
	for _, text := range []string{
		`{"time":7,"nodes":[{"node":3,"row":[61.5]}]}`,
		`{"time":7,"nodes":[{"sensor":"773869","row":[null],"target":[61.2]},{"node":4,"row":[1e30,null],"target":[null]}]}`,
		`{"time":7,"nodes":[{"node":3,"row":[],"links":[4,[9,0.5]],"gradient":[null,-0]}]}`,
		`{"time":7,"nodes":[{"node":3,"row":[NaN]}]}`,
		`{"time":7,"nodes":[{"node":3,"row":["null"]}]}`,
		`{"time":7,"nodes":[{"node":3,"row":null}],"end":true}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := host.ParseLine(text)
		if err != nil {
			return
		}
		written, err := json.Marshal(l)
		check(t, err)
		again, err := host.ParseLine(written)
		check(t, err)
		for k := range l.Nodes {
			a, b := &l.Nodes[k], &again.Nodes[k]
			if len(a.Row) > 0 && !sameNumbers(a.Row, b.Row) || len(a.Target) > 0 && !sameNumbers(a.Target, b.Target) || a.Sensor != b.Sensor {
				t.Errorf("%s: got %+v, want %+v", written, b, a)
			}
		}
		if !reflect.DeepEqual(l.End, again.End) || l.Time != again.Time {
			t.Errorf("%s: got %+v, want %+v", written, again, l)
		}
	})
}

func sameNumbers(a, b host.Numbers) bool {
	if len(a) != len(b) {
		return false
	}
	for k := range a {
		if a[k] != b[k] && (a[k] == a[k] || b[k] == b[k]) {
			return false
		}
	}
	return true
}
