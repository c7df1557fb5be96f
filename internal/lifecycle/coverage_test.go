package lifecycle

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/conformal"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/modelfile"
)

// exampleStream trains the example of a task by the paper's setting, and returns
// its online phase with settings of its own.
func exampleStream(t *testing.T, task config.Task, model, settings string) (*OnlineRun, *modelfile.Model) {
	t.Helper()
	f := newFolder(t)
	set, err := NewExampleSet(task)
	if err != nil {
		t.Fatal(err)
	}
	f.text("graph.csv", set.Graph)
	f.text("stream_graph.csv", set.StreamGraph)
	f.save("signals.npy", set.SignalsShape, set.Signals)
	f.save("targets.npy", set.TargetsShape, set.Targets)
	f.save("stream_signals.npy", set.StreamSignalsShape, set.StreamSignals)
	f.save("stream_targets.npy", set.StreamTargetsShape, set.StreamTargets)
	f.text("config.yaml", "seed: 1\ndata: {graph: graph.csv, signals: signals.npy, targets: targets.npy, shift: spectral, "+
		"split: {valid: 0.15, test: 0.15}, "+model+
		"\nonline:\n  stream: {graph: stream_graph.csv, signals: stream_signals.npy, targets: stream_targets.npy}\n  "+settings+"\n")
	c, err := config.Load(filepath.Join(f.dir, "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	training, err := NewTraining(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(training.Close)
	if _, err := training.Run(t.Context(), nil, nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := training.Calibrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	file := training.File("test")
	r, err := NewOnlineRun(c, file, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r, file
}

// The examples of init, trained as they were before links were lost in training.
const (
	pulses = `task: classify, read: [5, 15, 25, 35, 45]}
model: {wide: {order: 3}, deep: [{order: 3, features: 16, activation: relu}, {order: 3, features: 16, activation: relu}]}
train: {epochs: 150, batch_size: 20, adam: {step_size: 0.005}}
`
	fields = `task: regress}
model: {wide: {order: 3}, deep: [{order: 3, features: 16, activation: tanh}]}
train: {epochs: 30, batch_size: 20, adam: {step_size: 0.005}}
`
)

// held returns, of the answers from step from on, the share whose set or interval
// holds the truth, by node and in all, and how large they are on average.
func held(r *OnlineRun, from int) (nodes []float64, all, size float64) {
	s, read, outputs := r.Stream, len(r.Stream.Read), r.y.Cols
	nodes = make([]float64, read)
	for t := from; t < s.Steps; t++ {
		for k := range read {
			in, row := false, t*read+k
			if s.Task == config.Classify {
				set := r.Sets[row*outputs : (row+1)*outputs]
				in = set[s.Labels[row]] == 1
				for _, v := range set {
					size += float64(v)
				}
			} else {
				truth, low, high := s.Values.Row(row)[0], r.Sets[2*row], r.Sets[2*row+1]
				in = low <= truth && truth <= high
				if width := float64(high) - float64(low); !math.IsInf(width, 0) {
					size += width
				}
			}
			if in {
				nodes[k] += 1 / float64(s.Steps-from)
				all += 1 / float64((s.Steps-from)*read)
			}
		}
	}
	return nodes, all, size / float64((s.Steps-from)*read)
}

// After links are lost, bounds that stay as they were calibrated hold the truth far
// less often than asked for; those that adapt hold it at every node. The window of
// the former is so long that it forgets nothing, and its level hardly moves.
func TestCoverageAfterLinksAreLost(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: six streams that learn take a while; it runs without -short", t.Name())
	}
	for _, c := range []struct {
		task                config.Task
		model, preset       string
		worst, least, most  float64 // share that is held: of one node, and of all
		size                float64 // at most
		stayed, worstStayed float64 // at most, without adapting
	}{
		{config.Classify, pulses, "paper", 0.86, 0.88, 0.93, 2.4, 0.6, 0.4},
		{config.Classify, pulses, "own", 0.86, 0.88, 0.93, 1.4, 0.87, 0.75},
		{config.Regress, fields, "own", 0.86, 0.88, 0.93, 1, 0.9, 0.75},
	} {
		for _, gate := range []string{"gate: off", "gate: on"} {
			r, _ := exampleStream(t, c.task, c.model, "preset: "+c.preset+"\n  "+gate)
			if err := r.Play(t.Context(), func() error { return nil }, func(OnlineStep) error { return nil }); err != nil {
				t.Fatal(err)
			}
			nodes, all, size := held(r, exampleLoss)
			t.Logf("%s, %s, %s: %.1f %% held, %.1f %% at the worst node, %.3f large", c.task, c.preset, gate, 100*all, 100*slices.Min(nodes), size)
			if worst := slices.Min(nodes); all < c.least || all > c.most || worst < c.worst || size > c.size {
				t.Errorf("%s, %s, %s: got %.3f held, %.3f at the worst node, %.2f large; want %v to %v, %v, at most %v",
					c.task, c.preset, gate, all, worst, size, c.least, c.most, c.worst, c.size)
			}
			report := r.Report("test").Coverage
			whole, share, _ := held(r, 0)
			if math.Abs(report.Share-share) > 1e-9 || math.Abs(report.Worst.Share-slices.Min(whole)) > 1e-9 || report.Asked != 0.9 {
				t.Errorf("%s: the report says %+v, counted were %v and %v", c.task, report, share, whole)
			}
			stayed, worst := stays(r, exampleLoss)
			t.Logf("%s, %s, %s: as calibrated %.1f %% held, %.1f %% at the worst node", c.task, c.preset, gate, 100*stayed, 100*worst)
			if stayed > c.stayed || worst > c.worstStayed {
				t.Errorf("%s: as calibrated %.3f are held, %.3f at the worst node: the example shows nothing", c.task, stayed, worst)
			}
		}
	}
}

// stays returns which share of the answers from step from on would have been held
// by bounds as calibrated in training, of all and of the worst node.
func stays(r *OnlineRun, from int) (all, worst float64) {
	s, read, outputs := r.Stream, len(r.Stream.Read), r.y.Cols
	worst = 1
	for k, i := range s.Read {
		n := conformal.New(*r.Rule.Conformal, outputs)
		for w, scores := range r.settings.Scores(i) {
			n.Begin(w, scores)
		}
		b, in := n.Bounds()[0], 0
		for t := from; t < s.Steps; t++ {
			row := t*read + k
			y := r.Predictions[row*outputs : (row+1)*outputs]
			if s.Task == config.Classify {
				if b.Holds(y, int(s.Labels[row])) {
					in++
				}
			} else if low, high := b.Interval(y[0]); low <= s.Values.Row(row)[0] && s.Values.Row(row)[0] <= high {
				in++
			}
		}
		share := float64(in) / float64(s.Steps-from)
		all, worst = all+share/float64(read), min(worst, share)
	}
	return all, worst
}

// A run that is stopped and goes on writes the sets that it would have written, and
// counts the same; the next stream counts anew.
func TestCoverageGoesOn(t *testing.T) {
	for _, settings := range []string{
		"preset: paper, coverage: 0.5", "preset: paper, mode: centralized, coverage: 0.6", "preset: own, coverage: 0.5, gate: off",
	} {
		for _, task := range []config.Task{config.Classify, config.Regress} {
			f := newOnlineCase(t, task, false)
			whole := f.start(f.model, settings)
			f.play(whole, -1)
			first := f.start(f.model, settings)
			f.play(first, 12)
			file := f.decode(f.bytes(first))
			was, err := AdaptationOf(file)
			if err != nil {
				t.Fatal(err)
			}
			rest := f.start(file, settings)
			if err := errors.Join(rest.Resume(was, first.Predictions), rest.ResumeSets(first.Sets)); err != nil {
				t.Fatal(err)
			}
			f.play(rest, -1)
			if !slices.Equal(rest.Sets, whole.Sets) || !reflect.DeepEqual(rest.coverage(), whole.coverage()) {
				t.Errorf("%s, %s: got %+v and other sets, want %+v", task, settings, rest.coverage(), whole.coverage())
			}
			if m := whole.coverage(); m.Judged == 0 || m.Size == 0 {
				t.Errorf("%s, %s: got %+v, want something that was judged and known", task, settings, m)
			}
			next := f.start(f.decode(f.bytes(whole)), settings)
			if got := next.coverage().Judged; got != 0 {
				t.Errorf("%s, %s: the next stream begins with %d judged answers, want 0", task, settings, got)
			}
		}
	}
}

// A run that goes on without sets, and then with sets again, counts anew.
func TestCoverageBeginsAnew(t *testing.T) {
	f := newOnlineCase(t, config.Classify, false)
	whole, first := f.start(f.model, "coverage: 0.5"), f.start(f.model, "coverage: 0.5")
	f.play(first, 4) // so that the next run does not count from 0
	f.play(whole, -1)
	file, begun, last := f.decode(f.bytes(first)), false, (*OnlineRun)(nil)
	for _, leg := range []struct {
		coverage string
		stop     int
	}{{"0.5", 2}, {"0", 4}, {"0.5", -1}} {
		run := f.start(file, "coverage: "+leg.coverage)
		if begun {
			was, err := AdaptationOf(file)
			if err = errors.Join(err, run.Resume(was, last.Predictions)); err == nil && leg.coverage != "0" {
				err = run.ResumeSets(nil)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		f.play(run, leg.stop)
		file, begun, last = f.decode(f.bytes(run)), true, run
	}
	if got, want := last.coverage().Judged, whole.coverage().Judged-first.coverage().Judged; got != want {
		t.Errorf("got %d judged answers, want the %d since sets are there again", got, want)
	}
}

// Sets of a run of an earlier version, which wrote none, hold everything; and who
// asks for none has none.
func TestCoverageOfEarlierRuns(t *testing.T) {
	f := newOnlineCase(t, config.Regress, false)
	plain := f.start(f.model, "preset: paper, coverage: 0")
	f.play(plain, 12)
	if plain.SetsName() != "" || plain.Sets != nil || plain.coverage() != nil {
		t.Errorf("coverage 0: got %q, %v, %v", plain.SetsName(), plain.Sets, plain.coverage())
	}
	file := f.decode(f.bytes(plain))
	was, err := AdaptationOf(file)
	if err != nil {
		t.Fatal(err)
	}
	rest := f.start(file, "preset: paper")
	if err := errors.Join(rest.Resume(was, plain.Predictions), rest.ResumeSets(nil)); err != nil {
		t.Fatal(err)
	}
	inf := float32(math.Inf(1))
	if got, want := len(rest.Sets), 2*len(rest.Predictions); got != want || rest.Sets[0] != -inf || rest.Sets[1] != inf {
		t.Errorf("got %d ends, %v first, want %d that are open", got, rest.Sets[:2], want)
	}
	f.play(rest, -1)
	if rest.ResumeSets(make([]float32, 3)) == nil {
		t.Error("three numbers of sets: got no complaint")
	}
}

// Late answers wait with their bounds in the file.
func TestCoverageOfLateAnswers(t *testing.T) {
	f := newOnlineCase(t, config.Regress, false)
	play := func(r *OnlineRun, stop int) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		err := r.Play(ctx, func() error { return nil }, func(s OnlineStep) error {
			if s.Step == stop {
				cancel()
			}
			return nil
		})
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	start := func(file *modelfile.Model) *OnlineRun {
		f.text("c.yaml", "online: {stream: {graph: g.csv, signals: x.npy, targets: y.npy, delay: 3}, preset: paper, coverage: 0.5}\n")
		c, err := config.Load(filepath.Join(f.dir, "c.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		r, err := NewOnlineRun(c, file, false)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(r.Close)
		return r
	}
	whole, first := start(f.model), start(f.model)
	play(whole, -1)
	play(first, 11)
	file := f.decode(f.bytes(first))
	was, err := AdaptationOf(file)
	if err != nil {
		t.Fatal(err)
	}
	rest := start(file)
	if err := errors.Join(rest.Resume(was, first.Predictions), rest.ResumeSets(first.Sets)); err != nil {
		t.Fatal(err)
	}
	play(rest, -1)
	if !slices.Equal(rest.Sets, whole.Sets) || !slices.Equal(f.bytes(rest), f.bytes(whole)) {
		t.Error("the resumed run ends with other intervals or another file")
	}
}

// predict takes the scores of the last answers of a run, not those of training.
func TestConfidenceOfAnAdaptedModel(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: it learns a whole stream; it runs without -short", t.Name())
	}
	r, trained := exampleStream(t, config.Classify, pulses, "preset: own")
	if err := r.Play(t.Context(), func() error { return nil }, func(OnlineStep) error { return nil }); err != nil {
		t.Fatal(err)
	}
	adapted, err := r.File("test")
	if err != nil {
		t.Fatal(err)
	}
	k := conformal.Config{Classes: true}
	before, err := latestOf(trained, &k)
	if err != nil {
		t.Fatal(err)
	}
	after, err := latestOf(adapted, &k)
	if err != nil {
		t.Fatal(err)
	}
	scores := after.Scores[0][0]
	if !slices.Equal(after.Nodes, []int{5, 15, 25, 35, 45}) || len(scores) != 100 || slices.Equal(scores, before.Scores[0][0]) {
		t.Errorf("got nodes %v with %d scores, want five with the last 100", after.Nodes, len(scores))
	}
	fresh, err := asTrained(adapted)
	if err != nil {
		t.Fatal(err)
	}
	again, err := latestOf(fresh, &k)
	if err != nil || !reflect.DeepEqual(again, before) {
		t.Errorf("as trained: got %v and %v, want what training left", again, err)
	}
}
