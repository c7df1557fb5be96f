package agent

import (
	"fmt"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/rule"
)

// relay is a node's part in passing answers on; nil if the rule does not. What it
// believes and says is decided by rule.Relay. Here is when: answers that were
// believed in one step leave with the first row of the next, before it, so that
// who has the row has them; they are learned from when that step ends.
type relay struct {
	*rule.Relay
	kind   loss.Targeted // what targets are judged by; nil if costs have none
	said   [2][]Message  // by parity of the step: what was passed on, for those who ask again
	came   []cameRelay   // what was heard in this step
	due    []rule.Relayed
	target []float32
}

// cameRelay is an answer that a neighbour passed on.
type cameRelay struct {
	from, teller NodeID
	about        uint64
}

// newRelay returns that of a node, nil if the plan passes nothing on.
func newRelay(id NodeID, p *Plan) *relay {
	if p.Rule.Relay == 0 {
		return nil
	}
	r := &relay{Relay: rule.NewRelay(uint32(id), p.Rule)}
	if r.kind, _ = p.Cost.(loss.Targeted); r.kind != nil {
		r.target = make([]float32, r.kind.TargetLen(p.Model.Outputs()))
	}
	return r
}

// room returns how many messages of later steps are kept of one sender.
func (p *Plan) room() int {
	if !p.learns() || p.Rule.Relay == 0 {
		return laterPerNode
	}
	return laterPerNode * (2 + p.Rule.Delay + p.Rule.Relay)
}

// passOn sends what the node has to say to its neighbours.
func (n *Node) passOn() {
	if n.relay == nil {
		return
	}
	said := n.relay.said[n.time%2][:0]
	n.relay.due = n.relay.Pass(n.relay.due[:0])
	for _, m := range n.relay.due[:min(len(n.relay.due), math.MaxUint8)] {
		said = append(said, Message{
			From: n.id, To: Everyone, Time: n.time, Kind: Relay, Exchange: uint16(m.Hop),
			Teller: NodeID(m.Teller), About: m.Time, Values: slices.Clone(m.Target),
		})
	}
	n.relay.said[n.time%2] = said
	if len(n.links) > 0 {
		n.repeat(n.time, Everyone)
	}
}

// repeat sends what the node passed on in a step, again to whoever asks.
func (n *Node) repeat(time uint64, to NodeID) {
	if n.relay == nil {
		return
	}
	for _, m := range n.relay.said[time%2] {
		m.To = to
		n.send = append(n.send, m)
		n.stats.Relayed++
		n.stats.RelayedBytes += uint64(messageHeader + 4*len(m.Values))
	}
}

// inspectRelay reports what is wrong with an answer that is passed on.
func (n *Node) inspectRelay(m *Message) error {
	if n.relay == nil || n.relay.kind == nil {
		return fmt.Errorf("%w: node %d: an answer from %d, which nodes of this plan do not pass on", ErrMalformed, n.id, m.From)
	}
	if err := n.relay.Check(heardFrom(m)); err != nil {
		return fmt.Errorf("%w: node %d: from %d: %w", ErrMalformed, n.id, m.From, err)
	}
	if m.About >= m.Time {
		return fmt.Errorf("%w: node %d: in step %d an answer of step %d from %d", ErrMalformed, n.id, m.Time, m.About, m.From)
	}
	if _, err := loss.Told(n.relay.kind, n.plan.Model.Outputs(), m.Values); err != nil {
		return fmt.Errorf("%w: node %d: from %d: %w", ErrMalformed, n.id, m.From, err)
	}
	return nil
}

// heardFrom returns the answer that a message passes on.
func heardFrom(m *Message) rule.Relayed {
	return rule.Relayed{Time: m.About, Teller: uint32(m.Teller), Hop: int(m.Exchange), Target: m.Values}
}

// hearRelay takes in an answer from a neighbour, and says whether it was the last
// that the first exchange waited for. A late one, of a step before, is as good as
// long as what it is about is remembered.
func (n *Node) hearRelay(m *Message) bool {
	k, found := n.find(m.From)
	if !found {
		n.stats.Strangers++
		return false
	}
	if now := m.Time == n.time; now {
		this := cameRelay{m.From, m.Teller, m.About}
		if slices.Contains(n.relay.came, this) {
			n.stats.Duplicates++
			return false
		}
		if n.links[k].owed < -math.MaxUint8 { // more than anybody can announce
			n.stats.Refused++
			return false
		}
		n.relay.came = append(n.relay.came, this)
		n.links[k].owed--
	}
	n.stats.Received++
	if m.Teller != n.id { // what the node said itself it knows
		n.relay.Hear(heardFrom(m))
		n.countRelay()
	}
	nb := &n.links[k]
	return n.open && nb.heard && !nb.lost && nb.owed == 0 && !n.inbox[0].got[k] && n.complete(k, 0)
}

// countRelay takes over what was counted.
func (n *Node) countRelay() {
	s := n.relay.Stats()
	n.stats.Believed, n.stats.Doubled, n.stats.Contradicted = s.Believed, s.Doubled, s.Contradicted
}

// ownRelay takes in what the world told the node of a step.
func (n *Node) ownRelay(time uint64, j loss.Loss, row int) {
	if n.relay == nil || n.relay.kind == nil {
		return
	}
	t, ok := j.(loss.Targeted)
	if ok && t.TargetLen(n.plan.Model.Outputs()) == len(n.relay.target) && t.TargetOf(row, n.relay.target) &&
		mat.Finite(n.relay.target...) { // what is known in part stays here
		n.relay.Own(time, n.relay.target)
	}
}

// dueRelays puts the answers that the node believes from now on among what it was
// told late.
func (n *Node) dueRelays() {
	if n.relay == nil {
		return
	}
	n.relay.due = n.relay.Due(n.relay.due[:0])
	n.countRelay()
	for _, m := range n.relay.due {
		j, err := loss.Told(n.relay.kind, n.plan.Model.Outputs(), m.Target)
		if err != nil {
			continue // it was inspected: cannot be
		}
		if at, found := n.findTold(m.Time); !found {
			n.told = slices.Insert(n.told, at, Told{Time: m.Time, Loss: j})
		}
	}
}
