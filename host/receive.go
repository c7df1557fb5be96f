package host

import (
	"errors"
	"fmt"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/internal/defect"
	"github.com/wdgnn/wdgnn/transport"
)

// Frames of steps to come are kept, because a neighbour that is a moment faster
// sends its rows before the world has shown us ours, and does not send them again
// unless it is asked. Who waits for us is a step ahead at most, and further only if
// it has given us up. If it is more than a few steps further, we shall leave steps
// out to meet it, or it does not tell the truth: its frames are not worth memory,
// and what is missing then can be asked for. The memory is bounded by host, so that
// none can take the room of others: in bytes, and in frames, of which a step has
// one per exchange. With more than 32 hosts the shares may add up to more than
// mostLater: each has room for a frame or two of any size.
const (
	window    = 4        // steps ahead of which frames are kept
	mostLater = 64 << 20 // bytes of such frames, in equal shares for all hosts that are heard

	leastLater = 2 << 20 // bytes of a share at least
	mostSkip   = 1 << 10 // steps left out at once, whatever neighbours say
	mostApart  = 1 << 24 // steps that one is believed to be ahead of others that are not
	latest     = 32      // frames by which one may be late
)

// frameMark is what a host knows of another's frames: which of the last 64 came,
// and what they tell of the steps that it is making. Frames are numbered by their
// sender, so that a loss is known to be one: between two frames with successive
// numbers nothing was said.
type frameMark struct {
	sequence uint64 // of the latest
	seen     uint64 // which came: bit k for the one k before the latest
	newest   bool   // that which came last is the latest
	again    bool   // or is one that came before, to the bit
	gap      uint64 // the latest that did not come; 0 if all did
	jumped   bool   // it was noticed just now
	lost     uint64 // how many did not come since the frame numbered
	since    uint64 // so,
	earlier  uint64 // and of as many before that

	step   uint64 // that it is in
	before uint64 // the step that it made before; 0 with from 0 if that is not known
	from   uint64 // sequence of the last frame of the step before,
	first  uint64 // of the first of this step
	last   uint64 // and of the last that told of it
	during uint64 // how many steps we had opened when it spoke
	kept   int    // frames of it in later
	held   int    // bytes of them

	trip    roundTrip     // how long it takes to answer
	waiting time.Duration // when it was asked what it has not answered; 0 if it has
	unsure  bool          // and was asked again since
	agrees  bool          // what it said last of hosts that came later is what we know of them
	asked   requests      // in the exchange under way
	missed  bool          // while it is seen who is missing: it is,
	asking  bool          // and is being asked
}

// laterFrame is a frame with rows of steps to come; those before step from were
// taken when it arrived.
type laterFrame struct {
	transport.Frame
	from uint64
}

// take takes in a frame. A message counts only if the bus, the header and the
// directory agree on who sent it: a host can lie about its own nodes, and about
// those of nobody else.
//
// Rows of the present step are used, those of past ones at most as a sign of life,
// those of steps to come kept. A row that is addressed to somebody is the answer to
// a request, and may be of the step before: only what is said to everyone, and
// requests, tell which step the sender is in.
func (h *Machine) take(f transport.Frame) {
	if h.cfg.Losses.Lose(f.From) {
		return
	}
	if h.keepsOut(f) {
		h.settle() // it may have been let in
		return
	}
	messages, ok := h.inspect(f)
	if !ok {
		h.settle() // it may just have turned out that a host is not to be waited for
		return
	}
	mark, later, far := h.mark(f.From), false, false
	var pends agent.Message
	for k := range messages {
		m := &messages[k]
		if owner, known := h.cfg.Directory.Owner(m.From); !known || owner != f.From {
			h.stats.Impostors++
			if known {
				h.tally.add(impostor, errNames)
			}
			continue
		}
		if !mark.again {
			mark.during = h.opened
		}
		if h.takeWord(f.From, mark, m, &pends) {
			continue
		}
		h.meet(m.From, f.From)
		if m.To == agent.Everyone { // and not for somebody who asked for it later
			h.moves(mark, m.Time)
		} else if _, here := h.index[m.To]; here {
			mark.replied(h.now)
		}
		switch {
		case !h.begun || m.Time > h.time:
			h.slower(m.Time) // not all neighbours are as far ahead as we were told
			later, far = later || h.near(m.Time), true
		case m.Time < h.time:
			h.late(m)
		default:
			h.deliver(m)
		}
	}
	if later {
		h.keep(f)
	} else if far {
		h.stats.Overflows++
	}
	if mark.again {
		h.tally = tally{} // good and bad rows of it were counted when it came first
	}
	h.weigh(f.From)
	if pends.Kind == agent.NotYet { // one word for all that it asked for in vain
		h.excuse(pends)
	}
	h.settle()
	if mark.jumped && !h.isShut(f.From) {
		mark.jumped = false
		h.askLost(mark, messages)
	}
}

// takeWord takes in a message that is neither a row nor an answer that is passed on, and
// says whether it was one. What is asked for in vain goes to pends.
func (h *Machine) takeWord(from transport.HostID, mark *frameMark, m, pends *agent.Message) bool {
	switch m.Kind {
	case agent.Member:
		h.hearMember(from, m)
	case agent.Switch:
		h.hearWord(from, m, h.plan)
	case agent.Ask: // for rows of the step that the sender is in
		h.moves(mark, m.Time)
		if i, here := h.index[m.To]; here && h.requested(i, m) {
			*pends = agent.Message{From: m.To, To: m.From, Time: m.Time, Kind: agent.NotYet, Exchange: m.Exchange}
		}
	case agent.NotYet:
		h.notYet(mark, m)
	default:
		return false
	}
	return true
}

// moves notes that a host is in a step.
func (h *Machine) moves(m *frameMark, step uint64) {
	m.moves(step)
	h.farthest = max(h.farthest, step)
}

// moves notes that a host is in a step, as its latest frame says. A frame that was
// overtaken says where it was, and is passed over.
func (m *frameMark) moves(step uint64) {
	if !m.newest {
		return
	}
	if step > m.step {
		m.before, m.from, m.first = m.step, m.last, m.sequence
	} else if step < m.step { // it was restarted, or did not tell the truth
		m.from, m.first = 0, 0
	}
	m.step, m.last = step, m.sequence
}

// whole says whether all frames came that a host sent between the step before and
// this one, and are remembered. One that is missing may have held the rows of a step
// between the two: it may yet come, or be asked for.
func (m *frameMark) whole() bool {
	if m.from == 0 || m.sequence-m.from >= 64 {
		return false
	}
	for q := m.from + 1; q < m.first; q++ {
		if m.seen>>(m.sequence-q)&1 == 0 {
			return false
		}
	}
	return true
}

// leftOut says whether a host went from a step before the present one to one
// after it, as frames show of which none is missing: its rows of this step will
// never come. A world by the clock leaves steps out that a host has no time for;
// if nobody noticed, two hosts could wait for each other in turn, each in steps
// that the other leaves out.
func (h *Machine) leftOut(host transport.HostID) bool {
	m := h.spoke[host]
	return m != nil && m.before < h.time && h.time < m.step && m.whole()
}

// inspect reads a frame and refuses what is not meant for this host.
func (h *Machine) inspect(f transport.Frame) ([]agent.Message, bool) {
	header, messages, err := h.reader.Read(f.Data)
	switch {
	case err != nil:
		h.unreadable(f.From, err)
	case header.Run != h.hash:
		h.stats.OtherRuns++
		h.accuse(f.From, otherRun, 1, 1, errRun)
	case header.Host != uint32(f.From):
		h.stats.Impostors++
		h.accuse(f.From, impostor, 1, 1, errNames)
	case header.Plan != h.plan:
		h.otherwise(f, header, messages)
	default:
		if len(h.others) > 0 {
			delete(h.others, f.From)
		}
		h.passOver(f.From)
		c := h.conductOf(f.From)
		c.differs = 0
		h.number(f, header.Sequence, c)
		return messages, !h.isShut(f.From)
	}
	return nil, false
}

// differs notes that a host runs another model, or learns by another rule. What
// it says means nothing here: its nodes count as silent.
func (h *Machine) differs(from transport.HostID, plan uint32) {
	h.stats.OtherPlans++
	if c := h.change; c == nil || plan != c.digest && plan != c.before { // those who only follow later are no liars
		h.wavers(from, h.spoke[from] != nil)
	}
	if h.others[from] != plan {
		h.others[from] = plan
		h.warn("a host runs another model, scale or rule; it is not listened to until it runs the same: compare what --check says of it",
			"host", from, "digest", fmt.Sprintf("%06x", plan), "here", fmt.Sprintf("%06x", h.plan))
	}
}

// number notes a frame's number, and whether it may have it.
func (h *Machine) number(f transport.Frame, sequence uint64, c *conduct) {
	again, replay := c.numbers.note(sequence, checksum(f.Data))
	h.count(f.From, sequence, again)
	if !again {
		c.echoes = 0
	} else if weight := c.echoed(sequence, replay); weight > 0 {
		h.accuse(f.From, replayed, weight, 1, errOften)
	}
}

// count notes a frame's number. Gaps are frames that were lost, or are late. A
// number far below the last is that of a host that was restarted, and whose
// first frame was lost. Numbers only count and order: a frame that comes twice, or
// late, is opened like any other, and the agents know which rows they have. One that
// came before, to the bit, tells nothing of where its sender is, nor that it is there:
// who repeats rows of the first steps would keep others from catching up (behind).
func (h *Machine) count(from transport.HostID, sequence uint64, again bool) {
	mark := h.mark(from)
	mark.newest, mark.again = true, again
	switch {
	case again:
		h.stats.Disordered++
		mark.newest = false
	case mark.sequence == 0 || sequence == 1 || sequence+latest < mark.sequence: // its first, or it was restarted
		mark.sequence, mark.seen, mark.from, mark.last = sequence, 1, 0, 0
		mark.gap, mark.lost, mark.earlier, mark.since, mark.waiting = 0, 0, 0, sequence, 0
	case sequence > mark.sequence:
		missing := min(sequence-mark.sequence-1, 1<<20)
		h.stats.Gaps += missing
		mark.lose(sequence, missing)
		mark.seen = mark.seen<<(sequence-mark.sequence) | 1
		mark.sequence = sequence
	default:
		h.stats.Disordered++
		mark.lost -= min(mark.lost, 1) // it was late, and not lost
		if sequence == mark.gap {
			mark.gap = 0
		}
		mark.seen |= 1 << (mark.sequence - sequence)
		mark.newest = false
	}
}

// mark returns what is known of a host's frames.
func (h *Machine) mark(host transport.HostID) *frameMark {
	m := h.spoke[host]
	if m == nil {
		m = new(frameMark)
		h.spoke[host] = m
	}
	return m
}

// deliver hands a row of the present step to those who hear its sender. It is
// accepted if none of them refuses it. Nodes here have the same plan and the same
// bounds: if one refuses a row, it is the row's fault. A row that nobody here hears,
// because links have changed, says nothing about its sender.
func (h *Machine) deliver(m *agent.Message) {
	if h.joint && m.Time == h.time && h.hearTogether(m) {
		return
	}
	var refused error
	heard := false
	if m.To != agent.Everyone {
		if i, here := h.index[m.To]; here {
			refused, heard = h.step(i, agent.Receive{Message: m}), true
		}
	} else {
		for _, i := range h.hearers[m.From] {
			if err := h.step(i, agent.Receive{Message: m}); err != nil {
				refused = err
			}
			heard = true
		}
	}
	if refused != nil && h.charge(m, refused) && defect.Number != 5 {
		h.refuseRow(m, refused)
	} else if heard {
		h.arrived(m)
		h.heard(m)
		h.tally.good++
	}
}

// charge counts a row that was refused against its sender, if it is its fault, and
// says whether the sender counts as not heard. Of two rows that contradict each other
// the first was used.
func (h *Machine) charge(m *agent.Message, err error) bool {
	owner, _ := h.cfg.Directory.Owner(m.From)
	o, lie := h.offenceOf(owner, err)
	if lie {
		h.tally.add(o, err)
	}
	return !errors.Is(err, agent.LieTwoFaced)
}

// late takes in a row of a past step. It comes too late to be used, but may say
// that a silent neighbour is there again: those who hear it look whether it fits.
// Of neighbours that are not silent it is only counted.
func (h *Machine) late(m *agent.Message) {
	h.stats.LateRows++
	if _, silent := h.silent[m.From]; silent {
		h.deliver(m)
	}
}

// near says whether a step to come is worth keeping frames for. Before the first
// line nobody knows where the world is. Where steps are being left out, those after
// them are near.
func (h *Machine) near(time uint64) bool {
	return h.opened == 0 || time <= max(h.time, h.skipTo)+window
}

// keep stores a frame of a step to come. Every host has room for those of a few
// steps, so that none can take that of others: twice as many frames as it sends in
// so many steps, as some come twice and long ones are divided. A frame may hold rows
// of the present step too; those were taken when it came, and l.from says so.
func (h *Machine) keep(f transport.Frame) {
	mark := h.mark(f.From)
	share := max(mostLater/max(len(h.hears), 1), leastLater)
	if mark.held+len(f.Data) > share || mark.kept >= 2*window*len(h.posted) {
		h.stats.Overflows++
		return
	}
	mark.kept++
	mark.held += len(f.Data)
	l := laterFrame{Frame: f}
	if h.begun {
		l.from = h.time + 1
	}
	h.later = append(h.later, l)
}

// replay opens the frames that were kept for the step that has begun. Those of
// steps after it are kept again, those of steps that were left out may still be
// signs of life. Their numbers were counted when they came.
func (h *Machine) replay() {
	if len(h.later) == 0 {
		return // and all is settled
	}
	frames := h.later
	h.later = nil
	for _, mark := range h.spoke {
		mark.kept, mark.held = 0, 0
	}
	for _, f := range frames {
		header, messages, err := h.reader.Read(f.Data)
		if err != nil || h.isShut(f.From) {
			continue // it was read before, and its sender may be in quarantine since
		}
		if !h.meant(header.Plan) {
			h.keepForChange(f.Frame, header.Plan, messages)
			continue
		}
		later := false
		for k := range messages {
			m := &messages[k]
			owner, _ := h.cfg.Directory.Owner(m.From)
			switch {
			case owner != f.From || m.Kind != agent.Row || m.Time < f.from:
			case m.Time > h.time:
				later = later || h.near(m.Time)
			case m.Time == h.time:
				h.deliver(m)
			default:
				h.late(m)
			}
		}
		if later {
			h.keep(f.Frame)
		}
		h.weigh(f.From)
	}
	h.settle()
}
