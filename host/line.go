package host

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/internal/strictjson"
	"github.com/wdgnn/wdgnn/transport"
)

// Line is what the world says at once, one JSON object per line where it speaks
// text:
//
//	{"time":7,"nodes":[{"node":3,"row":[0.5],"links":[4,[9,0.5]],"target":[2]}]}
//
// A node with a row observes at that step. A node with a target, or a gradient,
// is told what its answer at that step cost; it may come in the same line, or
// later in one of its own. Where nodes forecast, a row is a reading in the user's
// units, null if there is none, and a target the truth of that time, where it is
// another than the reading; nodes may be named by their sensors.
type Line struct {
	Time  uint64     `json:"time"`
	At    string     `json:"at,omitempty"` // a time such as 2026-03-29T23:45:00Z in place of Time, where nodes forecast by a clock
	Nodes []NodeLine `json:"nodes,omitempty"`
	End   bool       `json:"end,omitempty"` // nothing will follow

	// For trials: the share of frames that are lost on arrival from now on, and
	// whether all parameters go back to those of the model before the next
	// step. Hosts that are not on trial refuse both.
	Loss  *float64 `json:"loss,omitempty"`
	Reset bool     `json:"reset,omitempty"`

	came        time.Time     // where the world noted it, and
	took, ready time.Duration // how long after the line before, and how much of that there was room for it
	age         time.Duration // for how long it has been there
}

// NodeLine is what a Line says of one node.
type NodeLine struct {
	Node   agent.NodeID `json:"node"`
	Sensor string       `json:"sensor,omitempty"` // its name, in place of its number

	Row   Numbers        `json:"row,omitempty"`   // x_{i,t}
	Links *[]Link        `json:"links,omitempty"` // whom it hears from now on; nil means as before
	Near  []agent.NodeID `json:"near,omitempty"`  // who may become neighbours soon; nil means as before
	Age   uint64         `json:"age,omitempty"`   // how many steps ago the sensor was last read, where Row is not of this step

	Target    Numbers `json:"target,omitempty"`    // what the answer should have been
	Gradient  Numbers `json:"gradient,omitempty"`  // or ∂J_i/∂y_i at the answer that was given,
	Curvature float64 `json:"curvature,omitempty"` // how steeply that changes with any output,
	Cost      float64 `json:"cost,omitempty"`      // and J_i
}

// SetLinks says whom the node hears from now on.
func (n *NodeLine) SetLinks(list []agent.Link) {
	links := make([]Link, len(list))
	for k, l := range list {
		links[k] = Link(l)
	}
	n.Links = &links
}

// Link is a neighbour and the weight of the link, [4,0.5] in JSON. A bare number
// is a neighbour with weight 1.
type Link agent.Link

// MarshalJSON writes a node, or [node,weight] if the weight is not 1.
func (l Link) MarshalJSON() ([]byte, error) {
	if l.Weight == 1 {
		return strconv.AppendUint(nil, uint64(l.Node), 10), nil
	}
	return json.Marshal([2]any{l.Node, l.Weight})
}

// UnmarshalJSON reads [node,weight] or a node.
func (l *Link) UnmarshalJSON(text []byte) error {
	if node, err := strconv.ParseUint(string(text), 10, 32); err == nil && node < uint64(agent.Everyone) {
		*l = Link{agent.NodeID(node), 1} // there are many of these
		return nil
	}
	var pair []float64
	if err := json.Unmarshal(text, &pair); err != nil {
		return fmt.Errorf("link %s: %w; want a node, or [node, weight]", text, err)
	}
	return l.set(pair)
}

// MarshalYAML writes a node, or [node, weight] if the weight is not 1.
func (l Link) MarshalYAML() (any, error) {
	if l.Weight == 1 {
		return l.Node, nil
	}
	return []any{l.Node, l.Weight}, nil
}

// UnmarshalYAML reads what MarshalYAML writes.
func (l *Link) UnmarshalYAML(unmarshal func(any) error) error {
	var node float64 // a decoder of YAML would cut 1.5 to a whole number
	if unmarshal(&node) == nil {
		return l.set([]float64{node, 1})
	}
	var pair []float64
	if err := unmarshal(&pair); err != nil {
		return fmt.Errorf("a link is a node, or [node, weight]")
	}
	return l.set(pair)
}

// set takes a node and a weight.
func (l *Link) set(pair []float64) error {
	if len(pair) != 2 || pair[0] < 0 || pair[0] >= float64(agent.Everyone) || pair[0] != math.Trunc(pair[0]) {
		return fmt.Errorf("link %v, want [node, weight]", pair)
	}
	l.Node, l.Weight = agent.NodeID(pair[0]), float32(pair[1])
	return nil
}

// ParseLine reads a Line. Unknown keys and anything behind the object are
// errors.
func ParseLine(text []byte) (*Line, error) {
	var l Line
	if err := strictjson.Unmarshal(text, &l); err != nil {
		return nil, fmt.Errorf("host: line of the world: %w; want one object per line, such as %s", err,
			`{"time":7,"nodes":[{"node":3,"row":[0.5],"links":[4,[9,0.5]],"target":[2]}]}`)
	}
	return &l, nil
}

// Answer is what the nodes of a host predicted at a step. Every line with rows is
// answered, also one that was refused, in whole or in part: Error then says what
// is wrong with it, and there are no outputs of what was refused.
type Answer struct {
	Host    transport.HostID `json:"host"`
	Time    uint64           `json:"time"`
	Outputs []Output         `json:"outputs"`
	Error   string           `json:"error,omitempty"`

	// Where nodes forecast by a clock: the time of the step, and those that are
	// forecast, one per output, as RFC 3339 has them.
	At  string   `json:"at,omitempty"`
	For []string `json:"for,omitempty"`

	began time.Duration // when its line came, after the start of the machine
}

// Output is the prediction of one node.
type Output struct {
	Node   agent.NodeID `json:"node"`
	Sensor string       `json:"sensor,omitempty"` // its name, where it has one
	Value  []float32    `json:"output"`

	// What the truth may be, if nodes say so and something is known of it: which
	// classes, or between which numbers each output's is. See package conformal.
	Set       []int      `json:"set,omitempty"`
	Intervals []Interval `json:"intervals,omitempty"`

	Age uint64 `json:"age,omitempty"` // how many steps ago its sensor was last read
}
