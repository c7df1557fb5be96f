package host

import (
	"errors"
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/transport"
)

// How hosts go over to another plan
//
// A new model is of use only if neighbours have the same: what they say to each other
// means nothing otherwise. All of them begin the same step T with it, or none does.
// Whoever brings it has every host prepared first (Arm), and only when all are says to
// as many as it can that it is agreed on (Agree). An armed host that hears nothing
// goes on as before.
//
// The word spreads among neighbours: it is in every frame, and a host cannot end a step
// without the frames of its neighbours. So it travels one hop in a step at least, and
// a host takes it only as long as it can still reach all others by T: a host k hops
// from the first, of H hosts in all, only before step T-(H-k). Either the first host
// takes it, and all that are connected have it before T, or nobody does. A word that
// comes later than that, out of a network that held it back, counts only if it comes
// from a host that has gone over: then there is one, and who was cut off follows it
// with its next step.
//
// Only one change is under way at a time. Whoever brings another has the one that hosts
// are armed with dropped first, by all of them: a host that has agreed does not, and one
// that has dropped it takes no word but that of a neighbour, which shows that somebody had
// agreed before. Who has done so for one change is not armed with an earlier one any more,
// so that of two that are brought at the same time one at most finds all hosts armed.
//
// What is on disk is what a host is armed with, and that it has gone over. One that is
// restarted between the two may have told nobody that it is agreed on, or all of them:
// it is armed, and has the word from them, or nobody does.

// Change is another plan that a host may go over to, with all others.
type Change struct {
	ID    uint64 // of the agreement; those of later ones are larger
	Step  uint64 // T, the first with the new plan
	Model string // stands for the model in checkpoints and reports

	Plan  *agent.Plan    // its Cost is not looked at
	Seed  []agent.Memory // what nodes of the new model have learned in another life, as in Config
	Reset bool           // what nodes learned is not to be kept

	Dropped bool  // in a Config: it was, see Drop
	Done    *Word // in a Config: this host had begun step T or a later one with it, by this word; nil if not

	// Before is the digest of the plan before, in a Config whose Model is that of the
	// change: whom it still has to be told to.
	Before uint32
}

// Word says that all hosts go over to a plan that they were armed with.
type Word struct {
	Hops  int    `json:"hops"`            // from the host that was told first
	Proof []byte `json:"proof,omitempty"` // that whoever says so may; see Config.Proof
}

// mostProof bounds proofs, in bytes.
const mostProof = 1 << 10

// Drop has a host drop the change that it is armed with, for that of the given number, and
// take none before that any more. It is refused if that change is agreed on, or a later one.
type Drop struct{ ID uint64 }

// Arm prepares a host to go over to another plan. It is refused until the change that it
// is armed with is made or dropped.
type Arm struct{ Change *Change }

// Agree says that all hosts are armed and go over. It is refused if it comes too late to
// reach all others in time, unless Gone says that some host has gone over.
type Agree struct {
	ID    uint64
	Proof []byte
	Gone  bool
}

func (Drop) event()  {}
func (Arm) event()   {}
func (Agree) event() {}

// ErrChange says why a host is not armed, or does not agree.
var ErrChange = errors.New("host: change")

// Changed tells of a change that was agreed on or made.
type Changed struct {
	Change *Change
	Word   Word
	Gone   bool   // the host has begun step Time with it
	Time   uint64 // of that step
	Before uint32 // digest of the plan before
	Kept   int    // nodes that kept what they had learned
	Anew   int    // nodes that began anew
}

// ChangeReport is how far a change is.
type ChangeReport struct {
	ID    uint64 `json:"id"`
	Model string `json:"model"`
	Step  uint64 `json:"step"`
	State string `json:"state"` // armed, dropped, agreed or made
	Kept  int    `json:"kept,omitempty"`
	Anew  int    `json:"anew,omitempty"`
}

// The states of a change.
const (
	ChangeArmed   = "armed"
	ChangeDropped = "dropped"
	ChangeAgreed  = "agreed"
	ChangeMade    = "made"
)

// change is what a machine knows of the plan that follows its own.
type change struct {
	*Change
	digest uint32 // of its plan
	word   Word
	agreed bool
	drop   bool   // whoever brought it does so no more
	gone   bool   // it is made
	before uint32 // digest of the plan before, once it is

	former     map[agent.NodeID]*agent.Node // with the plan before, for neighbours that still ask for their rows; nil when none can
	stop       uint64                       // the step that they did not make
	kept, anew int
}

// expect takes up the change of a configuration.
func (h *Machine) expect(c *Change) {
	if c == nil {
		return
	}
	h.change = &change{Change: c, digest: c.Plan.Digest()}
	h.change.drop, h.change.agreed = c.Dropped, c.Done != nil
	if c.Done != nil {
		h.change.word = *c.Done
	}
	if h.cfg.Model == c.Model { // so are its checkpoints
		h.change.agreed, h.change.gone, h.change.before = true, true, c.Before
	}
}

// inTime says whether a word from so many hops away comes early enough to reach all
// others before step T.
func (h *Machine) inTime(hops int) bool {
	left := uint64(max(h.hosts()-hops, 0))
	return h.Next()+left <= h.change.Step
}

// hosts returns how many there are.
func (h *Machine) hosts() int {
	if h.cfg.Directory == nil {
		return 1
	}
	return h.cfg.Directory.hosts()
}

// arm prepares a change.
func (h *Machine) arm(c *Change) error {
	old := h.change
	another := old != nil && !old.gone && c.ID != old.ID
	switch {
	case c.ID < h.fence || old != nil && c.ID < old.ID:
		return fmt.Errorf("%w: agreement %d is older than what host %d has heard of since", ErrChange, c.ID, h.cfg.Host)
	case another && old.agreed:
		return old.isAgreed(h.cfg.Host)
	case another && !old.drop:
		return fmt.Errorf("%w: host %d is armed with model %s for step %d, and that was not dropped",
			ErrChange, h.cfg.Host, short(old.Model), old.Step)
	case old != nil && c.ID == old.ID && old.drop:
		return fmt.Errorf("%w: agreement %d was dropped by host %d", ErrChange, c.ID, h.cfg.Host)
	case old != nil && c.ID == old.ID:
		return nil
	case c.Step < h.Next():
		return fmt.Errorf("%w: step %d is over, host %d is at step %d", ErrChange, c.Step, h.cfg.Host, h.Next())
	}
	h.change = &change{Change: c, digest: c.Plan.Digest()}
	return nil
}

// isAgreed says that a change is under way.
func (c *change) isAgreed(host transport.HostID) error {
	return fmt.Errorf("%w: host %d goes over to model %s at step %d; wait until it has", ErrChange, host, short(c.Model), c.Step)
}

// drop drops the change that the host is armed with.
func (h *Machine) drop(id uint64) error {
	if c := h.change; c != nil && !c.gone {
		switch {
		case c.agreed:
			return c.isAgreed(h.cfg.Host)
		case c.ID > id:
			return fmt.Errorf("%w: host %d is armed for agreement %d, which is later than %d", ErrChange, h.cfg.Host, c.ID, id)
		}
		c.drop = true
	}
	h.fence = max(h.fence, id)
	return nil
}

// agree takes in that all hosts are armed.
func (h *Machine) agree(id uint64, w Word, gone bool) error {
	c := h.change
	switch {
	case c == nil || c.ID != id:
		return fmt.Errorf("%w: host %d is not armed for agreement %d", ErrChange, h.cfg.Host, id)
	case c.agreed:
		return nil
	case c.drop && w.Hops == 0:
		return fmt.Errorf("%w: agreement %d was dropped by host %d", ErrChange, id, h.cfg.Host)
	case !gone && !h.inTime(w.Hops):
		return fmt.Errorf("%w: host %d is about to begin step %d, too late to tell all others before step %d",
			ErrChange, h.cfg.Host, h.Next(), c.Step)
	}
	if h.cfg.Proof != nil {
		if err := h.cfg.Proof(c.Change, w.Proof); err != nil {
			h.stats.Impostors++
			return fmt.Errorf("%w: %w", ErrChange, err)
		}
	}
	c.agreed, c.word = true, w
	h.actions.Changed = &Changed{Change: c.Change, Word: w}
	if h.cfg.Directory != nil {
		h.sendAs(h.plan, []agent.Message{h.word()})
	}
	return nil
}

// word returns what is told to others.
func (h *Machine) word() agent.Message {
	c, own := h.change, h.cells[0].node.ID()
	return agent.Message{From: own, To: own, Time: c.ID, Kind: agent.Switch, Exchange: uint16(c.word.Hops + 1), Data: c.word.Proof}
}

// toldSteps is for how many steps after T the word is in every frame, whoever hears it.
const toldSteps = 4

// tells says whether frames have the word: from when it is agreed on until neighbours
// have gone over, and whenever one is there that has not.
func (h *Machine) tells() bool {
	c := h.change
	if c == nil || !c.agreed {
		return false
	}
	if !c.gone || h.time < c.stop+toldSteps {
		return true
	}
	for _, plan := range h.others {
		if plan == c.before {
			return true
		}
	}
	return false
}

// hearWord takes in the word of a host, which has gone over itself or will.
func (h *Machine) hearWord(from transport.HostID, m *agent.Message, plan uint32) {
	c := h.change
	if c == nil || m.Time > c.ID {
		if h.unarmed != m.Time {
			h.unarmed = m.Time
			h.warn("hosts go over to a model that this one was not given; deploy it again, to all", "from", from, "agreement", m.Time)
		}
		return
	}
	if c.agreed || m.Time < c.ID || len(m.Data) > mostProof {
		return
	}
	w := Word{Hops: int(m.Exchange), Proof: slices.Clone(m.Data)}
	gone := plan == c.digest
	if !gone && !h.inTime(w.Hops) {
		return // a host that has gone over will say so
	}
	if err := h.agree(c.ID, w, gone); err != nil {
		h.warnOnce("switch", err.Error())
	}
}

// goOver makes a change that is agreed on, between two steps: the next is that of the
// given time.
func (h *Machine) goOver(time uint64) {
	c := h.change
	if c == nil || c.gone && time >= c.stop+toldSteps {
		h.leaveFormer()
		return
	}
	if !c.agreed || c.gone || time < c.Step {
		return
	}
	c.before = h.plan
	if err := h.adopt(c.Plan.PlanConfig); err != nil {
		h.actions.Failed = err
		return
	}
	h.cfg.Model = c.Model
	c.gone, c.stop, c.former = true, time, map[agent.NodeID]*agent.Node{}
	scratch := new(agent.Scratch)
	seeds := map[agent.NodeID]agent.Memory{}
	for _, m := range c.Seed {
		seeds[m.Node] = m
	}
	for i := range h.cells {
		cell := &h.cells[i]
		old := cell.node
		c.former[old.ID()] = old
		cell.node, cell.shut = agent.NewNode(old.ID(), h.cfg.Plan, scratch), shutGate{}
		m, seeded := seeds[cell.node.ID()]
		if seeded && cell.node.Seed(m) != nil {
			h.warn("a node cannot begin with what it learned in the new model, and begins with it as trained", "node", cell.node.ID())
		}
		switch kept := cell.node.Inherit(old, c.Reset || len(c.Seed) > 0); {
		case !h.learns():
		case kept:
			c.kept++
		default:
			c.anew++
		}
	}
	clear(h.last)
	h.last, h.batch, h.contest, h.joint = h.last[:0], nil, contest{}, false
	h.gather()
	h.rewired = true
	for host, digest := range h.others {
		if digest == h.plan {
			delete(h.others, host)
		}
	}
	h.saved = h.now - h.cfg.Every // a checkpoint is due
	h.actions.Changed = &Changed{
		Change: c.Change, Word: c.word, Gone: true, Time: time, Before: c.before, Kept: c.kept, Anew: c.anew,
	}
	h.info("goes over to another model", "time", time, "model", short(c.Model), "digest", fmt.Sprintf("%06x", h.plan),
		"kept", c.kept, "anew", c.anew)
}

// short returns what a model is called in a log.
func short(model string) string { return model[:min(len(model), 12)] }

// leaveFormer forgets the nodes before a change.
func (h *Machine) leaveFormer() {
	if h.change != nil {
		h.change.former = nil
	}
}

// otherwise takes in a frame of a host that runs another plan: one that it has gone over
// to before us, one that we have left and it not yet, or one of its own.
func (h *Machine) otherwise(f transport.Frame, header agent.Header, messages []agent.Message) {
	for k := range messages {
		if m := &messages[k]; m.Kind == agent.Switch && h.owns(f.From, m.From) {
			h.hearWord(f.From, m, header.Plan)
		}
	}
	c := h.change
	switch {
	case c != nil && !c.gone && header.Plan == c.digest:
		delete(h.others, f.From)
		h.number(f, header.Sequence, h.conductOf(f.From))
		h.passOver(f.From)
		h.fromAhead(f, messages)
	case c != nil && c.former != nil && header.Plan == c.before && h.fromBehind(f, header, messages):
	default:
		h.differs(f.From, header.Plan)
	}
}

// owns says whether a host runs a node, and counts who says so of another's.
func (h *Machine) owns(host transport.HostID, node agent.NodeID) bool {
	owner, known := h.cfg.Directory.Owner(node)
	if !known || owner != host {
		h.stats.Impostors++
		return false
	}
	return true
}

// fromAhead takes in a frame of a host that has gone over before us: rows of steps to
// come are kept for when we have, too, and who asks is told that we have not begun.
func (h *Machine) fromAhead(f transport.Frame, messages []agent.Message) {
	mark, later, far := h.mark(f.From), false, false
	mark.during = h.opened
	var pends agent.Message
	for k := range messages {
		m := &messages[k]
		_, here := h.index[m.To]
		switch {
		case !h.owns(f.From, m.From) || h.begun && m.Time <= h.time:
		case m.Kind == agent.Ask:
			h.moves(mark, m.Time)
			if here {
				pends = agent.Message{From: m.To, To: m.From, Time: m.Time, Kind: agent.NotYet, Exchange: m.Exchange}
			}
		case m.Kind == agent.Row:
			if m.To == agent.Everyone {
				h.moves(mark, m.Time)
			}
			h.slower(m.Time)
			later, far = later || h.near(m.Time), true
		}
	}
	if later {
		h.keep(f)
	} else if far {
		h.stats.Overflows++
	}
	if pends.Kind == agent.NotYet {
		h.excuse(pends)
	}
	h.settle()
}

// meant says whether a frame that was kept is of the plan of this step.
func (h *Machine) meant(plan uint32) bool {
	return h.change == nil || plan == h.plan
}

// keepForChange keeps a frame of the plan that follows for longer. Others that were kept
// are of a plan that was left since.
func (h *Machine) keepForChange(f transport.Frame, plan uint32, messages []agent.Message) {
	if c := h.change; c == nil || c.gone || plan != c.digest {
		return
	}
	if slices.ContainsFunc(messages, func(m agent.Message) bool { return m.Time > h.time && h.near(m.Time) }) {
		h.keep(f)
	}
}

// fromBehind takes in a frame of a host that has not gone over yet, and says whether it
// still may: it is in a step before T, and is sent what it asks for as the plan of then
// has it.
func (h *Machine) fromBehind(f transport.Frame, header agent.Header, messages []agent.Message) bool {
	c := h.change
	for k := range messages {
		if m := &messages[k]; (m.Kind == agent.Ask || m.Kind == agent.Row && m.To == agent.Everyone) && m.Time >= c.stop {
			return false
		}
	}
	delete(h.others, f.From)
	h.number(f, header.Sequence, h.conductOf(f.From))
	h.passOver(f.From)
	mark := h.mark(f.From)
	mark.during = h.opened
	var again []agent.Message
	for k := range messages {
		m := &messages[k]
		if !h.owns(f.From, m.From) {
			continue
		}
		switch m.Kind {
		case agent.Ask:
			h.moves(mark, m.Time)
			if n := c.former[m.To]; n != nil {
				r, _ := n.Step(agent.Receive{Message: m})
				again = append(again, r.Send...)
			}
		case agent.NotYet:
			h.notYet(mark, m)
		case agent.Row:
			if m.To == agent.Everyone {
				h.moves(mark, m.Time)
			}
			h.stats.LateRows++
		}
	}
	h.sendAs(c.before, again)
	h.settle()
	return true
}

// sendAs sends messages in frames of the given plan.
func (h *Machine) sendAs(plan uint32, messages []agent.Message) {
	for from := 0; from < len(messages); {
		to, size := from, 0
		for to < len(messages) && (to == from || size < frameRoom) {
			size += 40 + 4*len(messages[to].Values) + len(messages[to].Data)
			to++
		}
		h.sent++
		header := agent.Header{Run: h.hash, Plan: plan, Host: uint32(h.cfg.Host), Sequence: h.sent}
		h.actions.Frames = append(h.actions.Frames, agent.AppendFrame(h.buffer(), header, messages[from:to]))
		from = to
	}
}

// reportChange says how far a change is.
func (h *Machine) reportChange() *ChangeReport {
	c := h.change
	if c == nil {
		return nil
	}
	r := &ChangeReport{ID: c.ID, Model: c.Model, Step: c.Step, State: ChangeArmed, Kept: c.kept, Anew: c.anew}
	switch {
	case c.gone:
		r.State = ChangeMade
	case c.agreed:
		r.State = ChangeAgreed
	case c.drop:
		r.State = ChangeDropped
	}
	return r
}

// hosts returns how many hosts there are.
func (d *Directory) hosts() int {
	all := make([]transport.HostID, 0, len(d.spans))
	for _, s := range d.spans {
		all = append(all, s.host)
	}
	slices.Sort(all)
	return len(slices.Compact(all))
}
