package host_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
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

// towns are ways to compute and to learn in which a town is tried.
var towns = map[string]struct {
	config  gnn.Config
	shift   graph.Shift
	delayed bool
	frozen  bool
	cost    host.Cost // mse if it is empty
	change  func(c *rule.Config)
	plan    func(p *agent.PlanConfig)
}{
	"delayed": {
		config: gnn.Config{
			In: 1, Features: 4, Outputs: 2, Wide: &gnn.WideConfig{Order: 3},
			Deep: []gnn.LayerConfig{{Order: 3, Features: 4}},
		},
		shift: graph.ShiftRowStochastic, delayed: true,
	},
	"delayed, another cost": {
		config: gnn.Config{In: 1, Features: 4, Outputs: 1, Wide: &gnn.WideConfig{Order: 2}}, shift: graph.ShiftRowStochastic,
		delayed: true, cost: "huber",
		change: func(c *rule.Config) { // updates that go too far are refused
			c.Ridge, c.ClipNorm, c.StepSize, c.Limit = 0.01, 0.3, rule.StepSize{Value: 0.3, Schedule: rule.Decaying}, 0.3
		},
	},
	"delayed, far from where they began": {
		config: gnn.Config{
			In: 1, Features: 4, Outputs: 1, Wide: &gnn.WideConfig{Order: 3},
			Deep: []gnn.LayerConfig{{Order: 3, Features: 4}},
		},
		shift: graph.ShiftRowStochastic, delayed: true,
		change: func(c *rule.Config) { c.StepSize.Value, c.Limit = 2, 1000 },
	},
	"delayed, two layers": {
		config: gnn.Config{
			In: 2, Features: 3, Outputs: 1, Wide: &gnn.WideConfig{Order: 2},
			Deep: []gnn.LayerConfig{{Order: 1, Features: 5}, {Order: 2, Features: 3}},
		},
		shift: graph.ShiftSymmetric, delayed: true,
		change: func(c *rule.Config) { c.Ridge = 0.05 },
	},
	"hop by hop": {
		config: gnn.Config{
			In: 2, Features: 3, Outputs: 1, Wide: &gnn.WideConfig{Order: 2},
			Deep: []gnn.LayerConfig{{Order: 2, Features: 5}, {Order: 1, Features: 3}},
		},
		shift: graph.ShiftSymmetric,
	},
	"hop by hop, gated own": {
		config: gnn.Config{
			In: 1, Features: 3, Outputs: 1, Wide: &gnn.WideConfig{Order: 2},
			Deep: []gnn.LayerConfig{{Order: 1, Features: 3}, {Order: 0, Features: 3}},
		},
		shift: graph.ShiftNormalizedLaplacian,
		change: func(c *rule.Config) {
			*c = rule.Config{Newton: &rule.Newton{Forget: 0.99, Restart: true}, Gate: &rule.Gate{}}
		},
	},
	"frozen and strict": {
		config: gnn.Config{In: 2, Features: 3, Wide: &gnn.WideConfig{Order: 2}}, shift: graph.ShiftLaplacian, frozen: true,
		plan: func(p *agent.PlanConfig) { p.Forgiving = false },
	},
	"bounded": {
		config: gnn.Config{In: 1, Features: 3, Outputs: 1, Wide: &gnn.WideConfig{Order: 2}}, shift: graph.ShiftRowStochastic,
		plan: func(p *agent.PlanConfig) { p.MaxNorm, p.ClipNorm = 3.5, 0.05 },
	},
}

// A host whose nodes step together answers, learns, counts and remembers to the bit
// what it would if they stepped one by one: while all is well, when frames are lost,
// links change, nodes have no row or a bad one, and hosts begin again from a
// checkpoint.
func TestTogetherIsOneByOne(t *testing.T) {
	for name := range towns {
		t.Run(name, func(t *testing.T) {
			alone, joint, parted, seeds := 0, 0, 0, uint64(6)
			if testing.Short() {
				seeds = 2
			}
			for seed := range seeds {
				apart, together := newTown(t, name, seed, -1), newTown(t, name, seed, 1)
				want, got := apart.play(), together.play()
				for k := range want {
					if got[k] != want[k] {
						t.Fatalf("seed %d: together: got %s, want %s as one by one", seed, got[k], want[k])
					}
				}
				alone += apart.joint
				joint += together.joint
				parted += together.parted
			}
			if alone != 0 || joint <= parted || parted == 0 {
				t.Errorf("together in %d steps of hosts, and in %d; parted in %d: want 0, many and some", alone, joint, parted)
			}
		})
	}
}

// town is three hosts that hear each other without delay, in a time of their own.
type town struct {
	t        testing.TB
	rng      *rand.Rand // of the world: the same whoever computes
	seed     uint64
	configs  []host.Config
	machines []*host.Machine
	now      time.Duration
	loss     float64
	frames   []transport.Frame
	busy     []bool
	wake     []time.Duration
	told     []string
	in, out  int

	joint, parted int // steps of hosts
}

const (
	townHosts = 3
	townNodes = 24
	townSteps = 60
)

func newTown(t testing.TB, name string, seed uint64, together int) *town {
	how := towns[name]
	m := must(gnn.NewRandom(how.config, random.Stream(seed, "town")))
	cost := cmp.Or(how.cost, host.MSE)
	c := agent.PlanConfig{Model: m, Operator: how.shift, Delayed: how.delayed, Forgiving: true, Cost: cost.Kind()}
	if !how.frozen {
		r := rule.Paper(false).Ungated()
		r.StepSize.Value = 0.02
		if how.change != nil {
			how.change(&r)
		}
		c.Basis, c.Rule = must(online.NewBasis(m, r, nil)), &r
	}
	if how.plan != nil {
		how.plan(&c)
	}
	p := must(agent.NewPlan(c))
	w := &town{
		t: t, rng: random.Stream(seed, "streets"), seed: seed, in: how.config.In, out: m.Outputs(),
		busy: make([]bool, townHosts), wake: make([]time.Duration, townHosts),
	}
	nodes := map[transport.HostID][]agent.NodeID{}
	for i := range agent.NodeID(townNodes) { // neither host has a range of its own
		h := transport.HostID(i/4) % townHosts
		nodes[h] = append(nodes[h], i)
	}
	d := must(host.NewDirectory(nodes))
	for h := range transport.HostID(townHosts) {
		w.configs = append(w.configs, host.Config{
			Run: "town", Host: h, Nodes: nodes[h], Plan: p, Cost: cost, Directory: d, Together: together,
			Pace: host.Pace{Retry: -1}, Hear: []transport.HostID{0, 1, 2},
		})
		w.machines = append(w.machines, must(host.NewMachine(w.configs[h], nil)))
		w.step(int(h), host.Start{})
	}
	return w
}

// step tells a host what happened.
func (w *town) step(h int, ev host.Event) {
	a := w.machines[h].Step(w.now, ev)
	for _, f := range a.Frames {
		w.frames = append(w.frames, transport.Frame{From: transport.HostID(h), Data: slices.Clone(f)})
	}
	if a.Answer != nil {
		w.told = append(w.told, fmt.Sprintf("%v: answer %+v", w.now, *a.Answer))
	}
	w.busy[h], w.wake[h] = a.Busy, a.Wake
}

// play returns everything that hosts said and remember.
func (w *town) play() []string {
	links := w.links()
	for t := range uint64(townSteps) {
		if w.rng.IntN(6) == 0 {
			links = w.links()
		}
		w.loss = []float64{0, 0, 0.1}[w.rng.IntN(3)]
		for h := range w.machines {
			if w.rng.IntN(40) == 0 {
				w.restart(h)
			}
			w.step(h, w.line(h, t, links))
			if joint, _ := w.machines[h].Joint(); joint {
				w.joint++
			}
		}
		w.carry()
		for _, m := range w.machines {
			if _, parted := m.Joint(); parted {
				w.parted++
			}
		}
	}
	for h, m := range w.machines {
		w.step(h, &host.Line{End: true})
		w.told = append(w.told, fmt.Sprintf("host %d remembers %s", h, must(json.Marshal(m.Checkpoint()))))
	}
	return w.told
}

// restart lets a host go on from a checkpoint.
func (w *town) restart(h int) {
	text, err := json.Marshal(w.machines[h].Checkpoint())
	check(w.t, err)
	if string(text) == "null" {
		text = nil
	}
	w.machines[h] = must(host.NewMachine(w.configs[h], text))
	w.step(h, host.Start{})
}

// links draws who hears whom: each node some of those near it.
func (w *town) links() [][]host.Link {
	all := make([][]host.Link, townNodes)
	for i := range all {
		for j := range townNodes {
			if d := (i - j + townNodes) % townNodes; i != j && min(d, townNodes-d) < 5 && w.rng.IntN(2) == 0 {
				all[i] = append(all[i], host.Link{Node: agent.NodeID(j), Weight: float32(1 + w.rng.IntN(3))})
			}
		}
	}
	return all
}

// line returns what a host is told at a step. Seldom a node has no row, or a bad one.
func (w *town) line(h int, t uint64, links [][]host.Link) *host.Line {
	l := &host.Line{Time: t}
	flaw := w.rng.IntN(20 * townNodes / townHosts)
	for k, id := range w.configs[h].Nodes {
		list := links[id]
		n := host.NodeLine{Node: id, Links: &list, Row: w.numbers(w.in)}
		if w.rng.IntN(3) > 0 {
			n.Target = w.numbers(w.out)
			if w.rng.IntN(10) == 0 {
				n.Target[w.rng.IntN(w.out)] = float32(math.NaN()) // it is not known
			}
		}
		if k == flaw {
			n.Row = n.Row[1:]
		}
		if k != flaw-1 {
			l.Nodes = append(l.Nodes, n)
		}
	}
	return l
}

func (w *town) numbers(n int) host.Numbers {
	x := make(host.Numbers, n)
	for k := range x {
		x[k] = float32(w.rng.NormFloat64())
	}
	return x
}

// carry carries frames until no host waits.
func (w *town) carry() {
	for {
		for len(w.frames) > 0 {
			f := w.frames[0]
			w.frames = w.frames[1:]
			for h := range w.machines {
				if h != int(f.From) && !w.lost(f, h) {
					w.step(h, host.Arrive{Frame: f})
				}
			}
		}
		if !slices.Contains(w.busy, true) {
			return
		}
		for h, at := range w.wake {
			if w.busy[h] && at > 0 {
				w.now = max(w.now, at)
				w.step(h, host.Tick{})
			}
		}
	}
}

// lost says whether a frame is lost on its way to a host: what decides is what it is
// and not how many came before it.
func (w *town) lost(f transport.Frame, to int) bool {
	var r agent.Reader
	_, messages, err := r.Read(f.Data)
	check(w.t, err)
	m := messages[0]
	fate := random.Stream(w.seed, fmt.Sprint("fate ", f.From, to, m.Time, m.Exchange))
	return fate.Float64() < w.loss
}
