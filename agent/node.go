package agent

import (
	"fmt"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/rule"
)

// Node is the agent of one graph node; see the package comment. It is not safe
// for concurrent use.
type Node struct {
	id    NodeID
	batch *Batch // with whom the node may step together; nil if with nobody
	at    int    // its place there

	position

	learner *rule.Node // nil if the node does not learn
	plan    *Plan
	scratch *Scratch
	stats   Stats
	told    []Told // late, for the next update

	forecasting *forecasting // nil if the node does not forecast

	links  []neighbor // ascending
	self   int        // how many of them have a lower number
	degree float64    // d_i

	inbox   []inbox        // by exchange
	vectors []mat.Dense    // parameters of exchange 0, a row per node heard
	outbox  [2][][]float32 // by parity of the step and exchange: what was sent, for those who ask again

	shifted []mat.Dense // z, by layer, 1×((K+1)·F)
	hidden  []mat.Dense // outputs of the layers, 1×F_ℓ
	before  []float32   // delayed: shifted rows of the step before
	base    mat.Dense   // y†, 1×C
	output  []float32

	around []float32 // what is learned from, of a node that hears its neighbours one by one

	later later
	send  []Message
}

// position is where a node is in its steps.
type position struct {
	time      uint64
	begun     bool       // there was a Begin
	open      bool       // a step is under way
	predicted bool       // and has its prediction
	joint     bool       // others went through it with the node
	exchange  int        // whose messages are waited for
	opened    [2]opening // the steps that what is in the outbox belongs to
}

// opening is what a node told of itself when a step began.
type opening struct {
	time   uint64
	links  uint32
	degree float64
}

// unopened are those of a node that has begun no step: nothing can be sent again.
var unopened = [2]opening{{time: math.MaxUint64}, {time: math.MaxUint64}}

// inbox is what arrived for one exchange.
type inbox struct {
	rows    mat.Dense // a row per node heard, the node's own among them
	got     []bool    // by link
	missing int       // links whose message is waited for
}

// Scratch is memory that nodes which never step at the same time may share.
// The zero Scratch works.
type Scratch struct {
	tape    gnn.Tape
	wide    mat.Dense
	learner rule.Scratch

	col     []int32 // row i of S: places and values
	val     []float32
	ptr     [2]int
	row     mat.CSR // the same
	rows    []int32 // row i of W: places and values
	weights []float32
	heard   rule.Heard
	far     []bool  // whose taps are
	near    []int32 // whom the node hears
}

// NewNode returns the agent of node id at the parameters of the plan's model.
// A nil scratch makes one.
func NewNode(id NodeID, p *Plan, s *Scratch) *Node {
	if s == nil {
		s = new(Scratch)
	}
	n := &Node{
		id: id, plan: p, scratch: s, position: position{opened: unopened}, later: later{each: laterPerNode, all: mostLater},
		output: make([]float32, p.Model.Outputs()), base: mat.NewDense(1, p.Model.Outputs(), nil),
	}
	if p.learns() {
		n.fresh()
		n.vectors = make([]mat.Dense, p.sent)
	} else if p.Season != nil {
		n.vectors = make([]mat.Dense, 1)
	}
	n.forecasting = newForecasting(id, p)
	n.inbox = make([]inbox, len(p.stages))
	for k := range n.outbox {
		n.outbox[k] = make([][]float32, len(p.stages))
		for e := range n.outbox[k] {
			n.outbox[k][e] = make([]float32, p.Length(e))
		}
	}
	for l := range p.layers() {
		order, features := p.shape(l)
		n.shifted = append(n.shifted, mat.NewDense(1, (order+1)*features, nil))
	}
	for l := range p.Model.Params.Deep {
		n.hidden = append(n.hidden, mat.NewDense(1, p.Model.Params.Deep[l].Out(), nil))
	}
	if p.Delayed {
		n.before = make([]float32, p.stages[0].width)
	}
	return n
}

// fresh makes a learner at the parameters of the plan's model, and what it
// answers with.
func (n *Node) fresh() {
	r := n.plan.Rule
	c := rule.NodeConfig{
		Basis: n.plan.Basis, Config: r, Rows: 1 + r.Delay, Number: int(n.id), Answers: true, Scratch: &n.scratch.learner,
	}
	if n.plan.Scores != nil {
		c.Scores = n.plan.Scores(n.id)
	}
	n.learner = rule.NewNode(c)
	n.told = n.told[:0]
}

// Step applies one event. An event that does not fit is refused with
// ErrMalformed or ErrOrder and changes nothing but the counters.
func (n *Node) Step(ev Event) (r Ready, err error) {
	n.send = n.send[:0]
	switch ev := ev.(type) {
	case Begin:
		err = n.begin(ev, &r)
	case Receive:
		err = n.receive(ev.Message, &r)
	case Feedback:
		err = n.feedback(ev, &r)
	case Told:
		err = n.late(ev)
	case Retry:
		n.retry(ev.Of)
	case Expire:
		n.expire(&r)
	default:
		err = fmt.Errorf("%w: no event", ErrOrder)
	}
	r.Send = n.send
	r.Ahead = n.later.ahead()
	return r, err
}

// begin opens a step.
func (n *Node) begin(ev Begin, r *Ready) error {
	if err := n.checkBegin(ev); err != nil {
		return err
	}
	if n.open {
		n.stats.Abandoned++
		n.close()
	}
	if n.begun && ev.Time > n.time+1 {
		n.stats.Skipped += ev.Time - n.time - 1
	}
	if n.forecasting != nil {
		n.forecasting.before, n.forecasting.stepped = n.time, n.begun
	}
	n.time, n.begun, n.open, n.predicted, n.exchange = ev.Time, true, true, false, 0
	z := n.shifted[0].Row(0)
	if n.forecasting != nil {
		n.stats.Late += n.forecasting.read(z[:n.plan.Model.Config.In], &ev)
	} else {
		copy(z, ev.Row)
	}
	n.connect(ev.Links)
	n.opened[n.time%2] = opening{n.time, uint32(len(n.links)), n.degree}
	n.post(0)
	n.replay()
	n.advance(r)
	return nil
}

func (n *Node) checkBegin(ev Begin) error {
	if n.begun && ev.Time <= n.time {
		return fmt.Errorf("%w: node %d: step %d after step %d", ErrOrder, n.id, ev.Time, n.time)
	}
	if n.forecasting != nil {
		if err := n.forecasting.check(n.id, &ev); err != nil {
			return err
		}
	} else if len(ev.Row) != n.plan.Model.Config.In || !mat.Finite(ev.Row...) {
		return fmt.Errorf("%w: node %d: an observation of %d values, want %d finite ones",
			ErrMalformed, n.id, len(ev.Row), n.plan.Model.Config.In)
	}
	return CheckLinks(n.id, ev.Links)
}

// connect prepares the inboxes for the neighbours of this step.
//
// The node's own parameters stand among those that it will hear: eq. (9) mixes
// what all of them had when the step began.
func (n *Node) connect(links []Link) {
	n.joint = false
	n.links, n.self, n.degree = slices.Grow(n.links[:0], len(links)), 0, 0
	for _, l := range links {
		n.links = append(n.links, neighbor{Link: l})
		if l.Node < n.id {
			n.self++
		}
		n.degree += float64(l.Weight)
	}
	for e := range n.inbox {
		in := &n.inbox[e]
		in.rows = in.rows.Resize(len(links)+1, n.plan.stages[e].width)
		in.got = slices.Grow(in.got[:0], len(links))[:len(links)]
		clear(in.got)
		in.missing = len(links)
	}
	if n.learner == nil && len(n.vectors) > 0 {
		n.vectors[0] = n.vectors[0].Resize(len(links)+1, n.plan.extra)
		n.forecasting.send(n.vectors[0].Row(n.self))
		return
	}
	for v := range n.vectors {
		n.vectors[v] = n.vectors[v].Resize(len(links)+1, n.plan.Basis.Len())
		copy(n.vectors[v].Row(n.self), n.learner.Vectors()[v])
	}
}

// place returns where the k-th link stands among the nodes heard. The node
// itself stands among its neighbours in ascending order of numbers: rows and
// sums then have the order that they have in the product of a whole network,
// and the same bits.
func (n *Node) place(k int) int {
	if k >= n.self {
		return k + 1
	}
	return k
}

// post sends the message of exchange e to everyone.
func (n *Node) post(e int) {
	out := n.outbox[n.time%2][e]
	n.fill(out, e)
	n.shorten(out, e)
	copy(n.inbox[e].rows.Row(n.self), out[:n.plan.stages[e].width])
	if len(n.links) > 0 {
		n.send = append(n.send, n.message(n.time, e, Everyone))
	}
}

// fill writes what the node sends in exchange e to out.
func (n *Node) fill(out []float32, e int) {
	stage := n.plan.stages[e]
	if n.plan.Delayed {
		copy(out, n.before)
	} else if stage.width > 0 {
		copy(out, n.shifted[stage.layer].Row(0)[stage.hop*stage.width:(stage.hop+1)*stage.width])
	}
	if e == 0 && n.plan.Season != nil {
		n.forecasting.send(out[stage.width:])
	}
	if e == 0 && n.learner != nil {
		at := stage.width
		for _, v := range n.learner.Vectors()[:n.plan.sent] {
			at += copy(out[at:], v)
		}
	}
}

// message returns the message of an exchange that was posted, with the links that
// the node had then: they may be others now.
func (n *Node) message(time uint64, e int, to NodeID) Message {
	m := Message{From: n.id, To: to, Time: time, Kind: Row, Exchange: uint16(e), Values: n.outbox[time%2][e]}
	if e == 0 {
		m.Links, m.Degree = n.opened[time%2].links, n.opened[time%2].degree
	}
	return m
}

// advance goes through all exchanges that are complete. There may be several:
// a neighbour that heard everybody sends the row of the next exchange while this
// node still waits for others in the present one, and that row is in its inbox
// when it is due.
func (n *Node) advance(r *Ready) {
	for n.open && !n.predicted && n.inbox[n.exchange].missing == 0 {
		e := n.exchange
		if e == 0 && n.plan.Season != nil {
			n.mixSeason()
		}
		n.shiftRow()
		if n.plan.Delayed {
			n.delayed()
			n.predict(r)
			return
		}
		stage := n.plan.stages[e]
		if stage.width > 0 {
			z := n.shifted[stage.layer]
			n.shift(z.View(0, (stage.hop+1)*stage.width, 1, stage.width), n.inbox[e].rows)
		}
		if stage.last {
			n.finish(stage.layer)
		}
		if e == len(n.plan.stages)-1 {
			n.predict(r)
			return
		}
		n.exchange++
		n.post(n.exchange)
	}
}

// shift computes the node's row of S times what it heard, by the product that a
// simulation uses for the whole matrix: every element of a row is summed over
// its columns in ascending order, so that one row alone has the same bits.
func (n *Node) shift(y, heard mat.Dense) {
	n.scratch.ptr[1] = len(n.scratch.col)
	n.scratch.row = mat.CSR{Rows: 1, Cols: heard.Rows, RowPtr: n.scratch.ptr[:], Col: n.scratch.col, Val: n.scratch.val}
	mat.Serial.SpMM(y, &n.scratch.row, heard)
}

// finish computes the outputs of a layer whose shifted inputs are complete, and
// of those after it that need no exchange.
func (n *Node) finish(layer int) {
	deep := n.plan.Model.Deep().Layers
	for l := layer; l < len(deep); l++ {
		if order, _ := n.plan.shape(l); l > layer && order > 0 {
			return
		}
		deep[l].ApplyShifted(nil, n.hidden[l], n.shifted[l])
		if l+1 < len(deep) {
			copy(n.shifted[l+1].Row(0), n.hidden[l].Row(0)) // Z_0 of the next layer
		}
	}
}

// delayed computes all shifted inputs and layers from the one exchange, eq. (24).
// The rows heard are those of the step before, of all layers and hops but the
// last: shifted once they are hops 1 to K of this step, beside hop 0, which is
// the node's own observation, or the output of the layer before.
func (n *Node) delayed() {
	in := n.inbox[0].rows
	all := n.shifted
	if n.plan.stages[0].width > 0 {
		sum := n.scratch.panel(in.Cols)
		n.shift(sum, in)
		at := 0
		for l := range all {
			order, features := n.plan.shape(l)
			copy(all[l].Row(0)[features:], sum.Row(0)[at:at+order*features])
			at += order * features
		}
	}
	deep := n.plan.Model.Deep().Layers
	for l := range deep {
		deep[l].ApplyShifted(nil, n.hidden[l], all[l])
		if l+1 < len(deep) {
			copy(all[l+1].Row(0), n.hidden[l].Row(0))
		}
	}
}

// predict computes the output: y†, what the model as trained answers, and on top
// of it what was learned since, as far as the gate lets it. y† is kept for the update, in which outputs are
// computed again from it, and for whoever compares what learning is worth.
func (n *Node) predict(r *Ready) {
	var deep mat.Dense
	if len(n.hidden) > 0 {
		deep = n.hidden[len(n.hidden)-1]
	}
	n.plan.Model.Combine(n.base, n.shifted[0], deep, &n.scratch.tape)
	n.give()
	r.Prediction, r.Bounds = n.output, n.Bounds()
}

// give computes the output from y†, and ends what the step waits for.
func (n *Node) give() {
	base, z := n.base.Row(0), n.observed()
	switch {
	case n.Season() != nil:
		n.forecasting.bounds = n.forecasting.season.Give(n.output, n.time, base, z)
	case n.learner == nil:
		copy(n.output, base)
	case n.plan.Rule.AsLearned():
		n.learner.Predict(n.output, base, z)
	default:
		n.learner.Give(n.output, n.time, base, z)
	}
	if n.forecasting != nil {
		n.answerForecast(base)
	}
	n.predicted = true
	n.stats.Predicted++
}

// observed returns the row that the node predicts and learns from: z, and behind
// it the rows that its neighbours of training sent in exchanges 1 and 2 of this
// step, hops 1 and 2 of their shifted inputs. Nothing is sent for it.
func (n *Node) observed() []float32 {
	z := n.shifted[0].Row(0)
	if n.learner == nil {
		return z
	}
	if n.learner.Unmet() {
		n.meet()
	}
	h := n.learner.Hearing()
	if h == nil {
		return z[:n.plan.Basis.Inputs()]
	}
	n.around = slices.Grow(n.around[:0], h.Len())[:h.Len()]
	h.Row(n.around, z, func(e, k int) []float32 {
		link, found := n.find(NodeID(h.Neighbors[e]))
		if !found || !n.inbox[k].got[link] {
			return nil
		}
		return n.inbox[k].rows.Row(n.place(link))
	})
	return n.around
}

// meet tells the learner whose messages the world says it hears.
func (n *Node) meet() {
	known := make([]int, len(n.links))
	for k := range n.links {
		known[k] = int(n.links[k].Node)
	}
	n.learner.Meet(known)
}

// close ends the step; a delay line moves on if there was a prediction. In a step
// without one the rows were never all there: neighbours hear those of the step
// before again, which are whole.
func (n *Node) close() {
	if n.forecasting != nil {
		n.hearReadings()
	}
	if n.plan.Delayed && n.predicted {
		if n.joint {
			n.batch.moveOn(n.at)
		} else {
			n.moveOn()
		}
	}
	n.open = false
}

// moveOn keeps the shifted rows of the step for the next.
func (n *Node) moveOn() {
	at := 0
	for l, z := range n.shifted {
		order, features := n.plan.shape(l)
		at += copy(n.before[at:], z.Row(0)[:order*features])
	}
}

// panel returns memory for a row.
func (s *Scratch) panel(width int) mat.Dense {
	s.wide = s.wide.Resize(1, width)
	return s.wide
}
