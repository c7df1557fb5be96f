package host_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/journal"
	"github.com/wdgnn/wdgnn/internal/journal/faultdisk"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/transport"
)

const (
	ringNodes = 4
	ringSteps = 30
	patience  = time.Minute
)

// ring is four nodes in a ring that learn on one host.
type ring struct {
	plan  *agent.Plan
	lines []*host.Line
}

func newRing(t *testing.T) *ring {
	t.Helper()
	return newRingOf(t, rule.Paper(false).Ungated())
}

// newRingOf is newRing with another rule.
func newRingOf(t *testing.T, r rule.Config) *ring {
	t.Helper()
	m, err := gnn.NewRandom(gnn.Config{In: 1, Features: 3, Outputs: 2, Wide: &gnn.WideConfig{Order: 1}}, random.Stream(1, "model"))
	check(t, err)
	basis, err := online.NewBasis(m, r, nil)
	check(t, err)
	g := &ring{plan: must(agent.NewPlan(agent.PlanConfig{
		Model: m, Operator: graph.ShiftRowStochastic, Basis: basis, Rule: &r, Cost: host.CrossEntropy.Kind(),
	}))}
	rng := random.Stream(1, "rows")
	for s := range ringSteps {
		l := &host.Line{Time: uint64(s)}
		for i := range agent.NodeID(ringNodes) {
			links := []host.Link{{Node: (i + 1) % ringNodes, Weight: 1}, {Node: (i + 3) % ringNodes, Weight: 1}}
			slices.SortFunc(links, func(a, b host.Link) int { return int(a.Node) - int(b.Node) })
			l.Nodes = append(l.Nodes, host.NodeLine{
				Node: i, Row: []float32{float32(rng.NormFloat64())}, Links: &links, Target: []float32{float32(s % 2)},
			})
		}
		g.lines = append(g.lines, l)
	}
	return g
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// world says lines one by one, when the answer to the one before is there.
type world struct {
	lines   chan *host.Line
	answers chan uint64
}

func (w *world) Lines() <-chan *host.Line { return w.lines }

func (w *world) Act(a *host.Answer) error {
	if a.Error == "" { // of lines that were not refused
		w.answers <- a.Time
	}
	return nil
}

// play runs a host on a disk from where its checkpoint is to the given step, and
// calls before ahead of each. It returns the last report, and how Run ended.
func (g *ring) play(t *testing.T, disk *faultdisk.Disk, until int, before func(step int)) (*host.Report, error) {
	t.Helper()
	w := &world{lines: make(chan *host.Line), answers: make(chan uint64, 1)}
	store, err := journal.OpenSnapshots(disk)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	h, err := host.New(host.Config{
		Run: "ring", Nodes: []agent.NodeID{0, 1, 2, 3}, Plan: g.plan, Cost: host.CrossEntropy, Every: time.Nanosecond,
	}, host.Env{World: w, Store: store})
	if err != nil {
		return nil, err
	}
	done := make(chan error, 1)
	go func() { done <- h.Run(t.Context()) }()
	for s := int(h.Next()); s <= until; s++ {
		if before != nil {
			before(s)
		}
		w.lines <- g.lines[s]
		if got := <-w.answers; got != uint64(s) {
			t.Fatalf("answer at %d, want %d", got, s)
		}
	}
	close(w.lines)
	select {
	case err := <-done:
		return h.Report(), err
	case <-time.After(patience):
		t.Fatal("the host did not end")
		return nil, nil
	}
}

// truth returns the parameters after each step, without any disk.
func (g *ring) truth(t *testing.T) (all []map[agent.NodeID][]float32) {
	t.Helper()
	for s := range ringSteps {
		r, err := g.play(t, faultdisk.New(), s, nil)
		check(t, err)
		all = append(all, r.Params)
	}
	return all
}

func same(a, b map[agent.NodeID][]float32) bool {
	for i := range agent.NodeID(ringNodes) {
		if !slices.Equal(a[i], b[i]) {
			return false
		}
	}
	return len(a) == ringNodes
}

// On a full disk learning goes on, failed checkpoints are counted, the one
// before is kept, and no debris gathers; with room again all is well.
func TestFullDisk(t *testing.T) {
	g := newRing(t)
	truth := g.truth(t)
	disk := faultdisk.New()
	_, err := g.play(t, disk, 9, nil)
	check(t, err)
	full, err := g.play(t, disk, 19, func(int) { disk.SetRoom(100) })
	if !errors.Is(err, faultdisk.ErrFull) {
		t.Errorf("got %v, want %v", err, faultdisk.ErrFull)
	}
	if !same(full.Params, truth[19]) || full.Stats.Steps != 10 {
		t.Errorf("after %d steps on a full disk the parameters are not those of step 19", full.Stats.Steps)
	}
	if full.Stats.FailedCheckpoint == 0 || full.Stats.Checkpoints != 0 {
		t.Errorf("%d checkpoints failed and %d were written, want some and none", full.Stats.FailedCheckpoint, full.Stats.Checkpoints)
	}
	names, err := disk.Names()
	check(t, err)
	debris := 0
	for _, n := range names {
		if strings.HasSuffix(n, ".tmp") {
			debris++
		}
	}
	if debris > 1 {
		t.Errorf("%d files of failed checkpoints, want 1 at most: %v", debris, names)
	}
	disk.SetRoom(-1)
	after, err := g.play(t, disk, 9, nil) // nothing to do: where is it?
	check(t, err)
	if !same(after.Params, truth[9]) {
		t.Error("the checkpoint of step 9 is not what is left")
	}
	again, err := g.play(t, disk, ringSteps-1, nil)
	check(t, err)
	if !same(again.Params, truth[ringSteps-1]) || again.Stats.FailedCheckpoint != 0 {
		t.Errorf("with room again: %d failed checkpoints, or other parameters", again.Stats.FailedCheckpoint)
	}
}

// Whenever the power fails, and whatever was not synced is gone, a host goes on
// from a whole checkpoint of some step, and ends with the same bits.
func TestPowerFailure(t *testing.T) {
	g := newRing(t)
	truth := g.truth(t)
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			disk := faultdisk.New()
			left := 3 + 7*int(seed)           // operations until then
			written := make(chan struct{}, 1) // a checkpoint was tried
			disk.Fail(func(op faultdisk.Op) (err error) {
				if left--; left < 0 {
					err = faultdisk.ErrPower
				}
				if op.Kind == "sync folder" || err != nil {
					select {
					case written <- struct{}{}:
					default:
					}
				}
				return err
			})
			await := func(step int) {
				if step > 0 {
					<-written
				}
			}
			if _, err := g.play(t, disk, 19, await); !errors.Is(err, faultdisk.ErrPower) {
				t.Fatalf("got %v, want %v", err, faultdisk.ErrPower)
			}
			rng := random.Stream(seed, "crash")
			if seed%3 == 0 {
				rng = nil
			}
			found := disk.Crash(rng)
			r, err := g.play(t, found, -1, nil)
			check(t, err)
			if r.Time > 0 && !same(r.Params, truth[r.Time]) {
				t.Errorf("the checkpoint is not that of step %d", r.Time)
			}
			last, err := g.play(t, found, ringSteps-1, nil)
			check(t, err)
			if !same(last.Params, truth[ringSteps-1]) {
				t.Error("other parameters at the end")
			}
		})
	}
}

// What nodes know by second derivatives is in their checkpoints: a host that was stopped
// goes on with the same bits.
func TestCheckpointOfOwn(t *testing.T) {
	g := newRingOf(t, rule.Config{Newton: &rule.Newton{Doubt: 0.1, Fresh: 4, Restart: true}, Retrain: rule.RetrainTapsAndBias})
	truth := g.truth(t)
	disk := faultdisk.New()
	for _, until := range []int{2, 9, 10, ringSteps - 1} {
		r, err := g.play(t, disk, until, nil)
		check(t, err)
		if !same(r.Params, truth[until]) {
			t.Errorf("parameters after step %d are not those of a host that was not stopped", until)
		}
	}
}

// Where nobody keeps checkpoints none is due, and nothing is copied for one. Nodes of
// a large host remember much.
func TestNoStoreNoCheckpoint(t *testing.T) {
	g := newRing(t)
	c := host.Config{Run: "ring", Nodes: []agent.NodeID{0, 1, 2, 3}, Plan: g.plan, Cost: host.CrossEntropy}
	for _, kept := range []bool{false, true} {
		e := host.Env{World: &silentWorld{}}
		if kept {
			e.Store = &memory{}
		}
		h, err := host.New(c, e)
		check(t, err)
		due := 0
		for s, l := range g.lines[:3] {
			if h.Machine().Step(time.Duration(s+1)*time.Hour, l).Save {
				due++
			}
		}
		if want := map[bool]int{false: 0, true: 3}[kept]; due != want {
			t.Errorf("a store: %v: got %d checkpoints in 3 steps, want %d", kept, due, want)
		}
	}
}

// A report says how far lines are behind the checkpoint, until one is taken.
func TestLinesBeforeCheckpoint(t *testing.T) {
	begin := func(last []byte) *host.Machine {
		m, err := host.NewMachine(host.Config{Run: "r", Nodes: []agent.NodeID{0}, Plan: newRing(t).plan, Cost: host.MSE}, last)
		check(t, err)
		m.Step(0, host.Start{})
		return m
	}
	say := func(m *host.Machine, step uint64) uint64 {
		m.Step(1, &host.Line{Time: step, Nodes: []host.NodeLine{{Node: 0, Row: []float32{1}}}})
		return m.Step(1, host.Look{}).Report.Stale
	}
	m := begin(nil)
	say(m, 500)
	last, err := json.Marshal(m.Checkpoint())
	check(t, err)
	m = begin(last)
	for step, want := range map[uint64]uint64{200: 300, 499: 1, 501: 0} {
		if got := say(begin(last), step); got != want {
			t.Errorf("step %d after a checkpoint of step 500: stale by %d, want %d", step, got, want)
		}
	}
	if say(m, 200); say(m, 501) != 0 {
		t.Error("a line was taken, and lines are still said to be stale")
	}
}

// A step that is under way is in no checkpoint, which would count it as made: it ends there,
// or with who tells the host to stop, by what is there.
func TestCheckpointInStep(t *testing.T) {
	directory, err := host.NewDirectory(map[transport.HostID][]agent.NodeID{0: {0}, 1: {1}})
	check(t, err)
	links := map[agent.NodeID][]agent.Link{0: {{Node: 1, Weight: 1}}}
	for _, c := range []struct {
		name      string
		directory *host.Directory
		links     map[agent.NodeID][]agent.Link
		waits     bool
	}{
		{"a target to come", nil, nil, false},
		{"a neighbour to come", directory, links, true},
	} {
		m, err := host.NewMachine(host.Config{
			Run: "r", Nodes: []agent.NodeID{0}, Plan: newRing(t).plan, Cost: host.MSE, Directory: c.directory, Links: c.links,
		}, nil)
		check(t, err)
		m.Step(0, host.Start{})
		a := m.Step(1, &host.Line{Time: 5, Nodes: []host.NodeLine{{Node: 0, Row: []float32{1}}}})
		if waits := a.Answer == nil; waits != c.waits {
			t.Fatalf("%s: the step waits: %t, want %t", c.name, waits, c.waits)
		}
		if got := m.Checkpoint(); c.waits && got != nil {
			t.Errorf("%s: got a checkpoint of step %d, which is under way", c.name, got.Time)
		}
		if a := m.Step(2, host.Stop{}); (a.Answer != nil) != c.waits {
			t.Errorf("%s: got the answer %v, want one for each line", c.name, a.Answer)
		}
		if got, steps := m.Checkpoint(), m.Step(3, host.Look{}).Report.Stats.Steps; got == nil || got.Time != 5 || steps != 1 {
			t.Errorf("%s: got the checkpoint %v after %d steps, want one of step 5", c.name, got, steps)
		}
	}
}

// silentWorld says nothing.
type silentWorld struct{}

func (silentWorld) Lines() <-chan *host.Line { return nil }
func (silentWorld) Act(*host.Answer) error   { return nil }

// memory keeps the last checkpoint.
type memory struct{ last []byte }

func (m *memory) Last() ([]byte, error) { return m.last, nil }

func (m *memory) Write(checkpoint []byte) error {
	m.last = checkpoint
	return nil
}
