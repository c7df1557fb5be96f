package agent

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Gauge is one node's part in finding λmax of the network without a centre, for
// models whose shift is A/λmax. Like Node it is a pure state machine that hosts
// drive with events: Begin with the links (its Row is not read), Receive, Retry
// and Expire. It is not safe for concurrent use.
//
// It is the power method with consensus on its bounds. In each round a node
// sends its entry v_i of a positive vector, hears those of its neighbours and
// moves on:
//
//	v_i ← Σ_j a_ij v_j + c v_i      min_i (Av)_i/v_i ≤ λmax ≤ max_i (Av)_i/v_i
//
// The shift c, a quarter of the latest estimate, lets it converge on bipartite
// graphs, where -λmax is an eigenvalue too. Numbers travel with exponents of
// their own, so that nobody has to agree on the length of v. The bounds travel
// by maximum and minimum from neighbour to neighbour: after GaugeConfig.Diameter
// rounds all nodes have those of the whole network, to the same bits. They then
// decide alike whether to end, and gather the next.
//
// Parts of a network that are not connected find a number each; nobody can know
// of the others. A node without links has 0, which divides nothing. A diameter
// that is too small makes nodes end with different numbers.
//
// A host gives a node that waits a Retry and some time later an Expire. Expire
// drops the links to neighbours who did not answer for the rest of this
// measurement; they, who hear nothing either, will drop it as well, and the
// number is that of the network that remains: of the links that were alive when
// the last bounds were taken, Diameter rounds before the end. The first bounds,
// which count links that may never have worked, end no measurement. Nodes agree
// on the number if what remains is connected with at most Diameter hops all the
// while. A neighbour that waits itself answers with what it sent last, and is
// kept: only those next to a node that died give it up. It must go on within
// Diameter + 1 such answers. Without a Retry before it, Expire drops everybody
// who is missing.
type Gauge struct {
	id     NodeID
	config GaugeConfig
	stats  Stats

	time  uint64 // of the measurement
	begun bool
	open  bool
	round int
	stops int // how often Expire came in this round

	links []gaugeLink // ascending
	self  int         // how many of them have a lower number
	apart bool        // some link was dropped: messages are addressed one by one

	entry        number // v_i
	shift        float64
	lower, upper number     // of the round, as far as they have come
	bounds       [2]float64 // of the network, latest
	settled      bool       // they are as close as the tolerance asks

	outbox [3][gaugeLen]float32 // by round: what was sent
	later  later                // of a later measurement
	send   []Message
}

// gaugeLen is how many values a message has: v_i and both bounds.
const gaugeLen = 3 * numberLen

// gaugeLink is a neighbour in a measurement.
type gaugeLink struct {
	Link
	lost     bool
	answered bool        // since the latest Retry
	got      [2]bool     // by parity of the round, as it may be one ahead: its message is in
	from     [2]estimate // and says
}

// estimate is what a message carries.
type estimate struct{ entry, lower, upper number }

// GaugeConfig says how λmax is measured. All nodes of a network must have the
// same.
type GaugeConfig struct {
	// Diameter bounds the number of hops between any two nodes; at least 1.
	// The number of nodes less one is always right.
	Diameter int `json:"diameter"`

	// Tolerance is the width of the bounds relative to λmax that ends a
	// measurement; 0 means 1e-6. The result is off by half of it at most.
	Tolerance float64 `json:"tolerance,omitempty"`

	// MaxRounds ends a measurement that takes too long; 0 means 10,000. At
	// most 65,535, and twice Diameter at least.
	MaxRounds int `json:"max_rounds,omitempty"`
}

const (
	gaugeTolerance = 1e-6
	gaugeRounds    = 10_000
	gaugeShift     = 0.25 // c relative to λmax
)

// Validate reports everything that is wrong with c.
func (c *GaugeConfig) Validate() error {
	var errs []error
	if c.Diameter < 1 {
		errs = append(errs, fmt.Errorf("agent: diameter is %d, want at least 1: the number of nodes will do", c.Diameter))
	}
	if c.Tolerance != 0 && !(c.Tolerance >= 1e-12 && c.Tolerance < 1) {
		errs = append(errs, fmt.Errorf("agent: tolerance is %v, want 1e-12 to 1", c.Tolerance))
	}
	if c.MaxRounds < 0 || c.MaxRounds > math.MaxUint16 || c.rounds() < 2*c.Diameter {
		errs = append(errs, fmt.Errorf("agent: max_rounds is %d, want twice the diameter %d to %d", c.rounds(), c.Diameter, math.MaxUint16))
	}
	return errors.Join(errs...)
}

func (c *GaugeConfig) rounds() int {
	if c.MaxRounds == 0 {
		return gaugeRounds
	}
	return c.MaxRounds
}

func (c *GaugeConfig) tolerance() float64 {
	if c.Tolerance == 0 {
		return gaugeTolerance
	}
	return c.Tolerance
}

// NewGauge returns the gauge of node id.
func NewGauge(id NodeID, c GaugeConfig) (*Gauge, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Gauge{id: id, config: c, later: later{each: laterPerGauge, all: 2 * mostLater}}, nil
}

// ID returns the node's number.
func (g *Gauge) ID() NodeID { return g.id }

// Open says whether a measurement is under way.
func (g *Gauge) Open() bool { return g.open }

// Stats returns what was counted so far; its steps are rounds.
func (g *Gauge) Stats() Stats { return g.stats }

// Result returns the middle of the latest bounds on λmax, the rounds that were
// made, and whether the measurement has ended within the tolerance.
func (g *Gauge) Result() (lambda float64, rounds int, ok bool) {
	return g.bounds[0] + float64((g.bounds[1]-g.bounds[0])/2), g.round, !g.open && g.settled
}

// Bounds returns the latest bounds on λmax, 0 and 0 before the first.
func (g *Gauge) Bounds() (lower, upper float64) { return g.bounds[0], g.bounds[1] }

// Missing appends the neighbours whose message is waited for to dst.
func (g *Gauge) Missing(dst []NodeID) []NodeID {
	for k := range g.links {
		if g.open && g.waits(k) {
			dst = append(dst, g.links[k].Node)
		}
	}
	return dst
}

func (g *Gauge) waits(k int) bool { return !g.links[k].lost && !g.links[k].got[g.round%2] }

// Step applies one event. Ready.Done says that the measurement ended. An event
// that does not fit is refused with ErrMalformed or ErrOrder and changes nothing
// but the counters.
func (g *Gauge) Step(ev Event) (Ready, error) {
	g.send = g.send[:0]
	var r Ready
	var err error
	switch ev := ev.(type) {
	case Begin:
		err = g.begin(ev, &r)
	case Receive:
		err = g.receive(ev.Message, &r)
	case Retry:
		g.retry()
	case Expire:
		g.expire(&r)
	default:
		err = fmt.Errorf("%w: a %T for a gauge", ErrOrder, ev)
	}
	r.Send = g.send
	r.Ahead = g.later.ahead()
	return r, err
}

// begin opens a measurement, with v = 1 everywhere.
func (g *Gauge) begin(ev Begin, r *Ready) error {
	if g.begun && ev.Time <= g.time {
		return fmt.Errorf("%w: node %d: measurement %d after %d", ErrOrder, g.id, ev.Time, g.time)
	}
	if err := CheckLinks(g.id, ev.Links); err != nil {
		return err
	}
	if g.open {
		g.stats.Abandoned++
	}
	g.time, g.begun, g.open, g.round, g.stops, g.apart = ev.Time, true, true, 0, 0, false
	g.links, g.self = g.links[:0], 0
	degree := 0.0
	for _, l := range ev.Links {
		g.links = append(g.links, gaugeLink{Link: l})
		if l.Node < g.id {
			g.self++
		}
		degree += float64(l.Weight)
	}
	g.entry, g.shift, g.bounds, g.settled = newNumber(1, 0), 0, [2]float64{}, false
	if len(ev.Links) > 0 {
		g.lower = newNumber(degree, 0) // (Av)_i/v_i
		g.upper = g.lower
		g.post()
	}
	for k := range g.later.messages {
		if m := &g.later.messages[k]; m.Time == g.time {
			g.take(m)
		}
	}
	g.later.drop(g.time, &g.stats)
	g.advance(r)
	return nil
}

// find returns the place of a neighbour among the links.
func (g *Gauge) find(id NodeID) (int, bool) {
	return slices.BinarySearchFunc(g.links, id, func(l gaugeLink, id NodeID) int { return cmp.Compare(l.Node, id) })
}
