package swarm

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/clocktest"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/transport"
)

// Sizes of the field, and how long anything in it may take.
const (
	fieldNodes   = 12
	fieldHosts   = 4
	fieldMost    = 200_000 // steps
	fieldTimeout = 2 * time.Minute
)

// field is sensors in a ring, each linked with the next two on both sides. Links
// never change, so that a host that misses them once is lost for good. Its
// steps go on until the test has seen enough.
type field struct {
	toy
	enough bool
}

func newField(t testing.TB, seed uint64) *field {
	t.Helper()
	var edges []graph.Edge
	for i := range fieldNodes {
		for _, far := range []int{1, 2} {
			edges = append(edges, graph.Edge{From: i, To: (i + far) % fieldNodes, Weight: 1})
		}
	}
	g, err := graph.FromEdges(fieldNodes, edges, false)
	if err != nil {
		t.Fatal(err)
	}
	return &field{toy: toy{nodes: fieldNodes, features: 2, classes: 3, seed: seed, graph: g}}
}

// Samples implements [World].
func (f *field) Samples() iter.Seq[graph.Sample] {
	return func(yield func(graph.Sample) bool) {
		shift, err := graph.ShiftRowStochastic.Of(f.graph)
		if err != nil {
			panic(err)
		}
		mixing, err := graph.Metropolis(f.graph)
		if err != nil {
			panic(err)
		}
		for t := range fieldMost {
			f.now = t
			s := graph.Sample{Time: t, Signal: mat.NewDense(f.nodes, f.features, nil), Shift: shift, Mixing: mixing}
			rng := random.Stream(f.seed, "signal", t)
			for i := range s.Signal.Data {
				s.Signal.Data[i] = float32(rng.NormFloat64())
			}
			if f.enough || !yield(s) {
				return
			}
		}
	}
}

// task returns the field as a task.
func (f *field) task(t testing.TB, s *setting) *Task {
	t.Helper()
	_, m := plan(t, &f.toy, s)
	return &Task{
		name: "field", Nodes: f.nodes, rule: s.rule, cost: host.CrossEntropy, World: f, Graph: f.graph,
		model: &modelfile.Model{Network: m, Meta: modelfile.Meta{Shift: graph.ShiftRowStochastic, Delayed: s.delayed, Task: "classify"}},
	}
}

// sane is how far, in lengths of what it should be, a node's parameters may be
// from those of an undisturbed learner: it has missed some of what the other
// learned, and nothing has blown up.
const sane = 10

// watch is what a test sees of a swarm in the field.
type watch struct {
	*field
	t       *testing.T
	learner *online.Consensus // what nobody disturbs
	y       mat.Dense
	hosts   map[transport.HostID][]int // their nodes
	began   time.Time                  // of the first step
	last    time.Time
	steps   int
	longest time.Duration // between two steps
	absent  map[transport.HostID]bool
	lost    map[transport.HostID]int // steps that a host has missed so far
	calm    int                      // steps in a row in which all answered

	// then is called after every step and may set enough.
	then func()
}

// observe makes options whose run is watched.
func observe(t *testing.T, s *setting, o Options) (Options, *watch) {
	t.Helper()
	f := newField(t, 7)
	w := &watch{
		field: f, t: t, y: mat.NewDense(f.nodes, f.classes, nil), hosts: map[transport.HostID][]int{},
		absent: map[transport.HostID]bool{}, lost: map[transport.HostID]int{},
	}
	o.Task, o.Run, o.Hosts, o.OnStep = f.task(t, s), cmp.Or(o.Run, "field"), fieldHosts, w.step
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	observer, err := online.NewObserver(o.Task.model.Network, online.Config{Nodes: f.nodes, HopByHop: true, Delayed: s.delayed})
	if err != nil {
		t.Fatal(err)
	}
	l, err := online.NewConsensus(observer, s.rule)
	if err != nil {
		t.Fatal(err)
	}
	w.learner = l
	for id, nodes := range Partition(f.graph, fieldHosts) {
		for _, node := range nodes {
			w.hosts[id] = append(w.hosts[id], int(node))
		}
	}
	return o, w
}

// within checks that no step took longer, by the part of a processor that is ours.
func (w *watch) within(most time.Duration) {
	w.t.Helper()
	if w.longest <= most {
		return
	}
	clocktest.Need(w.t)
	if share := clocktest.Share(); w.longest > time.Duration(float64(most)/share) {
		w.t.Errorf("a step took %v, want at most %v where a process has more than %.2f of a processor", w.longest, most, share)
	}
}

func (w *watch) step(m *Step) error {
	now := time.Now()
	if w.steps == 0 {
		w.began = now
	} else {
		w.longest = max(w.longest, now.Sub(w.last))
	}
	w.last = now
	w.steps++
	w.calm++
	for id, nodes := range w.hosts {
		w.absent[id] = false
		for _, node := range nodes {
			w.absent[id] = w.absent[id] || !m.Fresh[node]
		}
		if w.absent[id] {
			w.lost[id]++
			w.calm = 0
		}
	}
	if err := w.learner.Observe(m.Sample); err != nil {
		return err
	}
	if err := w.learner.Predict(w.y); err != nil {
		return err
	}
	if err := w.learner.Update(m.Cost); err != nil {
		return err
	}
	switch {
	case now.Sub(w.began) > fieldTimeout:
		return fmt.Errorf("not enough seen after %v and %d steps; absent: %v, in order for %d steps", fieldTimeout, w.steps, w.absent, w.calm)
	case w.then != nil:
		w.then()
	}
	return nil
}

// since is how long the world has gone on.
func (w *watch) since() time.Duration { return w.last.Sub(w.began) }

// up runs the swarm and checks what holds whatever goes wrong: everything ends,
// no process fails or panics, parameters are finite and within near of those of
// an undisturbed learner, relative to their length.
func (w *watch) up(o Options, near float64) *Result {
	w.t.Helper()
	r, err := Up(w.t.Context(), o)
	if err != nil {
		w.t.Fatalf("%v\n%s", err, logs(o.Dir))
	}
	if text := logs(o.Dir); strings.Contains(text, "panic:") || strings.Contains(text, "DATA RACE") {
		w.t.Errorf("a process panics:\n%s", text)
	}
	w.near(r, near)
	return r
}

// near compares parameters with those of an undisturbed learner.
func (w *watch) near(r *Result, near float64) {
	w.t.Helper()
	worst, seen := 0.0, 0
	for _, report := range r.Reports {
		for node, params := range report.Params {
			seen++
			want, d, size := w.learner.Params(int(node)), 0.0, 0.0
			for k, v := range params {
				d += math.Pow(float64(v-want[k]), 2)
				size += math.Pow(float64(want[k]), 2)
			}
			if d = math.Sqrt(d / size); !(d <= near) {
				w.t.Errorf("node %d: parameters %v, want within %v of %v", node, params, near, want)
			}
			worst = max(worst, d)
		}
	}
	if seen != w.nodes {
		w.t.Errorf("%d nodes reported, want %d", seen, w.nodes)
	}
	w.t.Logf("%d steps in %v, longest %v; parameters within %.3g; lost %v; %v; %+v",
		w.steps, w.since(), w.longest, worst, w.lost, r.Events, r.Counters.Host)
}

// prompt checks that no step took longer than a deadline allows: each further
// exchange has a tenth more. Machines are busy: half a second is left to them.
func (w *watch) prompt(p host.Pace) {
	w.t.Helper()
	w.within(p.Deadline + p.Deadline/10*5 + 500*time.Millisecond)
}

// heard checks that nobody is taken for silent at the end.
func heard(t *testing.T, r *Result) {
	t.Helper()
	for _, report := range r.Reports {
		if len(report.Silent) > 0 {
			t.Errorf("host %d takes the nodes %v for silent at the end", report.Host, report.Silent)
		}
	}
}

// logs returns what processes logged.
func logs(dir string) string {
	var b strings.Builder
	files, _ := filepath.Glob(filepath.Join(dir, "*.log"))
	for _, f := range files {
		text, _ := os.ReadFile(f)
		fmt.Fprintf(&b, "%s:\n%s", filepath.Base(f), text)
	}
	return b.String()
}
