package rule_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/rule"
)

// remembered returns a node and the step that takes it on.
func remembered(tb testing.TB) (n *rule.Node, step func(k int, j loss.Loss) error) {
	f := must[*rule.Basis](tb)(rule.NewBasis(bases["bias"]))
	n = rule.NewNode(rule.NodeConfig{Basis: f, Config: &rule.Config{StepSize: rule.StepSize{Value: 0.1}}, Rows: 2})
	return n, func(k int, j loss.Loss) error {
		rng := random.Stream(11, "remembered", k)
		n.Observe(matrix(rng, 2, 3), matrix(rng, 2, 2), []int32{0, 1}, j)
		if err := n.Step(alone(n)); err != nil {
			n.Cancel()
			return err
		}
		n.Commit()
		return nil
	}
}

func labels(k int) loss.Loss {
	return loss.CrossEntropy{Labels: []int32{int32(k % 2), []int32{0, 1, loss.NoLabel}[k%3]}}
}

// A node that takes over the state of another goes on with the same bits.
func TestRestore(t *testing.T) {
	for at := range 10 {
		n, step := remembered(t)
		for k := range at {
			if err := step(k, labels(k)); err != nil {
				t.Fatal(err)
			}
		}
		text := must[[]byte](t)(json.Marshal(n.State(0)))
		other, follow := remembered(t)
		for k := range 3 {
			if err := follow(k+50, labels(k)); err != nil {
				t.Fatal(err)
			}
		}
		var m rule.State
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatal(err)
		}
		if err := other.Restore(m, 0); err != nil {
			t.Fatal(err)
		}
		if got := must[[]byte](t)(json.Marshal(other.State(0))); string(got) != string(text) {
			t.Fatalf("restored %s, want %s", got, text)
		}
		for k := at; k < at+9; k++ {
			if err := step(k, labels(k)); err != nil {
				t.Fatal(err)
			}
			if err := follow(k, labels(k)); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(n.Params(), other.Params()) || n.Steps() != other.Steps() {
				t.Fatalf("restored at %d, at step %d: %v, want %v", at, k, other.Params(), n.Params())
			}
		}
	}
}

func TestRestoreComplains(t *testing.T) {
	n, step := remembered(t)
	for k := range 3 {
		if err := step(k, labels(k)); err != nil {
			t.Fatal(err)
		}
	}
	good := n.State(0)
	for want, spoil := range map[string]func(s rule.State) rule.State{
		"the form is 7":              func(s rule.State) rule.State { s[0] = 7; return s },
		"a number is not finite":     func(s rule.State) rule.State { s[len(s)-1] = inf; return s },
		"not those of the parts":     func(s rule.State) rule.State { return append(s, 1) },
		"2×8 parameters, this node":  func(s rule.State) rule.State { s[6] = 2; return s },
		"1×9 parameters, this node":  func(s rule.State) rule.State { s[7] = 9; return s },
		"0×0 parameters, this node":  func(s rule.State) rule.State { s[5] = -1; return s },
		"not those of a node that l": func(s rule.State) rule.State { s[1]++; return append(s, 1) },
		"a node that learns by its ": func(s rule.State) rule.State { s[8] = 1e39; return s },
	} {
		bad := spoil(slices.Clone(good))
		if err := n.Restore(bad, 0); err == nil || !strings.Contains(err.Error(), want) || n.Fits(bad) == nil {
			t.Errorf("error %v, want one with %q", err, want)
		}
		if !slices.Equal(n.State(0), good) {
			t.Fatalf("%s: changed to %v", want, n.State(0))
		}
	}
	for k := 1; k < len(good); k++ {
		if n.Restore(good[:k], 0) == nil {
			t.Errorf("the first %d of %d numbers are read", k, len(good))
		}
	}
}

// A state says what it is asked for, and has room for more than it says; one of
// nothing is that of a node that begins.
func TestStateOfVectors(t *testing.T) {
	s := rule.NewState(5, rule.Vectors{{1, 2, 3}, {4, 5, 6}})
	if s.Steps() != 5 || !slices.Equal(s.Params(), []float64{1, 2, 3}) {
		t.Errorf("got %d steps and %v, want 5 and [1 2 3]", s.Steps(), s.Params())
	}
	if _, ok := s.Gate(); ok || s.Scores(1) != nil {
		t.Error("a state without answers has a gate or scores")
	}
	n, step := remembered(t)
	begun := n.State(0)
	if err := step(0, labels(0)); err != nil {
		t.Fatal(err)
	}
	if err := n.Restore(nil, 0); err != nil || !slices.Equal(n.State(0), begun) || n.Learned() {
		t.Errorf("restored from nothing: got %v, error %v, want %v", n.State(0), err, begun)
	}
	var read rule.State
	if err := read.UnmarshalText([]byte("AAAA")); err == nil {
		t.Error("three bytes are read as numbers")
	}
}

var inf = func() float64 { x := 0.0; return 1 / x }()

// Whatever state comes from outside, it is refused, or the node learns on
// without panic.
func FuzzRestore(f *testing.F) {
	n, step := remembered(f)
	for k := range 6 {
		f.Add(must[[]byte](f)(n.State(0).MarshalText()))
		if err := step(k, labels(k)); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var m rule.State
		if m.UnmarshalText(text) != nil {
			return
		}
		n, step := remembered(t)
		if n.Restore(m, 0) != nil {
			return
		}
		for k, j := range []loss.Loss{labels(0), labels(2), loss.MSE{Target: mat.NewDense(2, 2, nil)}} {
			err := step(k, j)
			for _, v := range n.Params() {
				if v-v != 0 {
					t.Fatalf("parameters %v after error %v", n.Params(), err)
				}
			}
		}
	})
}
