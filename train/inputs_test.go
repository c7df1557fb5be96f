package train_test

import (
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

var scales = []train.Scale{train.ScaleOne, train.ScaleDiag, train.ScaleFull}

// entry returns element (a,b) of T.
func entry(s *train.Scaling, a, b int) float64 {
	switch {
	case len(s.Matrix) == s.Inputs*s.Inputs:
		return s.Matrix[a*s.Inputs+b]
	case a == b:
		return s.Matrix[a]
	}
	return 0
}

// scaledRow returns z' = (z - c) T, term by term.
func scaledRow(s *train.Scaling, z []float32) []float64 {
	out := make([]float64, s.Inputs)
	for b := range out {
		for a := range s.Inputs {
			out[b] += (float64(z[a]) - s.Center[a]) * entry(s, a, b)
		}
	}
	return out
}

// foldedFilter is the plain form of what training folds: A = T A', aᵀ = a'ᵀ - c A,
// in float64 and without rounding.
func foldedFilter(s *train.Scaling, taps, bias []float64, out int) (folded, a []float64) {
	folded, a = make([]float64, len(taps)), slices.Clone(bias)
	for i := range s.Inputs {
		for g := range out {
			for b := range s.Inputs {
				folded[i*out+g] += entry(s, i, b) * taps[b*out+g]
			}
			if bias != nil {
				a[g] -= s.Center[i] * folded[i*out+g]
			}
		}
	}
	return folded, a
}

// sensors are signals of features with very different means and scales, and one
// that never changes, on a small network, with targets that they make.
func sensors(t *testing.T, m *gnn.WideDeep, samples int) (train.Data, mat.Dense) {
	t.Helper()
	const n = 9
	rng := random.Stream(3, "sensors")
	x, y := mat.NewDense(samples*n, m.Config.In, nil), mat.NewDense(samples*n, 1, nil)
	scale := []float64{0.01, 30, 1, 1}
	mean := []float64{0.2, 100, 0, 5}
	for i := range x.Rows {
		sum := 0.0
		for f := range x.Cols {
			v := rng.NormFloat64()
			if f == 3 {
				v = 0
			}
			sum += v
			x.Set(i, f, float32(mean[f]+scale[f]*v))
		}
		y.Set(i, 0, float32(math.Tanh(sum)))
	}
	targets, err := train.NewTargets(loss.MSE{}, y, nil)
	if err != nil {
		t.Fatal(err)
	}
	d, err := train.NewSignals(m, train.SignalsConfig{
		Graph: graph.Ring(n), Operator: graph.ShiftRowStochastic, Signals: x, Targets: targets,
	})
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]float32
	var ev train.Evaluator
	err = ev.Each(ctx, m, d, 1, func(p *train.Pass, _ mat.Dense) {
		for i := range p.Input.Shifted.Rows {
			rows = append(rows, slices.Clone(p.Input.Shifted.Row(i)))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	z := mat.NewDense(len(rows), len(rows[0]), nil)
	for i, r := range rows {
		copy(z.Row(i), r)
	}
	return d, z
}

// sensing reads three features further in the wide part than in the first layer.
func sensing(noBias bool) gnn.Config {
	return gnn.Config{
		In: 4, Features: 5, Outputs: 1, NoBias: noBias, Wide: &gnn.WideConfig{Order: 2},
		Deep: []gnn.LayerConfig{{Order: 1, Features: 6, Activation: gnn.Tanh}, {Order: 1, Features: 5, Activation: gnn.Tanh}},
	}
}

// Scaled inputs have mean 0 and variance 1, and whitened ones no correlation, as
// far as there is a bias to take the mean away; one number leaves their mean
// variance at 1.
func TestScaledInputs(t *testing.T) {
	for _, noBias := range []bool{false, true} {
		for _, scale := range scales {
			m := newModel(t, sensing(noBias), 1)
			d, z := sensors(t, m, 400)
			r := mustRun(t, m, train.Job{Train: d, Config: train.Config{Epochs: 1, BatchSize: 400, Inputs: train.Inputs{Scale: scale}}})
			if len(r.Last.Scalings) != 2 || r.Last.Scalings[0].Inputs != 12 || r.Last.Scalings[1].Inputs != 8 {
				t.Fatalf("%s: scalings %+v, want those of 12 and 8 inputs", scale, r.Last.Scalings)
			}
			for _, s := range r.Last.Scalings {
				mean, second := make([]float64, s.Inputs), make([]float64, s.Inputs*s.Inputs)
				for i := range z.Rows {
					row := scaledRow(s, z.Row(i))
					for a, v := range row {
						mean[a] += v / float64(z.Rows)
						for b, w := range row {
							second[a*s.Inputs+b] += v * w / float64(z.Rows)
						}
					}
				}
				all, counted := 0.0, 0
				for a := range s.Inputs {
					square := second[a*s.Inputs+a]
					switch {
					case scale == train.ScaleOne && !noBias:
						all += (square - mean[a]*mean[a]) / float64(s.Inputs)
					case scale == train.ScaleOne:
						all += square / float64(s.Inputs)
					case a%4 == 3: // never changes
					case math.Abs(square-1) > 0.01 || !noBias && math.Abs(mean[a]) > 1e-3:
						t.Errorf("%s, no bias %v: input %d has mean %v and mean square %v", scale, noBias, a, mean[a], square)
					default:
						counted++
					}
					if scale == train.ScaleFull && !noBias {
						for b := range a {
							if c := second[a*s.Inputs+b]; math.Abs(c) > 0.01 {
								t.Errorf("whitened inputs %d and %d have correlation %v", a, b, c)
							}
						}
					}
				}
				if scale == train.ScaleOne && math.Abs(all-1) > 0.01 || scale != train.ScaleOne && counted == 0 {
					t.Errorf("%s, no bias %v: mean square %v, %d inputs looked at", scale, noBias, all, counted)
				}
				if noBias && slices.ContainsFunc(s.Center, func(c float64) bool { return c != 0 }) {
					t.Errorf("%s: without a bias means %v are taken away", scale, s.Center)
				}
			}
		}
	}
}

// What a run saves is a model of the inputs as they are: it answers as the model
// that was trained does on scaled inputs.
func TestFoldedModelAnswersAsTheScaledOne(t *testing.T) {
	for _, scale := range scales {
		m := newModel(t, small, 1)
		j := way{scale: scale, outage: train.Outage{To: 0.4, Subgraphs: 64}}.job(t, m)
		j.Config.Epochs = 40
		last := mustRun(t, m, j).Last
		folded, plain := newModel(t, small, 2), newModel(t, small, 2)
		copy(folded.Params.Flat, last.Params)
		copy(plain.Params.Flat, last.Moved)
		test, classes := newLocalization(t, 1000, "test").data(t, m, 0)
		var ev train.Evaluator
		changed, most, largest := 0, 0.0, 0.0
		err := ev.Each(ctx, folded, test, 1, func(p *train.Pass, y mat.Dense) {
			in, other := p.Input, mat.NewDense(y.Rows, y.Cols, nil)
			in.Shifted, in.ReadShifted = scaledRows(last.Scalings[0], in.Shifted), scaledRows(last.Scalings[0], in.ReadShifted)
			plain.Forward(other, &in, new(gnn.Tape))
			for i := range y.Rows {
				if mat.Argmax(y.Row(i)) != mat.Argmax(other.Row(i)) {
					changed++
				}
				for c, v := range y.Row(i) {
					most = max(most, math.Abs(float64(v)-float64(other.At(i, c))))
					largest = max(largest, math.Abs(float64(v)))
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		accuracy, err := ev.Accuracy(ctx, folded, test, classes, 1)
		t.Logf("%s: accuracy %.3f (%v); 0 of 3000 answers may change: %d do; scores up to %.3g differ by at most %.2g",
			scale, accuracy, err, changed, largest, most)
		if changed > 0 || most > 2e-4*largest {
			t.Errorf("%s: %d answers change, scores differ by up to %v of %v", scale, changed, most, largest)
		}
	}
}

func scaledRows(s *train.Scaling, z mat.Dense) mat.Dense {
	out := mat.NewDense(z.Rows, z.Cols, nil)
	for i := range z.Rows {
		for k, v := range scaledRow(s, z.Row(i)) {
			out.Set(i, k, float32(v))
		}
	}
	return out
}

// A step of gradient descent goes down the gradient of the scaled parameters:
// differences of the loss of the folded model, parameter by parameter.
func TestScaledGradients(t *testing.T) {
	for _, noBias := range []bool{false, true} {
		for _, scale := range scales {
			const gamma = 1e-3
			m := newModel(t, sensing(noBias), 1)
			d, _ := sensors(t, m, 20)
			start := slices.Clone(m.Params.Flat)
			last := mustRun(t, m, train.Job{Train: d, Config: train.Config{
				Epochs: 1, BatchSize: 20, SGD: &optim.SGDConfig{StepSize: gamma}, Inputs: train.Inputs{Scale: scale},
			}}).Last
			shape := gnn.NewParams(m.Config, nil)
			var ev train.Evaluator
			cost := func(flat []float64) float64 {
				copy(m.Params.Flat, foldAll(&shape, last.Scalings, flat))
				j, err := ev.Loss(ctx, m, d, 1)
				if err != nil {
					t.Fatal(err)
				}
				return j
			}
			flat := make([]float64, len(start))
			for i, v := range start {
				flat[i] = float64(v)
			}
			bad := 0
			for i := range flat {
				got := (float64(start[i]) - float64(last.Moved[i])) / gamma
				const h = 2e-3
				keep := flat[i]
				flat[i] = keep + h
				up := cost(flat)
				flat[i] = keep - h
				down := cost(flat)
				flat[i] = keep
				if want := (up - down) / (2 * h); math.Abs(got-want) > 2e-3*max(1, math.Abs(want)) {
					if bad++; bad < 4 {
						t.Errorf("%s, no bias %v: parameter %d: got %v, want %v", scale, noBias, i, got, want)
					}
				}
			}
		}
	}
}

// foldAll returns the model's parameters for scaled ones.
func foldAll(shape *gnn.Params, scalings []*train.Scaling, flat []float64) []float32 {
	out := slices.Clone(flat)
	offset := map[string]int{}
	for _, w := range shape.Windows() {
		offset[w.Name] = w.Offset
	}
	filters := []*gnn.Filter{&shape.Wide, &shape.Deep[0]}
	for k, name := range []string{"wide", "deep.1"} {
		f, s := filters[k], scalings[k]
		lo := offset[name+".tap.0"]
		taps := flat[lo : lo+s.Inputs*f.Out()]
		var bias []float64
		if len(f.Bias) > 0 {
			bias = flat[offset[name+".bias"]:][:f.Out()]
		}
		folded, a := foldedFilter(s, taps, bias, f.Out())
		copy(out[lo:], folded)
		copy(out[offset[name+".bias"]:], a)
		if bias == nil {
			copy(out[lo:], folded)
		}
	}
	single := make([]float32, len(out))
	for i, v := range out {
		single[i] = float32(v)
	}
	return single
}

// Scaled inputs make training independent of the units of a signal: with other
// units, the same scaled parameters come out within rounding.
func TestScalingForgetsUnits(t *testing.T) {
	run := func(unit float32) []float32 {
		m := newModel(t, small, 1)
		l := newLocalization(t, 120, "train")
		mat.Serial.Scale(l.signals, unit)
		d, _ := l.data(t, m, 0)
		return mustRun(t, m, train.Job{Train: d, Config: train.Config{
			Epochs: 3, BatchSize: 25, Seed: 4, Adam: optim.AdamConfig{StepSize: 0.01}, Inputs: train.Inputs{Scale: train.ScaleFull},
		}}).Last.Moved
	}
	want := run(1)
	for _, unit := range []float32{1.0 / 1024, 1024} {
		if got := run(unit); !slices.Equal(got, want) {
			t.Errorf("signals times %v: other scaled parameters", unit)
		}
	}
}

// Subgraphs drawn beforehand are those of the seed and of no other, however often
// and in whatever order they are asked for.
func TestSubgraphsDrawnBeforehand(t *testing.T) {
	m := newModel(t, small, 1)
	l := newLocalization(t, 120, "train")
	outage := train.Outage{From: 0.1, To: 0.4, Subgraphs: 3}
	seen := map[float32]bool{}
	d, _ := l.losing(t, m, outage)
	edges := l.graph.Adjacency().NNZ()
	for _, seed := range []uint64{1, 2} {
		for step := range 50 {
			var p, q train.Pass
			other, _ := l.losing(t, m, outage)
			draw := train.Draw{Seed: seed, Step: step}
			if err := d.Fill(&p, []int{0, 1}, 0, 1, draw); err != nil {
				t.Fatal(err)
			}
			if err := other.Fill(&q, []int{0, 1}, 0, 1, draw); err != nil {
				t.Fatal(err)
			}
			if !p.Input.Shift.Equal(q.Input.Shift) || !slices.Equal(p.Input.Shifted.Data, q.Input.Shifted.Data) {
				t.Fatalf("seed %d, step %d: another subgraph at the second time", seed, step)
			}
			if left := p.Input.Shift.NNZ(); left == edges {
				t.Errorf("seed %d, step %d: no link is lost of %d", seed, step, edges)
			}
			seen[p.Input.Shift.Val[0]] = true
		}
	}
	if len(seen) != 2*outage.Subgraphs {
		t.Errorf("batches of two seeds see %d subgraphs, want %d", len(seen), 2*outage.Subgraphs)
	}
}

// The running mean is that of the parameters that training moves, and what is
// kept is its model.
func TestAverage(t *testing.T) {
	for _, scale := range []train.Scale{train.ScaleNone, train.ScaleDiag} {
		m := newModel(t, small, 1)
		j := way{scale: scale, average: 0.95}.job(t, m)
		var mean []float64
		start := m.Params.Flat
		for _, v := range start {
			mean = append(mean, float64(v))
		}
		steps := 0
		j.OnStep = func(s train.Step) error {
			steps++
			c := s.Checkpoint()
			a := min(0.95, float64(steps)/float64(steps+9))
			for i, v := range c.Moved {
				mean[i] = a*mean[i] + (1-a)*float64(v)
				if got := float64(c.Mean[i]); math.Abs(got-mean[i]) > 1e-5 {
					t.Fatalf("scale %s, step %d: mean of parameter %d: got %v, want %v", scale, steps, i, got, mean[i])
				}
			}
			return nil
		}
		r := mustRun(t, m, j)
		var ev train.Evaluator
		if got, err := ev.Loss(ctx, m, j.Valid, j.Config.Seed); err != nil || got != r.Best {
			t.Errorf("scale %s: the model's validation loss is %v (%v), its best was %v", scale, got, err, r.Best)
		}
		if slices.Equal(m.Params.Flat, r.Last.Params) {
			t.Errorf("scale %s: the parameters were kept, not their mean", scale)
		}
	}
}
