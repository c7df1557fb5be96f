package robust

import (
	"context"
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/agent/agenttest"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/random"
)

var liarCases = map[string]drawn{
	"mean": {
		nodes: 10, edges: 14, samples: 2, wide: 2, classify: true, shift: graph.ShiftRowStochastic,
		deep: []gnn.LayerConfig{{Order: 1, Features: 4}, {Order: 2, Features: 5, Activation: gnn.Tanh}}, seed: 11,
	},
	"by degrees of both": {nodes: 10, edges: 14, samples: 2, wide: 2, shift: graph.ShiftSymmetric, seed: 12, features: 2},
}

// lies makes agents run a step in which node v sends rows as long as rows says, in
// random directions, and of its degree what it likes; it returns their outputs.
func lies(t *testing.T, q *Question, rows []float64, sample, v int, seed uint64) [][]float32 {
	t.Helper()
	rng := random.Stream(seed, "lies")
	p, err := agent.NewPlan(agent.PlanConfig{Model: q.Network, Operator: q.Operator, Forgiving: true})
	if err != nil {
		t.Fatal(err)
	}
	swarm := agenttest.New(q.Nodes(), p)
	swarm.Fate = func(m *agent.Message, _ agent.NodeID) int {
		if int(m.From) == v {
			values, sum := make([]float32, len(m.Values)), 0.0
			for i := range values {
				values[i] = float32(rng.NormFloat64())
				sum += float64(values[i]) * float64(values[i])
			}
			for i := range values {
				values[i] *= float32(rows[m.Exchange] * (1 - 1e-5) / math.Sqrt(sum))
			}
			m.Values = values
			if m.Exchange == 0 {
				m.Degree = 0.5 + math.Pow(10, 3*rng.Float64()) // links weigh up to 1.5; less is refused
			}
		}
		return 1
	}
	n := q.Nodes()
	if err := swarm.Begin(0, q.Graphs[0], q.Signals.View(sample*n, 0, n, q.Signals.Cols)); err != nil {
		t.Fatal(err)
	}
	if err := swarm.RunToQuiet(); err != nil {
		t.Fatal(err)
	}
	var out [][]float32
	for i := range n {
		out = append(out, swarm.Outputs().Row(i))
	}
	return out
}

// Agents to which one of them lies, with rows as long as the bounds allow, answer within the
// bounds.
func TestLiarsHold(t *testing.T) {
	for name, d := range liarCases {
		q := draw(t, d).question
		rows := make([]float64, exchanges(q))
		for e := range rows {
			rows[e] = 0.3 + 0.1*float64(e)
		}
		got, err := q.Liars(context.Background(), LiarConfig{Rows: rows})
		if err != nil {
			t.Fatal(err)
		}
		if got.Total != 20 || len(got.Liars) != 10 {
			t.Fatalf("%s: %d answers and %d liars, want 20 and 10", name, got.Total, len(got.Liars))
		}
		reach, held := 0, 0
		for _, l := range got.Liars {
			reach, held = reach+l.Reach, held+l.Held
			if l.Open() < 0 || l.Moved > l.Move {
				t.Errorf("%s: %+v", name, l)
			}
		}
		if q.Classify && (held == 0 || held == reach) {
			t.Errorf("%s: %d of %d pairs hold, which tells nothing", name, held, reach)
		}
		for seed := range uint64(40) {
			v := int(seed) % q.Nodes()
			for s := range q.Samples {
				for i, y := range lies(t, q, rows, s, v, seed) {
					b := &got.Answers[s*q.Nodes()+i]
					if i == v {
						continue
					}
					_, move, holds := q.compare(&b.Answer, y)
					if q.Classify && b.Held == b.Reach && !holds || !q.Classify && move > b.Move {
						t.Fatalf("%s: node %d lies: the answer of node %d moves by %v; want %+v", name, v, i, move, b)
					}
				}
			}
		}
	}
}

// Who sends next to nothing flips nothing, and an answer is not told of a liar that
// it never hears of.
func TestLiarsWithLittleToSay(t *testing.T) {
	q := draw(t, drawn{
		nodes: 12, edges: 5, samples: 2, wide: 1, classify: true, shift: graph.ShiftAdjacency, seed: 13, read: []int{0, 7},
	}).question
	got, err := q.Liars(context.Background(), LiarConfig{Rows: []float64{1e3}, Most: 3})
	if err != nil {
		t.Fatal(err)
	}
	if got.Total != 3 {
		t.Errorf("%d answers, want 3", got.Total)
	}
	adjacency := q.Graphs[0].Adjacency()
	for _, l := range got.Liars {
		want := 0
		for _, b := range got.Answers {
			if l.Node != b.Node && adjacency.At(b.Node, l.Node) != 0 {
				want++
			}
		}
		if l.Reach != want {
			t.Errorf("node %d reaches %d answers, want %d", l.Node, l.Reach, want)
		}
	}
	if _, err := q.Liars(context.Background(), LiarConfig{Rows: []float64{1, 2}}); err == nil {
		t.Error("bounds of two rows for a model of one exchange: got no error")
	}
}
