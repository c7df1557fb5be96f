package agent

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
)

// laterPerNode is how many messages of later steps are kept of one sender, and
// mostLater in all.
const (
	laterPerNode = 4
	mostLater    = 1024
)

// receive takes in a message. Its numbers are looked at before its time: also of
// a row that comes too late a host wants to know whether it would have fitted,
// because that is how it tells a neighbour that is behind from one that is
// broken.
func (n *Node) receive(m *Message, r *Ready) error {
	if m == nil || m.From == n.id || m.To != Everyone && m.To != n.id {
		n.stats.Strangers++
		return fmt.Errorf("%w: not for node %d", ErrMalformed, n.id)
	}
	if m.Kind == Ask {
		n.answer(m)
		return nil
	}
	if err := n.Inspect(m); err != nil {
		n.stats.Refused++
		return err
	}
	switch {
	case !n.begun || m.Time > n.time:
		return n.keep(m)
	case m.Time < n.time || !n.open:
		n.stats.Stale++
		return nil
	}
	more, err := n.take(m)
	if more {
		n.advance(r)
	}
	return err
}

// inspect reports what is wrong with a row: what no honest neighbour with the same
// plan can have sent, and what it is not likely to have sent.
//
//   - The length says whether it runs the same model and rule.
//   - A number that is not finite makes everything that it is added to the same:
//     outputs as far away as the model has hops, and updates that are then refused
//     as diverged, at nodes that did nothing wrong.
//   - Finite ones can be large enough for that too: a row of 1e30 gives outputs and
//     gradients of that size. Bounds come from training, by layer and hop; see
//     Plan.MaxRows. Norms are taken in float64, where the square of no float32
//     overflows.
//
// Parameters within the bounds may still be absurd beside those of others. That
// cannot be seen in one message; package rule judges it when all have come.
func (n *Node) inspect(m *Message) error {
	if m.Kind != Row || int(m.Exchange) >= len(n.plan.stages) {
		return fmt.Errorf("%w: node %d: kind %d, exchange %d of %d", LieShape, n.id, m.Kind, m.Exchange, len(n.plan.stages))
	}
	if want := n.plan.Length(int(m.Exchange)); len(m.Values) != want {
		return fmt.Errorf("%w: node %d: %d values from %d, want %d: does it run the same model?", LieShape, n.id, len(m.Values), m.From, want)
	}
	stage := &n.plan.stages[m.Exchange]
	length := norm(m.Values[:stage.width]) // finite only if all of them are
	if !mat.Finite(length) || !mat.Finite(m.Values[stage.width:]...) || m.Exchange == 0 && !mat.Finite(m.Degree) {
		return fmt.Errorf("%w: node %d: values from %d are not finite", LieNumbers, n.id, m.From)
	}
	if m.Exchange == 0 && (m.Degree < 0 || (m.Degree > 0) != (m.Links > 0)) {
		return fmt.Errorf("%w: node %d: node %d says that it has %d links and a degree of %.4g", LieDegree, n.id, m.From, m.Links, m.Degree)
	}
	if limit := n.plan.MaxNorm; limit > 0 && n.learner != nil { // seasons are bounded where they are mixed
		for part := range slices.Chunk(m.Values[stage.width:], max(n.parts(), 1)) {
			if norm(part) > limit {
				return fmt.Errorf("%w: node %d: parameters from %d are longer than %v", LieBounds, n.id, m.From, limit)
			}
		}
	}
	if length > stage.most {
		return fmt.Errorf("%w: node %d: the row of exchange %d from %d has length %.4g, want at most %.4g",
			LieBounds, n.id, m.Exchange, m.From, length, stage.most)
	}
	return nil
}

// parts returns the length of a vector of parameters.
func (n *Node) parts() int {
	if n.learner == nil {
		return 0
	}
	return n.plan.Basis.Len()
}

func norm(v []float32) float64 {
	sum := 0.0
	for _, x := range v {
		sum += float64(float64(x) * float64(x))
	}
	return math.Sqrt(sum)
}

// take puts a row of the current step where it belongs, and says whether it was
// the last that an exchange waited for. The row of an exchange that is over is
// too late: the sum without it was sent on, or is in the prediction. Of two that
// differ the first counts.
func (n *Node) take(m *Message) (last bool, err error) {
	if n.joint {
		return false, n.batch.again(n, m)
	}
	k, found := n.find(m.From)
	if !found {
		n.stats.Strangers++
		return false, nil
	}
	e := int(m.Exchange)
	in := &n.inbox[e]
	switch {
	case n.links[k].lost || e < n.exchange:
		n.stats.Stale++
		return false, n.contradicts(k, m)
	case in.got[k] || e == 0 && n.links[k].heard:
		n.stats.Duplicates++
		return false, n.contradicts(k, m)
	}
	n.put(k, m)
	n.stats.Received++
	return n.complete(k, e), nil
}

// put writes a row, and with that of exchange 0 parameters, where those of the k-th
// neighbour belong.
func (n *Node) put(k int, m *Message) {
	e := int(m.Exchange)
	width := n.plan.stages[e].width
	copy(n.inbox[e].rows.Row(n.place(k)), m.Values[:width])
	if e > 0 {
		return
	}
	n.links[k].heard, n.links[k].links, n.links[k].degree = true, m.Links, m.Degree
	for v := range n.vectors {
		row := n.vectors[v].Row(n.place(k))
		copy(row, m.Values[width+v*len(row):])
		if limit := n.plan.ClipNorm; limit > 0 && n.learner != nil {
			if length := norm(row); length > limit {
				n.stats.Clipped++
				for c := range row {
					row[c] = float32(float64(row[c]) * (limit / length))
				}
			}
		}
	}
}

// complete notes that everything of exchange e came from the k-th neighbour, and
// says whether it was the last that the exchange waited for.
func (n *Node) complete(k, e int) bool {
	in := &n.inbox[e]
	in.got[k] = true
	in.missing--
	return e == n.exchange && in.missing == 0
}

// find returns the place of a neighbour among the links.
func (n *Node) find(id NodeID) (k int, found bool) {
	last := len(n.links)
	for k < last {
		if middle := int(uint(k+last) / 2); n.links[middle].Node < id {
			k = middle + 1
		} else {
			last = middle
		}
	}
	return k, k < len(n.links) && n.links[k].Node == id
}

// keep stores a message of a later step; see "Whose step it is" in the package
// comment for how many an honest neighbour can have sent.
func (n *Node) keep(m *Message) error {
	if !n.later.keep(m, &n.stats) {
		return fmt.Errorf("%w: node %d: too many messages of later steps from %d", ErrMalformed, n.id, m.From)
	}
	return nil
}

// replay takes in what was kept for the step that begins, and drops what is
// past.
func (n *Node) replay() {
	for k := range n.later.messages {
		if m := &n.later.messages[k]; m.Time == n.time {
			n.take(m) // what was kept twice is there once
		}
	}
	n.later.drop(n.time, &n.stats)
}

// answer sends a row again, if it was sent in this step or the one before. It
// does so from the outbox of the step that is asked for, also when the node is
// done with it: a neighbour that lost a row cannot end its step otherwise. What
// was overwritten, because the step is older, is not answered, and the neighbour
// gives this node up at its deadline.
func (n *Node) answer(m *Message) {
	e := int(m.Exchange)
	now := n.begun && m.Time == n.time && (e <= n.exchange || n.predicted)
	last := n.begun && m.Time < n.time && n.opened[m.Time%2].time == m.Time
	if e >= len(n.plan.stages) || !now && !last {
		n.stats.Stale++
		return
	}
	n.stats.Resent++
	n.send = append(n.send, n.message(m.Time, e, m.From))
}

// retry asks those who are silent, or those of them whom it is given.
func (n *Node) retry(of []NodeID) {
	if !n.open || n.predicted {
		return
	}
	for k, got := range n.inbox[n.exchange].got {
		if !got && !n.links[k].lost && (of == nil || among(of, n.links[k].Node)) {
			n.stats.Asked++
			n.send = append(n.send, Message{From: n.id, To: n.links[k].Node, Time: n.time, Kind: Ask, Exchange: uint16(n.exchange)})
		}
	}
}

// among says whether a node is one of those given, which ascend.
func among(nodes []NodeID, node NodeID) bool {
	_, found := slices.BinarySearch(nodes, node)
	return found
}

// expire gives up on those who are silent, for the rest of the step unless the
// plan forgives.
//
// Strict, the link is gone from here to the end of the step, as if the graph had
// lost it. Forgiving, each hop leaves out what that hop lost: where single
// messages are lost, that keeps far more of the signal, and doc/deviations.md has
// the numbers. Either way parameters count as heard if the first message came,
// whatever was lost later.
func (n *Node) expire(r *Ready) {
	if !n.open || n.predicted {
		return
	}
	for k := range n.links {
		if n.inbox[n.exchange].got[k] || n.links[k].lost {
			continue
		}
		n.stats.Expired++
		if n.plan.Forgiving {
			n.inbox[n.exchange].missing--
			continue
		}
		n.links[k].lost = true
		for e := n.exchange; e < len(n.inbox); e++ {
			if !n.inbox[e].got[k] {
				n.inbox[e].missing--
			}
		}
	}
	n.advance(r)
}

// feedback learns from what the prediction cost and ends the step. A cost that is
// refused leaves the step open, so that the caller may say that there is none.
func (n *Node) feedback(ev Feedback, r *Ready) error {
	if !n.open || !n.predicted {
		return fmt.Errorf("%w: node %d: feedback without a prediction", ErrOrder, n.id)
	}
	if n.forecasting != nil && ev.Loss != nil {
		return fmt.Errorf("%w: node %d: a cost, where forecasts are judged by what the world was", ErrOrder, n.id)
	}
	if n.learner != nil {
		if err := n.learn(ev); err != nil {
			return err
		}
	}
	n.close()
	n.stats.Steps++
	r.Done = true
	return nil
}

// late takes in what an earlier prediction cost, for the next update.
func (n *Node) late(ev Told) error {
	if n.forecasting != nil {
		return n.tellLate(ev)
	}
	if n.learner == nil {
		return nil
	}
	if n.Given(ev.Time) == nil {
		return fmt.Errorf("%w: node %d: no prediction of step %d waits to be judged", ErrOrder, n.id, ev.Time)
	}
	if err := n.check(ev.Loss); err != nil {
		return err
	}
	at, found := n.findTold(ev.Time)
	if found {
		n.told[at] = ev
	} else {
		n.told = slices.Insert(n.told, at, ev)
	}
	return nil
}

// findTold returns the place of a time among what was told late.
func (n *Node) findTold(time uint64) (at int, found bool) {
	return slices.BinarySearchFunc(n.told, time, func(t Told, time uint64) int { return cmp.Compare(t.Time, time) })
}

// check reports a cost from which the node cannot learn.
func (n *Node) check(j loss.Loss) error {
	if err := n.learner.Check(j); err != nil {
		return err
	}
	return checkCost(j, n.plan.Model.Outputs())
}

// learn is the update of the rule. A node that was told nothing still mixes, and
// steps on what is left in its window: mixing is how it hears of what others
// learned. An update that diverges ends the step like any other, with the
// parameters as they were: neighbours wait for the next step, not for a good one.
func (n *Node) learn(ev Feedback) error {
	if n.joint && n.batch.learn(n, ev) {
		return nil
	}
	n.relink()
	if n.forecasting != nil {
		n.dueTruths()
	}
	if ev.Loss != nil {
		if err := n.check(ev.Loss); err != nil {
			return err
		}
	}
	for _, told := range n.told {
		if n.learner.Tell(told.Time, told.Loss, told.Index) {
			n.stats.Late++
		}
	}
	clear(n.told)
	n.told = n.told[:0]
	if ev.Loss != nil {
		if n.Given(n.time) == nil {
			n.learner.Give(nil, n.time, n.base.Row(0), n.observed())
		}
		n.learner.Tell(n.time, ev.Loss, ev.Index)
	}
	n.listen()
	err, end := n.learner.Step(&n.scratch.heard), n.learner.Commit
	n.stats.LeftOut += uint64(n.learner.LeftOut())
	if err != nil {
		end = n.learner.Refuse
		n.stats.Diverged++
	}
	if anew := end(); anew {
		n.stats.Anew++
	}
	return nil
}

// relink tells the learner whose messages the world says it hears. A message that
// was lost on the way changes nothing about that.
func (n *Node) relink() {
	if n.plan.Rule.Newton == nil {
		return
	}
	n.scratch.near = n.scratch.near[:0]
	if n.joint {
		for _, l := range n.batch.links[n.at] {
			n.scratch.near = append(n.scratch.near, int32(l.Node))
		}
	} else {
		for k := range n.links {
			n.scratch.near = append(n.scratch.near, int32(n.links[k].Node))
		}
	}
	n.learner.Relink(n.scratch.near)
}

// listen gathers whom the node hears in this step: weights, vectors, and who is too
// far away to be heard.
func (n *Node) listen() {
	if n.joint {
		n.batch.listen(n)
		return
	}
	self, s := n.mixingRow(), n.scratch
	h := &s.heard
	h.Weights, h.Rows, h.Vectors, h.Self, h.Mixed = s.weights, s.rows, n.vectors, self, nil
	if !n.plan.Rule.Mixes() { // nobody else is heard
		h.Weights, h.Rows, h.Self = s.weights[:1], s.rows[:1], 0
		h.Weights[0], h.Rows[0] = 1, int32(n.self)
		return
	}
	s.far = n.plan.Basis.Far(s.far, n.vectors[0])
	h.Far = s.far
}

// checkCost reports a cost from which a node cannot learn.
func checkCost(j loss.Loss, outputs int) error {
	if _, ok := j.(loss.Local); !ok {
		return fmt.Errorf("%w: a %T is no cost of one node: it must be a loss.Local", ErrMalformed, j)
	}
	var err error
	switch v := j.(type) {
	case interface{ Validate(outputs int) error }: // as loss.CrossEntropy has it
		err = v.Validate(outputs)
	case interface{ Validate() error }: // as loss.MSE has it
		err = v.Validate()
	}
	return err
}
