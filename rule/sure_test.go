package rule_test

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/wdgnn/wdgnn/conformal"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
)

// told is a truth of one output.
func told(v float64) loss.MSE { return loss.MSE{Target: mat.NewDense(1, 1, []float32{float32(v)})} }

// Intervals of gated, late answers hold the truth as often as asked for, though
// both sides of the gate answer and the world gets ten times as wild.
func TestBoundsOfAnswers(t *testing.T) {
	const steps, late = 3000, 3
	rng := random.Stream(1, "bounds")
	a := rule.NewAnswers(line(t, 1), &rule.Config{Gate: &rule.Gate{}, Delay: late, Conformal: &conformal.Config{}}, nil)
	y, truths := make([]float32, 1), make([]float64, steps)
	for s := range steps {
		wild := 1.0
		if s > steps/2 {
			wild = 10
		}
		truths[s] = wild * rng.NormFloat64()
		adapted := []float32{float32(truths[s] * math.Sin(float64(s)/100))} // at times it knows
		a.Give(uint64(s), y, adapted, []float32{0}, []float32{1})
		if s >= late {
			if _, ok := a.Judge(uint64(s-late), told(truths[s-late]), 0); !ok {
				t.Fatalf("step %d was not judged", s-late)
			}
		}
	}
	m := a.Meter()
	if got := m.Coverage(); m.Judged != steps-late || got < 0.89 || got > 0.93 {
		t.Errorf("got %.3f of %d answers that held the truth, want 0.9", got, m.Judged)
	}
}

// What is remembered of sets and intervals goes through JSON and on with the same
// bits; a memory without it begins with the scores that were given.
func TestBoundsAreRemembered(t *testing.T) {
	config := &rule.Config{Delay: 2, Conformal: &conformal.Config{Coverage: 0.6, Window: 9}}
	scores := [][]float64{{-1, 0, 1, 2, 3, -2, 0.5, 0.25}}
	a, b := rule.NewAnswers(line(t, 1), config, scores), rule.NewAnswers(line(t, 1), config, scores)
	start := b.Bounds()[0]
	if start.Unknown() {
		t.Fatalf("got the bounds %v of eight scores, want something known", start)
	}
	rng := random.Stream(2, "bounds")
	step := func(s int, nodes ...*rule.Answers) {
		v, truth := float32(rng.NormFloat64()), rng.NormFloat64()
		for _, n := range nodes {
			n.Give(uint64(s), make([]float32, 1), []float32{v}, []float32{0}, []float32{1})
			if s >= 2 {
				n.Judge(uint64(s-2), told(truth), 0)
			}
		}
	}
	for s := range 25 {
		step(s, a)
	}
	text, err := json.Marshal(a.State(25))
	if err != nil {
		t.Fatal(err)
	}
	var m rule.State
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	bad := slices.Concat(m, rule.State{0, 0})
	bad[4] += 2
	if bad[len(m)-3] = 2; b.Restore(bad, 25) == nil {
		t.Error("two intervals of one output: got no complaint")
	}
	if err := b.Restore(m, 25); err != nil {
		t.Fatal(err)
	}
	for s := 25; s < 50; s++ {
		step(s, a, b)
	}
	if !slices.Equal(a.State(50), b.State(50)) {
		t.Errorf("got %v, want %v", b.State(50), a.State(50))
	}
	if err := b.Restore(nil, 0); err != nil {
		t.Fatal(err)
	}
	if got := b.Bounds()[0]; got != start {
		t.Errorf("a state that says nothing: got the bounds %v, want those of the start, %v", got, start)
	}
	two := rule.NewAnswers(must[*rule.Basis](t)(rule.NewBasis(rule.BasisConfig{Inputs: 1, Features: 2, Gain: 1})), config, nil)
	if two.Restore(m, 25) == nil {
		t.Error("the state of one output in a node of two: got no complaint")
	}
}

// Costs that tell no truth, and truths of another kind, are passed over.
func TestBoundsWithoutTruth(t *testing.T) {
	a := rule.NewAnswers(line(t, 1), &rule.Config{Conformal: &conformal.Config{}}, nil)
	for s, j := range []loss.Local{
		loss.CrossEntropy{Labels: []int32{loss.NoLabel}}, loss.MSE{Target: mat.NewDense(1, 1, nil), Mask: []bool{false}},
	} {
		a.Give(uint64(s), make([]float32, 1), []float32{0}, []float32{0}, []float32{1})
		if _, ok := a.Judge(uint64(s), j, 0); ok {
			t.Errorf("%T: a row without a cost was judged", j)
		}
	}
	if m := a.Meter(); m.Judged != 0 {
		t.Errorf("judged: got %d, want 0", m.Judged)
	}
	two := [][]float64{{1, 2, 3, 4, 5, 6, 7, 8, 9}, {1}}
	if a = rule.NewAnswers(line(t, 1), &rule.Config{Conformal: &conformal.Config{}}, two); !a.Bounds()[0].Unknown() {
		t.Error("scores of two outputs mean something for one")
	}
	if plain := rule.NewAnswers(line(t, 1), &rule.Config{Delay: 1}, [][]float64{{1}}); plain.Bounds() != nil {
		t.Errorf("without a Conformal: got bounds %v, want none", plain.Bounds())
	}
	if (&rule.Config{Conformal: &conformal.Config{Coverage: 2}}).Validate() == nil {
		t.Error("coverage 2: got no complaint")
	}
}
