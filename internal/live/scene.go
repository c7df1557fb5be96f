package live

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Layouts of a scene.
const (
	LayoutNone   = "none"   // no network is drawn
	LayoutForce  = "force"  // positions are computed once from the links, by NewHub
	LayoutFixed  = "fixed"  // Positions says where nodes are
	LayoutMoving = "moving" // every frame says where nodes are
)

// Scene is what there is to see. It round-trips through JSON. A scene that a hub has
// never changes; [Hub.Show] puts another into its place.
type Scene struct {
	Title string `json:"title"`
	About string `json:"about,omitempty"` // a sentence or two for people who see it for the first time
	Task  string `json:"task"`            // such as sourceloc, flocking, ratings
	Time  string `json:"time"`            // what Frame.Time counts: "signal", "s", "rating"

	Nodes     []string   `json:"nodes,omitempty"` // names
	Groups    []int      `json:"groups,omitempty"`
	Layout    string     `json:"layout"`
	Positions Floats     `json:"positions,omitempty"` // x0 y0 x1 y1 …, any scale
	Edges     [][2]int32 `json:"edges,omitempty"`     // links that may exist; frames say which are out
	Weak      []int32    `json:"weak,omitempty"`      // links whose loss would change an answer, as indices
	Marks     []Mark     `json:"marks,omitempty"`
	Learners  []string   `json:"learners,omitempty"` // side by side; the first is what the others are compared with
	Looks     []int      `json:"looks,omitempty"`    // colour and dash of each learner, such as LookFrozen; empty means 0, 1, 2, …
	Down      string     `json:"down,omitempty"`     // what a node is that Frame.Down names; empty means down, none that it names none

	// Trials says that frames have trials: learners are shown on two networks side
	// by side, the first of them on the left.
	Trials bool `json:"trials,omitempty"`

	Hero  *Hero  `json:"hero,omitempty"`  // of a scene without trials
	Clock *Clock `json:"clock,omitempty"` // if Frame.Time counts steps that have times of their own

	Quantities []Quantity `json:"quantities,omitempty"`
	Curves     []Curve    `json:"curves,omitempty"`
	Counters   []Counter  `json:"counters,omitempty"`
	Controls   []Control  `json:"controls,omitempty"`

	Taps []TapColumn `json:"taps,omitempty"` // columns of Frame.Taps
}

// Looks of learners that are the same in all scenes.
const (
	LookFrozen   = 0 // the model as trained
	LookLearning = 2 // what goes on learning, or that which is on show
	looks        = 6
)

// Hero are numbers in large type: of a chart, those of the first learner and of another.
type Hero struct {
	Chart   string `json:"chart"`
	Learner int    `json:"learner"`
}

// Clock says when steps are: that with number t at Start + t·Every, in seconds since 1970
// by the clocks of the place.
type Clock struct {
	Start float64 `json:"start"`
	Every float64 `json:"every"`
}

// Mark says that a node is special.
type Mark struct {
	Node int    `json:"node"`
	Kind string `json:"kind"` // "source", "detector" or a word of one's own
}

// Quantity is a number that every node may have and be coloured by.
type Quantity struct {
	Name    string  `json:"name"`            // such as "local loss"
	Group   string  `json:"group,omitempty"` // quantities of one group are the same for different learners
	Learner int     `json:"learner"`         // -1 if it belongs to none
	Unit    string  `json:"unit,omitempty"`
	Low     float64 `json:"low"` // ends of the colour scale; if equal, it follows the values
	High    float64 `json:"high"`
	Good    string  `json:"good,omitempty"` // "high" or "low", if one end is what one hopes for
}

// Curve is a number over time.
type Curve struct {
	Name    string `json:"name"`
	Chart   string `json:"chart"`   // curves with the same title share a chart
	Learner int    `json:"learner"` // for its colour; -1 if it belongs to none
	Unit    string `json:"unit,omitempty"`
	Log     bool   `json:"log,omitempty"` // the chart's axis is logarithmic

	// Note is a sentence that says what its chart shows, of one of the chart's curves.
	Note string `json:"note,omitempty"`

	// Blank is what is said while its chart has no number, of the chart's first curve.
	Blank string `json:"blank,omitempty"`

	// Recent is how much of the time the chart shows, up to now; 0 means all.
	Recent float64 `json:"recent,omitempty"`

	// Edge is EdgeLow or EdgeHigh of a curve that is an end of an interval: the
	// two of a chart, low before high, are drawn as a band.
	Edge string `json:"edge,omitempty"`
}

// Ends of an interval.
const (
	EdgeLow  = "low"
	EdgeHigh = "high"
)

// Counter is a number that is shown as it is.
type Counter struct {
	Name string `json:"name"`
	Unit string `json:"unit,omitempty"`
}

// Kinds of controls.
const (
	KindButton = "button" // does something
	KindSwitch = "switch" // 0 or 1
	KindRange  = "range"  // Low to High
	KindNode   = "node"   // does something to one node
	KindChoice = "choice" // one of Options, by number
)

// Names of controls that producers share. A scene may have others.
const (
	ControlPause   = "pause"
	ControlStep    = "step"
	ControlSpeed   = "speed"
	ControlDrop    = "drop"    // probability that a link is out
	ControlLoss    = "loss"    // probability that a message is lost
	ControlKill    = "kill"    // a node
	ControlRestart = "restart" // a node
	ControlReset   = "reset"   // taps back to those trained offline; in the demo everything is as at the beginning
)

// Control is something that those who watch may do.
type Control struct {
	Name  string  `json:"name"`
	Label string  `json:"label"`
	Kind  string  `json:"kind"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Step  float64 `json:"step"`
	Log   bool    `json:"log,omitempty"` // a slider is logarithmic; Low > 0
	Unit  string  `json:"unit,omitempty"`
	Value float64 `json:"value"` // at the beginning

	Options []string `json:"options,omitempty"` // of a choice; those from Low on may be chosen
	Knob    bool     `json:"knob,omitempty"`    // it changes what is learned, and stands with others that do
	Ends    []string `json:"ends,omitempty"`    // what the two ends of a range are called
}

// Bounds of a scene. Whatever is larger is refused.
const (
	maxNodes = 200_000
	maxEdges = 2_000_000
	maxItems = 64   // quantities, curves, counters, controls, learners
	maxText  = 400  // bytes of a name or sentence
	maxAbout = 2000 // bytes of a description
)

// validate reports everything that is wrong with s.
func (s *Scene) validate() error {
	var errs []error
	complain := func(format string, args ...any) {
		if len(errs) < 20 {
			errs = append(errs, fmt.Errorf("live: scene: "+format, args...))
		}
	}
	n := len(s.Nodes)
	if n > maxNodes || len(s.Edges) > maxEdges {
		complain("%d nodes and %d links, want at most %d and %d", n, len(s.Edges), maxNodes, maxEdges)
	}
	for _, list := range []struct {
		what  string
		count int
	}{
		{"learners", len(s.Learners)},
		{"quantities", len(s.Quantities)},
		{"curves", len(s.Curves)},
		{"counters", len(s.Counters)},
		{"controls", len(s.Controls)},
	} {
		if list.count > maxItems {
			complain("%d %s, want at most %d", list.count, list.what, maxItems)
		}
	}
	switch s.Layout {
	case LayoutNone, LayoutForce, LayoutMoving:
	case LayoutFixed:
		if len(s.Positions) != 2*n {
			complain("%d coordinates for %d nodes, want %d", len(s.Positions), n, 2*n)
		}
	default:
		complain("layout is %.40q, want none, force, fixed or moving", s.Layout)
	}
	if s.Groups != nil && len(s.Groups) != n {
		complain("groups of %d nodes, there are %d", len(s.Groups), n)
	}
	for _, e := range s.Edges {
		if !within(int(e[0]), n) || !within(int(e[1]), n) {
			complain("a link from %d to %d, there are %d nodes", e[0], e[1], n)
		}
	}
	for _, k := range s.Weak {
		if !within(int(k), len(s.Edges)) {
			complain("link %d is weak, there are %d", k, len(s.Edges))
		}
	}
	for _, m := range s.Marks {
		if !within(m.Node, n) {
			complain("a mark at node %d, there are %d", m.Node, n)
		}
	}
	for _, c := range s.Controls {
		if err := c.validate(); err != nil {
			complain("%w", err)
		}
	}
	s.validateLooks(complain)
	if n*len(s.Taps) > maxTaps {
		complain("%d taps of %d nodes, want at most %d in all", len(s.Taps), n, maxTaps)
	}
	for _, c := range s.Curves {
		if c.Edge != "" && c.Edge != EdgeLow && c.Edge != EdgeHigh {
			complain("curve %q is the end %.40q of an interval, want low or high", c.Name, c.Edge)
		}
	}
	for _, text := range s.texts() {
		if len(text) > maxText || !utf8.ValidString(text) {
			complain("the text %.40q… has %d bytes, want UTF-8 of at most %d", text, len(text), maxText)
		}
	}
	if len(s.About) > maxAbout || !utf8.ValidString(s.About) {
		complain("about has %d bytes, want UTF-8 of at most %d", len(s.About), maxAbout)
	}
	return errors.Join(errs...)
}

// validateLooks reports what is wrong with how learners, numbers and times are shown.
func (s *Scene) validateLooks(complain func(format string, args ...any)) {
	for _, learner := range s.owners() {
		if learner != -1 && !within(learner, len(s.Learners)) {
			complain("learner %d, there are %d", learner, len(s.Learners))
		}
	}
	if s.Looks != nil && (len(s.Looks) != len(s.Learners) || slices.ContainsFunc(s.Looks, func(k int) bool { return !within(k, looks) })) {
		complain("looks %v of %d learners, want one of %d for each", s.Looks, len(s.Learners), looks)
	}
	if s.Hero != nil && !within(s.Hero.Learner, len(s.Learners)) {
		complain("learner %d in large type, there are %d", s.Hero.Learner, len(s.Learners))
	}
	if c := s.Clock; c != nil && (!(c.Every > 0) || math.IsInf(c.Every, 0) || c.Start-c.Start != 0) {
		complain("a clock from %v every %v s, want finite numbers that ascend", c.Start, c.Every)
	}
}

func within(i, n int) bool { return i >= 0 && i < n }

func (s *Scene) texts() []string {
	list := slices.Concat([]string{s.Title, s.Task, s.Time, s.Down}, s.Nodes, s.Learners)
	for _, q := range s.Quantities {
		list = append(list, q.Name, q.Group, q.Unit)
	}
	for _, c := range s.Curves {
		list = append(list, c.Name, c.Chart, c.Unit, c.Note, c.Blank)
	}
	for _, c := range s.Controls {
		list = append(list, slices.Concat([]string{c.Label, c.Unit}, c.Options, c.Ends)...)
	}
	for _, c := range s.Taps {
		list = append(list, c.Name, c.Group)
	}
	return list
}

func (s *Scene) owners() (list []int) {
	for _, q := range s.Quantities {
		list = append(list, q.Learner)
	}
	for _, c := range s.Curves {
		list = append(list, c.Learner)
	}
	return list
}

func (c *Control) validate() error {
	if !slices.Contains([]string{KindButton, KindSwitch, KindRange, KindNode, KindChoice}, c.Kind) {
		return fmt.Errorf("control %q has kind %.40q, want button, switch, range, node or choice", c.Name, c.Kind)
	}
	if c.Kind == KindChoice && (len(c.Options) > maxItems || !c.offers(c.Low)) {
		return fmt.Errorf("control %q offers %d options from %v on, want 1 to %d and the first of them", c.Name, len(c.Options), c.Low, maxItems)
	}
	if c.Ends != nil && len(c.Ends) != 2 {
		return fmt.Errorf("control %q names %d ends, want 2", c.Name, len(c.Ends))
	}
	if c.Kind == KindRange && (!(c.Low < c.High) || math.IsInf(c.High-c.Low, 0) || c.Log && !(c.Low > 0)) {
		return fmt.Errorf("control %q goes from %v to %v, want finite numbers that ascend, above 0 if logarithmic", c.Name, c.Low, c.High)
	}
	if strings.TrimSpace(c.Name) == "" {
		return errors.New("a control without a name")
	}
	return nil
}
