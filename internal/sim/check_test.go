package sim

import (
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
)

// A world by a clock that was fast says nothing until the clock is where it was. Whoever
// waits for it meanwhile does not wait for who joins.
func TestOnlyAfterJump(t *testing.T) {
	const d = 100 * time.Millisecond
	faults := []Fault{{Kind: faultJump, From: d, To: 2 * d, Size: 6}, {Kind: faultJoin, From: 2 * d, To: 20 * d}}
	for _, c := range []struct {
		period, at time.Duration
		want       bool
	}{
		{d, 7 * d, false},  // its clock is ahead
		{d, 11 * d, false}, // it was a moment ago
		{d, 13 * d, true},
		{0, 7 * d, true}, // nobody looks at the clock
	} {
		r := &run{now: c.at, trial: &Trial{Faults: faults, period: c.period, pace: host.Pace{Deadline: d}}}
		if got := r.only(faultJoin); got != c.want {
			t.Errorf("at %v, with a line every %v: that somebody joins is all that goes wrong: got %t, want %t", c.at, c.period, got, c.want)
		}
	}
}

// Who is in quarantine is no company, whatever it says now.
func TestCompany(t *testing.T) {
	links := [][]agent.Link{{{Node: 1}, {Node: 2}}, {{Node: 0}}, {{Node: 0}}}
	lies := Fault{Kind: faultNonsense, Host: 2, To: time.Second}
	r := &run{
		trial:  &Trial{hosts: [][]agent.NodeID{{0}, {1}, {2}}, owner: []int{0, 1, 2}, links: links, Faults: []Fault{lies}},
		occurs: 1 << faultNonsense,
	}
	for h := range 3 {
		r.boxes = append(r.boxes, r.newBox(h))
	}
	if !r.company(0) {
		t.Error("host 0 has a neighbour that talks sense: got none, want host 1")
	}
	r.boxes[0].out[1] = true
	if r.company(0) {
		t.Error("one neighbour of host 0 lies, and the other is in quarantine: got company, want none")
	}
}

// A frame counts as a lie if it is not what was to be sent: in one without rows there is
// nothing to change.
func TestLiesAreCounted(t *testing.T) {
	row := agent.Message{To: agent.Everyone, Kind: agent.Row, Values: []float32{1}}
	for _, c := range []struct {
		name     string
		messages []agent.Message
		want     int
	}{
		{"a row", []agent.Message{row}, 1},
		{"a request", []agent.Message{{To: 1, Kind: agent.Ask}}, 0},
	} {
		lies := Fault{Kind: faultNonsense, Lie: enormous, To: time.Second}
		r := &run{trial: &Trial{Faults: []Fault{lies}}, occurs: 1 << faultNonsense}
		r.boxes = []*box{r.newBox(0)}
		r.send(0, agent.AppendFrame(nil, agent.Header{}, c.messages))
		if got := r.boxes[0].lied; got != c.want {
			t.Errorf("a frame with %s of somebody who says 3e38: got %d lies, want %d", c.name, got, c.want)
		}
	}
}
