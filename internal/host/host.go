package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/transport"
)

// Host runs agents; see the package comment. Run is the loop; Report may be
// called from anywhere, everything else belongs to the loop.
type Host struct {
	cfg   Config
	log   *slog.Logger
	hash  uint32 // of the run's name
	plan  uint32 // digest of the plan
	early uint32 // the same without λmax: of those who still measure it
	cells []cell // ascending by node
	index map[agent.NodeID]int

	hearers map[agent.NodeID][]int         // who of ours hears a node
	outside []agent.NodeID                 // nodes elsewhere that somebody here hears
	hears   map[transport.HostID]uint64    // hosts that we listen to, and the step in which we last had a reason to
	spoke   map[transport.HostID]frameMark // what we know of each host's frames
	others  map[transport.HostID]uint32    // hosts that run something else, and its digest, or anotherVersion

	time      uint64
	begun     bool   // there was a step
	opened    uint64 // steps since the start
	open      bool   // a step is under way
	acted     bool   // and the world has its answer
	unheard   bool   // the world did not take the last one
	started   time.Time
	turn      time.Time     // when the exchange under way began
	came      time.Duration // how long after that its latest row came, 0 if none did
	asked     time.Time     // when silent neighbours were asked last, or an exchange was complete
	patience  int           // how often they were asked since
	gaveUp    time.Time     // when they were given up last, zero if not in this step
	usual     time.Duration // about what an exchange takes if nothing is lost; 0 if not known
	taking    int           // nodes that take part in the step
	predicted int
	boundary  int   // of these, with neighbours elsewhere
	posted    []int // of these, that have sent their row, by exchange
	skipTo    uint64
	anew      bool // parameters go back before the next step

	queue   []agent.Message // to be delivered
	pending []agent.Message // to be sent
	ship    bool            // pending messages should leave
	current agent.Message   // being delivered
	frame   []byte
	sent    uint64 // sequence number of the last frame
	reader  agent.Reader
	later   []laterFrame
	silent  map[agent.NodeID]silence
	missing []agent.NodeID
	answer  Answer
	wrong   []string        // with the line of the step that begins
	warned  map[string]bool // kinds of lines whose refusal was logged

	stats   Stats
	latency latencies
	contest contest
	report  atomic.Pointer[Report]
	saver   *saver // nil without a disk
}

// cell is one node of the host.
type cell struct {
	node      *agent.Node
	links     []agent.Link
	near      []agent.NodeID
	elsewhere bool // some of its neighbours are

	taking    bool // in this step
	predicted bool
	done      bool
	output    []float32
	told      loss.Loss // what the world said of the answer; nil if nothing
}

// New returns a host whose nodes stand where their checkpoints left them.
func New(c Config) (*Host, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c.Pace.fill()
	c.Every, c.ReportEvery = cmp.Or(c.Every, time.Second), cmp.Or(c.ReportEvery, time.Second)
	h := &Host{
		cfg: c, log: c.Log, hash: RunHash(c.Run), index: map[agent.NodeID]int{}, hearers: map[agent.NodeID][]int{},
		hears: map[transport.HostID]uint64{}, spoke: map[transport.HostID]frameMark{}, others: map[transport.HostID]uint32{}, silent: map[agent.NodeID]silence{},
		warned: map[string]bool{},
		posted: make([]int, c.Plan.Exchanges()), answer: Answer{Host: uint32(c.Host), Outputs: []Output{}},
	}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	h.plan, h.early = c.Plan.Digest(), unmeasured(c.Plan)
	scratch := new(agent.Scratch)
	for _, id := range slices.Sorted(slices.Values(c.Nodes)) {
		h.index[id] = len(h.cells)
		h.cells = append(h.cells, cell{node: agent.NewNode(id, c.Plan, scratch), links: c.Links[id]})
	}
	if c.Disk != nil {
		if err := h.restore(); err != nil {
			return nil, err
		}
	}
	if c.Bus != nil {
		for _, host := range c.Hear {
			h.hears[host] = always
		}
		h.listen()
	}
	h.rewire()
	h.report.Store(h.look(false))
	return h, nil
}

// Next returns the first step that the nodes have not made, by their checkpoint.
// It is meant for before Run.
func (h *Host) Next() uint64 {
	if !h.begun {
		return 0
	}
	return h.time + 1
}

// Run is the loop. It ends with nil when the world does, with the context's
// error, or with an error if the bus ends. Checkpoints are written in all cases.
func (h *Host) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, h.finish()) }()
	var frames <-chan transport.Frame
	if h.cfg.Bus != nil {
		frames = h.cfg.Bus.Frames()
	}
	h.publish(false)
	reports := time.NewTicker(h.cfg.ReportEvery)
	defer reports.Stop()
	alarm := newAlarm()
	defer alarm.stop()
	lines := h.cfg.World.Lines()
	var stay <-chan time.Time // set when the world has ended
	for {
		heard := lines
		if h.waits() && h.cfg.Pace.Mode == Lockstep {
			heard = nil // the world's next line can wait, the neighbours come first
		}
		alarm.set(h.wake())
		select {
		case <-ctx.Done():
			return ctx.Err()
		case l, ok := <-heard:
			if ok && !l.End {
				h.line(l)
				continue
			}
			h.conclude()
			if h.cfg.Bus == nil || h.cfg.Pace.Linger == 0 {
				return nil
			}
			lines, stay = nil, time.After(h.cfg.Pace.Linger)
		case f, ok := <-frames:
			for waiting := len(frames); ok; waiting-- { // all that are there, before anything else is looked at
				h.take(f)
				if waiting == 0 {
					break
				}
				f, ok = <-frames
			}
			if !ok {
				return fmt.Errorf("host %d: %w", h.cfg.Host, transport.ErrClosed)
			}
		case now := <-alarm.c():
			alarm.rang()
			h.tick(now)
		case <-reports.C:
			h.publish(false)
		case <-stay:
			return nil
		}
	}
}

// finish writes a last checkpoint, if there was a step, and tells how things
// ended.
func (h *Host) finish() (err error) {
	if h.saver != nil {
		var last *checkpoint
		if h.begun {
			last = h.memory()
		}
		err = h.saver.close(last)
	}
	h.publish(true)
	return err
}

// line hears the world.
func (h *Host) line(l *Line) {
	if l.Loss != nil || l.Reset {
		h.trial(l)
		if len(l.Nodes) == 0 {
			return
		}
	}
	observes, tells := false, false
	for k := range l.Nodes {
		observes = observes || l.Nodes[k].Row != nil
		tells = tells || l.Nodes[k].Target != nil || l.Nodes[k].Gradient != nil
	}
	switch {
	case observes && l.Time < h.skipTo:
		h.stats.Skipped++
		h.refuse(l, "skipped", "step %d is left out: all neighbours are ahead, at step %d and later", l.Time, h.skipTo)
	case observes && (!h.begun || l.Time > h.time):
		h.conclude()
		h.reset()
		h.begin(l)
		if tells && h.acted {
			h.conclude()
		}
	case !observes && h.open && l.Time == h.time:
		h.reveal(l)
	case observes:
		h.stats.StaleLines++
		h.refuse(l, "stale", "step %d is over: the host, or the checkpoint that it began with, is at step %d; send a later time, or move the state folder away to begin anew", l.Time, h.time)
	case !tells:
		h.stats.StaleLines++
		h.refuse(l, "empty", "the line of time %d has neither a row nor a target of any node; want {\"time\":%d,\"nodes\":[{\"node\":3,\"row\":[0.5]}]}", l.Time, l.Time)
	default:
		h.stats.StaleLines++
		h.warnOnce("stale target", fmt.Sprintf("the line of time %d has no row, and step %d is not under way; send what answers cost before the next rows", l.Time, l.Time))
	}
}

// begin opens step l.Time.
func (h *Host) begin(l *Line) {
	h.time, h.begun, h.open, h.acted = l.Time, true, true, false
	h.opened++
	h.started, h.gaveUp = time.Now(), time.Time{}
	h.turn, h.asked, h.patience = h.started, h.started, 0
	h.taking, h.predicted, h.boundary, h.ship = 0, 0, 0, false
	clear(h.posted)
	clear(h.pending)
	h.pending = h.pending[:0]
	for i := range h.cells {
		c := &h.cells[i]
		c.taking, c.predicted, c.done, c.told = false, false, false, nil
	}
	h.wrong = h.wrong[:0]
	h.wire(l)
	for k := range l.Nodes {
		n := &l.Nodes[k]
		i, ok := h.index[n.Node]
		if !ok || n.Row == nil {
			h.stats.StrayLines++
			if !ok {
				h.complain("stray", "node %d is not one of host %d; look at hosts in the configuration", n.Node, h.cfg.Host)
			} else {
				h.complain("no row", "node %d has no row where others have; give each a row, or lines of their own", n.Node)
			}
			continue
		}
		c := &h.cells[i]
		if err := h.step(i, agent.Begin{Time: l.Time, Links: c.links, Row: n.Row}); err != nil {
			h.complain("row", "node %d: %v", n.Node, err)
			continue
		}
		c.taking = true
		h.taking++
		if c.elsewhere {
			h.boundary++
		}
		h.tell(c, n)
	}
	h.settle()
	h.replay()
}

// reveal takes in what answers cost.
func (h *Host) reveal(l *Line) {
	for k := range l.Nodes {
		i, ok := h.index[l.Nodes[k].Node]
		if !ok {
			h.stats.StrayLines++
			h.warnOnce("stray", fmt.Sprintf("node %d is not one of host %d; look at hosts in the configuration", l.Nodes[k].Node, h.cfg.Host))
			continue
		}
		h.tell(&h.cells[i], &l.Nodes[k])
		if h.acted {
			h.learn(i)
		}
	}
	h.over()
}

// tell keeps what a line says of a node's answer.
func (h *Host) tell(c *cell, n *NodeLine) {
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

// learn ends the step of a node that has predicted.
func (h *Host) learn(i int) {
	c := &h.cells[i]
	if !c.taking || !c.predicted || c.done {
		return
	}
	h.compare(c)
	h.step(i, agent.Feedback{Loss: c.told})
	if !c.done { // refused: learn from the neighbours alone
		h.step(i, agent.Feedback{})
	}
}

// conclude ends the step: whoever was told nothing learns from its neighbours.
func (h *Host) conclude() {
	if !h.open {
		return
	}
	for i := range h.cells {
		h.learn(i)
	}
	h.over()
	h.open = false
}

// over closes a step in which every node is done.
func (h *Host) over() {
	for i := range h.cells {
		if c := &h.cells[i]; c.taking && !c.done {
			return
		}
	}
	h.open = false
	h.stats.Steps++
	if h.saver != nil {
		h.saver.offer(h.memory)
	}
}

// waits says whether a step waits for neighbours.
func (h *Host) waits() bool { return h.open && !h.acted }

// act gives the world its answer.
func (h *Host) act() {
	h.acted = true
	h.latency.add(time.Since(h.started))
	h.answer.Time, h.answer.Outputs = h.time, h.answer.Outputs[:0]
	for i := range h.cells {
		c := &h.cells[i]
		switch {
		case !c.taking:
		case mat.Finite(c.output...):
			h.answer.Outputs = append(h.answer.Outputs, Output{c.node.ID(), c.output})
		default: // JSON cannot write it, and nobody could use it
			if h.stats.LostOutputs == 0 {
				h.log.Warn("the output of a node is not finite and left out of the answer; is a neighbour's row, or the model, absurd?", "node", c.node.ID(), "time", h.time)
			}
			h.stats.LostOutputs++
		}
	}
	h.answer.Error = h.complaints()
	h.tellWorld(&h.answer)
}

// tellWorld gives the world an answer, and logs when it begins to refuse them.
func (h *Host) tellWorld(a *Answer) {
	err := h.cfg.World.Act(a)
	if err != nil {
		h.stats.LostAnswers++
		if !h.unheard { // once, until it takes one again
			h.log.Warn("the world does not take answers", "time", a.Time, "err", err)
		}
	}
	h.unheard = err != nil
}
