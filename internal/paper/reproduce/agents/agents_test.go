package agents

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	robots "github.com/wdgnn/wdgnn/internal/paper/reproduce/flocking"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/sourceloc"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study/studytest"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// untrained returns the first network of the experiment with a model at random,
// which is enough to compare arithmetic.
func untrained(t *testing.T) (*realization, *settings) {
	t.Helper()
	o := studytest.Options(t.TempDir())
	o.Test = 12
	s := settingsFrom(o)
	source, err := sourceloc.New(&study.Run{Options: o}, s.Source, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	z := &realization{source}
	m, err := gnn.NewRandom(z.Architecture(recipe.WideDeep), z.Stream("init"))
	if err != nil {
		t.Fatal(err)
	}
	shift, err := localShift.Of(z.Net.Graph)
	if err != nil {
		t.Fatal(err)
	}
	signals, _ := z.Net.Draw(50, z.Stream("train"))
	z.Models[recipe.WideDeep] = &recipe.SourceModel{Network: m, Moment: online.InputMoment(m, shift, signals, z.Read(), nil, nil)}
	return z, &s
}

// While nothing is lost, agents have the bits of online.Consensus and give no
// link up. What is lost changes answers, and more loss gives up more links.
// Reference: Section 3, eq. (9).
func TestAgentsMatchConsensus(t *testing.T) {
	z, s := untrained(t)
	for _, spec := range learners {
		last := -1.0
		for _, lost := range []float64{0, 0.1, 0.5} {
			p := &pass{spec: spec, loss: lost}
			if err := z.localize(context.Background(), s, p); err != nil {
				t.Fatal(err)
			}
			if lost == 0 && (p.twin.Same != s.Source.Test || p.twin.Steps != s.Source.Test || p.GivenUp != 0 || p.Drift != 0) {
				t.Errorf("%s: same bits in %d of %d signals, %v links given up, drift %v; want %d of %d, none, 0",
					spec.ID, p.twin.Same, p.twin.Steps, p.GivenUp, p.Drift, s.Source.Test, s.Source.Test)
			}
			if lost > 0 && p.learns() && spec.Config.Mixes() && !(p.Drift > 0) {
				t.Errorf("%s: drift %v with %v of messages lost, want some", spec.ID, p.Drift, lost)
			}
			if p.GivenUp <= last {
				t.Errorf("%s: %v links given up with %v of messages lost, want more than %v", spec.ID, p.GivenUp, lost, last)
			}
			last = p.GivenUp
		}
	}
}

// The share of links that are given up is that of ten messages of which one is
// lost.
func TestAgentsGiveUpLinks(t *testing.T) {
	z, s := untrained(t)
	p := &pass{spec: sourceloc.WideDeepFrozen, loss: 0.1}
	if err := z.localize(context.Background(), s, p); err != nil {
		t.Fatal(err)
	}
	got, want := p.GivenUp/float64(p.graph.Adjacency().NNZ()), 1-math.Pow(0.9, 10)
	if math.Abs(got-want) > 0.03 {
		t.Errorf("%.3f of the links are given up, want about %.3f", got, want)
	}
}

// Where nobody tells costs, the mean of the parameters moves by mixing alone,
// and meanDrift says how far.
func TestMeanDrift(t *testing.T) {
	z, _ := untrained(t)
	p := &pass{spec: sourceloc.WideDeepPaper, loss: 0.3}
	if err := p.prepare(z); err != nil {
		t.Fatal(err)
	}
	stream, err := z.TestStream(0, z.OutageProb)
	if err != nil {
		t.Fatal(err)
	}
	rng := z.Stream("message loss", 0)
	mean := func() []float64 {
		sum := make([]float64, len(p.crew.nodes[0].Params()))
		for _, n := range p.crew.nodes {
			for e, v := range n.Params() {
				sum[e] += float64(v) / float64(len(p.crew.nodes))
			}
		}
		return sum
	}
	var before []float64
	for sample := range stream.Samples() {
		if err := p.crew.step(sample.Time, p.graph, sample.Signal, func(int, int, int) bool { return rng.Float64() >= p.loss }); err != nil {
			t.Fatal(err)
		}
		var told loss.Loss
		if sample.Time < 4 {
			told = stream.Reveal(p.crew.outputs)
			before = nil
		} else {
			if before == nil {
				before = mean()
			}
			p.drift.watch(p.crew, p.graph)
		}
		if err := p.crew.feedback(told); err != nil {
			t.Fatal(err)
		}
	}
	length, differ := 0.0, 0.0
	for e, v := range mean() {
		length += (v - before[e]) * (v - before[e])
		differ += (v - before[e] - p.drift.sum[e]) * (v - before[e] - p.drift.sum[e])
	}
	if !(length > 0) || math.Sqrt(differ/length) > 1e-3 {
		t.Errorf("the mean moved by %v, the drift differs from that by %v of it; want some, and 0",
			math.Sqrt(length), math.Sqrt(differ/length))
	}
}

// Those who are killed are silent from then on; the others go on without them.
func TestAgentsKilled(t *testing.T) {
	z, s := untrained(t)
	nodes, detectors := z.victims(s)
	detects := func(i int) bool { return slices.Contains(z.Net.Detectors, i) }
	if len(nodes) != 45 || len(detectors) != s.Detectors || slices.ContainsFunc(nodes, detects) {
		t.Fatalf("%d nodes and %d detectors to kill, want 45 without a detector and %d", len(nodes), len(detectors), s.Detectors)
	}
	p := &pass{spec: sourceloc.WideDeepPaper, killed: append(slices.Clone(nodes[:20]), detectors...)}
	if err := z.localize(context.Background(), s, p); err != nil {
		t.Fatal(err)
	}
	waiting := 0 // links on which somebody alive waits for a dead one
	for i, n := range p.crew.nodes {
		want := s.Source.Test
		if p.crew.dead[i] {
			want = s.KillTime
		}
		if got := n.Stats().Predicted; got != uint64(want) {
			t.Errorf("node %d predicted %d times, want %d", i, got, want)
		}
		for _, j := range p.graph.Neighbors(i) {
			if !p.crew.dead[i] && p.crew.dead[j] {
				waiting++
			}
		}
	}
	if got, want := int(p.crew.stats().Expired), waiting*(s.Source.Test-s.KillTime); got != want {
		t.Errorf("%d links given up, want %d", got, want)
	}
	for _, d := range detectors {
		if p.late[d] != 0 {
			t.Errorf("detector %d has %d right answers after it was killed", d, p.late[d])
		}
	}
}

// Robots with an agent each fly as one process would fly them, whatever is
// lost; broken ones do not count.
// Reference: Section 6.2, eq. (24).
func TestAgentsFly(t *testing.T) {
	o := studytest.Options(t.TempDir())
	s := settingsFrom(o)
	s.Flock.World.DurationSeconds = 0.4
	z := &swarms{robots.New(&study.Run{Options: o}, s.Flock, 0, 1, 1)}
	m, err := gnn.NewRandom(s.controller().Architecture(), z.Stream("init"))
	if err != nil {
		t.Fatal(err)
	}
	p := &recipe.Pilot{Model: m, Shift: localShift, Cost: flocking.CostNeighborhood, Rule: recipe.OnlineFlight(z.Gamma, z.OnlineClip)}
	start := func(f flocking.Faults) *flocking.Swarm {
		c := z.World
		c.Faults = f
		swarm, err := flocking.New(c, z.Stream("test", 0))
		if err != nil {
			t.Fatal(err)
		}
		return swarm
	}
	for _, lost := range []float64{0, 0.3} {
		f, faults := new(flight), flocking.Faults{MessageLoss: lost}
		if err := f.fly(context.Background(), p, start(faults)); err != nil {
			t.Fatal(err)
		}
		if steps := s.Flock.World.Steps(); f.bits.Same != steps || f.bits.Steps != steps || (f.givenUp > 0) != (lost > 0) {
			t.Errorf("%v lost: same bits in %d of %d steps, %v links given up; want %d of %d",
				lost, f.bits.Same, f.bits.Steps, f.givenUp, steps, steps)
		}
		l, err := p.Learner(z.World.Robots)
		if err != nil {
			t.Fatal(err)
		}
		flown, err := p.Fly(context.Background(), start(faults), l, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := f.total, flown.Total(); math.Abs(got/want-1) > 1e-12 {
			t.Errorf("%v lost: total %v, want %v", lost, got, want)
		}
	}
	broken, none := new(flight), new(flight)
	stops := flocking.Faults{Stops: []flocking.Stop{{Robot: 2, Step: 10}, {Robot: 5, Step: 10}}}
	for f, faults := range map[*flight]flocking.Faults{broken: stops, none: {}} {
		if err := f.fly(context.Background(), p, start(faults)); err != nil {
			t.Fatal(err)
		}
	}
	if broken.total == none.total || broken.bits.Steps != 0 || !(broken.givenUp > 0) {
		t.Errorf("total %v, %d steps compared, %v links given up; want another total than %v, none compared, some given up",
			broken.total, broken.bits.Steps, broken.givenUp, none.total)
	}
}

// The tables have a row per setting; the first rows of both sweeps are the same
// agents.
func TestAgentsTables(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: it trains models; it runs without -short", t.Name())
	}
	o := studytest.Options(t.TempDir())
	o.Repeats, o.Test = 1, 10
	s := settingsFrom(o)
	result, err := Experiment.Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range []int{len(s.Loss), len(s.Killed) + 2, len(s.Loss), len(s.Robots)} {
		if got := len(result.Tables[k].Rows); got != want {
			t.Errorf("table %q has %d rows, want %d", result.Tables[k].Title, got, want)
		}
	}
	if len(result.Charts) != 4 || len(result.Models) != 2 {
		t.Errorf("%d charts, %d models; want 4, 2", len(result.Charts), len(result.Models))
	}
	for c := range pilots {
		if got, want := result.Tables[3].Rows[0].Cells[c].Value.Mean, result.Tables[2].Rows[0].Cells[c].Value.Mean; got != want {
			t.Errorf("%s: total %v with none broken, want %v as with nothing lost", pilots[c], got, want)
		}
	}
	if !strings.Contains(result.Notes[0], "30 of 30 signals") || !strings.Contains(result.Notes[0], "2400 of 2400 steps") {
		t.Errorf("notes say %q, want the same bits everywhere", result.Notes[0])
	}
}

// The drift that is shown is that of the paper's update alone: who is frozen has none.
func TestDriftIsOfPaper(t *testing.T) {
	s := settings{Loss: []float64{0.1}}
	u := &networkUnit{Loss: map[string][]outcome{}, Forgiven: map[string][]outcome{}}
	for _, l := range learners {
		u.Loss[l.ID], u.Forgiven[l.ID] = []outcome{{}}, []outcome{{}}
	}
	u.Loss[sourceloc.WideDeepPaper.ID][0] = outcome{Drift: 1, Way: 4}
	if got := s.observeNets([]*networkUnit{u}).Mean(lostRow(0.1), drift); got != 25 {
		t.Errorf("got %v %%, want 25", got)
	}
}
