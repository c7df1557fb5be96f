package agent_test

import (
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/agent"
)

// lone is node 1 of a line of three, driven by hand.
type lone struct {
	*testing.T
	gauge *agent.Gauge
	said  agent.Message // what a neighbour might say
}

// newLone begins a measurement.
func newLone(t *testing.T, diameter int) *lone {
	t.Helper()
	g, err := agent.NewGauge(1, agent.GaugeConfig{Diameter: diameter})
	if err != nil {
		t.Fatal(err)
	}
	r, err := g.Step(agent.Begin{Links: []agent.Link{{Node: 0, Weight: 1}, {Node: 2, Weight: 1}}})
	if err != nil || len(r.Send) != 1 {
		t.Fatalf("%d messages and %v, want 1", len(r.Send), err)
	}
	l := &lone{t, g, r.Send[0]}
	l.said.Values = slices.Clone(l.said.Values)
	return l
}

// hear gives the node the estimate of a round.
func (l *lone) hear(from agent.NodeID, round int) {
	l.Helper()
	m := l.said
	m.From, m.Exchange = from, uint16(round)
	if _, err := l.gauge.Step(agent.Receive{Message: &m}); err != nil {
		l.Fatal(err)
	}
}

func (l *lone) step(ev agent.Event) {
	l.Helper()
	if _, err := l.gauge.Step(ev); err != nil {
		l.Fatal(err)
	}
}

// want compares what was counted, and who is waited for.
func (l *lone) want(what string, received, stale uint64, rounds int, missing ...agent.NodeID) {
	l.Helper()
	s := l.gauge.Stats()
	_, round, _ := l.gauge.Result()
	if got := l.gauge.Missing(nil); uint64(s.Received) != received || uint64(s.Stale) != stale || round != rounds ||
		!slices.Equal(got, missing) {
		l.Errorf("%s: %d received, %d stale, round %d, missing %v; want %d, %d, %d, %v",
			what, s.Received, s.Stale, round, got, received, stale, rounds, missing)
	}
}

// A node takes estimates of its round and of the next, and no others: one of two
// rounds ahead would be taken for one of this.
func TestGaugeTakesTwoRounds(t *testing.T) {
	l := newLone(t, 2)
	l.hear(0, 2)
	l.want("two rounds ahead", 0, 1, 0, 0, 2)
	l.hear(0, 1)
	l.want("the next round", 1, 1, 0, 0, 2)
	l.hear(0, 0)
	l.want("this round", 2, 1, 0, 2)
	l.hear(2, 0)
	l.want("all of this round", 3, 1, 1, 2) // that of node 0 was there
	l.hear(0, 0)
	l.want("a round that is over", 3, 2, 1, 2)
	l.step(agent.Expire{}) // node 2 is dropped, and the round goes on without
	l.want("node 2 dropped", 3, 2, 2, 0)
	l.hear(2, 2)
	l.want("from a node that was dropped", 3, 3, 2, 0)
}

// A neighbour that answers without going on is kept for Diameter + 1 stops of a
// round and dropped at the next; one that is silent is dropped at once, and an
// answer counts for one stop only.
func TestGaugePatience(t *testing.T) {
	for _, diameter := range []int{1, 2, 5} {
		l := newLone(t, diameter)
		for _, from := range []agent.NodeID{0, 2, 0} {
			l.hear(from, int(l.gauge.Stats().Steps))
		}
		l.want("node 2 waits itself", 3, 0, 1, 2)
		for stop := 1; stop <= diameter+2; stop++ {
			l.step(agent.Retry{})
			l.hear(2, 0) // as a sign of life, what it said last
			l.step(agent.Expire{})
			dropped := uint64(0)
			if stop > diameter+1 {
				dropped = 1
			}
			if got := uint64(l.gauge.Stats().Expired); got != dropped {
				t.Fatalf("diameter %d, stop %d: %d links dropped, want %d", diameter, stop, got, dropped)
			}
		}
	}
	l := newLone(t, 9)
	l.step(agent.Retry{})
	l.hear(2, 2) // stale, but a sign of life
	l.step(agent.Expire{})
	l.want("node 0 was silent", 0, 1, 0, 2)
	l.step(agent.Expire{}) // nobody was asked in between
	if l.gauge.Open() {
		t.Error("node 2 was silent too: open, want the end of a node without links")
	}
}
