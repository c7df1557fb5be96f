package robust

import (
	"errors"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/mat"
)

// passes is a question on its graph, with every value that a pass computes, so that
// on another graph only those need be computed that change.
type passes struct {
	q       *Question
	shift   *mat.CSR // S
	heardBy *mat.CSR // row j has the rows that hear j in S
	readers []int32
	groups  []group
	blocks  []*block
	whole   *plan // of the graph as it is: everything
}

// group is a signal and its shifts Z_0 … Z_K, N×(B·F) each: what nodes observe, or
// what a layer gave, and the layer that reads them.
type group struct {
	order, features int
	layer           *gnn.Layer // nil if the model has no deep part
}

// stack is [Z_0 … Z_K] of every group.
type stack [][]mat.Dense

// block is a number of samples that are computed together, and all values of them on
// the graph as it is. Samples of a row lie side by side.
type block struct {
	first, count int
	z            stack
	y            mat.Dense // (R·B)×C: reader by reader
}

// blockValues is about how many numbers a Z_k has, so that a few of them stay near
// the processor.
const blockValues = 1 << 18

// newPasses runs a question on its graph. A nil engine works on one thread.
func newPasses(q *Question, e *mat.Engine) (*passes, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	s, err := q.Shift(q.Graphs)
	if err != nil {
		return nil, err
	}
	p := &passes{q: q, shift: s, heardBy: s.T(), readers: q.Readers()}
	m := q.Network
	p.groups = []group{{order: m.InputOrder(), features: m.Config.In}}
	widest := m.Config.In
	for l := range m.Deep().Layers {
		layer := &m.Deep().Layers[l]
		if l == 0 {
			p.groups[0].layer = layer
			continue
		}
		p.groups = append(p.groups, group{layer.Order(), layer.In(), layer})
		widest = max(widest, layer.In())
	}
	p.whole = p.everything()
	size := min(max(blockValues/(s.Rows*widest), 1), q.Samples)
	r := newRunner(p, e)
	for first := 0; first < q.Samples; first += size {
		b := &block{first: first, count: min(size, q.Samples-first)}
		b.z = p.newStack(b.count)
		p.place(b)
		b.y = r.run(b, b.z, p.whole).Clone()
		if !mat.Finite(b.y.Data...) {
			return nil, errors.New("robust: answers are not finite on the graph as it is: " +
				"numbers outgrew float32; scale the signals as those of training were")
		}
		p.blocks = append(p.blocks, b)
	}
	return p, nil
}

// newStack returns room for the values of b samples.
func (p *passes) newStack(b int) stack {
	z := make(stack, len(p.groups))
	for g, at := range p.groups {
		for range at.order + 1 {
			z[g] = append(z[g], mat.NewDense(p.shift.Rows, b*at.features, nil))
		}
	}
	return z
}

// copyStack returns a copy of z. What nodes observe does not depend on the graph and
// is shared.
func copyStack(z stack) stack {
	out := make(stack, len(z))
	for g := range z {
		for k := range z[g] {
			if g == 0 && k == 0 {
				out[g] = append(out[g], z[g][k])
				continue
			}
			out[g] = append(out[g], z[g][k].Clone())
		}
	}
	return out
}

// place puts the samples of a block side by side.
func (p *passes) place(b *block) {
	rows, f := p.shift.Rows, p.q.Signals.Cols
	for i := range rows {
		to := b.z[0][0].Row(i)
		for s := range b.count {
			copy(to[s*f:(s+1)*f], p.q.Signals.Row((b.first+s)*rows+i))
		}
	}
}

// nodeOf returns the node of a row, and its step.
func (p *passes) nodeOf(row int32) (node, step int) {
	n := p.q.Nodes()
	return int(row) % n, int(row) / n
}

// answers returns those on the graph as it is.
func (p *passes) answers() []Answer {
	out := make([]Answer, p.q.Samples*len(p.readers))
	for _, b := range p.blocks {
		for r, row := range p.readers {
			node, step := p.nodeOf(row)
			for s := range b.count {
				y := b.y.Row(r*b.count + s)
				a := Answer{Sample: p.q.number(b.first + s), Step: step, Node: node, Values: append([]float32(nil), y...)}
				if p.q.Classify {
					a.Class = mat.Argmax(y)
					a.Margin, _ = judge(y, a.Class)
				}
				out[(b.first+s)*len(p.readers)+r] = a
			}
		}
	}
	return out
}

// Bytes returns about how much memory the values of a question take, once for the
// graph as it is and once for every thread.
func (q *Question) Bytes(threads int) int {
	m, values := q.Network, 0
	values += (m.InputOrder() + 1) * m.Config.In
	for l := range m.Deep().Layers {
		if layer := &m.Deep().Layers[l]; l > 0 {
			values += (layer.Order() + 1) * layer.In()
		}
	}
	return 4 * values * q.Samples * q.rows() * (1 + threads)
}
