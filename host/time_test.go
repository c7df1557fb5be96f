package host_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/mem"
)

// pairHost returns host 0 of two, which run node 0 and node 1, neighbours of each
// other, and the bus of host 1.
func pairHost(t *testing.T, pace host.Pace) (*host.Host, *world, transport.Bus, *agent.Plan) {
	t.Helper()
	m, err := gnn.NewRandom(gnn.Config{In: 1, Features: 2, Outputs: 2, Wide: &gnn.WideConfig{Order: 1}}, random.Stream(1, "model"))
	check(t, err)
	plan := must(agent.NewPlan(agent.PlanConfig{Model: m, Operator: graph.ShiftRowStochastic, Cost: host.MSE.Kind()}))
	directory, err := host.NewDirectory(map[transport.HostID][]agent.NodeID{0: {0}, 1: {1}})
	check(t, err)
	network := new(mem.Network)
	bus, err := network.Join(0)
	check(t, err)
	other, err := network.Join(1)
	check(t, err)
	check(t, other.Hear([]transport.HostID{0}))
	t.Cleanup(func() { bus.Close(); other.Close() })
	w := &world{lines: make(chan *host.Line), answers: make(chan uint64, 1)}
	h, err := host.New(host.Config{
		Run: "pair", Nodes: []agent.NodeID{0}, Plan: plan, Cost: host.MSE, Directory: directory, Pace: pace,
		Hear: []transport.HostID{1}, Links: map[agent.NodeID][]agent.Link{0: {{Node: 1, Weight: 1}}},
	}, host.Env{Bus: bus, World: w, ReportEvery: 100 * 24 * time.Hour})
	check(t, err)
	return h, w, other, plan
}

// row returns a frame of node 1 at step t.
func row(p *agent.Plan, sequence, t uint64) []byte {
	m := agent.Message{From: 1, To: agent.Everyone, Time: t, Kind: agent.Row, Links: 1, Degree: 1, Values: make([]float32, p.Length(0))}
	return agent.AppendFrame(nil, agent.Header{Run: host.RunHash("pair"), Plan: p.Digest(), Host: 1, Sequence: sequence}, []agent.Message{m})
}

// Nothing that happens between two steps counts against neighbours: after any
// time, be it that a machine slept, the next step has a whole deadline.
func TestTimeBetweenSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const deadline = time.Second
		h, w, other, plan := pairHost(t, host.Pace{Deadline: deadline})
		done := make(chan error, 1)
		go func() { done <- h.Run(t.Context()) }()
		for s, pause := range []time.Duration{0, 24 * time.Hour, 365 * 24 * time.Hour, time.Nanosecond} {
			time.Sleep(pause)
			w.lines <- &host.Line{Time: uint64(s), Nodes: []host.NodeLine{{Node: 0, Row: []float32{1}}}}
			time.Sleep(deadline - time.Millisecond) // late, and in time
			check(t, other.Send(row(plan, uint64(s)+1, uint64(s))))
			if got := answered(t, w); got != uint64(s) {
				t.Errorf("an answer of step %d, want %d", got, s)
			}
		}
		close(w.lines)
		check(t, <-done)
		if r := h.Report(); r.Agents.Expired > 0 || r.Stats.Steps != 4 {
			t.Errorf("%d links given up in %d steps, want none in 4", r.Agents.Expired, r.Stats.Steps)
		}
	})
}

// A neighbour that lies about the step it is in takes no room that others need,
// and does not make a host leave out more than a bounded number of steps.
func TestLiarAboutTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, w, other, plan := pairHost(t, host.Pace{Deadline: time.Second, Retry: 100 * time.Millisecond})
		done := make(chan error, 1)
		go func() { done <- h.Run(t.Context()) }()
		say := func(s uint64) {
			w.lines <- &host.Line{Time: s, Nodes: []host.NodeLine{{Node: 0, Row: []float32{1}}}}
		}
		say(0)
		for k := range uint64(200) {
			check(t, other.Send(row(plan, k+1, 1<<60+k)))
			synctest.Wait()
		}
		answered(t, w) // it has noticed that it is behind, as it believes
		for s := uint64(1); s < 4; s++ {
			say(s)
		}
		say(4)
		check(t, other.Send(row(plan, 300, 4)))
		if got := answered(t, w); got != 4 {
			t.Errorf("an answer of step %d, want 4", got)
		}
		say(5)
		check(t, other.Send(row(plan, 301, 5)))
		if got := answered(t, w); got != 5 {
			t.Errorf("an answer of step %d, want 5", got)
		}
		close(w.lines)
		check(t, <-done)
		if s := h.Report().Stats; s.Overflows != 200 || s.Skipped != 3 || s.CaughtUp != 1 {
			t.Errorf("%+v, want 200 frames without room and 3 steps skipped once", s)
		}
	})
}

// stripped are methods and functions whose times have no monotonic part: they
// would make durations depend on clocks that jump.
var stripped = []string{"Unix", "UnixMilli", "UnixMicro", "UnixNano", "Round", "Truncate", "UTC", "Local", "In", "AddDate", "Date"}

// Neither hosts, agents nor buses look at the wall clock: every time they keep
// comes from time.Now and is compared by Sub, Since or Until, which use the
// monotonic clock. A wall clock that jumps changes nothing.
func TestNoWallClock(t *testing.T) {
	for _, dir := range []string{".", "../agent", "../transport", "../transport/mem", "../transport/natsbus", "../transport/tcpbus"} {
		entries, err := os.ReadDir(dir)
		check(t, err)
		for _, e := range entries {
			name := filepath.Join(dir, e.Name())
			if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			check(t, err)
			if timeless(file) {
				continue
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					for _, bad := range stripped {
						if s.Sel.Name == bad {
							t.Errorf("%s: %s: a time without its monotonic part", name, bad)
						}
					}
				}
				return true
			})
		}
	}
}

// timeless says whether a file does not import package time.
func timeless(f *ast.File) bool {
	for _, i := range f.Imports {
		if i.Path.Value == `"time"` {
			return false
		}
	}
	return true
}
