package host_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/script"
)

// Lines that came by a clock show it also where the host takes them long after, at once;
// those for which there was no room in between do not.
func TestBeatOfLinesThatPiledUp(t *testing.T) {
	plan, err := scriptPlan(script.Split("exchanges=1"))
	check(t, err)
	for _, c := range []struct {
		name  string
		pause time.Duration // of the world
	}{
		{"a world by the clock", 100 * time.Millisecond},
		{"a file", 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := host.NewText(nil, nil)
			go func() {
				defer w.End()
				for step := range 12 {
					w.Say(fmt.Appendf(nil, `{"time":%d,"nodes":[{"node":0,"row":[1]}]}`, step), nil)
					time.Sleep(c.pause)
				}
			}()
			m, err := host.NewMachine(host.Config{Run: "beat", Nodes: []agent.NodeID{0}, Plan: plan, Cost: host.MSE, Every: -1}, nil)
			check(t, err)
			m.Step(0, host.Start{})
			time.Sleep(time.Minute) // busy with something else
			for range 5 {
				m.Step(time.Minute, (<-w.Lines()).Taken())
			}
			if got := m.Checkpoint().Beat; got != c.pause {
				t.Errorf("%s: a beat of %v, want %v", c.name, got, c.pause)
			}
			for range w.Lines() { // it ends
			}
		})
	}
}

// A box that is started again while its neighbours are off knows how its world speaks.
func TestBeatIsKept(t *testing.T) {
	plan, err := scriptPlan(script.Split("exchanges=1"))
	check(t, err)
	begin := func(last []byte) *host.Machine {
		m, err := host.NewMachine(host.Config{Run: "beat", Nodes: []agent.NodeID{0}, Plan: plan, Cost: host.MSE, Every: -1}, last)
		check(t, err)
		m.Step(0, host.Start{})
		return m
	}
	line := func(step int, age time.Duration) *host.Line {
		l := &host.Line{Time: uint64(step), Nodes: []host.NodeLine{{Node: 0, Row: host.Numbers{1}}}}
		l.Noted(100*time.Millisecond, age)
		return l
	}
	for _, c := range []struct {
		name      string
		age, want time.Duration
	}{
		{"a world by the clock", time.Second, 100 * time.Millisecond},
		{"a world that waits for answers", 0, 0},
	} {
		m := begin(nil)
		for step := range 20 {
			m.Step(time.Duration(step)*time.Second, line(step, c.age+time.Duration(step)))
		}
		kept := m.Checkpoint()
		if kept.Beat != c.want {
			t.Errorf("%s: a beat of %v, want %v", c.name, kept.Beat, c.want)
		}
		text, err := json.Marshal(kept)
		check(t, err)
		again := begin(text)
		again.Step(0, line(20, 0))
		if got := again.Checkpoint().Beat; got != c.want {
			t.Errorf("%s: a beat of %v after a restart, want %v", c.name, got, c.want)
		}
	}
}
