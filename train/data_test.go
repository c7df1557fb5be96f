package train_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/optim"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/train"
)

// Samples with graphs of their own: block-diagonal passes, one per sample or
// several at once, agree; so does training on a space-time graph of two layers.
func TestGraphs(t *testing.T) {
	for _, layers := range [][]gnn.LayerConfig{
		{{Order: 2, Features: 5, Activation: gnn.Tanh}},
		{{Order: 2, Features: 4, Activation: gnn.Tanh}, {Order: 1, Features: 5, Activation: gnn.Tanh}},
	} {
		c := gnn.Config{In: 2, Features: 5, Outputs: 2, Wide: &gnn.WideConfig{Order: 3}, Deep: layers}
		const steps, n, count = 4, 6, 7
		rng := random.Stream(3, "trajectories")
		var samples []graph.Sample
		for range count {
			var shifts []*mat.CSR
			for range steps {
				g, err := graph.ErdosRenyi(n, 0.4, rng)
				if err != nil {
					t.Fatal(err)
				}
				s, err := graph.ShiftRowStochastic.Of(g)
				if err != nil {
					t.Fatal(err)
				}
				shifts = append(shifts, s)
			}
			x := mat.NewDense(steps*n, 2, nil)
			for i := range x.Data {
				x.Data[i] = float32(rng.NormFloat64())
			}
			samples = append(samples, graph.Sample{Shift: graph.SpaceTime(shifts), Signal: x})
		}
		values := mat.NewDense(count*steps*n, 2, nil)
		for i := range values.Data {
			values.Data[i] = float32(rng.NormFloat64())
		}
		run := func(passRows int) ([]float32, []float64) {
			targets, err := train.NewTargets(loss.MSE{}, values, nil)
			if err != nil {
				t.Fatal(err)
			}
			m := newModel(t, c, 2)
			d, err := train.NewGraphs(m, samples, targets)
			if err != nil {
				t.Fatal(err)
			}
			var losses []float64
			mustRun(t, m, train.Job{
				Config:  train.Config{Epochs: 20, BatchSize: 3, PassRows: passRows, SGD: &optim.SGDConfig{StepSize: 0.05}},
				Train:   d,
				OnEpoch: func(e train.Epoch) error { losses = append(losses, e.Loss); return nil },
			})
			return m.Params.Flat, losses
		}
		together, losses := run(0)
		alone, _ := run(1)
		for i := range together {
			if math.Abs(float64(together[i]-alone[i])) > 1e-5 {
				t.Fatalf("parameter %d is %v in block-diagonal passes, %v one by one", i, together[i], alone[i])
			}
		}
		if losses[len(losses)-1] > 0.99*losses[0] {
			t.Errorf("losses %v do not fall", losses)
		}
	}
}

// Every objective trains; unsupervised ones need no labels.
func TestObjectives(t *testing.T) {
	l := newLocalization(t, 60, "train")
	c := gnn.Config{In: 1, Features: 4, Outputs: 2, Wide: &gnn.WideConfig{Order: 3}}
	values := mat.NewDense(60*3, 2, nil)
	mask := make([]bool, 60*3)
	for i := range values.Rows {
		values.Set(i, int(l.labels[i/3])%2, 1)
		values.Set(i, 1-int(l.labels[i/3])%2, -1)
		mask[i] = i%4 != 0
	}
	objectives := map[string]train.Objective{"unsupervised": train.Unsupervised{J: spread{}}}
	for _, name := range loss.Names(true) {
		o, err := train.NewTargets(loss.Named(name).(loss.Regression), values, mask)
		if err != nil {
			t.Fatal(err)
		}
		objectives[name] = o
	}
	for name, o := range objectives {
		m := newModel(t, c, 1)
		d, err := train.NewSignals(m, train.SignalsConfig{
			Graph: l.graph, Operator: graph.ShiftSpectral, Signals: l.signals, Read: l.read, Targets: o,
		})
		if err != nil {
			t.Fatal(err)
		}
		var first, last float64
		mustRun(t, m, train.Job{
			Config: train.Config{Epochs: 10, BatchSize: 20, Ridge: 1e-6, ClipNorm: 5, Adam: optim.AdamConfig{StepSize: 0.01}},
			Train:  d,
			OnEpoch: func(e train.Epoch) error {
				if e.Index == 1 {
					first = e.Loss
				}
				last = e.Loss
				return nil
			},
		})
		if !(last < first) {
			t.Errorf("%s: loss went from %v to %v", name, first, last)
		}
	}
}

// copied keeps a copy of its targets, prepared a number that With makes of them, and
// pointed is a pointer.
type (
	copied   struct{ loss.MSE }
	prepared struct {
		loss.L1
		weight float64
	}
	pointed struct{ loss.Regression }
)

func (copied) With(target mat.Dense, mask []bool) loss.Regression {
	return copied{loss.MSE{Target: target.Clone(), Mask: slices.Clone(mask)}}
}

func (prepared) With(target mat.Dense, mask []bool) loss.Regression {
	j := prepared{L1: loss.L1{Target: target, Mask: mask}}
	for i := range target.Rows {
		j.weight += float64(target.At(i, 0))
	}
	return j
}

func (p prepared) Eval(dy, y mat.Dense) float64 { return p.weight * p.L1.Eval(mat.Dense{}, y) }

func (*pointed) With(target mat.Dense, mask []bool) loss.Regression {
	return &pointed{loss.Huber{}.With(target.Clone(), mask)}
}

// Whatever a regression keeps of its targets, a pass is judged by its own, also where two
// objectives share a memory.
func TestPassesHaveTheirOwnTargets(t *testing.T) {
	kinds := []loss.Regression{copied{}, prepared{}, &pointed{loss.Huber{}}}
	for _, name := range loss.Names(true) {
		kinds = append(kinds, loss.Named(name).(loss.Regression))
	}
	values, mask := mat.NewDense(6, 1, []float32{1, -1, 1, 1, -1, -1}), []bool{true, true, false, true, true, true}
	y := mat.NewDense(3, 1, []float32{0.3, -0.2, 0.1})
	var m train.Memory
	for _, kind := range kinds {
		for _, mask := range [][]bool{nil, mask} {
			o, err := train.NewTargets(kind, values, mask)
			if err != nil {
				t.Fatal(err)
			}
			for _, rows := range [][]int{{0, 1, 3}, {1, 4, 5}, {3, 2}, {0, 4}, {5, 3, 0}} {
				target, known := mat.NewDense(len(rows), 1, nil), []bool(nil)
				mat.GatherRows(target, values, rows)
				for _, r := range rows {
					if mask != nil {
						known = append(known, mask[r])
					}
				}
				out := y.View(0, 0, len(rows), 1)
				got, want := o.Loss(&m, rows).Eval(mat.Dense{}, out), kind.With(target, known).Eval(mat.Dense{}, out)
				if got != want {
					t.Errorf("%T, rows %d, mask %v: J = %v, want %v", kind, rows, known, got, want)
				}
			}
		}
	}
}

// spread asks every output to be 1, whatever the input: no labels.
type spread struct{}

func (spread) Eval(dy, y mat.Dense) float64 {
	sum, n := 0.0, float64(y.Rows*y.Cols)
	for i := range y.Rows {
		for j, v := range y.Row(i) {
			d := float64(v) - 1
			sum += d * d / n
			if !dy.Empty() {
				dy.Set(i, j, float32(2*d/n))
			}
		}
	}
	return sum
}

// Bad data and configurations are errors that say what is wrong.
func TestMistakesAreErrors(t *testing.T) {
	l := newLocalization(t, 10, "train")
	m := newModel(t, small, 1)
	classes, err := train.NewSampleClasses(l.labels, 3, communities)
	if err != nil {
		t.Fatal(err)
	}
	good := train.SignalsConfig{Graph: l.graph, Operator: graph.ShiftSpectral, Signals: l.signals, Read: l.read, Targets: classes}
	data := func(change func(*train.SignalsConfig)) error {
		c := good
		change(&c)
		_, err := train.NewSignals(m, c)
		return err
	}
	nan := l.signals.Clone()
	nan.Set(3, 0, float32(math.NaN()))
	d, err := train.NewSignals(m, good)
	if err != nil {
		t.Fatal(err)
	}
	run := func(j train.Job) error {
		_, err := train.Run(ctx, m, j)
		return err
	}
	for want, err := range map[string]error{
		"need a graph":              data(func(c *train.SignalsConfig) { c.Graph = nil }),
		"not a number of samples":   data(func(c *train.SignalsConfig) { c.Signals = l.signals.View(0, 0, 17, 1) }),
		"2 features, the model":     data(func(c *train.SignalsConfig) { c.Signals = mat.NewDense(180, 2, nil) }),
		"signals: row 3, feature 0": data(func(c *train.SignalsConfig) { c.Signals = nan }),
		"need an objective":         data(func(c *train.SignalsConfig) { c.Targets = nil }),
		"outage from 1 to 1":        data(func(c *train.SignalsConfig) { c.Outage = train.Outage{From: 1, To: 1} }),
		"node 18 to read":           data(func(c *train.SignalsConfig) { c.Read = []int{18} }),
		"30 target rows for 10":     data(func(c *train.SignalsConfig) { c.Read = []int{1, 2} }),
		"no training samples":       run(train.Job{Config: train.Config{Epochs: 1, BatchSize: 1}}),
		"epochs is 0":               run(train.Job{Train: d}),
		"batch_size is -1":          run(train.Job{Train: d, Config: train.Config{Epochs: 1, BatchSize: -1}}),
		"clip_norm is NaN":          run(train.Job{Train: d, Config: train.Config{Epochs: 1, BatchSize: 1, ClipNorm: math.NaN()}}),
		"choose one": run(train.Job{
			Train:  d,
			Config: train.Config{Epochs: 1, BatchSize: 1, Adam: optim.AdamConfig{StepSize: 1}, SGD: &optim.SGDConfig{}},
		}),
		"inputs.scale is \"some\"": run(train.Job{
			Train: d, Config: train.Config{Epochs: 1, BatchSize: 1, Inputs: train.Inputs{Scale: "some"}},
		}),
		"from 0.4 to 0.1": data(func(c *train.SignalsConfig) { c.Outage = train.Outage{From: 0.4, To: 0.1} }),
		"-1 subgraphs":    data(func(c *train.SignalsConfig) { c.Outage = train.Outage{To: 0.1, Subgraphs: -1} }),
		"subgraphs drawn beforehand cannot be chosen": data(func(c *train.SignalsConfig) {
			c.Outage = train.Outage{To: 0.1, Subgraphs: 3}
			c.Subgraph = func(left *graph.Graph, _ *rand.Rand) (*graph.Graph, error) { return left, nil }
		}),
		"with other inputs": run(train.Job{
			Train: d, Resume: checkpoint(t, m, d, train.ScaleNone),
			Config: train.Config{Epochs: 1, BatchSize: 1, Inputs: train.Inputs{Scale: train.ScaleDiag}},
		}),
		"written by another": run(train.Job{Train: d, Config: train.Config{Epochs: 1, BatchSize: 1}, Resume: &train.Checkpoint{}}),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want one about %q", err, want)
		}
	}
	hollow := checkpoint(t, m, d, train.ScaleDiag)
	hollow.Scalings[0] = nil // "scalings":[null]
	before := slices.Clone(m.Params.Flat)
	err = run(train.Job{
		Train: d, Resume: hollow, Config: train.Config{Epochs: 1, BatchSize: 1, Inputs: train.Inputs{Scale: train.ScaleDiag}},
	})
	if err == nil || !strings.Contains(err.Error(), "no scaling of the 4 inputs") || !slices.Equal(m.Params.Flat, before) {
		t.Errorf("a checkpoint without a scaling: error %v, parameters %v, want %v", err, m.Params.Flat, before)
	}
	if _, err := train.NewClasses([]int32{0, 7}, 3); err == nil {
		t.Error("a label out of range is accepted")
	}
	if _, err := train.NewTargets(loss.Hinge{}, mat.NewDense(2, 1, nil), nil); err == nil {
		t.Error("hinge targets of 0 are accepted")
	}
	if _, err := train.NewGraphs(m, nil, classes); err == nil {
		t.Error("no samples are accepted")
	}
}

// checkpoint returns where an epoch of training ends.
func checkpoint(t *testing.T, m *gnn.WideDeep, d train.Data, scale train.Scale) *train.Checkpoint {
	t.Helper()
	again := newModel(t, m.Config, 1)
	return mustRun(t, again, train.Job{Train: d, Config: train.Config{Epochs: 1, BatchSize: 5, Inputs: train.Inputs{Scale: scale}}}).Last
}
