package box_test

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/broker"
	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/transport"
)

// One box with all nodes predicts and learns to the bits of online.Consensus.
// Reference: Section 3, eq. (9).
func TestOneBoxSameBits(t *testing.T) {
	for _, shift := range []graph.Shift{graph.ShiftRowStochastic, graph.ShiftSymmetric} {
		t.Run(shift.String(), func(t *testing.T) {
			f := newFixture(t, shift, false)
			c := f.config(0, 1)
			c.State = "state"
			want := f.reference(t)
			want.check(t, run(t, f.load(t, c)))
			want.checkParams(t, f.memory(t, "state"))
		})
	}
}

// So it does without a gate, and with targets that come three steps late; some
// nodes then answer as trained, and others not.
func TestOneBoxSameBitsUngatedAndLate(t *testing.T) {
	for name, set := range map[string]func(f *fixture){
		"no gate":            func(f *fixture) { f.ungated = true },
		"late":               func(f *fixture) { f.delay = 3 },
		"late, without gate": func(f *fixture) { f.delay, f.ungated = 3, true },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, graph.ShiftRowStochastic, false)
			set(f)
			c := f.config(0, 1)
			c.State = "state"
			want := f.reference(t)
			want.check(t, run(t, f.load(t, c)))
			want.checkParams(t, f.memory(t, "state"))
		})
	}
}

// Steps that decay need no value, as in wdgnn online: they begin with that of the preset.
func TestDecayingSteps(t *testing.T) {
	f := newFixture(t, graph.ShiftRowStochastic, false)
	f.steps = &rule.StepSize{Schedule: rule.Decaying, Value: rule.Paper(false).Ungated().StepSize.Value, Steps: 7}
	c := f.config(0, 1)
	c.Learn.StepSize = &rule.StepSettings{Schedule: rule.Decaying, Steps: 7}
	f.reference(t).check(t, run(t, f.load(t, c)))
}

// A rule of the program's own that is gradient steps gives their bits, and
// another digest: nobody can know that it is the same.
func TestOwnRuleSameBits(t *testing.T) {
	f := newFixture(t, graph.ShiftRowStochastic, false)
	c := f.config(0, 1)
	usual, err := box.Describe(f.load(t, c))
	check(t, err)
	c.Learn.Rule, c.Learn.StepSize = "plain", nil
	loaded, err := box.LoadWith(f.write(t, c), map[string]rule.Rule{"plain": rule.Descent{StepSize: f.rule().StepSize}})
	check(t, err)
	own, err := box.Describe(loaded)
	check(t, err)
	digest := func(text string) string { return text[strings.Index(text, "digest "):strings.Index(text, "bounds ")] }
	if !strings.Contains(own, "learn    plain, a rule of this program, with the preset paper: ") || digest(own) == digest(usual) {
		t.Errorf("got %s, want the rule, and another digest than in %s", own, usual)
	}
	f.reference(t).check(t, run(t, loaded))
}

// three runs three boxes on a bus that prepare puts into their configurations.
func three(t *testing.T, prepare func(f *fixture, c *box.Config)) {
	t.Helper()
	f := newFixture(t, graph.ShiftRowStochastic, false)
	var configs []*box.Config
	for id := range 3 {
		c := f.config(id, 3)
		c.State = fmt.Sprintf("state-%d", id)
		prepare(f, c)
		configs = append(configs, f.load(t, c))
	}
	want := f.reference(t)
	want.check(t, run(t, configs...))
	want.checkParams(t, f.memory(t, "state-0"), f.memory(t, "state-1"), f.memory(t, "state-2"))
}

// threeKeys makes a set of keys for three hosts that may all hear each other.
func threeKeys(t *testing.T, f *fixture) {
	t.Helper()
	plan := keys.Plan{Run: "test"}
	for id := range transport.HostID(3) {
		plan.Hosts = append(plan.Hosts, keys.Host{ID: id, Hears: []transport.HostID{(id + 1) % 3, (id + 2) % 3}})
	}
	check(t, keys.Make(f.path("keys"), plan))
}

// Three boxes over NATS have the same bits, on an open server and with keys.
func TestThreeBoxesOverNATS(t *testing.T) {
	t.Run("open", func(t *testing.T) {
		s, err := broker.Start(broker.Config{})
		check(t, err)
		t.Cleanup(s.Stop)
		three(t, func(_ *fixture, c *box.Config) { c.Bus = box.Bus{Kind: box.BusNATS, URL: s.URL()} })
	})
	t.Run("keys", func(t *testing.T) {
		var s *broker.Server
		three(t, func(f *fixture, c *box.Config) {
			if s == nil {
				threeKeys(t, f)
				permissions, err := keys.LoadPermissions(f.path("keys"))
				check(t, err)
				secure, err := keys.ServerTLS(f.path("keys"))
				check(t, err)
				s, err = broker.Start(broker.Config{Keys: permissions, TLS: secure})
				check(t, err)
				t.Cleanup(s.Stop)
			}
			c.Bus = box.Bus{Kind: box.BusNATS, URL: s.URL(), Keys: "keys"}
		})
		if got := s.Stats().Refused; got != 0 {
			t.Errorf("the server refused %d times, want never", got)
		}
	})
}

// Three boxes with direct links have the same bits.
func TestThreeBoxesOverTCP(t *testing.T) {
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprintf("keys=%v", secure), func(t *testing.T) {
			addresses := freeAddresses(t, 3)
			three(t, func(f *fixture, c *box.Config) {
				if secure && c.Host == 0 {
					threeKeys(t, f)
				}
				c.Bus.Kind = box.BusTCP
				if secure {
					c.Bus.Keys = fmt.Sprintf("keys/host-%d", c.Host)
				}
				for id, p := range c.Hosts {
					p.Address = addresses[id]
					c.Hosts[id] = p
				}
			})
		})
	}
}

// freeAddresses returns loopback addresses that nobody used a moment ago.
func freeAddresses(t *testing.T, n int) (list []string) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		check(t, err)
		defer l.Close()
		list = append(list, l.Addr().String())
	}
	return list
}
