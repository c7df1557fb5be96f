package train_test

import (
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/optim"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/train"
)

// uneven are samples of which unequal parts carry a loss: the first few rows of
// a sample mostly do not, and whole samples do not either.
type uneven struct {
	network *graph.Graph
	signals mat.Dense
	labels  []int32
	values  mat.Dense
	mask    []bool
}

const unevenNodes, unevenSamples = 12, 90

func newUneven(t *testing.T) uneven {
	t.Helper()
	rng := random.Stream(7, "uneven")
	g, err := graph.ErdosRenyi(unevenNodes, 0.4, rng)
	if err != nil {
		t.Fatal(err)
	}
	rows := unevenNodes * unevenSamples
	u := uneven{network: g, signals: mat.NewDense(rows, 1, nil), values: mat.NewDense(rows, 2, nil)}
	for i := range rows {
		u.signals.Set(i, 0, float32(rng.NormFloat64()))
		sample, node := i/unevenNodes, i%unevenNodes
		known := sample%5 != 0 && rng.IntN(unevenNodes+40) < node+sample
		label := int32(rng.IntN(2))
		for c := range 2 {
			u.values.Set(i, c, float32(sample)/20+float32(rng.NormFloat64())) // late samples cost more
		}
		if !known {
			label = loss.NoLabel
		}
		u.labels, u.mask = append(u.labels, label), append(u.mask, known)
	}
	return u
}

// kinds returns the samples as each kind of Data, for a model m with one layer.
func (u uneven) kinds(t *testing.T, m *gnn.WideDeep, o train.Objective) map[string]train.Data {
	t.Helper()
	s, err := graph.ShiftSymmetric.Of(u.network)
	if err != nil {
		t.Fatal(err)
	}
	var (
		samples []graph.Sample
		shifter gnn.Shifter
		width   = m.InputOrder() + 1
		shifted = mat.NewDense(u.signals.Rows, width, nil)
	)
	for k := range unevenSamples {
		x := u.signals.View(k*unevenNodes, 0, unevenNodes, 1)
		samples = append(samples, graph.Sample{Shift: s, Signal: x})
		shifter.Shift(shifted.View(k*unevenNodes, 0, unevenNodes, width), s, x)
	}
	kinds := map[string]train.Data{}
	add := func(name string, d train.Data, err error) {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		kinds[name] = d
	}
	signals, err := train.NewSignals(m, train.SignalsConfig{Graph: u.network, Operator: graph.ShiftSymmetric, Signals: u.signals, Targets: o})
	add("signals", signals, err)
	graphs, err := train.NewGraphs(m, samples, o)
	add("graphs", graphs, err)
	rows, err := train.NewShifted(m, shifted, unevenNodes, o)
	add("shifted", rows, err)
	examples, err := train.NewExamples(m, shifted, o)
	add("examples", examples, err)
	return kinds
}

// objectives returns one that masks by labels and one that masks by a mask,
// with the loss of all rows at once.
func (u uneven) objectives(t *testing.T) map[string]struct {
	train train.Objective
	whole loss.Loss
} {
	t.Helper()
	classes, err := train.NewClasses(u.labels, 2)
	if err != nil {
		t.Fatal(err)
	}
	targets, err := train.NewTargets(loss.MSE{}, u.values, u.mask)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]struct {
		train train.Objective
		whole loss.Loss
	}{
		"labels": {classes, loss.CrossEntropy{Labels: u.labels}},
		"mask":   {targets, loss.MSE{Target: u.values, Mask: u.mask}},
	}
}

var unevenConfig = gnn.Config{
	In: 1, Features: 6, Outputs: 2, Wide: &gnn.WideConfig{Order: 2}, Deep: []gnn.LayerConfig{{Order: 2, Features: 6}},
}

// The loss of data is one mean over all rows that carry a loss, however passes
// cut it.
// Reference: Section 2, eq. (5).
func TestLossIsOneMeanOverKnownRows(t *testing.T) {
	u := newUneven(t)
	for name, o := range u.objectives(t) {
		m := newModel(t, unevenConfig, 3)
		for kind, d := range u.kinds(t, m, o.train) {
			// The loss of all outputs at once, by their target rows.
			var ev train.Evaluator
			all := mat.NewDense(u.signals.Rows, 2, nil)
			err := ev.Each(ctx, m, d, 1, func(p *train.Pass, y mat.Dense) {
				for i, r := range p.Rows {
					copy(all.Row(r), y.Row(i))
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			want := o.whole.Eval(mat.Dense{}, all)
			for _, passRows := range []int{1, 5, 40, 300, 1 << 20} {
				ev := train.Evaluator{PassRows: passRows}
				got, err := ev.Loss(ctx, m, d, 1)
				if err != nil {
					t.Fatal(err)
				}
				if math.Abs(got-want) > 1e-6*want {
					t.Errorf("%s, %s: loss in passes of %d rows: got %.7f, want %.7f", name, kind, passRows, got, want)
				}
			}
		}
	}
}

// Batches are one mean over their known rows too: training goes the same way
// whatever the passes, and to the same bits on any number of threads.
func TestTrainingDoesNotDependOnPasses(t *testing.T) {
	u := newUneven(t)
	for name, o := range u.objectives(t) {
		for kind := range u.kinds(t, newModel(t, unevenConfig, 3), o.train) {
			run := func(passRows, threads int) ([]float32, float64) {
				engine := mat.NewEngine(threads)
				defer engine.Close()
				m := newModel(t, unevenConfig, 3)
				last := 0.0
				mustRun(t, m, train.Job{
					Config: train.Config{Epochs: 2, BatchSize: 30, Seed: 2, PassRows: passRows, SGD: &optim.SGDConfig{StepSize: 0.05}},
					Train:  u.kinds(t, m, o.train)[kind], Engine: engine,
					OnEpoch: func(e train.Epoch) error { last = e.Loss; return nil },
				})
				return m.Params.Flat, last
			}
			want, wantLoss := run(1<<20, 1)
			for _, passRows := range []int{5, 40} {
				got, gotLoss := run(passRows, 1)
				if math.Abs(gotLoss-wantLoss) > 1e-4*wantLoss {
					t.Errorf("%s, %s: loss in passes of %d rows: got %.6f, want %.6f", name, kind, passRows, gotLoss, wantLoss)
				}
				if d := furthest(got, want); d > 1e-4 {
					t.Errorf("%s, %s: parameters in passes of %d rows are %.2g away, want rounding", name, kind, passRows, d)
				}
				if shared, _ := run(passRows, 3); furthest(shared, got) != 0 {
					t.Errorf("%s, %s: passes of %d rows give other bits on three threads", name, kind, passRows)
				}
			}
		}
	}
}

func furthest(a, b []float32) float64 {
	d := 0.0
	for i := range a {
		d = max(d, math.Abs(float64(a[i]-b[i])))
	}
	return d
}

// Graphs of different sizes count by their rows, and so does the mean over
// them.
func TestGraphsOfDifferentSizes(t *testing.T) {
	rng := random.Stream(8, "sizes")
	var (
		samples []graph.Sample
		values  []float32
	)
	for k := range 24 {
		g, err := graph.ErdosRenyi(3+2*(k%4), 0.6, rng)
		if err != nil {
			t.Fatal(err)
		}
		s, err := graph.ShiftSymmetric.Of(g)
		if err != nil {
			t.Fatal(err)
		}
		x := mat.NewDense(g.Nodes(), 1, nil)
		for i := range x.Rows {
			x.Set(i, 0, float32(rng.NormFloat64()))
			values = append(values, float32(k%4), float32(rng.NormFloat64()))
		}
		samples = append(samples, graph.Sample{Shift: s, Signal: x})
	}
	targets, err := train.NewTargets(loss.MSE{}, mat.NewDense(len(values)/2, 2, values), nil)
	if err != nil {
		t.Fatal(err)
	}
	m := newModel(t, unevenConfig, 3)
	d, err := train.NewGraphs(m, samples, targets)
	if err != nil {
		t.Fatal(err)
	}
	one := train.Evaluator{PassRows: 1 << 20}
	want, err := one.Loss(ctx, m, d, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, passRows := range []int{1, 10, 50} {
		ev := train.Evaluator{PassRows: passRows}
		if got, err := ev.Loss(ctx, m, d, 1); err != nil || math.Abs(got-want) > 1e-6*want {
			t.Errorf("loss in passes of %d rows: got %.7f (%v), want %.7f", passRows, got, err, want)
		}
	}
}
