package agent

import (
	"errors"
	"fmt"

	"github.com/wdgnn/wdgnn/conformal"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
)

// NodeID names a node. Sums over neighbours run in ascending order of it.
type NodeID uint32

// Everyone, as the receiver of a message, stands for all who hear the sender.
const Everyone NodeID = 1<<32 - 1

// Kind says what a message is for.
type Kind uint8

// The kinds.
const (
	Row    Kind = iota + 1 // the row of an exchange
	Ask                    // a request to send the row of an exchange again
	NotYet                 // a host's answer to a request for a row that is not there yet
	Switch                 // all hosts go over to another plan; Time is the agreement, Exchange the hops from who was told first

	// Member says what a host knows of others that came later: a record of one, or
	// that there are some.
	Member
)

// Message is what travels between agents. Values belong to whoever made the
// message; a receiver copies what it keeps.
type Message struct {
	From, To NodeID
	Time     uint64 // t
	Kind     Kind
	Exchange uint16  // e
	Links    uint32  // neighbours that the sender hears; in messages of exchange 0; of a request, how many of the last 200 frames were lost
	Degree   float64 // d of the sender; in messages of exchange 0
	Values   []float32

	// About, of a Member, stands for all records that its sender knows.
	About uint64

	// Data is the record of a Member, or the proof of a Switch, in place of values; it may be empty. It is
	// the memory of the frame that was read.
	Data []byte
}

// String describes the message in a few words.
func (m *Message) String() string {
	to := "all"
	if m.To != Everyone {
		to = fmt.Sprint(m.To)
	}
	word := "row"
	switch m.Kind {
	case Ask:
		word = "ask"
	case NotYet:
		word = "not yet"
	case Switch:
		return fmt.Sprintf("%d switch %d, hop %d", m.From, m.Time, m.Exchange)
	case Member:
		return fmt.Sprintf("%d member, a record of %d bytes", m.From, len(m.Data))
	}
	text := fmt.Sprintf("%d->%s %s t=%d e=%d", m.From, to, word, m.Time, m.Exchange)
	if m.Kind == Ask && m.Links > 0 {
		text += fmt.Sprintf(", %d frames lost", m.Links)
	}
	return text
}

// Link is a neighbour that a node hears.
type Link struct {
	Node   NodeID
	Weight float32 // a_ij > 0
}

// LinksOf appends whom node i hears to dst: row i of the adjacency matrix A of a
// network, as package graph has it.
func LinksOf(dst []Link, adjacency *mat.CSR, i int) []Link {
	nodes, weights := adjacency.Row(i)
	for e, j := range nodes {
		dst = append(dst, Link{Node: NodeID(j), Weight: weights[e]})
	}
	return dst
}

// mostWeight bounds the weight of a link: products with it stay finite.
const mostWeight = 1e9

// CheckLinks reports links that node id cannot have.
func CheckLinks(id NodeID, links []Link) error {
	for k, l := range links {
		if l.Node == id || l.Node == Everyone || k > 0 && l.Node <= links[k-1].Node || !(l.Weight > 0 && l.Weight <= mostWeight) {
			return fmt.Errorf("%w: node %d: link to %d with weight %v; want others in ascending order, weights above 0 and at most %v",
				ErrMalformed, id, l.Node, l.Weight, mostWeight)
		}
	}
	return nil
}

// Event is an input of Step: Begin, Receive, Feedback, Told, Retry or Expire.
type Event interface{ event() }

// Begin opens step t with a new observation. Times ascend; some may be left
// out. Links ascend by node and do not name the node itself. The node keeps
// neither slice.
type Begin struct {
	Time  uint64
	Links []Link
	Row   []float32 // x_{i,t}, F values

	// Of nodes that forecast Row is the reading, in the user's units: a number and
	// those that the model was trained with beside it, NaN for what is missing.
	// Truth is what the world was, NaN if nobody knows; nil means that the reading
	// says it.
	Truth []float32
}

// Receive hands over a message.
type Receive struct{ Message *Message }

// Feedback says what the prediction of the current step cost: a [loss.Local],
// of which the node is row Index. A nil Loss means that nobody told.
type Feedback struct {
	Loss  loss.Loss
	Index int
}

// Told says late what the prediction of an earlier step cost, at most
// rule.Config.Delay steps ago. It is learned from in the update of the present
// step, or of the next if none is open, with what that prediction was made with.
//
// To a node that forecasts it says what the world was at that step, in place of
// which there is no Loss. It is learned from when the next step begins.
type Told struct {
	Time  uint64
	Loss  loss.Loss // a [loss.Local]
	Index int       // of which the node is that row
	Truth float32   // in the user's units
}

// Retry asks those who are silent to send again: all of them, or those of Of,
// which ascend, if it is not nil.
type Retry struct{ Of []NodeID }

// Expire stops waiting for those who are silent.
type Expire struct{}

func (Begin) event()    {}
func (Receive) event()  {}
func (Feedback) event() {}
func (Told) event()     {}
func (Retry) event()    {}
func (Expire) event()   {}

// Ready is what one Step asks of its caller. Its slices are valid until the
// next Step of the node.
type Ready struct {
	Send       []Message         // in any order; losing one is allowed
	Prediction []float32         // row i of Ψ, on the step that completed it
	Bounds     []conformal.Bound // of the set or intervals that go with it; nil without a rule.Config.Conformal; see Node.Interval
	Done       bool              // the update is in place and the step over
	Ahead      uint64            // the latest step of a neighbour, if later than the node's own; 0 if not
}

// Errors of Step. They leave the node as it was.
var (
	ErrMalformed = errors.New("agent: message refused")
	ErrOrder     = errors.New("agent: event out of order")
)

// Stats counts what happened to a node.
type Stats struct {
	Steps     uint64 `json:"steps"`          // updates that were made
	Predicted uint64 `json:"predicted"`      // predictions
	Abandoned uint64 `json:"abandoned"`      // steps that ended before they were done
	Skipped   uint64 `json:"skipped"`        // times left out between two steps
	Diverged  uint64 `json:"diverged"`       // updates that were refused, parameters kept
	Anew      uint64 `json:"anew,omitempty"` // times that the node began again with the parameters as trained
	Late      uint64 `json:"late,omitempty"` // costs of earlier steps that were learned from

	Received   uint64 `json:"received"`   // messages that were used
	Kept       uint64 `json:"kept"`       // messages of a later step
	Stale      uint64 `json:"stale"`      // of a past step, or of a hop that was given up
	Duplicates uint64 `json:"duplicates"` // heard before
	Strangers  uint64 `json:"strangers"`  // from nodes that are no neighbours in this step
	Refused    uint64 `json:"refused"`    // malformed, not finite or too long
	LeftOut    uint64 `json:"left_out"`   // parameters that were left out of a mixture: too far from the trained ones; see rule.Basis.Far
	Expired    uint64 `json:"expired"`    // links dropped because nothing came
	Clipped    uint64 `json:"clipped"`    // vectors shortened to ClipNorm
	Asked      uint64 `json:"asked"`      // requests to send again
	Resent     uint64 `json:"resent"`     // answers to such requests

	Shortened uint64 `json:"shortened,omitempty"` // rows and vectors of its own, too long for others to take
}

// Add adds the counts of o.
func (s *Stats) Add(o Stats) {
	s.Steps += o.Steps
	s.Predicted += o.Predicted
	s.Abandoned += o.Abandoned
	s.Skipped += o.Skipped
	s.Diverged += o.Diverged
	s.Anew += o.Anew
	s.Late += o.Late
	s.Received += o.Received
	s.Kept += o.Kept
	s.Stale += o.Stale
	s.Duplicates += o.Duplicates
	s.Strangers += o.Strangers
	s.Refused += o.Refused
	s.LeftOut += o.LeftOut
	s.Expired += o.Expired
	s.Clipped += o.Clipped
	s.Asked += o.Asked
	s.Resent += o.Resent
	s.Shortened += o.Shortened
}
