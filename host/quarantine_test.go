package host_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/transport"
)

// Of the quarantines in a checkpoint those go on that can be: of a host that there is, for a
// reason that there is, and no longer than one lasts. Another model may be this host's by now.
func TestQuarantinesOfCheckpoint(t *testing.T) {
	c := newCourt(t)
	for _, q := range []struct {
		kept string
		left float64 // -1 if nobody is kept out
	}{
		{`{"host":1,"why":"bounds","left_seconds":3,"term_seconds":8,"times":1,"evidence":{"bounds":12,"gossip":1}}`, 3},
		{`{"host":1,"why":"bounds","left_seconds":1e300,"term_seconds":1e300,"times":-1,"seconds":1e300}`, 256},
		{`{"host":1,"why":"bounds","left_seconds":-1e300,"term_seconds":-1,"seconds":-1e300}`, 0},
		{`{"host":1,"why":"gossip","left_seconds":3,"term_seconds":8,"times":1}`, -1},
		{`{"host":1,"why":"model","left_seconds":0,"term_seconds":0,"times":1}`, -1},
		{`{"host":0,"why":"bounds","left_seconds":3,"term_seconds":8,"times":1}`, -1},
		{`{"host":9,"why":"bounds","left_seconds":3,"term_seconds":8,"times":1}`, -1},
	} {
		text := fmt.Appendf(nil, `{"version":5,"run":"court","time":5,"nodes":[],"quarantine":[%s]}`, q.kept)
		c.machine = must(host.NewMachine(c.config, text))
		c.now = 0
		c.do(host.Start{})
		list := c.quarantine()
		if q.left < 0 {
			if len(list) > 0 {
				t.Errorf("%s: got %+v, want nobody in quarantine", q.kept, list)
			}
			continue
		}
		if len(list) != 1 || list[0].Left != q.left || list[0].Times < 1 || list[0].Seconds < 0 || list[0].Evidence["gossip"] != 0 {
			t.Errorf("%s: got %+v, want host 1 for %v s", q.kept, list, q.left)
		}
	}
}

// court is host 0 with one node, which hears node 1 of host 1 and node 2 of host 2; the
// rows of the latter are always there.
type court struct {
	t       *testing.T
	plan    *agent.Plan
	config  host.Config
	machine *host.Machine
	now     time.Duration
	step    uint64 // under way
	sent    [3]uint64
	logs    []string
}

func newCourt(t *testing.T) *court {
	t.Helper()
	m := must(gnn.New(gnn.Config{In: 1, Features: 1, Outputs: 1, Wide: &gnn.WideConfig{Order: 1}}))
	c := &court{t: t, plan: must(agent.NewPlan(agent.PlanConfig{Model: m, Operator: graph.ShiftSymmetric, MaxRows: []float64{10}}))}
	c.config = host.Config{
		Run: "court", Nodes: []agent.NodeID{0}, Plan: c.plan, Cost: host.MSE,
		Directory: must(host.NewDirectory(map[transport.HostID][]agent.NodeID{0: {0}, 1: {1}, 2: {2}})),
		Links:     map[agent.NodeID][]agent.Link{0: {{Node: 1, Weight: 1}, {Node: 2, Weight: 1}}},
	}
	c.machine = must(host.NewMachine(c.config, nil))
	c.do(host.Start{})
	return c
}

func (c *court) do(ev host.Event) *host.Actions {
	a := c.machine.Step(c.now, ev)
	for _, e := range a.Log {
		c.logs = append(c.logs, e.Text)
	}
	return a
}

// begin begins the next step, and lets host 2 speak.
func (c *court) begin() {
	c.now += 10 * time.Millisecond
	c.do(&host.Line{Time: c.step, Nodes: []host.NodeLine{{Node: 0, Row: host.Numbers{1}}}})
	c.say(2, func(*agent.Header, *agent.Message) {})
}

// say lets a frame with a row of the present step come from a host, changed, and
// returns its bytes.
func (c *court) say(from transport.HostID, change func(h *agent.Header, m *agent.Message)) []byte {
	c.sent[from]++
	h := agent.Header{Run: host.RunHash("court"), Plan: c.plan.Digest(), Host: uint32(from), Sequence: c.sent[from]}
	m := agent.Message{
		From: agent.NodeID(from), To: agent.Everyone, Time: c.step, Kind: agent.Row, Links: 2, Degree: 2, Values: []float32{1},
	}
	change(&h, &m)
	data := agent.AppendFrame(nil, h, []agent.Message{m})
	c.arrive(from, data)
	return data
}

func (c *court) arrive(from transport.HostID, data []byte) {
	c.do(host.Arrive{Frame: transport.Frame{From: from, Data: append([]byte(nil), data...)}})
}

func (c *court) quarantine() []host.Quarantine { return c.do(host.Look{}).Report.Quarantine }

// Every kind of lie is found out within forty steps, and named.
func TestQuarantineReasons(t *testing.T) {
	var old []byte
	for why, lie := range map[string]func(c *court){
		"malformed": func(c *court) { c.arrive(1, []byte("WDGN and nothing else")) },
		"other run": func(c *court) { c.say(1, func(h *agent.Header, _ *agent.Message) { h.Run++ }) },
		"impostor":  func(c *court) { c.say(1, func(_ *agent.Header, m *agent.Message) { m.From = 2 }) },
		"replay": func(c *court) {
			if truth := c.say(1, func(*agent.Header, *agent.Message) {}); c.step == 0 {
				old = truth
			}
			c.arrive(1, old)
			c.arrive(1, old)
			c.arrive(1, old)
		},
		"model": func(c *court) { c.say(1, func(h *agent.Header, _ *agent.Message) { h.Plan ^= uint32(c.step % 2) }) },
		"shape": func(c *court) { c.say(1, func(_ *agent.Header, m *agent.Message) { m.Values = []float32{1, 2} }) },
		"numbers": func(c *court) {
			c.say(1, func(_ *agent.Header, m *agent.Message) { m.Values[0] = float32(math.NaN()) })
		},
		"bounds": func(c *court) { c.say(1, func(_ *agent.Header, m *agent.Message) { m.Values[0] = 11 }) },
		"degree": func(c *court) { c.say(1, func(_ *agent.Header, m *agent.Message) { m.Degree = 1e-9 }) },
		"contradiction": func(c *court) {
			c.sent[1] = max(c.sent[1], 100) // it was not just restarted
			c.say(1, func(*agent.Header, *agent.Message) {})
			c.say(1, func(_ *agent.Header, m *agent.Message) { m.Values[0] = 2 })
			c.say(1, func(_ *agent.Header, m *agent.Message) { m.Values[0] = 3 })
		},
	} {
		t.Run(why, func(t *testing.T) {
			c := newCourt(t)
			for c.step = 0; c.step < 40 && len(c.quarantine()) == 0; c.step++ {
				c.begin()
				lie(c)
			}
			list := c.quarantine()
			if len(list) != 1 || list[0].Host != 1 || list[0].Why != why || list[0].Evidence[why] == 0 || list[0].Times != 1 {
				t.Fatalf("got %+v, want host 1 in quarantine for %s", list, why)
			}
			r := c.do(host.Look{}).Report
			if r.Quarantines[why] != 1 || len(r.Silent) != 1 || r.Silent[0] != 1 {
				t.Errorf("got %v quarantines and silent nodes %v, want one for %s and node 1", r.Quarantines, r.Silent, why)
			}
			for range 3 { // and no step waits for it
				c.begin()
				if a := c.do(host.Look{}); a.Report.Waits {
					t.Fatalf("step %d waits for a host in quarantine", c.step)
				}
				c.step++
			}
		})
	}
}

// A host that only repeats what it said long ago is in quarantine after six frames: no
// step waits for it until the deadline, over and over. One that tells the truth beside
// is heard.
func TestQuarantineOfOldFrames(t *testing.T) {
	for name, truth := range map[string]bool{"in place of the truth": false, "beside the truth": true} {
		t.Run(name, func(t *testing.T) {
			c := newCourt(t)
			var first [][]byte
			for c.step = 0; c.step < 310; c.step++ {
				c.begin()
				if c.step < 300 || truth {
					first = append(first, c.say(1, func(*agent.Header, *agent.Message) {}))
				}
				if c.step >= 300 {
					c.arrive(1, first[c.step%5])
				}
			}
			list := c.quarantine()
			if truth && len(list) > 0 {
				t.Errorf("got %+v, want nobody in quarantine", list)
			}
			if !truth && (len(list) != 1 || list[0].Why != "replay" || list[0].Evidence["replay"] != 5) {
				t.Errorf("got %+v, want host 1 in quarantine for six frames, of which the first might be a network's", list)
			}
		})
	}
}

// Whoever is in quarantine for that stays there while it says nothing else, and comes
// back with the truth.
func TestQuarantineOfOldFramesLasts(t *testing.T) {
	c := newCourt(t)
	var first [][]byte
	play := func(steps int, lies bool) {
		for range steps {
			c.begin()
			if lies {
				c.arrive(1, first[c.step%10])
			} else {
				first = append(first, c.say(1, func(*agent.Header, *agent.Message) {}))
			}
			c.step++
			c.now += 100 * time.Millisecond
		}
	}
	play(300, false)
	play(300, true) // 30 s; the first term is 8 s
	if list := c.quarantine(); len(list) != 1 || list[0].Times != 1 || list[0].Seconds < 20 {
		t.Fatalf("got %+v, want host 1 in quarantine all the while", list)
	}
	play(400, false)
	if list := c.quarantine(); len(list) > 0 {
		t.Errorf("got %+v, want nobody in quarantine", list)
	}
}

// What networks, restarts and upgrades make of the frames of an honest host is no
// offence, however often.
func TestHonestHostIsNotShutOut(t *testing.T) {
	honest := func(*agent.Header, *agent.Message) {}
	var past [][]byte
	for name, do := range map[string]func(c *court){
		"eight copies of each": func(c *court) {
			data := c.say(1, honest)
			for range 7 {
				c.arrive(1, data)
			}
		},
		"restarted at each step": func(c *court) {
			c.sent[1] = 0
			c.say(1, honest)
			c.say(1, honest)
		},
		"old frames late": func(c *court) {
			c.sent[1] += 40
			now := c.sent[1]
			c.say(1, honest)
			c.sent[1] -= 40
			c.say(1, honest)
			c.sent[1] = now
		},
		"each frame once more, much later": func(c *court) {
			c.sent[1] += 9
			past = append(past, c.say(1, honest))
			if len(past) > 40 {
				c.arrive(1, past[len(past)-41])
			}
		},
		"eight frames in ten once more, with the next two": func(c *court) {
			c.sent[1] += 9
			past = append(past, c.say(1, honest))
			for k := range 8 {
				if c.step%10 == 9 {
					c.arrive(1, past[len(past)-3-k])
				}
			}
		},
		"four frames, eight times each": func(c *court) {
			past = append(past, c.say(1, honest))
			for k := 0; k < 28 && c.step%4 == 3; k++ {
				c.arrive(1, past[len(past)-1-k%4])
			}
		},
		"begun anew, with its first frames": func(c *court) {
			if c.step%50 < 4 { // it lost everything, and its world is back at the beginning
				c.sent[1] = c.step % 50
				now := c.step
				c.step %= 50
				c.say(1, honest)
				c.step = now
				return
			}
			c.say(1, honest)
		},
		"steps far ahead": func(c *court) {
			c.say(1, func(_ *agent.Header, m *agent.Message) { m.Time += 1 << 30 })
		},
		"steps far behind": func(c *court) {
			c.say(1, func(_ *agent.Header, m *agent.Message) { m.Time /= 2 })
		},
		"rows of newcomers": func(c *court) {
			c.say(1, honest)
			c.say(1, func(_ *agent.Header, m *agent.Message) { m.From = 77 })
			c.say(1, func(_ *agent.Header, m *agent.Message) { m.From = 78 })
		},
		"degrees that change": func(c *court) {
			c.say(1, func(_ *agent.Header, m *agent.Message) { m.Links, m.Degree = uint32(1+c.step%5), float64(1+c.step%5) })
		},
		"another model from step 30 to 35": func(c *court) {
			c.say(1, func(h *agent.Header, _ *agent.Message) {
				if c.step >= 30 && c.step < 35 {
					h.Plan ^= 1
				}
			})
		},
		"a row in five out of bounds": func(c *court) {
			c.say(1, func(_ *agent.Header, m *agent.Message) {
				if c.step%5 == 0 {
					m.Values[0] = 11
				}
			})
		},
		"a row in five out of bounds, on a network that doubles frames": func(c *court) {
			c.arrive(1, c.say(1, func(_ *agent.Header, m *agent.Message) {
				if c.step%5 == 0 {
					m.Values[0] = 11
				}
			}))
		},
		"a damaged frame with each": func(c *court) {
			data := c.say(1, honest)
			data[20] ^= 1
			c.arrive(1, data)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCourt(t)
			past = nil
			for c.step = 0; c.step < 200; c.step++ {
				c.begin()
				do(c)
				if list := c.quarantine(); len(list) > 0 {
					t.Fatalf("step %d: got %+v, want nobody in quarantine", c.step, list)
				}
				c.now += time.Second // a deadline, in which it may be given up
				c.do(host.Tick{})
			}
		})
	}
}

// A host that runs another model for long is in quarantine too, without a term: it is
// let back in as soon as it runs the same again.
func TestQuarantineOfAnotherModel(t *testing.T) {
	c := newCourt(t)
	other := uint32(1)
	play := func(steps int) {
		for range steps {
			c.begin()
			c.say(1, func(h *agent.Header, _ *agent.Message) { h.Plan ^= other })
			c.step++
			c.now += 100 * time.Millisecond
		}
	}
	play(100)
	if list := c.quarantine(); len(list) != 1 || list[0].Why != "model" || list[0].Left != 0 || list[0].Times != 1 {
		t.Fatalf("got %+v, want host 1 in quarantine, looked at", list)
	}
	other = 0
	play(9)
	r := c.do(host.Look{}).Report
	if len(r.Quarantine) > 0 || len(r.Differ) > 0 || r.Quarantines["model"] != 1 {
		t.Errorf("got %+v, others %v, want nobody in quarantine after nine steps with the same model", r.Quarantine, r.Differ)
	}
}
