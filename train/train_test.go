package train_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/optim"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/train"
)

var ctx = context.Background()

// localization is source localization in small: signals that started in one of
// three communities, to be told apart at three detectors.
type localization struct {
	graph   *graph.Graph
	signals mat.Dense
	labels  []int32
	read    []int
}

const communities, members = 3, 6

func newLocalization(t testing.TB, samples int, purpose string) localization {
	t.Helper()
	g, err := graph.SBM(graph.SBMConfig{Sizes: []int{members, members, members}, Intra: 0.9, Inter: 0.1}, random.Stream(1, "graph"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := graph.ShiftSpectral.Of(g)
	if err != nil {
		t.Fatal(err)
	}
	rng := random.Stream(1, purpose)
	n := g.Nodes()
	l := localization{graph: g, read: []int{1, members + 1, 2*members + 1}, signals: mat.NewDense(samples*n, 1, nil)}
	for k := range samples {
		c := rng.IntN(communities)
		x := mat.NewDense(n, 1, nil)
		x.Set(c*members, 0, 1)
		for range rng.IntN(4) {
			next := mat.NewDense(n, 1, nil)
			mat.Serial.SpMM(next, s, x)
			x = next
		}
		for i := range n {
			l.signals.Set(k*n+i, 0, x.At(i, 0)+float32(0.002*rng.NormFloat64()))
		}
		l.labels = append(l.labels, int32(c))
	}
	return l
}

func (l localization) data(t testing.TB, m *gnn.WideDeep, p float64) (*train.Signals, *train.Classes) {
	t.Helper()
	return l.losing(t, m, train.Outage{From: p, To: p})
}

// losing is data with links that fail.
func (l localization) losing(t testing.TB, m *gnn.WideDeep, outage train.Outage) (*train.Signals, *train.Classes) {
	t.Helper()
	classes, err := train.NewSampleClasses(l.labels, len(l.read), communities)
	if err != nil {
		t.Fatal(err)
	}
	d, err := train.NewSignals(m, train.SignalsConfig{
		Graph: l.graph, Operator: graph.ShiftSpectral, Signals: l.signals, Read: l.read, Targets: classes, Outage: outage,
	})
	if err != nil {
		t.Fatal(err)
	}
	return d, classes
}

var small = gnn.Config{In: 1, Features: 8, Outputs: communities, Wide: &gnn.WideConfig{Order: 3}, Deep: []gnn.LayerConfig{
	{Order: 3, Features: 8}, {Order: 3, Features: 8},
}}

func newModel(t testing.TB, c gnn.Config, seed uint64) *gnn.WideDeep {
	t.Helper()
	m, err := gnn.NewRandom(c, random.Stream(seed, "init"))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// job is a short training run with validation.
func job(t testing.TB, m *gnn.WideDeep, p float64) train.Job {
	t.Helper()
	return way{outage: train.Outage{From: p, To: p}}.job(t, m)
}

// way is a way to train.
type way struct {
	outage  train.Outage
	scale   train.Scale
	average float64
}

// ways are those whose bits must not depend on threads or interruptions.
var ways = []way{
	{},
	{outage: train.Outage{From: 0.3, To: 0.3}},
	{outage: train.Outage{To: 0.4, Subgraphs: 7}},
	{scale: train.ScaleDiag},
	{average: 0.9},
	{outage: train.Outage{To: 0.4, Subgraphs: 1024}, scale: train.ScaleFull, average: 0.99},
}

func (w way) job(t testing.TB, m *gnn.WideDeep) train.Job {
	t.Helper()
	tr, _ := newLocalization(t, 120, "train").losing(t, m, w.outage)
	va, _ := newLocalization(t, 60, "valid").data(t, m, 0)
	config := train.Config{
		Epochs: 5, BatchSize: 25, Seed: 4, Adam: optim.AdamConfig{StepSize: 0.01}, Inputs: train.Inputs{Scale: w.scale}, Average: w.average,
	}
	return train.Job{Config: config, Train: tr, Valid: va}
}

func mustRun(t testing.TB, m *gnn.WideDeep, j train.Job) train.Result {
	t.Helper()
	r, err := train.Run(ctx, m, j)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Training finds the communities.
func TestTrainingLearns(t *testing.T) {
	m := newModel(t, small, 1)
	j := job(t, m, 0)
	j.Config.Epochs = 200
	r := mustRun(t, m, j)
	test, classes := newLocalization(t, 200, "test").data(t, m, 0)
	var ev train.Evaluator
	accuracy, err := ev.Accuracy(ctx, m, test, classes, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("accuracy %.3f after %d steps, best score %.4f at step %d", accuracy, r.Steps, r.Best, r.BestSteps)
	if accuracy < 0.95 {
		t.Errorf("accuracy is %v, want at least 0.95", accuracy)
	}
	if got, err := ev.Loss(ctx, m, j.Valid, j.Config.Seed); err != nil || got != r.Best {
		t.Errorf("the model's validation loss is %v (%v), its best was %v: the best parameters were not kept", got, err, r.Best)
	}
}

// One seed gives the same bits, whatever the number of threads; another seed
// gives others.
func TestTrainingIsDeterministic(t *testing.T) {
	run := func(threads int, seed uint64, w way) []float32 {
		e := mat.NewEngine(threads)
		defer e.Close()
		m := newModel(t, small, 1)
		j := w.job(t, m)
		j.Engine, j.Config.Seed, j.Config.Epochs = e, seed, 3
		j.Config.BatchSize, j.Config.PassRows = 100, 100 // 20 passes
		mustRun(t, m, j)
		return m.Params.Flat
	}
	for _, w := range ways {
		want := run(1, 4, w)
		for _, threads := range []int{1, 2, 3} {
			if !slices.Equal(run(threads, 4, w), want) {
				t.Errorf("%+v: %d threads give other bits", w, threads)
			}
		}
		if slices.Equal(run(1, 5, w), want) {
			t.Errorf("%+v: another seed gives the same parameters", w)
		}
	}
}

// A run that is stopped anywhere, written as JSON and resumed, ends with the
// bits of one that was not.
func TestResumeEqualsUninterrupted(t *testing.T) {
	for _, w := range ways {
		whole := newModel(t, small, 1)
		want := mustRun(t, whole, w.job(t, whole))
		for stop := 1; stop < want.Steps; stop += 3 {
			m := newModel(t, small, 1)
			j := w.job(t, m)
			stopping, cancel := context.WithCancel(ctx)
			j.Train = &countdown{Data: j.Train, left: stop, end: cancel}
			first, err := train.Run(stopping, m, j)
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("stopped after %d fills: error %v", stop, err)
			}
			text, err := json.Marshal(first.Last)
			if err != nil {
				t.Fatal(err)
			}
			again := newModel(t, small, 99)
			j = w.job(t, again)
			j.Resume = new(train.Checkpoint)
			if err := json.Unmarshal(text, j.Resume); err != nil {
				t.Fatal(err)
			}
			got := mustRun(t, again, j)
			if !slices.Equal(again.Params.Flat, whole.Params.Flat) {
				t.Fatalf("%+v: stopped at step %d and resumed: other parameters", w, first.Steps)
			}
			if got.Best != want.Best || got.Steps != want.Steps || got.BestSteps != want.BestSteps {
				t.Errorf("resumed result %+v, want %+v", got, want)
			}
		}
	}
}

// A run that is stopped in a validation, or while live units are counted, and resumed is one
// that was not; one that patience ended stays ended.
func TestResumeInValidation(t *testing.T) {
	for _, every := range []int{0, 2, 3} {
		begin := func(seed uint64) (*gnn.WideDeep, train.Job) {
			m := newModel(t, small, seed)
			j := job(t, m, 0)
			j.Config.ValidateEvery, j.Config.Patience, j.Config.Epochs = every, 3, 50
			j.Config.PassRows, j.Config.Adam.StepSize = 500, 0.1
			return m, j
		}
		whole, j := begin(1)
		fills := &countdown{Data: j.Valid}
		j.Valid = fills
		want := mustRun(t, whole, j)
		if !want.Stopped {
			t.Fatalf("validated every %d steps: patience ends none of %d epochs", every, want.Epochs)
		}
		for stop := 1; stop <= -fills.left+1; stop++ {
			m, j := begin(1)
			stopping, cancel := context.WithCancel(ctx)
			j.Valid = &countdown{Data: j.Valid, left: stop, end: cancel}
			first, err := train.Run(stopping, m, j)
			cancel()
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			again, j := begin(99)
			j.Resume = first.Last
			got := mustRun(t, again, j)
			got.Last, want.Last = nil, nil
			if got != want || !slices.Equal(again.Params.Flat, whole.Params.Flat) {
				t.Fatalf("validated every %d steps, stopped at fill %d after %d: got %+v, want %+v", every, stop, first.Steps, got, want)
			}
		}
	}
}

// countdown ends the run after a number of passes.
type countdown struct {
	train.Data
	left int
	end  func()
}

func (c *countdown) Fill(p *train.Pass, samples []int, k, passes int, d train.Draw) error {
	if c.left--; c.left == 0 {
		c.end()
	}
	return c.Data.Fill(p, samples, k, passes, d)
}

// A run that is cancelled keeps the best parameters so far.
func TestCancelKeepsBest(t *testing.T) {
	m := newModel(t, small, 1)
	j := job(t, m, 0)
	stopping, cancel := context.WithCancel(ctx)
	epochs := 0
	j.OnEpoch = func(train.Epoch) error {
		if epochs++; epochs == 2 {
			cancel()
		}
		return nil
	}
	r, err := train.Run(stopping, m, j)
	if !errors.Is(err, context.Canceled) || epochs != 2 {
		t.Fatalf("error %v after %d epochs", err, epochs)
	}
	var ev train.Evaluator
	if got, _ := ev.Loss(ctx, m, j.Valid, j.Config.Seed); got != r.Best || !r.Scored {
		t.Errorf("validation loss %v, best so far %v", got, r.Best)
	}
	stop := errors.New("enough")
	j.OnEpoch = func(train.Epoch) error { return stop }
	if _, err := train.Run(ctx, m, j); !errors.Is(err, stop) {
		t.Errorf("the callback's error became %v", err)
	}
}

// Steps are reported with a checkpoint that resumes to the same bits.
func TestStepsReport(t *testing.T) {
	whole := newModel(t, small, 1)
	j := job(t, whole, 0)
	var middle *train.Checkpoint
	steps := 0
	j.OnStep = func(s train.Step) error {
		if s.Samples != 120 || s.Done < 1 || s.Done > 120 || s.Epoch < 1 {
			t.Errorf("step %+v", s)
		}
		if steps++; steps == 8 {
			middle = s.Checkpoint()
		}
		return nil
	}
	want := mustRun(t, whole, j)
	if steps != want.Steps {
		t.Errorf("%d steps were reported, %d taken", steps, want.Steps)
	}
	again := newModel(t, small, 7)
	j = job(t, again, 0)
	j.Resume = middle
	mustRun(t, again, j)
	if !slices.Equal(again.Params.Flat, whole.Params.Flat) {
		t.Error("resumed from a step: other parameters")
	}
	stop := errors.New("enough")
	j.OnStep = func(train.Step) error { return stop }
	if _, err := train.Run(ctx, again, j); !errors.Is(err, stop) {
		t.Errorf("the callback's error became %v", err)
	}
}

// Batches that are cut into passes give the gradient of the whole batch.
func TestPassesAddUp(t *testing.T) {
	run := func(passRows int) []float32 {
		m := newModel(t, small, 1)
		j := job(t, m, 0)
		j.Config.PassRows, j.Config.Epochs = passRows, 1
		j.Config.SGD, j.Config.Adam = &optim.SGDConfig{StepSize: 0.1}, optim.AdamConfig{}
		mustRun(t, m, j)
		return m.Params.Flat
	}
	want := run(0)
	for _, rows := range []int{1, 18 * 4, 18 * 7} {
		for i, got := range run(rows) {
			if math.Abs(float64(got-want[i])) > 1e-5 {
				t.Fatalf("%d rows per pass: parameter %d is %v, want %v", rows, i, got, want[i])
			}
		}
	}
}

// Patience ends training when validation gets no better.
func TestPatience(t *testing.T) {
	m := newModel(t, small, 1)
	j := job(t, m, 0)
	j.Config.Epochs, j.Config.Patience, j.Config.ValidateEvery = 100, 4, 2
	scores := 0
	j.Score = func(context.Context, *gnn.WideDeep) (float64, error) {
		scores++
		return max(10-float64(scores), 5), nil // better five times, then never
	}
	r := mustRun(t, m, j)
	if !r.Stopped || scores != 5+4 || r.Best != 5 || r.BestSteps != 10 {
		t.Errorf("%d validations, result %+v: want 9 validations and the best at step 10", scores, r)
	}
}

// A deep part whose every unit is dead starts anew, and the report says so.
func TestDeadNetworkRestarts(t *testing.T) {
	kill := func(m *gnn.WideDeep) {
		last := len(m.Params.Deep) - 1
		for i := range m.Params.Deep[last].Bias {
			m.Params.Deep[last].Bias[i] = -100
		}
	}
	m := newModel(t, small, 1)
	kill(m)
	j := job(t, m, 0)
	var epochs []train.Epoch
	j.OnEpoch = func(e train.Epoch) error {
		epochs = append(epochs, e)
		return nil
	}
	r := mustRun(t, m, j)
	if r.Restarts != 1 || r.Epochs != j.Config.Epochs || len(epochs) != 1+j.Config.Epochs {
		t.Fatalf("result %+v after %d reports, want one restart and then %d epochs", r, len(epochs), j.Config.Epochs)
	}
	if e := epochs[0]; !e.Restarts || e.LiveUnits != 0 {
		t.Errorf("the first report is %+v, want a restart with no live units", e)
	}
	if e := epochs[1]; e.Restarts || e.LiveUnits < 1 || e.Restart != 1 {
		t.Errorf("the second report is %+v, want live units", e)
	}
	if e := epochs[len(epochs)-1]; e.LiveUnits != -1 {
		t.Errorf("units were counted in epoch %d", e.Index)
	}

	m = newModel(t, small, 1)
	kill(m)
	j.Config.Restarts = -1
	if r := mustRun(t, m, j); r.Restarts != 0 {
		t.Errorf("%d restarts although none were allowed", r.Restarts)
	}
}

// Numbers that go bad end training with ErrDiverged and the best parameters.
func TestDivergenceKeepsBest(t *testing.T) {
	m := newModel(t, gnn.Config{In: 1, Features: 4, Outputs: communities, Wide: &gnn.WideConfig{Order: 3}}, 1)
	values := mat.NewDense(120*3, communities, nil)
	for i := range values.Data {
		values.Data[i] = 1e18
	}
	targets, err := train.NewTargets(loss.MSE{}, values, nil)
	if err != nil {
		t.Fatal(err)
	}
	l := newLocalization(t, 120, "train")
	d, err := train.NewSignals(m, train.SignalsConfig{
		Graph: l.graph, Operator: graph.ShiftSpectral, Signals: l.signals, Read: l.read, Targets: targets,
	})
	if err != nil {
		t.Fatal(err)
	}
	j := train.Job{Config: train.Config{Epochs: 50, BatchSize: 120, SGD: &optim.SGDConfig{StepSize: 1e9}}, Train: d, Valid: d}
	r, err := train.Run(ctx, m, j)
	if !errors.Is(err, train.ErrDiverged) {
		t.Fatalf("error %v after %d steps, want ErrDiverged", err, r.Steps)
	}
	for i, v := range m.Params.Flat {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			t.Fatalf("parameter %d is %v", i, v)
		}
	}
}

// A training step allocates nothing in steady state: what a run allocates does
// not depend on how many batches it has.
func TestStepsDoNotAllocate(t *testing.T) {
	m := newModel(t, small, 1)
	j := job(t, m, 0)
	j.Valid = nil
	j.Config.Restarts = -1
	allocs := func(batch int) float64 {
		j.Config.BatchSize = batch
		return testing.AllocsPerRun(3, func() { mustRun(t, m, j) })
	}
	if few, many := allocs(60), allocs(5); many > few+20 { // 10 against 120 steps
		t.Errorf("%v allocations in 10 steps, %v in 120", few, many)
	}
}

func ExampleRun() {
	// A pulse starts somewhere in a graph of two communities. Every node is to
	// say whether it started in its own.
	g, err := graph.SBM(graph.SBMConfig{Sizes: []int{5, 5}, Intra: 0.9, Inter: 0.1}, random.Stream(3, "graph"))
	if err != nil {
		fmt.Println(err)
		return
	}
	signals, labels := mat.NewDense(10*10, 1, nil), make([]int32, 10*10)
	for source := range 10 {
		signals.Set(source*10+source, 0, 1)
		for node := range 10 {
			if node/5 == source/5 {
				labels[source*10+node] = 1
			}
		}
	}
	model, err := gnn.NewRandom(gnn.Config{
		In: 1, Features: 8, Outputs: 2,
		Wide: &gnn.WideConfig{Order: 3},
		Deep: []gnn.LayerConfig{{Order: 3, Features: 8}},
	}, random.Stream(3, "init"))
	if err != nil {
		fmt.Println(err)
		return
	}
	classes, err := train.NewClasses(labels, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	data, err := train.NewSignals(model, train.SignalsConfig{
		Graph: g, Operator: graph.ShiftSpectral, Signals: signals, Targets: classes,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = train.Run(context.Background(), model, train.Job{
		Train:  data,
		Config: train.Config{Epochs: 100, BatchSize: 5, Adam: optim.AdamConfig{StepSize: 0.02}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var ev train.Evaluator
	accuracy, _ := ev.Accuracy(context.Background(), model, data, classes, 1)
	fmt.Printf("accuracy %.0f %%\n", 100*accuracy)
	// Output: accuracy 100 %
}

// Fixed gains stay where they are, to the last bit, whatever is added to J.
func TestFixedGainsStay(t *testing.T) {
	c := small
	c.FixedGains, c.Gains = true, gnn.Gains{Wide: 0.25, Deep: 0.75, Bias: -1}
	m := newModel(t, c, 1)
	j := job(t, m, 0)
	j.Config.Ridge, j.Config.ClipNorm, j.Config.Lipschitz = 0.1, 1, gnn.Lipschitz{Strength: 0.1}
	mustRun(t, m, j)
	if want := []float32{0.25, 0.75, -1}; !slices.Equal(m.Params.Gain, want) {
		t.Errorf("gains after training: got %v, want %v", m.Params.Gain, want)
	}
}
