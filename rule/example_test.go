package rule_test

import (
	"encoding/json"
	"fmt"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// Tracking is gradient tracking: beside x, a node keeps an estimate y of the
// mean gradient of all nodes, sends both, and steps along y.
//
//	y_t     = Σ_j W_ij y_{j,t-1} + g_t - g_{t-1}      g_t = ∇J_{i,t}(x_t),  y_{-1} = g_{-1} = 0
//	x_{t+1} = Σ_j W_ij x_{j,t} - γ y_t
type Tracking struct{ Gamma float32 }

func (Tracking) Sent() int { return 2 } // x_t, y_{t-1}
func (Tracking) Kept() int { return 1 } // g_{t-1}

func (k Tracking) Step(next rule.Vectors, s *rule.Step) {
	x, y, g := next[0], next[1], next[2]
	last := s.Now[2]
	s.Cost.Gradient(g, s.Now[0])
	s.Heard.Mix(y, 1)
	s.Heard.Mix(x, 0)
	for e := range x {
		y[e] += g[e] - last[e]
		x[e] -= k.Gamma * y[e]
	}
}

// A rule of one's own. Four nodes in a ring fit one number to their own data:
// node i sees z_i and wants t_i, and all together want Σzt/Σz² = 1.4. With a
// constant step, eq. (9) leaves every node a little on its own side; gradient
// tracking brings all to the common optimum.
func ExampleRule() {
	z := mat.NewDense(4, 1, []float32{1, 2, 1, 2})
	want := loss.MSE{Target: mat.NewDense(4, 1, []float32{1, 2, 4, 2.5})}
	ring := graph.Ring(4)
	shift, _ := graph.ShiftAdjacency.Of(ring)
	mixing, _ := graph.Metropolis(ring)
	sample := graph.Sample{Shift: shift, Mixing: mixing, Signal: z}

	for _, c := range []rule.Config{
		{StepSize: rule.StepSize{Value: 0.03}},
		{Rule: Tracking{Gamma: 0.03}},
	} {
		model, err := gnn.New(gnn.Config{In: 1, Features: 1, Wide: &gnn.WideConfig{}, NoBias: true})
		if err != nil {
			panic(err)
		}
		observer, err := online.NewObserver(model, online.Config{Nodes: 4})
		if err != nil {
			panic(err)
		}
		learner, err := online.NewConsensus(observer, c)
		if err != nil {
			panic(err)
		}
		y := mat.NewDense(4, 1, nil)
		for range 300 {
			if err := learner.Observe(sample); err != nil {
				panic(err)
			}
			if err := learner.Update(want); err != nil {
				panic(err)
			}
		}
		for i := range 4 {
			y.Set(i, 0, learner.Params(i)[0])
		}
		fmt.Printf("%.4f\n", y.Data)
	}
	// Output:
	// [1.3500 1.3484 1.5977 1.4146]
	// [1.4000 1.4000 1.4000 1.4000]
}

// A configuration is written as JSON.
func ExampleConfig() {
	text, err := json.Marshal(rule.Own())
	fmt.Println(string(text), err)
	c := rule.Config{Ridge: -1, Delay: -1}
	fmt.Println(c.Validate())
	// Output:
	// {"step_size":{"value":0},"retrain":"taps+bias","gate":{},"newton":{"doubt":0.2,"fresh":100}} <nil>
	// rule: ridge is -1, want a number ≥ 0
	// rule: delay is -1, want 0 to 4096 steps
}
