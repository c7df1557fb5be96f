package agent

import (
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
)

// Lie is the error of a message that no honest node of the same plan sends, and says
// in which respect. It is an ErrMalformed.
//
// That honest nodes do not send such messages is their own doing: they shorten what
// others would refuse (Node.shorten). Rows beyond their bounds are an exception, if a
// sensor reads what it never did in training. A message for which there is no room is
// refused too, but is no Lie.
type Lie string

// What nobody sends by mistake.
const (
	LieShape    Lie = "shape"         // a kind, an exchange or a number of values that the plan does not have
	LieNumbers  Lie = "numbers"       // values that are not finite
	LieBounds   Lie = "bounds"        // values beyond the bounds of the plan
	LieDegree   Lie = "degree"        // a degree that the sender cannot have
	LieTwoFaced Lie = "contradiction" // a row that differs from what the sender said before
)

// Error begins the text of what is wrong.
func (Lie) Error() string { return ErrMalformed.Error() }

// Unwrap says that it is a message that was refused.
func (Lie) Unwrap() error { return ErrMalformed }

// Inspect reports what is wrong with a row, as Receive would find it, without
// taking it in.
func (n *Node) Inspect(m *Message) error {
	if err := n.inspect(m); err != nil {
		return err
	}
	return n.doubt(m)
}

// mutual says whether the operator is one of graphs whose links are mutual, a_ij =
// a_ji, and weighs a neighbour by its degree.
func (p *Plan) mutual() bool {
	return p.Operator == graph.ShiftSymmetric || p.Operator == graph.ShiftNormalizedLaplacian
}

// doubt reports a degree of a row of the present step that the sender cannot have:
// where links are mutual the one to this node is a part of it,
//
//	d_j = Σ_k a_jk ≥ a_ji = a_ij
//
// A smaller one is no small matter: the row would count a_ij/√(d_i d_j) times, as much
// as the sender likes. So no degree is believed to be smaller (trusted). To call its
// sender a liar takes more: worlds that tell each node its links by itself may not agree
// on a weight.
func (n *Node) doubt(m *Message) error {
	if m.Kind != Row || m.Exchange != 0 || !n.plan.mutual() || n.joint || !n.open || m.Time != n.time {
		return nil
	}
	if k, found := n.find(m.From); found && !believable(m.Degree, n.links[k].Weight) {
		return fmt.Errorf("%w: node %d: node %d says that its degree is %.4g, and the link between them alone has weight %.4g",
			LieDegree, n.id, m.From, m.Degree, n.links[k].Weight)
	}
	return nil
}

// believable says whether worlds may differ by as much as a degree does that should
// have a link of the given weight in it.
func believable(degree float64, weight float32) bool { return degree >= float64(weight)/1024 }

// trusted returns the degree of a neighbour at a link of the given weight, 0 if it is
// not known.
func trusted(degree float64, weight float64) float64 {
	if degree > 0 {
		return max(degree, weight)
	}
	return 0
}

// contradicts reports a row that was heard before with other numbers. Where vectors
// are shortened as they come they are not compared.
func (n *Node) contradicts(k int, m *Message) error {
	e := int(m.Exchange)
	if !n.inbox[e].got[k] && !(e == 0 && n.links[k].heard) {
		return nil
	}
	width := n.plan.stages[e].width
	same := slices.Equal(n.inbox[e].rows.Row(n.place(k)), m.Values[:width])
	if e == 0 {
		same = same && n.links[k].links == m.Links && n.links[k].degree == m.Degree
		if n.plan.ClipNorm == 0 {
			at := width
			for v := range n.vectors {
				row := n.vectors[v].Row(n.place(k))
				same = same && slices.Equal(row, m.Values[at:at+len(row)])
				at += len(row)
			}
		}
	}
	if same {
		return nil
	}
	return twoFaced(n.id, m)
}

// twoFaced is the error of a row that contradicts one before.
func twoFaced(id NodeID, m *Message) error {
	return fmt.Errorf("%w: node %d: the row of exchange %d from %d is not what it said before", LieTwoFaced, id, m.Exchange, m.From)
}

// shorten keeps what the node is about to send in exchange e within the bounds of the
// plan, beyond which others refuse it, unless its own observation is to blame: sums of
// rows that are all within their bounds may be longer than any in training, and who
// adds up what others say must not be taken for a liar. What it observed is sent as it
// is, and refused: a sensor that reads a thousand times too much is better not heard.
//
// Numbers that are not finite, which sums without bounds may come to, become 0.
// Rounding must not bring a row beyond its bound again.
func (n *Node) shorten(out []float32, e int) {
	stage := &n.plan.stages[e]
	if e > 0 || n.plan.Delayed && norm(out[:min(n.plan.Model.Config.In, stage.width)]) <= n.plan.mostObserved() {
		n.shortenTo(out[:stage.width], stage.most)
	}
	if limit := n.plan.MaxNorm; limit > 0 && n.learner != nil && e == 0 {
		for part := range slices.Chunk(out[stage.width:], max(n.parts(), 1)) {
			n.shortenTo(part, limit)
		}
	}
}

// mostObserved is the largest norm of an observation.
func (p *Plan) mostObserved() float64 {
	if len(p.MaxRows) > 0 {
		return p.MaxRows[0]
	}
	return p.stages[0].most
}

func (n *Node) shortenTo(v []float32, limit float64) {
	length := norm(v)
	if length <= limit && mat.Finite(v...) {
		return
	}
	n.stats.Shortened++
	factor := 0.0
	if mat.Finite(v...) {
		factor = limit * (1 - 1e-6) / length
	}
	for k := range v {
		v[k] = float32(float64(v[k]) * factor)
	}
	if factor == 0 {
		clear(v) // also what is not finite
	}
}
