package online_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/online"
	"github.com/wdgnn/wdgnn/rule"
)

// hermit is one node that knows its own row of S and W, what its neighbours
// send, and its own cost. All its arithmetic is on rows.
type hermit struct {
	id   int
	m    *gnn.WideDeep
	node *rule.Node

	z, y []float32 // shifted inputs, base output
}

// hear returns Σ_j S_ij v_j over the rows that neighbours sent.
func (n *hermit) hear(s *mat.CSR, sent map[int32][]float32, length int) []float32 {
	sum := make([]float32, length)
	col, val := s.Row(n.id)
	if len(col) == 0 {
		return sum
	}
	heard, entries := mat.NewDense(len(col), length, nil), make([]mat.Entry, len(col))
	for e, j := range col {
		copy(heard.Row(e), sent[j])
		entries[e] = mat.Entry{Col: e, Val: val[e]}
	}
	row, err := mat.FromEntries(1, len(col), entries)
	if err != nil {
		panic(err)
	}
	mat.Serial.SpMM(mat.NewDense(1, length, sum), row, heard)
	return sum
}

// apply is the filter at this node: bias and taps on its own shifted rows.
func (n *hermit) apply(f *gnn.Filter, z []float32) []float32 {
	y := make([]float32, f.Out())
	copy(y, f.Bias)
	for k, tap := range f.Taps {
		mat.Serial.AddMul(mat.NewDense(1, len(y), y), mat.NewDense(1, f.In(), z[k*f.In():(k+1)*f.In()]), tap)
	}
	return y
}

// village is hermits that exchange messages in rounds.
type village struct {
	m     *gnn.WideDeep
	all   []*hermit
	rule  rule.Config
	basis *rule.Basis
}

// round lets every node send a row to those who hear it, and returns what each
// makes of the sum.
func (v *village) round(s *mat.CSR, sent map[int32][]float32, length int) map[int32][]float32 {
	next := map[int32][]float32{}
	for _, n := range v.all {
		next[int32(n.id)] = n.hear(s, sent, length)
	}
	return next
}

// shifts gives every node [v Sv … Sᵏv] of the rows v.
func (v *village) shifts(s *mat.CSR, rows map[int32][]float32, order, length int) map[int32][]float32 {
	all := map[int32][]float32{}
	for hop := range order + 1 {
		if hop > 0 {
			rows = v.round(s, rows, length)
		}
		for i, row := range rows {
			all[i] = append(all[i], row...)
		}
	}
	return all
}

// predict returns the output of every node.
func (v *village) predict(sample graph.Sample) mat.Dense {
	rows := map[int32][]float32{}
	for i := range v.all {
		rows[int32(i)] = sample.Signal.Row(i)
	}
	z := v.shifts(sample.Shift, rows, v.m.InputOrder(), v.m.Config.In)
	y := mat.NewDense(len(v.all), v.m.Outputs(), nil)
	for l := range v.m.Params.Deep {
		f := &v.m.Params.Deep[l]
		in := z
		if l > 0 {
			in = v.shifts(sample.Shift, rows, f.Order(), f.In())
		}
		for i, n := range v.all {
			h := n.apply(f, in[int32(i)])
			row := mat.NewDense(1, len(h), h)
			mat.Serial.LeakyReLU(row, row, 0)
			rows[int32(i)] = h
		}
	}
	for i, n := range v.all {
		n.z = z[int32(i)]
		wide, gain := n.apply(&v.m.Params.Wide, n.z), v.m.Params.Gain
		u, base := mat.NewDense(1, len(wide), nil), mat.NewDense(1, v.m.Outputs(), nil)
		mat.Serial.Blend(u, gain[gnn.GainWide], mat.NewDense(1, len(wide), wide),
			gain[gnn.GainDeep], mat.NewDense(1, len(wide), rows[int32(i)]), gain[gnn.GainBias])
		v.m.Params.Readout.Forward(nil, base, u)
		n.y = base.Data
		n.node.Predict(y.Row(i), n.y, n.z)
	}
	return y
}

// update lets every node send its vectors, hear its neighbours' and step.
func (v *village) update(t *testing.T, w *mat.CSR, j loss.Local) {
	t.Helper()
	length := v.basis.Len()
	for _, n := range v.all {
		own, _ := w.Row(n.id)
		heard := rule.Heard{Vectors: []mat.Dense{mat.NewDense(len(own), length, nil)}}
		self := 0
		for e, other := range own {
			copy(heard.Vectors[0].Row(e), v.all[other].node.Params())
			heard.Rows = append(heard.Rows, int32(e))
			if int(other) == n.id {
				self = e
			}
		}
		_, val := w.Row(n.id)
		heard.Weights, heard.Self = make([]float32, len(own)), self
		copy(heard.Weights, val)
		heard.Far = v.basis.Far(nil, heard.Vectors[0])
		n.node.Observe(mat.NewDense(1, len(n.z), n.z), mat.NewDense(1, len(n.y), n.y), []int32{int32(n.id)}, j.(loss.Loss))
		must(t, n.node.Step(&heard))
	}
	for _, n := range v.all { // old vectors travel: nobody changes before all have sent
		n.node.Commit()
	}
}

// Nodes that compute alone, each from its own row of S and W and what its
// neighbours send, get the bits of the network computed hop by hop; computing
// only what is read agrees within 1e-5.
// Reference: Section 3, eq. (9).
func TestNodeAloneHasSameBits(t *testing.T) {
	b := newBig(t, 14, 6)
	for name, r := range map[string]rule.Config{
		"paper": plain(0.5), "taps+bias": {StepSize: rule.StepSize{Value: 0.2}, Retrain: rule.RetrainTapsAndBias},
		"own": {Newton: &rule.Newton{Doubt: 0.2, Fresh: 5}, Retrain: rule.RetrainTapsAndBias},
	} {
		t.Run(name, func(t *testing.T) {
			c := online.Config{Nodes: b.nodes, Moment: b.moment}
			hop := newConsensus(t, b.model, c, r)
			c.Read = b.labelled()
			c.HopByHop = true
			few := newConsensus(t, b.model, c, r)
			c.HopByHop = false
			pruned := newConsensus(t, b.model, c, r)
			v := &village{m: b.model, rule: r, basis: hop.Basis()}
			for i := range b.nodes {
				v.all = append(v.all, &hermit{id: i, m: b.model, node: rule.NewNode(rule.NodeConfig{Basis: v.basis, Config: &v.rule, Rows: 1})})
			}
			for k := range 20 {
				s, j := b.samples[k%len(b.samples)], b.labels(k)
				alone := v.predict(s)
				v.update(t, s.Mixing, j)
				same(t, fmt.Sprintf("hop by hop, step %d", k), step(t, hop, 5, s, j), alone, c.Read, 0)
				same(t, fmt.Sprintf("a few, step %d", k), step(t, few, 5, s, j), alone, c.Read, 0)
				same(t, fmt.Sprintf("pruned, step %d", k), step(t, pruned, 5, s, j), alone, c.Read, 1e-5)
			}
		})
	}
}

// same compares some rows, to the bit if the tolerance is 0.
func same(t *testing.T, what string, got, want mat.Dense, rows []int, tolerance float64) {
	t.Helper()
	for _, i := range rows {
		for c, w := range want.Row(i) {
			g := got.At(i, c)
			if tolerance == 0 && math.Float32bits(g) != math.Float32bits(w) ||
				!(math.Abs(float64(g)-float64(w)) <= tolerance*max(1, math.Abs(float64(w)))) {
				t.Fatalf("%s: output %d of node %d is %v, want %v", what, c, i, g, w)
			}
		}
	}
}
