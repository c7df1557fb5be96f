package lifecycle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/data"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/random"
)

// streamGraph has six nodes in a ring; at time 8 node 4 is cut off, at time 12
// it is back.
const streamGraph = "src,dst,time\n" +
	"0,1,0\n1,2,0\n2,3,0\n3,4,0\n4,5,0\n5,0,0\n" +
	"0,1,8\n1,2,8\n2,3,8\n5,0,8\n" +
	"0,1,12\n1,2,12\n2,3,12\n3,4,12\n4,5,12\n5,0,12\n"

// onlineCase is a model and a stream of 20 steps on six nodes, two features.
type onlineCase struct {
	folder
	model *modelfile.Model
}

func newOnlineCase(t *testing.T, task config.Task, delayed bool) *onlineCase {
	t.Helper()
	f := &onlineCase{folder: newFolder(t)}
	net, err := gnn.NewRandom(gnn.Config{
		In: 2, Features: 4, Outputs: 3, Wide: &gnn.WideConfig{Order: 2},
		Deep: []gnn.LayerConfig{{Order: 1, Features: 4}, {Order: 1, Features: 4}},
	}, random.Stream(1, "model"))
	if err != nil {
		t.Fatal(err)
	}
	f.model = &modelfile.Model{
		Network: net,
		Meta:    modelfile.Meta{Shift: graph.ShiftSymmetric, Task: string(task), Delayed: delayed, Nodes: []int{4, 1}},
	}
	rng := random.Stream(1, "signals")
	signals := make([]float32, 20*6*2)
	for i := range signals {
		signals[i] = float32(rng.NormFloat64())
	}
	s, err := graph.ShiftSymmetric.Of(graph.Ring(6))
	if err != nil {
		t.Fatal(err)
	}
	recipe.PutMoment(f.model, online.InputMoment(net, s, mat.NewDense(len(signals)/2, 2, signals), f.model.Meta.Nodes, nil, nil))
	f.text("g.csv", streamGraph)
	f.save("x.npy", []int{20, 6, 2}, signals)
	var targets []float32
	if task == config.Classify {
		for t := range 20 {
			targets = append(targets, float32(t%3), float32(t%4-1)) // node 1 has no label at every fourth step
		}
		f.save("y.npy", []int{20, 2}, targets)
		return f
	}
	for i := range 20 * 6 * 3 {
		targets = append(targets, float32(math.Sin(float64(i))))
	}
	f.save("y.npy", []int{20, 6, 3}, targets)
	return f
}

func (f *onlineCase) save(name string, shape []int, values []float32) {
	f.Helper()
	if err := modelfile.SaveArray(filepath.Join(f.dir, name), shape, values); err != nil {
		f.Fatal(err)
	}
}

// run returns a run of the settings, ready to play. Those that begin with "late, "
// are for a stream whose targets come three steps late.
func (f *onlineCase) run(file *modelfile.Model, settings string) (*OnlineRun, error) {
	f.Helper()
	stream := "graph: g.csv, signals: x.npy, targets: y.npy"
	settings, late := strings.CutPrefix(settings, "late, ")
	if late {
		stream += ", delay: 3"
	}
	if before, rest, found := strings.Cut(settings, "loss: "); found { // that of the stream
		name, after, _ := strings.Cut(rest, ", ")
		stream, settings = stream+", loss: "+name, before+after
	}
	f.text("c.yaml", "online: {stream: {"+stream+"}, "+settings+"}\n")
	c, err := config.Load(filepath.Join(f.dir, "c.yaml"))
	if err != nil {
		return nil, err
	}
	r, err := NewOnlineRun(c, file, false)
	if r != nil {
		f.Cleanup(r.Close)
	}
	return r, err
}

func (f *onlineCase) start(file *modelfile.Model, settings string) *OnlineRun {
	f.Helper()
	r, err := f.run(file, settings)
	if err != nil {
		f.Fatal(err)
	}
	return r
}

// play plays until step stop, -1 for the end.
func (f *onlineCase) play(r *OnlineRun, stop int) []OnlineStep {
	f.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var steps []OnlineStep
	err := r.Play(ctx, func() error { return nil }, func(s OnlineStep) error {
		steps = append(steps, s)
		if s.Step == stop {
			cancel()
		}
		return nil
	})
	if stop >= 0 && errors.Is(err, context.Canceled) {
		return steps
	}
	if err != nil {
		f.Fatal(err)
	}
	return steps
}

// bytes returns the model file that a run leaves.
func (f *onlineCase) bytes(r *OnlineRun) []byte {
	f.Helper()
	file, err := r.File("test")
	if err != nil {
		f.Fatal(err)
	}
	var b bytes.Buffer
	if err := modelfile.Encode(&b, file); err != nil {
		f.Fatal(err)
	}
	return b.Bytes()
}

func (f *onlineCase) decode(text []byte) *modelfile.Model {
	f.Helper()
	m, err := modelfile.Decode(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		f.Fatal(err)
	}
	return m
}

// A run that stops in the middle, is saved and resumed ends with the bytes of
// one that was never interrupted.
func TestOnlineResume(t *testing.T) {
	for _, task := range []config.Task{config.Classify, config.Regress} {
		for _, delayed := range []bool{false, true} {
			for _, settings := range []string{
				"preset: own",
				"preset: neighbours",
				"preset: paper, retrain: taps+bias, ridge: 0.01",
				"preset: paper, step_size: {schedule: decaying, value: 0.01}",
				"mode: centralized, preset: own",
				"mode: centralized, preset: paper",
				"late, preset: own",
				"late, preset: neighbours",
				"late, preset: paper, gate: off",
				"late, mode: centralized, preset: own",
				"late, mode: centralized, preset: paper",
			} {
				if delayed && strings.Contains(settings, "neighbours") { // which is for links that stay
					continue
				}
				t.Run(fmt.Sprintf("%s delayed=%v %s", task, delayed, settings), func(t *testing.T) {
					f := newOnlineCase(t, task, delayed)
					whole := f.start(f.model, settings)
					steps := f.play(whole, -1)
					if got := whole.Report("test").Drift.Moved; got == 0 {
						t.Fatal("nothing was learned")
					}
					for _, stop := range []int{0, 3, 9, 19} {
						first := f.start(f.model, settings)
						before := f.play(first, stop)
						saved := f.decode(f.bytes(first))
						state, err := AdaptationOf(saved)
						if err != nil {
							t.Fatal(err)
						}
						if state.At != stop+1 {
							t.Fatalf("stopped at step %d, want %d", state.At, stop+1)
						}
						second := f.start(saved, settings)
						if err := second.Resume(state, first.Predictions); err != nil {
							t.Fatal(err)
						}
						after := f.play(second, -1)
						if got := append(before, after...); !reflect.DeepEqual(got, steps) {
							t.Errorf("stopped at %d: other metrics", stop)
						}
						if !slices.Equal(second.Predictions, whole.Predictions) {
							t.Errorf("stopped at %d: other predictions", stop)
						}
						if !bytes.Equal(f.bytes(second), f.bytes(whole)) {
							t.Errorf("stopped at %d: another model", stop)
						}
					}
				})
			}
		}
	}
}

// Two streams one after the other, by way of the adapted model, teach what one
// long stream does.
func TestOnlineNextStream(t *testing.T) {
	for _, settings := range []string{"preset: own", "preset: paper", "mode: centralized, preset: paper"} {
		f := newOnlineCase(t, config.Classify, false)
		f.text("g.csv", "0,1\n1,2\n2,3\n3,4\n4,5\n5,0\n")
		whole := f.start(f.model, settings)
		f.play(whole, -1)
		x, y := f.floats("x.npy"), f.floats("y.npy")
		f.save("x.npy", []int{9, 6, 2}, x[:9*12])
		f.save("y.npy", []int{9, 2}, y[:9*2])
		first := f.start(f.model, settings)
		f.play(first, -1)
		f.save("x.npy", []int{11, 6, 2}, x[9*12:])
		f.save("y.npy", []int{11, 2}, y[9*2:])
		second := f.start(f.decode(f.bytes(first)), settings)
		f.play(second, -1)
		got, want := f.decode(f.bytes(second)), f.decode(f.bytes(whole))
		if !reflect.DeepEqual(got.Extra, want.Extra) || !reflect.DeepEqual(got.Precise, want.Precise) ||
			!slices.Equal(got.Network.Params.Flat, want.Network.Params.Flat) {
			t.Errorf("%s: two streams taught something else than one", settings)
		}
		if got := second.State.Steps; got != 20 {
			t.Errorf("%s: %d steps in all, want 20", settings, got)
		}
		back, err := asTrained(got)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(back.Network.Params.Flat, f.model.Network.Params.Flat) ||
			!reflect.DeepEqual(back.Precise, f.model.Precise) || back.Extra != nil {
			t.Errorf("%s: the trained model does not come back", settings)
		}
	}
}

func (f *onlineCase) floats(name string) []float32 {
	f.Helper()
	a, err := modelfile.LoadArray(filepath.Join(f.dir, name))
	if err != nil {
		f.Fatal(err)
	}
	values, err := a.Float32s()
	if err != nil {
		f.Fatal(err)
	}
	return values
}

// Predict and Evaluate use the taps of each node: their outputs are those that
// the learner would give next.
func TestPredictAdapted(t *testing.T) {
	for _, delayed := range []bool{false, true} {
		for _, settings := range []string{
			"preset: own, gate: off", "mode: centralized, preset: paper, gate: off", "preset: paper, retrain: taps+bias, gate: off",
		} {
			mixes := strings.HasPrefix(settings, "preset: paper")
			if mixes && delayed { // delay lines move on with the taps
				continue
			}
			f := newOnlineCase(t, config.Classify, delayed)
			learned := f.start(f.model, settings)
			f.play(learned, -1)
			adapted := f.decode(f.bytes(learned))

			// The learner, which is told nothing, on the same stream.
			still := f.start(adapted, settings)
			if delayed { // the stream begins anew: nothing came before
				s := still.learner.Snapshot()
				s.Delay = nil
				if err := still.learner.Restore(s); err != nil {
					t.Fatal(err)
				}
			}
			if !delayed {
				f.text("g.csv", "0,1\n1,2\n2,3\n3,4\n4,5\n5,0\n")
				still.Stream.Graphs = still.Stream.Graphs[:1]
			}
			var want []float32
			y := mat.NewDense(6, 3, nil)
			for s := range still.Stream.Samples() {
				err := errors.Join(still.learner.Observe(s), still.learner.Predict(y))
				if !mixes {
					err = errors.Join(err, still.learner.Update(loss.CrossEntropy{Labels: slices.Repeat([]int32{loss.NoLabel}, 6)}))
				}
				if err != nil {
					t.Fatal(err)
				}
				want = append(append(want, y.Row(4)...), y.Row(1)...)
			}
			observed, err := data.Load(data.Files{Graph: filepath.Join(f.dir, "g.csv"), Signals: filepath.Join(f.dir, "x.npy")})
			if err != nil {
				t.Fatal(err)
			}
			p, err := Predict(context.Background(), adapted, observed, []int{4, 1}, 1)
			if err != nil {
				t.Fatal(err)
			}
			near(t, settings, p.Values, want, 2e-5)
			trained, err := Predict(context.Background(), f.model, observed, []int{4, 1}, 1)
			if err != nil {
				t.Fatal(err)
			}
			if slices.Equal(p.Values, trained.Values) {
				t.Errorf("%s: the adapted model predicts as the trained one does", settings)
			}
			f.checkScore(adapted, p)
		}
	}
}

// checkScore compares Evaluate with the outputs p at nodes 4 and 1.
func (f *onlineCase) checkScore(m *modelfile.Model, p *Prediction) {
	f.Helper()
	targets := f.floats("y.npy")
	f.text("e.yaml", "data: {graph: g.csv, signals: x.npy, targets: y.npy, task: "+
		"classify, classes: 3, read: [4, 1], shift: symmetric, split: {valid: 0, test: 0}}\n"+
		"model: {features: 4, wide: {order: 2}}\n")
	c, err := config.Load(filepath.Join(f.dir, "e.yaml"))
	if err != nil {
		f.Fatal(err)
	}
	got, err := Evaluate(context.Background(), m, c, "train")
	if err != nil {
		f.Fatal(err)
	}
	cost, rows, right := 0.0, 0, 0
	for r, target := range targets {
		label := int(target)
		if label < 0 {
			continue
		}
		y := p.Values[r*3 : (r+1)*3]
		total := 0.0
		for _, v := range y {
			total += math.Exp(float64(v))
		}
		cost += math.Log(total) - float64(y[label])
		rows++
		if y[label] == slices.Max(y) {
			right++
		}
	}
	if want := float64(right) / float64(rows); *got.Accuracy != want {
		f.Errorf("accuracy %v, want %v", *got.Accuracy, want)
	}
	if want := cost / float64(rows); math.Abs(got.Loss-want) > 1e-4*want {
		f.Errorf("loss %v, want %v", got.Loss, want)
	}
}

func near(t *testing.T, what string, got, want []float32, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	largest := 1.0
	for _, v := range want {
		largest = max(largest, math.Abs(float64(v)))
	}
	for i := range want {
		if d := math.Abs(float64(got[i]) - float64(want[i])); d > tolerance*largest {
			t.Fatalf("%s: value %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

// A detector whose links vanish goes on alone: it sees its own signal, keeps
// its taps to itself and learns from its own cost.
func TestOnlineIsolatedDetector(t *testing.T) {
	f := newOnlineCase(t, config.Classify, false)
	r := f.start(f.model, "preset: paper")
	f.play(r, -1)
	if got := r.Stream.Changes; got != 3 {
		t.Errorf("%d graphs, want 3", got)
	}
	if got := len(r.Stream.byContent); got != 2 {
		t.Errorf("matrices of %d graphs were computed, want 2: the first comes back", got)
	}
	m, err := r.Stream.of(r.Stream.Graphs[9])
	if err != nil {
		t.Fatal(err)
	}
	if col, val := m.mixing.Row(4); len(col) != 1 || val[0] != 1 {
		t.Errorf("row 4 of W has columns %v with %v, want itself with 1", col, val)
	}
}

// Steps and nodes without a target are predicted and not learned from.
func TestOnlineUnlabelled(t *testing.T) {
	f := newOnlineCase(t, config.Regress, false)
	y := f.floats("y.npy")
	for i := range 10 * 6 * 3 {
		y[i] = float32(math.NaN()) // nothing is known before step 10
	}
	f.save("y.npy", []int{20, 6, 3}, y)
	r := f.start(f.model, "preset: paper, step_size: {value: 0.05}")
	steps := f.play(r, -1)
	if steps[9].Cost != nil || steps[10].Cost == nil || *steps[10].Moved != 0 || *steps[11].Moved == 0 {
		t.Errorf("costs and distances around step 10: %+v", steps[9:12])
	}
	if got := r.Report("").Online.Steps; got != 10 {
		t.Errorf("%d steps were judged, want 10", got)
	}
	if got := r.PredictionShape(); !slices.Equal(got, []int{20, 2, 3}) {
		t.Errorf("predictions %v, want of all 20 steps", got)
	}
}

// Learning that diverges without a gate ends with the parameters before, and says so.
func TestOnlineDiverges(t *testing.T) {
	f := newOnlineCase(t, config.Regress, false)
	r := f.start(f.model, "preset: paper, step_size: {value: 1e6}, gate: off")
	err := r.Play(context.Background(), func() error { return nil }, func(OnlineStep) error { return nil })
	if !errors.Is(err, online.ErrDiverged) || !strings.Contains(err.Error(), "step ") {
		t.Fatalf("got %v, want word of the divergence and its step", err)
	}
	file := f.decode(f.bytes(r)) // refuses numbers that are not finite
	state, err := AdaptationOf(file)
	if err != nil || !state.Diverged || state.At == 20 || state.Steps != state.At {
		t.Errorf("got %+v and %v, want a state before the end", state, err)
	}
	again := f.start(file, "preset: paper, step_size: {value: 1e6}, gate: off")
	if err := again.Resume(state, r.Predictions); err == nil || !strings.Contains(err.Error(), "diverged at step") {
		t.Errorf("resumed: %v, want that it would diverge again", err)
	}
}
