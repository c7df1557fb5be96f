package agent

import (
	"cmp"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/mat"
)

// Batch is nodes of one process that go through a step together: what each would
// compute from its own row is computed from all rows at once,
//
//	Z = S V      S: nodes×(nodes + those they hear elsewhere)   V: what all of these sent
//
// and so are layers, outputs and mixtures. Rows have the bits that the nodes alone
// would have found, because no sum is regrouped. A row that one of them sends is
// written once, to V, and not to the inbox of each that hears it.
//
// Nodes that are no longer together, because a row of somebody elsewhere does not
// come or does not fit, go on one by one: nothing has happened to a [Node] before
// all of them have predicted. Whoever gives up on the batch lets them begin the
// step, and gives them what [Batch.Heard] says. It is not safe for concurrent use.
type Batch struct {
	plan  *Plan
	nodes []*Node // ascending
	links [][]Link
	ids   []NodeID         // elsewhere: rows of V behind those of the nodes
	rows  map[NodeID]int32 // of V
	odd   bool             // links are such that a node will wait in vain, or refuses them
	free  bool             // rows may be as long as they are

	sent   [2][]mat.Dense // V, by parity of the step and exchange
	degree []float64      // by row of V
	count  []uint32       // of links, by row of V

	before mat.Dense   // delayed: shifted rows of the step before, a row per node
	z      []mat.Dense // shifted inputs of the layers, a row per node
	base   mat.Dense   // y†
	output mat.Dense
	hidden []mat.Dense // of a few rows

	stale  bool // S and W are not those of the links and degrees
	shift  mat.CSR
	mixing mat.CSR // W
	self   []int32 // where each node stands in its row of it
	one    Node    // computes rows of both

	time     uint64
	exchange int
	got      [][]bool // by exchange, of those elsewhere
	missing  []int    // by exchange

	batchLearning
}

// batchLearning is what nodes of a batch that learn have together.
type batchLearning struct {
	descends bool // nodes learn by steps down the gradient, and answer with what they learned
	target   []float32
	scratch  []float64   // of outputs
	mixed    []mat.Dense // W times the vectors of this step, by vector
	isMixed  bool
	vectors  []mat.Dense // the columns of V that hold them
	mixture  [][]float32 // of one node
	far      []bool
}

// NewBatch returns a batch of nodes that share a plan, ascending; nil if the plan
// is not of the kind that nodes can go through together: they forecast, or hear
// their neighbours one by one. The nodes' memory becomes the
// batch's, and they may still step alone.
func NewBatch(nodes []*Node) *Batch {
	if len(nodes) == 0 || !nodes[0].plan.joins() {
		return nil
	}
	p := nodes[0].plan
	b := &Batch{plan: p, nodes: nodes, hidden: nodes[0].hidden, one: Node{plan: p, scratch: new(Scratch), inbox: make([]inbox, 1)}}
	b.base, b.output = mat.NewDense(len(nodes), p.Model.Outputs(), nil), mat.NewDense(len(nodes), p.Model.Outputs(), nil)
	b.free = p.MaxNorm == 0 && p.ClipNorm == 0 && !slices.ContainsFunc(p.stages, func(s stage) bool { return !math.IsInf(s.most, 1) })
	if p.Delayed {
		b.before = mat.NewDense(len(nodes), p.stages[0].width, nil)
	}
	for l := range p.layers() {
		order, features := p.shape(l)
		b.z = append(b.z, mat.NewDense(len(nodes), (order+1)*features, nil))
	}
	for i, n := range nodes {
		n.batch, n.at, n.hidden, n.joint = b, i, b.hidden, false
		n.base, n.output = b.base.View(i, 0, 1, b.base.Cols), b.output.Row(i)
		for l := range n.shifted {
			n.shifted[l] = b.z[l].View(i, 0, 1, b.z[l].Cols)
		}
		if p.Delayed {
			copy(b.before.Row(i), n.before)
			n.before = b.before.Row(i)
		}
	}
	b.hidden = slices.Clone(b.hidden)
	b.missing, b.got = make([]int, len(p.stages)), make([][]bool, len(p.stages))
	for k := range b.sent {
		b.sent[k] = make([]mat.Dense, len(p.stages))
	}
	if p.learns() {
		b.mixed, b.vectors, b.mixture = make([]mat.Dense, p.sent), make([]mat.Dense, p.sent), make([][]float32, p.sent)
		b.scratch = make([]float64, p.Basis.Outputs())
		b.descends = p.Rule.Newton == nil && p.Rule.Rule == nil && p.Rule.AsLearned()
	}
	b.resize(len(nodes))
	return b
}

// joins says whether nodes may go through a step together.
func (p *Plan) joins() bool {
	if p.Forecast != nil {
		return false
	}
	return p.Basis == nil || !p.Basis.Hearing()
}

// resize makes room for so many rows of V. Those of the nodes keep what they hold:
// it may be asked for again.
func (b *Batch) resize(rows int) {
	for k := range b.sent {
		for e, v := range b.sent[k] {
			if rows <= v.Rows {
				continue
			}
			more := mat.NewDense(rows, b.plan.Length(e), nil)
			for i, n := range b.nodes {
				copy(more.Row(i), n.outbox[k][e])
				n.outbox[k][e] = more.Row(i)
			}
			b.sent[k][e] = more
		}
	}
}

// Wire says whom the nodes hear from now on, in their order. The batch keeps the
// slices.
func (b *Batch) Wire(links [][]Link) {
	b.links, b.stale, b.ids, b.odd = links, true, b.ids[:0], false
	b.rows = make(map[NodeID]int32, len(b.nodes))
	for i, n := range b.nodes {
		b.rows[n.id] = int32(i)
	}
	for i, n := range b.nodes {
		b.odd = b.odd || CheckLinks(n.id, links[i]) != nil
		for _, l := range links[i] {
			if row, known := b.rows[l.Node]; known && int(row) < len(b.nodes) {
				b.odd = b.odd || len(links[row]) == 0 // who hears nobody sends nothing
			} else if !known {
				b.rows[l.Node] = int32(len(b.nodes) + len(b.ids))
				b.ids = append(b.ids, l.Node)
			}
		}
	}
	all := len(b.nodes) + len(b.ids)
	b.resize(all)
	b.degree, b.count = make([]float64, all), make([]uint32, all)
	for i, list := range links {
		b.count[i] = uint32(len(list))
		for _, l := range list {
			b.degree[i] += float64(l.Weight)
		}
	}
	for e := range b.got {
		b.got[e] = make([]bool, len(b.ids))
	}
}

// Begin opens a step with what the nodes observe, unless one of them is not ready
// for it, or sends what others would refuse: then it is false, and they have to
// begin one by one.
func (b *Batch) Begin(time uint64, observed func(i int) []float32) bool {
	if b.odd {
		return false
	}
	b.time, b.exchange, b.isMixed = time, 0, false
	for e := range b.got {
		clear(b.got[e])
		b.missing[e] = len(b.ids)
	}
	in, v := b.plan.Model.Config.In, b.sent[time%2][0]
	for i, n := range b.nodes {
		row := observed(i)
		if n.open || n.begun && time <= n.time || len(n.later.messages) > 0 || len(row) != in || !mat.Finite(row...) {
			return false
		}
		copy(b.z[0].Row(i), row)
		n.opened[time%2] = opening{time, b.count[i], b.degree[i]}
		if b.descends && b.plan.Delayed { // as fill does, where the batch has it
			copy(v.Row(i)[copy(v.Row(i), b.before.Row(i)):], n.learner.Params())
		} else {
			n.fill(v.Row(i), 0)
		}
		if !b.fits(i) {
			return false
		}
	}
	return true
}

// fits says whether neighbours take what node i sends as it is.
func (b *Batch) fits(i int) bool {
	if b.count[i] == 0 {
		return true
	}
	if b.free {
		return mat.Finite(b.sent[b.time%2][b.exchange].Row(i)...)
	}
	m := b.Message(i)
	return b.takes(&m)
}

// takes says whether a row is taken as it is: not refused, and not shortened.
func (b *Batch) takes(m *Message) bool {
	n := b.nodes[0]
	if n.inspect(m) != nil {
		return false
	}
	if limit := b.plan.ClipNorm; limit > 0 && m.Exchange == 0 && n.learner != nil {
		for part := range slices.Chunk(m.Values[b.plan.stages[0].width:], max(n.parts(), 1)) {
			if norm(part) > limit {
				return false
			}
		}
	}
	return true
}

// Exchange returns the exchange whose rows are waited for.
func (b *Batch) Exchange() int { return b.exchange }

// Message returns what node i sends in the exchange under way.
func (b *Batch) Message(i int) Message { return b.message(i, b.exchange, Everyone) }

// message returns the row of node i, here or elsewhere, in exchange e.
func (b *Batch) message(i, e int, to NodeID) Message {
	m := Message{To: to, Time: b.time, Kind: Row, Exchange: uint16(e), Values: b.sent[b.time%2][e].Row(i)}
	if i < len(b.nodes) {
		m.From = b.nodes[i].id
	} else {
		m.From = b.ids[i-len(b.nodes)]
	}
	if e == 0 {
		m.Links, m.Degree = b.count[i], b.degree[i]
	}
	return m
}

// Answer returns what node i sends to one who asks for its row of this step again,
// and false if it has not sent that yet.
func (b *Batch) Answer(i int, ask *Message) (Message, bool) {
	n := b.nodes[i]
	if int(ask.Exchange) > b.exchange {
		n.stats.Stale++
		return Message{}, false
	}
	n.stats.Resent++
	return b.message(i, int(ask.Exchange), ask.From), true
}

// Hear takes in a row of this step, for the given nodes. It is false if the row is
// none that all of them can use: then they have to go on one by one.
func (b *Batch) Hear(m *Message, hearers []int) bool {
	row, known := b.rows[m.From]
	k, e := int(row)-len(b.nodes), int(m.Exchange)
	if !known || k < 0 || m.Kind != Row || m.Time != b.time || e >= len(b.got) || !b.takes(m) {
		return false
	}
	switch {
	case b.got[e][k] && !b.repeats(int(row), m):
		return false
	case e < b.exchange:
		for _, i := range hearers {
			b.nodes[i].stats.Stale++
		}
		return true
	case b.got[e][k]:
		for _, i := range hearers {
			b.nodes[i].stats.Duplicates++
		}
		return true
	case m.To != Everyone:
		return false
	}
	if e == 0 && (b.count[row] != m.Links || b.degree[row] != m.Degree) {
		if !b.believes(m, hearers) {
			return false
		}
		b.count[row], b.degree[row], b.stale = m.Links, m.Degree, true
	}
	copy(b.sent[b.time%2][e].Row(int(row)), m.Values)
	b.got[e][k] = true
	b.missing[e]--
	return true
}

// believes says whether a neighbour may have the degree that it says; see Node.doubt.
func (b *Batch) believes(m *Message, hearers []int) bool {
	if !b.plan.mutual() {
		return true
	}
	for _, i := range hearers {
		for _, l := range b.links[i] {
			if l.Node == m.From && !believable(m.Degree, l.Weight) {
				return false
			}
		}
	}
	return true
}

// repeats says whether a message is the row that was heard before, row by number of V;
// see Node.contradicts.
func (b *Batch) repeats(row int, m *Message) bool {
	if m.Exchange == 0 && (b.count[row] != m.Links || b.degree[row] != m.Degree) {
		return false
	}
	length := len(m.Values)
	if b.plan.ClipNorm > 0 {
		length = b.plan.stages[m.Exchange].width
	}
	return slices.Equal(b.sent[b.time%2][m.Exchange].Row(row)[:length], m.Values[:length])
}

// Heard calls do with every row that was heard in this step, those of earlier
// exchanges first.
func (b *Batch) Heard(do func(m *Message)) {
	for e := range b.got {
		for k, got := range b.got[e] {
			if got {
				m := b.message(len(b.nodes)+k, e, Everyone)
				do(&m)
			}
		}
	}
}

// Observed returns what node i observed in this step.
func (b *Batch) Observed(i int) []float32 { return b.z[0].Row(i)[:b.plan.Model.Config.In] }

// Ready says whether all rows of the exchange are in.
func (b *Batch) Ready() bool { return b.missing[b.exchange] == 0 }

// Retry appends requests to dst to send again what has not come, of those nodes for
// which of says so.
func (b *Batch) Retry(dst []Message, of func(NodeID) bool) []Message {
	got := b.got[b.exchange]
	for i, n := range b.nodes {
		for _, l := range b.links[i] {
			if k := int(b.rows[l.Node]) - len(b.nodes); k >= 0 && !got[k] && of(l.Node) {
				n.stats.Asked++
				dst = append(dst, Message{From: n.id, To: l.Node, Time: b.time, Kind: Ask, Exchange: uint16(b.exchange)})
			}
		}
	}
	return dst
}

// Advance goes through the exchange, of which all rows must be in. After the last
// the nodes have predicted. It is false if a node would send what others refuse:
// then they have to go on one by one.
func (b *Batch) Advance() (predicted, ok bool) {
	if b.stale {
		b.weigh()
	}
	last := b.exchange == len(b.plan.stages)-1
	b.shiftAll()
	stage := b.plan.stages[b.exchange]
	if last || stage.last {
		b.layers(stage.layer, last)
	}
	if last {
		for i, n := range b.nodes {
			b.settle(i, n)
		}
		return true, true
	}
	b.exchange++
	stage = b.plan.stages[b.exchange]
	v := b.sent[b.time%2][b.exchange].View(0, 0, len(b.nodes), stage.width)
	v.CopyFrom(b.z[stage.layer].View(0, stage.hop*stage.width, len(b.nodes), stage.width))
	for i := range b.nodes {
		if !b.fits(i) {
			b.exchange--
			return false, false
		}
	}
	return false, true
}

// weigh computes S and W, row by row as nodes do.
func (b *Batch) weigh() {
	b.stale = false
	all := len(b.nodes) + len(b.ids)
	most := len(b.nodes) // of entries
	for _, list := range b.links {
		most += len(list)
	}
	for _, s := range []*mat.CSR{&b.shift, &b.mixing} {
		*s = mat.CSR{
			Rows: len(b.nodes), Cols: all, RowPtr: append(slices.Grow(s.RowPtr[:0], len(b.nodes)+1), 0),
			Col: slices.Grow(s.Col[:0], most), Val: slices.Grow(s.Val[:0], most),
		}
		if !b.plan.learns() {
			break // nobody mixes
		}
	}
	b.self = b.self[:0]
	one := &b.one
	for i, n := range b.nodes {
		one.id, one.links, one.self, one.degree = n.id, one.links[:0], 0, b.degree[i]
		got := one.inbox[0].got[:0]
		for _, l := range b.links[i] {
			row := b.rows[l.Node]
			one.links = append(one.links, neighbor{Link: l, heard: true, links: b.count[row], degree: b.degree[row]})
			got = append(got, true)
			if l.Node < n.id {
				one.self++
			}
		}
		one.inbox[0].got = got
		one.shiftRow()
		b.addRow(&b.shift, i, one.scratch.col, one.scratch.val)
		if b.plan.learns() {
			b.self = append(b.self, int32(one.mixingRow()))
			b.addRow(&b.mixing, i, one.scratch.rows, one.scratch.weights)
		}
	}
}

// addRow adds the row of node i to s. Its columns are rows of V in ascending order
// of nodes: the order in which a node sums.
func (b *Batch) addRow(s *mat.CSR, i int, places []int32, values []float32) {
	for _, place := range places {
		col := int32(i)
		switch k := int(place); {
		case k < b.one.self:
			col = b.rows[b.one.links[k].Node]
		case k > b.one.self:
			col = b.rows[b.one.links[k-1].Node]
		}
		s.Col = append(s.Col, col)
	}
	s.Val = append(s.Val, values...)
	s.RowPtr = append(s.RowPtr, len(s.Col))
}

// shiftAll computes what the exchange brings: one hop of a layer or, with delayed
// filters, all hops of all layers.
func (b *Batch) shiftAll() {
	v := b.sent[b.time%2][b.exchange]
	v = v.View(0, 0, b.shift.Cols, v.Cols)
	stage := b.plan.stages[b.exchange]
	if !b.plan.Delayed {
		b.shiftInto(b.z[stage.layer], (stage.hop+1)*stage.width, v, 0, stage.width)
		return
	}
	at := 0
	for l, z := range b.z {
		order, features := b.plan.shape(l)
		b.shiftInto(z, features, v, at, order*features)
		at += order * features
	}
}

// shiftInto computes some columns of z from as many of v.
func (b *Batch) shiftInto(z mat.Dense, to int, v mat.Dense, from, width int) {
	if width > 0 {
		mat.Serial.SpMM(z.View(0, to, z.Rows, width), &b.shift, v.View(0, from, v.Rows, width))
	}
}

// batchRows is how many nodes are computed at once: what their layers and outputs
// need between stays in a near cache.
const batchRows = 256

// layers computes the layers from the given one on whose shifted inputs are
// complete and, if this is the last exchange, what the model as trained answers.
func (b *Batch) layers(first int, last bool) {
	for lo := 0; lo < len(b.nodes); lo += batchRows {
		b.layersOf(lo, min(batchRows, len(b.nodes)-lo), first, last)
	}
}

func (b *Batch) layersOf(lo, rows, first int, last bool) {
	deep := b.plan.Model.Deep().Layers
	for l := first; l < len(deep); l++ {
		if order, _ := b.plan.shape(l); l > first && order > 0 && !b.plan.Delayed {
			break
		}
		b.hidden[l] = b.hidden[l].Resize(rows, deep[l].Filter.Out())
		z := b.z[l]
		deep[l].ApplyShifted(nil, b.hidden[l], z.View(lo, 0, rows, z.Cols))
		if l+1 < len(deep) {
			b.z[l+1].View(lo, 0, rows, b.hidden[l].Cols).CopyFrom(b.hidden[l])
		}
	}
	if !last {
		return
	}
	var out mat.Dense
	if len(deep) > 0 {
		out = b.hidden[len(deep)-1]
	}
	b.plan.Model.Combine(b.base.View(lo, 0, rows, b.base.Cols), b.z[0].View(lo, 0, rows, b.z[0].Cols), out, &b.nodes[0].scratch.tape)
}

// settle leaves a node as it would be had it come here alone.
func (b *Batch) settle(i int, n *Node) {
	if n.begun && b.time > n.time+1 {
		n.stats.Skipped += b.time - n.time - 1
	}
	n.time, n.begun, n.open, n.joint = b.time, true, true, true
	n.exchange = len(b.plan.stages) - 1
	n.stats.Received += uint64(len(b.plan.stages)) * uint64(b.count[i])
	if !b.descends {
		n.give()
		return
	}
	width := b.plan.stages[0].width
	x := b.sent[b.time%2][0].Row(i)[width : width+b.plan.Basis.Len()] // that the node began the step with
	b.plan.Basis.Predict(b.output.Row(i), b.base.Row(i), b.z[0].Row(i), x, b.scratch)
	n.predicted = true
	n.stats.Predicted++
}

// moveOn is Node.moveOn of node i, where the batch has its rows.
func (b *Batch) moveOn(i int) {
	at, before := 0, b.before.Row(i)
	for l := range b.z {
		order, features := b.plan.shape(l)
		at += copy(before[at:], b.z[l].Row(i)[:order*features])
	}
}

// Output returns what node i predicted. It belongs to the node.
func (b *Batch) Output(i int) []float32 { return b.output.Row(i) }

// again counts a row of the step that its receiver has predicted in, and reports one
// that is not what was heard before.
func (b *Batch) again(n *Node, m *Message) error {
	_, linked := slices.BinarySearchFunc(b.links[n.at], m.From, func(l Link, id NodeID) int { return cmp.Compare(l.Node, id) })
	switch {
	case !linked:
		n.stats.Strangers++
		return nil
	case int(m.Exchange) < n.exchange:
		n.stats.Stale++
	default:
		n.stats.Duplicates++
	}
	if row := int(b.rows[m.From]); !b.repeats(row, m) {
		return twoFaced(n.id, m)
	}
	return nil
}
