package host_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/script"
)

// A box that is started again while its neighbours are off knows how its world speaks.
func TestBeatIsKept(t *testing.T) {
	plan, err := scriptPlan(script.Split("exchanges=1"))
	check(t, err)
	begin := func(last []byte) *host.Machine {
		m, err := host.NewMachine(host.Config{Run: "beat", Nodes: []agent.NodeID{0}, Plan: plan, Cost: host.MSE}, last)
		check(t, err)
		m.Step(0, host.Start{})
		return m
	}
	line := func(step int) *host.Line {
		return &host.Line{Time: uint64(step), Nodes: []host.NodeLine{{Node: 0, Row: host.Numbers{1}}}}
	}
	for _, c := range []struct {
		name  string
		pause time.Duration // between an answer and the next line
	}{
		{"a world by the clock", 100 * time.Millisecond},
		{"a file", 0},
	} {
		m := begin(nil)
		for step := range 20 {
			m.Step(time.Duration(step)*c.pause, line(step))
		}
		kept := m.Checkpoint()
		if kept.Beat != c.pause {
			t.Errorf("%s: a beat of %v, want %v", c.name, kept.Beat, c.pause)
		}
		text, err := json.Marshal(kept)
		check(t, err)
		again := begin(text)
		again.Step(0, line(20))
		if got := again.Checkpoint().Beat; got != c.pause {
			t.Errorf("%s: a beat of %v after a restart, want %v", c.name, got, c.pause)
		}
	}
}
