package robust

import (
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
)

// runner computes answers on other graphs, one after the other. It is not safe for
// concurrent use.
type runner struct {
	*planner
	engine *mat.Engine
	z      []stack // by block: values on the graph of the last plan
	before *plan   // that plan; nil before the first

	builders []graph.Builder
	graphs   []*graph.Graph
	rows     []int32
	tape     gnn.Tape
	side     mat.Dense // Z_0 … Z_K of some rows, side by side
	below    mat.Dense // and one below the other
	next     mat.Dense // rows that are being computed
	deep, y  mat.Dense
}

func newRunner(p *passes, e *mat.Engine) *runner {
	return &runner{planner: newPlanner(p), engine: e, tape: gnn.Tape{Engine: e}}
}

// keep makes graphs what is left of those of the question: left says whether node i
// still hears node j. They are valid until the next call.
func (r *runner) keep(left func(i, j int) bool) []*graph.Graph {
	q := r.p.q
	if r.builders == nil {
		r.builders, r.graphs = make([]graph.Builder, len(q.Graphs)), make([]*graph.Graph, len(q.Graphs))
	}
	for t, g := range q.Graphs {
		r.graphs[t] = r.builders[t].Keep(g, false, left)
	}
	return r.graphs
}

// try visits the answers of every block that may differ on graphs whose links are
// among those of the question: those of readers among wanted, nil for all. visit gets
// the numbers of the readers and their outputs, (readers·B)×C, which it must not keep.
func (r *runner) try(graphs []*graph.Graph, wanted []bool, visit func(b *block, read []int32, y mat.Dense)) error {
	s, err := r.p.q.Shift(graphs)
	if err != nil {
		return err
	}
	r.rows = r.p.changed(r.rows[:0], s)
	w := r.plan(s, r.rows, wanted)
	if len(w.read) == 0 {
		r.spare = 1 - r.spare // the values are still those of the plan before
		return nil
	}
	if r.z == nil {
		for _, b := range r.p.blocks {
			r.z = append(r.z, copyStack(b.z))
		}
	}
	for k, b := range r.p.blocks {
		r.restore(b, r.z[k], w)
		visit(b, w.read, r.run(b, r.z[k], w))
	}
	r.before = w
	return nil
}

// restore puts values back that the last plan changed and the next does not.
func (r *runner) restore(b *block, z stack, next *plan) {
	if r.before == nil {
		return
	}
	for g, group := range r.before.rows {
		for k, rows := range group {
			for _, i := range rows {
				if !next.marks[g][k][i] {
					copy(z[g][k].Row(int(i)), b.z[g][k].Row(int(i)))
				}
			}
		}
	}
}

// run computes what a plan says of a block in z, and returns the outputs of its
// readers, which are valid until the next call.
func (r *runner) run(b *block, z stack, w *plan) mat.Dense {
	for g := range z {
		for k := range z[g] {
			rows := w.rows[g][k]
			switch {
			case len(rows) == 0:
			case k > 0 && len(rows) == w.shift.Rows:
				r.engine.SpMM(z[g][k], w.sub[g][k], z[g][k-1])
			case k > 0:
				r.next = r.next.Resize(len(rows), z[g][k].Cols)
				r.engine.SpMM(r.next, w.sub[g][k], z[g][k-1]) // Z_k = S' Z_{k-1}
				for e, i := range rows {
					copy(z[g][k].Row(int(i)), r.next.Row(e))
				}
			default:
				r.layer(z, g, rows, b.count)
			}
		}
	}
	return r.answers(b, z, w)
}

// rowsAtOnce is about how many rows a product of taps has.
const rowsAtOnce = 1024

// layer computes rows of what the layer below group g gives.
func (r *runner) layer(z stack, g int, rows []int32, b int) {
	layer := r.p.groups[g-1].layer
	for len(rows) > 0 {
		some := rows[:min(len(rows), max(rowsAtOnce/b, 1))]
		rows = rows[len(some):]
		r.next = r.next.Resize(len(some)*b, layer.Out())
		r.apply(r.next, z[g-1], layer, some, b)
		for e, i := range some {
			copy(z[g][0].Row(int(i)), r.next.Data[e*b*layer.Out():(e+1)*b*layer.Out()])
		}
	}
}

// apply computes what a layer gives at rows, a row of y per sample.
func (r *runner) apply(y mat.Dense, z []mat.Dense, layer *gnn.Layer, rows []int32, b int) {
	each := b * layer.In()
	r.below = r.below.Resize((layer.Order()+1)*len(rows)*b, layer.In())
	for k := range layer.Order() + 1 {
		for e, i := range rows {
			copy(r.below.Data[(k*len(rows)+e)*each:], z[k].Row(int(i)))
		}
	}
	layer.ApplyStacked(r.engine, y, r.below)
}

// gather puts Z_0 … Z_K of rows side by side, a row per sample.
func (r *runner) gather(z []mat.Dense, f int, rows []int32, b int) {
	r.side = r.side.Resize(len(rows)*b, len(z)*f)
	for e, i := range rows {
		for k := range z {
			from, to := z[k].Row(int(i)), r.side.Data[e*b*r.side.Cols+k*f:]
			if f == 1 {
				for s, v := range from {
					to[s*r.side.Cols] = v
				}
				continue
			}
			for s := range b {
				copy(to[s*r.side.Cols:s*r.side.Cols+f], from[s*f:])
			}
		}
	}
}

// answers computes the outputs of the readers of a plan.
func (r *runner) answers(b *block, z stack, w *plan) mat.Dense {
	p, m := r.p, r.p.q.Network
	r.y = r.y.Resize(len(w.read)*b.count, m.Outputs())
	last := len(p.groups) - 1
	each := max(rowsAtOnce/b.count, 1)
	for from := 0; from < len(w.read); from += each {
		some := make([]int32, min(each, len(w.read)-from))
		for e := range some {
			some[e] = p.readers[w.read[from+e]]
		}
		var deep mat.Dense
		if layer := p.groups[last].layer; layer != nil {
			r.deep = r.deep.Resize(len(some)*b.count, layer.Out())
			r.apply(r.deep, z[last], layer, some, b.count)
			deep = r.deep
		}
		r.gather(z[0], p.groups[0].features, some, b.count)
		y := r.y.View(from*b.count, 0, len(some)*b.count, r.y.Cols)
		m.Combine(y, r.side, deep, &r.tape)
		r.correct(b, z, w, some, y)
	}
	return r.y
}

// correct changes outputs to those of nodes with taps of their own.
func (r *runner) correct(b *block, z stack, w *plan, rows []int32, y mat.Dense) {
	if r.p.q.Own == nil {
		return
	}
	f := r.p.groups[0].features
	for e, row := range rows {
		node, _ := r.p.nodeOf(row)
		links, _ := w.shift.Row(int(row))
		for s := range b.count {
			r.p.q.Own.Correct(y.Row(e*b.count+s), node, int(row), links, func(j, k int) []float32 {
				return z[0][k].Row(j)[s*f : (s+1)*f]
			})
		}
	}
}
