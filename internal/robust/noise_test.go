package robust

import (
	"context"
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/crown"
	"github.com/wdgnn/wdgnn/random"
)

// noisy draws signals in the ball around those of a question and returns its answers.
func noisy(t *testing.T, q *Question, weights []float64, size float64, seed uint64) []Answer {
	t.Helper()
	other, rng := *q, random.Stream(seed, "noise")
	other.Signals = q.Signals.Clone()
	n := other.rows() * q.Signals.Cols
	for s := range q.Samples {
		noise, sum := make([]float64, n), 0.0
		for i := range noise {
			if weights == nil || weights[i] != 0 {
				noise[i] = rng.NormFloat64()
				sum += noise[i] * noise[i]
			}
		}
		for i := range noise {
			w := 1.0
			if weights != nil {
				w = weights[i]
			}
			other.Signals.Data[s*n+i] += float32(w * noise[i] * size * (1 - 1e-6) / math.Sqrt(sum))
		}
	}
	answers, err := other.Answers()
	if err != nil {
		t.Fatal(err)
	}
	return answers
}

var noiseCases = map[string]drawn{
	"two layers": {
		nodes: 12, edges: 20, samples: 4, wide: 2, classify: true, shift: graph.ShiftSpectral,
		deep: []gnn.LayerConfig{{Order: 2, Features: 6}, {Order: 2, Features: 5, Activation: gnn.LeakyReLU}}, seed: 1,
	},
	"several parts": {nodes: 12, edges: 7, samples: 3, wide: 3, shift: graph.ShiftRowStochastic, seed: 2, read: []int{0, 5}},
	"delayed": {
		nodes: 6, edges: 8, samples: 2, steps: 4, wide: 2, shift: graph.ShiftRowStochastic, features: 2,
		deep: []gnn.LayerConfig{{Order: 2, Features: 5, Activation: gnn.Tanh}}, seed: 3,
	},
}

// Answers that are said to withstand noise do, and values move no farther than
// said; with several parts, with delayed filters on a sequence, in the user's units.
func TestNoiseHolds(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: it searches for long; it runs without -short", t.Name())
	}
	for name, d := range noiseCases {
		for _, scaled := range []bool{false, true} {
			q := draw(t, d).question
			if scaled {
				rng := random.Stream(d.seed, "units")
				for range q.Nodes() {
					q.Scale = append(q.Scale, 1+rng.Float64())
					for f := range q.Signals.Cols {
						q.InputScale = append(q.InputScale, float64(min(f, 1)^1)*(1+rng.Float64())) // the second feature is no sensor
					}
				}
			}
			got, err := q.Noise(context.Background(), NoiseConfig{Size: 0.1})
			if err != nil {
				t.Fatal(err)
			}
			if got.Total != len(got.Answers) || got.Tried != got.Total || got.Broken > got.Total-got.Held {
				t.Errorf("%s: %d answers of %d, %d attacked, %d held, %d broken", name, len(got.Answers), got.Total, got.Tried, got.Held, got.Broken)
			}
			for seed := range uint64(20) {
				for k, a := range noisy(t, q, q.noiseWeights(), got.Size, seed) {
					v := &got.Answers[k]
					_, move, holds := q.compare(&v.Answer, a.Values)
					if q.Classify && v.Held && !holds || !q.Classify && move > v.Move {
						t.Fatalf("%s: answer %d: %v moved by %v, class %d to %d; want %+v", name, k, a.Values, move, v.Class, a.Class, v)
					}
				}
			}
			for k := range got.Answers {
				if v := &got.Answers[k]; v.Moved > v.Move || v.Found > 0 && v.Found < v.Radius {
					t.Errorf("%s: the attack exceeds a bound: %+v", name, v)
				}
			}
		}
	}
}

// Of values that may move within a limit, the radius is the noise that keeps them.
func TestNoiseWithin(t *testing.T) {
	q := draw(t, noiseCases["several parts"]).question
	q.Within = 0.5
	got, err := q.Noise(context.Background(), NoiseConfig{Size: 0.2, Norm: crown.LInf, Most: 4})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Answers) != 4 {
		t.Fatalf("%d answers, want 4", len(got.Answers))
	}
	for _, v := range got.Answers {
		again, err := q.Noise(context.Background(), NoiseConfig{Size: v.Radius, Norm: crown.LInf, Most: 4})
		if err != nil {
			t.Fatal(err)
		}
		if again.Held == 0 || v.Radius <= 0 {
			t.Errorf("radius %v, with which %d answers hold", v.Radius, again.Held)
		}
		// a model without layers is linear: what it moves by is in proportion
		if ratio := q.Within / (v.Move * v.Radius / 0.2); ratio < 1-1e-6 || ratio > 1.05 {
			t.Errorf("noise of 0.2 moves the answer by %v, noise of %v by %v; want at most %v", v.Move, v.Radius, v.Move*v.Radius/0.2, q.Within)
		}
	}
}

// ownTaps adds to the outputs of every node a multiple of what one neighbour has.
type ownTaps struct{ weights []float32 }

func (o ownTaps) Correct(y []float32, node, row int, links []int32, shifted func(j, k int) []float32) {
	for c := range y {
		sum := float64(y[c]) + 0.25
		sum += float64(shifted(row, 0)[0]) * float64(o.weights[c])
		if len(links) > 0 {
			sum += float64(shifted(int(links[0]), 1)[0]) * 2 * float64(o.weights[c])
		}
		y[c] = float32(sum)
	}
}

// What nodes have of their own is found out, and is what is bounded.
func TestNoiseOfOwnTaps(t *testing.T) {
	q := draw(t, noiseCases["two layers"]).question
	q.Own = ownTaps{[]float32{1, -2, 0.5}}
	got, err := q.Noise(context.Background(), NoiseConfig{Size: 0.3})
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(20) {
		for k, a := range noisy(t, q, nil, got.Size, seed) {
			if _, _, holds := q.compare(&got.Answers[k].Answer, a.Values); got.Answers[k].Held && !holds {
				t.Fatalf("answer %d flips", k)
			}
		}
	}
	net, s, err := q.exact()
	if err != nil {
		t.Fatal(err)
	}
	kase := crown.NewCrown(net, s, nil, crown.Noise{}).Case(q.signal(0))
	for c := range 3 {
		if got, want := kase.Output[c], float64(gotValue(t, q, c)); math.Abs(got-want) > 1e-5*(1+math.Abs(want)) {
			t.Errorf("output %d in float64 is %v, want %v", c, got, want)
		}
	}
}

func gotValue(t *testing.T, q *Question, c int) float32 {
	t.Helper()
	answers, err := q.Answers()
	if err != nil {
		t.Fatal(err)
	}
	return answers[0].Values[c]
}

// What an attack does and was proven impossible ends everything.
func TestNoiseContradiction(t *testing.T) {
	for _, c := range []struct {
		v    Withstood
		want bool
	}{
		{Withstood{Radius: 0.5, Found: 0.4}, true},
		{Withstood{Radius: 0.5, Found: 0.6}, false},
		{Withstood{Radius: 0.5}, false}, // nothing was found
		{Withstood{Move: 2, Moved: 2.1}, true},
		{Withstood{Move: 2, Moved: 1.9}, false},
	} {
		if err := c.v.contradiction(); (err != nil) != c.want {
			t.Errorf("%+v: got error %v, want one: %v", c.v, err, c.want)
		}
	}
}
