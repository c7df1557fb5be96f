package host

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/internal/defect"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/transport"
)

// Machine is the host as a pure state machine: what happens goes in as events,
// what is to be done comes out as actions. It starts no goroutine, reads no clock
// and touches neither network nor disk; the same events at the same times give
// the same actions, bit for bit. [Host] is the loop around it. It is not safe for
// concurrent use.
type Machine struct {
	cfg   Config
	hash  uint32 // of the run's name
	plan  uint32 // digest of the plan
	cells []cell // ascending by node
	index map[agent.NodeID]int

	numbers map[string]agent.NodeID // of sensors, by name
	named   map[agent.NodeID][]Link // whom nodes hear, as the world said last

	hearers map[agent.NodeID][]int          // who of ours hears a node
	outside []agent.NodeID                  // nodes elsewhere that somebody here hears
	hears   map[transport.HostID]uint64     // hosts that we listen to, and the step in which we last had a reason to
	around  []transport.HostID              // the same hosts, ascending
	spoke   map[transport.HostID]*frameMark // what we know of each host's frames
	others  map[transport.HostID]uint32     // hosts that run something else, and its digest, or anotherVersion
	apart   map[transport.HostID]int        // hosts in other steps, in real time, and in how many reports
	newer   map[transport.HostID]bool       // hosts that sent messages of unknown kinds, and were named

	conduct     map[transport.HostID]*conduct // whether hosts are honest
	shut        int                           // how many are in quarantine
	quarantines [offences]uint64              // that there were, by reason
	tally       tally                         // of the frame that is being opened

	now       time.Duration // of the event that is being applied
	time      uint64
	farthest  uint64 // step of which anybody spoke
	begun     bool   // there was a step
	opened    uint64 // steps since the start
	open      bool   // a step is under way
	acted     bool   // and the world has its answer
	started   time.Duration
	answered  time.Duration // when the world last was
	beat      beat          // of its lines
	piled     bool          // they wait, as the log was told
	stale     uint64        // by how many steps the latest was too early; 0 if it was taken
	turn      time.Duration // when the exchange under way began
	came      time.Duration // how long after that its latest row came, 0 if none did
	turned    uint64        // exchanges since the start
	excused   uint64        // the one in which others were last told that rows are not there yet
	mute      time.Duration // until when they need not be told again
	ring      time.Duration // when somebody is asked again; 0 for never
	nudge     time.Duration // when last rows are said once more; 0 for never
	once      bool          // that is now
	resigned  bool          // silent neighbours were given up in this step
	gaveUp    time.Duration // when they were last
	usual     time.Duration // about what an exchange takes; 0 if not known
	brisk     time.Duration // about what one takes that is among the fastest, as those are in which nothing is lost
	tired     time.Duration // when the next of those is not waited for any longer whose rows were refused
	taking    int           // nodes that take part in the step
	predicted int
	boundary  int   // of these, with neighbours elsewhere
	posted    []int // of these, that have sent their row, by exchange
	anew      bool  // parameters go back before the next step

	skipTo uint64        // steps before this one are left out,
	firm   bool          // whoever is slower
	led    time.Duration // since when neighbours are far ahead, or were last followed; 0 if none is

	change  *change // to another plan; nil if none was prepared
	fence   uint64  // changes before this one are not taken
	unarmed uint64  // the agreement of others that this host was not armed for, as the log was told

	batch   *agent.Batch // nil if nodes always step one by one
	joint   bool         // nodes are together in the step under way
	rewired bool         // links are not those of the batch
	sought  bool         // a node is wanted elsewhere since links were last looked at
	edge    []int        // nodes with neighbours elsewhere
	left    int          // exchanges of the step whose rows left when nodes were together

	queue   []agent.Message // to be delivered
	pending []agent.Message // to be sent
	ship    bool            // pending messages should leave
	sent    uint64          // sequence number of the last frame
	repeat  uint64          // up to which last rows are repeated, because somebody loses frames
	heavy   uint64          // and up to which also where nobody asked, because it loses many
	last    []agent.Message // with the rows that were last said to everyone
	again   []agent.Message // a frame with rows that are repeated
	reader  agent.Reader
	later   []laterFrame
	silent  map[agent.NodeID]silence
	latest  map[agent.NodeID]uint64 // the latest step of which a row of a neighbour was accepted
	missing []agent.NodeID
	answer  Answer          // the latest
	wrong   []string        // with the line of the step that begins
	warned  map[string]bool // kinds of lines whose refusal was logged

	stats   Stats
	contest contest
	said    uint64        // the step up to which the log names closed gates
	saved   time.Duration // when the last checkpoint was taken
	between *Checkpoint   // that which is due, if the event that ended a step has begun another
	actions Actions

	members members        // hosts that came later
	scratch *agent.Scratch // of all nodes

	everybody string // nodes of all hosts
}

// cell is one node of the host.
type cell struct {
	node      *agent.Node
	taking    bool // in this step
	predicted bool
	done      bool
	elsewhere bool      // some of its neighbours are, or some of those who hear it
	wanted    bool      // somebody elsewhere asked for its rows, whom it does not hear
	told      loss.Loss // what the world said of the answer; nil if nothing
	square    square    // what that is, most often
	output    []float32
	set       []int      // of classes that go with it
	intervals []Interval // or of numbers

	links []agent.Link
	near  []agent.NodeID
	added *addedLinks // to what the world says; nil if no record adds any

	broken BrokenSensor // its sensor, as the log was told; trusted if there is no Why
	breaks int          // how often it was
	awaits bool         // it is a newcomer that cannot forecast yet
	age    uint64       // how many steps ago the sensor was last read
	missed bool         // it has no reading in this step, and
	hushed bool         // none for so long that the log says so
	shut   shutGate     // where it answers as trained, of nodes that learn by seasons
}

// NewMachine returns a machine whose nodes stand where the given checkpoint, nil
// for none, left them.
func NewMachine(c Config, checkpoint []byte) (*Machine, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	h := &Machine{
		cfg: c, hash: RunHash(c.Run), numbers: naming(c.Names), cells: make([]cell, 0, len(c.Nodes)),
		index: make(map[agent.NodeID]int, len(c.Nodes)), hearers: make(map[agent.NodeID][]int, len(c.Nodes)),
		hears: map[transport.HostID]uint64{}, spoke: map[transport.HostID]*frameMark{}, others: map[transport.HostID]uint32{},
		newer: map[transport.HostID]bool{}, apart: map[transport.HostID]int{}, conduct: map[transport.HostID]*conduct{},
		silent: map[agent.NodeID]silence{}, latest: map[agent.NodeID]uint64{}, warned: map[string]bool{},
		answer: Answer{Host: c.Host, Outputs: []Output{}}, named: map[agent.NodeID][]Link{},
	}
	h.cfg.Pace.fill()
	if err := h.adopt(c.Plan.PlanConfig); err != nil {
		return nil, err
	}
	h.cfg.Every = cmp.Or(c.Every, time.Second)
	h.scratch = new(agent.Scratch)
	for _, id := range slices.Sorted(slices.Values(c.Nodes)) {
		h.index[id] = len(h.cells)
		h.cells = append(h.cells, cell{node: agent.NewNode(id, h.cfg.Plan, h.scratch), links: c.Links[id]})
	}
	h.everybody = FormatNodes(c.everybody())
	last, err := h.resume(checkpoint)
	if err == nil {
		err = h.recall(last)
	}
	if err == nil {
		err = h.restore(last)
	}
	if err != nil {
		return nil, err
	}
	for _, host := range c.Hear {
		h.hears[host] = always
	}
	h.fence = c.Fence
	h.expect(c.Change)
	h.gather()
	h.rewire()
	return h, nil
}

// adopt has the host run a plan, in which it says itself what is its own to say.
func (h *Machine) adopt(c agent.PlanConfig) error {
	c.Cost = h.cfg.Cost.Kind()
	plan, err := agent.NewPlan(c)
	if err == nil {
		h.cfg.Plan, h.plan = plan, plan.Digest()
		h.posted = make([]int, plan.Exchanges())
	}
	return err
}

// Next returns the first step that the nodes have not made, by their checkpoint or, if they
// forecast, by what their sensors have read in training.
func (h *Machine) Next() (next uint64) {
	if h.begun {
		return h.time + 1
	}
	if r := h.cfg.Plan.Replayed; r != nil {
		for i := range h.cells {
			if id := h.cells[i].node.ID(); id < agent.NodeID(len(r.Sensors)) && r.Sensors[id].Started {
				next = max(next, r.Sensors[id].Step+1)
			}
		}
	}
	return next
}

// Step applies one event, now after the start of the machine, and returns what is
// to be done, in the order of its fields. Actions belong to the machine and are
// valid until the next Step. A clock that goes back stands still instead.
func (h *Machine) Step(now time.Duration, ev Event) *Actions {
	h.now, h.between = max(h.now, now), nil
	h.actions.clear()
	switch ev := ev.(type) {
	case Start:
		h.sayShut()
		h.startMembers()
		h.actions.Ready = &Ready{Next: h.Next()}
	case *Line:
		h.line(ev)
	case Arrive:
		h.take(ev.Frame)
	case Tick:
		h.tick()
	case Shown:
		h.shown(ev.Record)
	case Look:
		h.look(ev.Final)
	case Stop:
		h.stop()
	case Drop:
		h.actions.Refused = h.drop(ev.ID)
	case Arm:
		h.actions.Refused = h.arm(ev.Change)
	case Agree:
		h.actions.Refused = h.agree(ev.ID, Word{Proof: ev.Proof}, ev.Gone)
	}
	h.showAgain()
	h.actions.Wake, h.actions.Busy = h.wake(), h.busy()
	return &h.actions
}

// busy says whether the world's next line can wait: neighbours come first. In real time a line is a tick of the clock and
// is heard when it comes: it ends the step that still waits.
func (h *Machine) busy() bool {
	return h.waits() && h.cfg.Pace.Mode != RealTime
}

// line hears the world. A line with rows of a later step begins that step, and ends
// the one under way; worlds need not say that a step is over. Times may leap: worlds
// by the clock leave out what they have no time for. One with rows that begins no
// step is refused by an answer, because worlds may wait for one; one that only tells
// what answers cost is no question, and a mistake in it is counted and logged.
func (h *Machine) line(l *Line) {
	if l == nil {
		h.stats.StrayLines++
		h.warnOnce("nil", "the world says a line that is nil")
		return
	}
	if l.End {
		h.conclude()
		h.actions.Ended = true
		return
	}
	if l.Loss != nil || l.Reset {
		h.trial(l)
		if len(l.Nodes) == 0 {
			return
		}
	}
	dated, err := h.dated(l)
	if err != nil {
		h.stats.StaleLines++
		h.refuse(l, "at", "%v", err)
		h.answer.At, h.answer.For = l.At, nil
		return
	}
	l = dated
	observes, tells := false, false
	for k := range l.Nodes {
		observes = observes || l.Nodes[k].Row != nil
		tells = tells || l.Nodes[k].Target != nil || l.Nodes[k].Gradient != nil
	}
	switch {
	case observes && h.leavesOut(l.Time):
		h.stats.Skipped++
		h.refuse(l, "skipped", "step %d is left out: neighbours are ahead, at step %d and later", l.Time, h.skipTo)
	case observes && (!h.begun || l.Time > h.time):
		h.conclude()
		if h.actions.Save {
			h.between = h.memory()
		}
		h.reset()
		h.goOver(l.Time)
		h.begin(l)
		if (tells || h.forecasts()) && h.acted { // nothing more will be said of it
			h.conclude()
		}
	case tells && h.forecasts() && !observes && h.begun && l.Time <= h.time:
		h.tellTruths(l)
	case !observes && h.open && l.Time == h.time && !h.forecasts():
		h.reveal(l)
	case observes:
		h.stats.StaleLines++
		h.stale = h.time - l.Time
		h.refuse(l, "stale", "step %d is over: the host, or the checkpoint that it began with, is at step %d; "+
			"send a later time, or move the state folder away to begin anew", l.Time, h.time)
	case tells && h.recent(l.Time):
		h.tellLate(l)
	case !tells:
		h.stats.StaleLines++
		h.refuse(l, "empty", "the line of time %d has neither a row nor a target of any node; "+
			`want {"time":%d,"nodes":[{"node":3,"row":[0.5]}]}`, l.Time, l.Time)
	default:
		h.stats.StaleLines++
		h.warnOnce("stale target", fmt.Sprintf("the line of time %d has no row, and step %d is not under way; "+
			"send what answers cost before the next rows, or set learn.delay to how many steps late it comes", l.Time, l.Time))
	}
}

// begin opens step l.Time. Nodes of which the line has no usable row do not take
// part: neighbours here do not wait for them, and those elsewhere will hear nothing.
// The row of a node that is in order does not wait for one that is not.
//
// What was to be sent in the step before and had not left is dropped: nobody can use
// it any more who is not behind, and who is can ask.
func (h *Machine) begin(l *Line) {
	h.follow(l)
	h.grow(l.Time)
	h.time, h.begun, h.open, h.acted, h.stale = l.Time, true, true, false, 0
	h.opened++
	h.join(l)
	h.started, h.resigned = h.now, false
	h.turns()
	h.taking, h.predicted, h.boundary, h.left, h.ship = 0, 0, 0, 0, false
	clear(h.posted)
	clear(h.pending)
	h.pending = h.pending[:0]
	h.wrong = h.wrong[:0]
	h.wire(l)
	h.doubtRows(l)
	if h.together(l) {
		h.beginTogether(l)
	} else {
		h.beginApart(l)
	}
	h.hush()
	h.settle()
	h.replay()
}

// beginApart lets nodes begin a step one by one.
func (h *Machine) beginApart(l *Line) {
	for i := range h.cells {
		c := &h.cells[i]
		c.taking, c.predicted, c.done, c.told = false, false, false, nil
	}
	for k := range l.Nodes {
		n := &l.Nodes[k]
		i, ok := h.find(n)
		if !ok {
			h.stats.StrayLines++
			h.complain("stray", "%s", h.stranger(n))
			continue
		}
		c := &h.cells[i]
		if n.Row == nil {
			h.stats.StrayLines++
			h.complain("no row", "node %d has no row where others have; give each a row, or lines of their own", c.node.ID())
			continue
		}
		ev := agent.Begin{Time: l.Time, Links: c.links, Row: n.Row}
		if h.forecasts() {
			ev.Truth = h.truth(n)
		}
		if err := h.step(i, ev); err != nil {
			h.complain("row", "node %d: %v", c.node.ID(), err)
			continue
		}
		c.taking = true
		c.read(n)
		h.taking++
		if c.elsewhere {
			h.boundary++
		}
		if h.forecasts() {
			h.announce(c)
		} else {
			h.tell(c, n)
		}
	}
}

// reveal takes in what answers cost.
func (h *Machine) reveal(l *Line) {
	for k := range l.Nodes {
		i, ok := h.find(&l.Nodes[k])
		if !ok {
			h.stats.StrayLines++
			h.warnOnce("stray", h.stranger(&l.Nodes[k]))
			continue
		}
		h.tell(&h.cells[i], &l.Nodes[k])
		if h.acted {
			h.learn(i)
		}
	}
	h.over()
}

// recent says whether what answers of an earlier step cost may still be told.
func (h *Machine) recent(time uint64) bool {
	r := h.cfg.Plan.Rule
	return h.cfg.Plan.Basis != nil && h.begun && time <= h.time && h.time-time <= uint64(r.Delay) && r.Delay > 0
}

// tellLate takes in what answers of an earlier step cost. Nodes learn from it in the
// update of the step under way, or of the next.
func (h *Machine) tellLate(l *Line) {
	for k := range l.Nodes {
		n := &l.Nodes[k]
		i, ok := h.find(n)
		if !ok {
			h.stats.StrayLines++
			h.warnOnce("stray", h.stranger(n))
			continue
		}
		told, err := h.cfg.Cost.told(n, h.cfg.Plan.Model.Outputs())
		if err != nil {
			h.stats.BadTargets++
			h.warnOnce("target", err.Error())
			continue
		}
		if told == nil {
			continue
		}
		c := &h.cells[i]
		given := c.node.Given(l.Time)
		if given == nil { // it took no part in that step, or was told before
			h.stats.StaleLines++
			continue
		}
		told = about(told, given.Output())
		if j, ok := told.(loss.Targeted); ok {
			h.contest.add(l.Time, j.EvalNode(0, nil, given.Output()), j.EvalNode(0, nil, given.Base))
		}
		h.step(i, agent.Told{Time: l.Time, Loss: told})
	}
}

// tell keeps what a line says of a node's answer.
func (h *Machine) tell(c *cell, n *NodeLine) {
	if h.cfg.Cost == MSE && c.square.told(n, h.cfg.Plan.Model.Outputs()) {
		c.told = &c.square.MSE
		return
	}
	told, err := h.cfg.Cost.told(n, h.cfg.Plan.Model.Outputs())
	if err != nil {
		h.stats.BadTargets++
		if h.acted { // its answer is out
			h.warnOnce("target", err.Error())
		} else {
			h.complain("target", "%v", err)
		}
		return
	}
	c.told = told
}

// learn ends the step of a node that has predicted. A cost that its agent refuses
// leaves it as one that was told nothing: it mixes with its neighbours, who wait for
// its next step and not for a good one.
func (h *Machine) learn(i int) {
	c := &h.cells[i]
	if !c.taking || !c.predicted || c.done {
		return
	}
	c.told = about(c.told, c.output)
	h.compare(c)
	h.step(i, agent.Feedback{Loss: c.told})
	if !c.done { // refused: learn from the neighbours alone
		h.step(i, agent.Feedback{})
	}
	if h.forecasts() {
		h.compareForecast(c)
		c.shut.look(c.node, h.time)
	}
}

// conclude ends the step: whoever was told nothing learns from its neighbours. A
// step that still waited has no answer and never will; it is counted, so that for
// each line with rows there is an answer or a number that explains why not.
func (h *Machine) conclude() {
	if !h.open {
		return
	}
	h.part()
	if h.waits() {
		h.stats.Unanswered++
	}
	for i := range h.cells {
		h.learn(i)
	}
	h.over()
	h.open = false
}

// stop ends the step under way, and leaves nobody without its answer.
func (h *Machine) stop() {
	if h.waits() {
		h.part()
		h.giveUpFrom(0, true)
		h.ship = true
		h.settle()
	}
	h.conclude()
}

// over closes a step in which every node is done. Now, between two steps, is when a
// checkpoint is taken: what nodes remember of a step under way is not enough to end
// it after a restart.
func (h *Machine) over() {
	for i := range h.cells {
		if c := &h.cells[i]; c.taking && !c.done {
			return
		}
	}
	h.open = false
	h.stats.Steps++
	h.actions.Save, h.between = h.cfg.Every >= 0 && h.now-h.saved >= h.cfg.Every, nil
}

// waits says whether a step waits for neighbours.
func (h *Machine) waits() bool { return h.open && !h.acted }

// act gives the world its answer: once in a step, when every node that takes part
// has predicted, with what is wrong with the line beside it.
func (h *Machine) act() {
	h.acted, h.answered = true, h.now
	a := h.reply(h.time)
	a.began, a.Outputs = h.started, slices.Grow(a.Outputs, len(h.cells))
	for i := range h.cells {
		c := &h.cells[i]
		switch {
		case !c.taking, c.awaits:
		case mat.Finite(c.output...) || defect.Number == 6:
			o := Output{Node: c.node.ID(), Sensor: h.cfg.Names[c.node.ID()], Value: c.output, Age: c.age}
			if h.learns() && h.cfg.Plan.Rule.Conformal != nil {
				c.sure(&o, h.cfg.Plan.Rule.Conformal)
			}
			a.Outputs = append(a.Outputs, o)
		default: // JSON cannot write it, and nobody could use it
			if h.stats.LostOutputs == 0 {
				h.warn("the output of a node is not finite and left out of the answer; is a neighbour's row, or the model, absurd?",
					"node", c.node.ID(), "time", h.time)
			}
			h.stats.LostOutputs++
		}
	}
	a.Error = h.complaints()
}
