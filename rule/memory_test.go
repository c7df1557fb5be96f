package rule_test

import (
	"encoding/json"
	"fmt"
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

// A node that takes over the memory of another goes on with the same bits.
func TestRestore(t *testing.T) {
	for at := range 10 {
		n, step := remembered(t)
		for k := range at {
			if err := step(k, labels(k)); err != nil {
				t.Fatal(err)
			}
		}
		text := must[[]byte](t)(json.Marshal(n.Memory()))
		other, follow := remembered(t)
		for k := range 3 {
			if err := follow(k+50, labels(k)); err != nil {
				t.Fatal(err)
			}
		}
		var m rule.Memory
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatal(err)
		}
		if err := other.Restore(m); err != nil {
			t.Fatal(err)
		}
		if got := must[[]byte](t)(json.Marshal(other.Memory())); string(got) != string(text) {
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
	before := fmt.Sprint(n.Memory())
	for want, spoil := range map[string]func(m *rule.Memory){
		"-1 steps":                      func(m *rule.Memory) { m.Steps = -1 },
		"2 vectors, the rule has 1":     func(m *rule.Memory) { m.Vectors = append(m.Vectors, nil) },
		"a vector of 1 numbers, want 8": func(m *rule.Memory) { m.Vectors[0] = m.Vectors[0][:1] },
		"a number is not finite":        func(m *rule.Memory) { m.Vectors[0][0] = float32(inf) },
	} {
		m := n.Memory()
		spoil(&m)
		if err := n.Restore(m); err == nil || !strings.Contains(err.Error(), want) || n.Fits(m) == nil {
			t.Errorf("error %v, want one with %q", err, want)
		}
		if after := fmt.Sprint(n.Memory()); after != before {
			t.Fatalf("%s: memory changed to %s", want, after)
		}
	}
}

var inf = func() float64 { x := 0.0; return 1 / x }()

// Whatever memory comes from outside, it is refused, or the node learns on
// without panic.
func FuzzRestore(f *testing.F) {
	n, step := remembered(f)
	for k := range 6 {
		f.Add(must[[]byte](f)(json.Marshal(n.Memory())))
		if err := step(k, labels(k)); err != nil {
			f.Fatal(err)
		}
	}
	f.Add([]byte(`{"vectors":[[3e38,1,1,1,1,1,1,1]]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var m rule.Memory
		if json.Unmarshal(text, &m) != nil {
			return
		}
		n, step := remembered(t)
		if n.Restore(m) != nil {
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
