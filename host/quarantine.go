package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/internal/defect"
	"github.com/wdgnn/wdgnn/transport"
)

// Whom a host shuts out
//
// Every message is judged by itself: what cannot be true is refused, as if it had been
// lost. A host that sends such messages all the time would still be asked, waited for
// and inspected all the time. So offences are counted, host by host, and who commits
// too many is put in quarantine: its frames are counted and not opened, its nodes count
// as silent at once.
//
// What is counted is what no honest host sends, on whatever network: frames that come
// late, twice, in another order or not at all, numbers that begin again after a
// restart, steps far ahead or behind, kinds of messages that came later and nodes that
// nobody knows yet say nothing about honesty. It is counted by rate: good frames make
// up for bad ones (goodFrame), so that a damaged frame now and then, or a few nodes of
// many with a broken sensor, are put up with.
//
// What is held against a host is part of checkpoints: to start a box again is no pardon.
//
// To be wrong about somebody must not be for ever. After its term a host is on
// probation: its frames are looked at and not used, and when enough in a row are in
// order it is let back in. The first that is not begins another term, twice as long.

// offence is something that no honest host does.
type offence uint8

const (
	malformed   offence = iota // a frame that cannot be read
	otherRun                   // a frame of another run
	impostor                   // a frame or a row in somebody else's name
	replayed                   // a frame again and again, or numbers that fall back
	fickle                     // another model, for long or now and then
	misshaped                  // a row of another shape, though of the same model
	notNumbers                 // a row that is not finite
	outOfBounds                // a row beyond the bounds
	falseDegree                // a degree that cannot be
	twoFaced                   // a row that contradicts one before
	offences
)

var offenceNames = [offences]string{
	"malformed", "other run", "impostor", "replay", "model",
	string(agent.LieShape), string(agent.LieNumbers), string(agent.LieBounds), string(agent.LieDegree), string(agent.LieTwoFaced),
}

func (o offence) String() string { return offenceNames[o] }

// idle says whether all that such a frame does is to be dropped: it holds nothing that
// anybody waits for, and whoever sends the truth beside it is better heard than not.
func (o offence) idle() bool { return o <= replayed }

// weight is what a frame with nothing else in it counts. Twice as much are those that
// no broken sensor, disk or network brings about.
func (o offence) weight() float64 {
	switch o {
	case impostor, misshaped, notNumbers, falseDegree:
		return 2
	}
	return 1
}

const (
	mostPoints = 12.0    // of offences; who has so many is put in quarantine
	goodFrame  = 1.0 / 4 // what a frame that is in order takes off: one of five may be bad,
	goodIdle   = 1.0     // and off those for idle ones: one of two may be
	leastTerm  = 8       // deadlines that a quarantine lasts, the first time
	mostTerm   = 256     // and at most
	probation  = 8       // frames in a row that must be in order after it
	remembered = 4       // terms for which a quarantine is remembered, and the next longer
	mostCopies = 8       // of one frame that a network may make
	longAgo    = 1 << 8  // frames after which no network brings one again
	mostEcho   = 4       // what a frame of long ago weighs at most
	numbered   = 1 << 10 // frames of which copies are counted
	believed   = 3       // frames in a row with numbers of long ago: their sender was restarted
	settled    = 1 << 6  // frames after a restart in which a host may repeat a step otherwise
)

// conduct is what a host knows of the honesty of another.
type conduct struct {
	points   float64          // for offences of late,
	idle     float64          // and for those that are idle
	evidence [offences]uint64 // rows and frames, since it was last let in
	err      error            // the latest

	shut   bool
	why    offence       // what it was shut out for
	since  time.Duration // when
	until  time.Duration // when its frames are looked at again
	term   time.Duration // until then, from the latest offence
	freed  time.Duration // when it was last let back in
	times  int           // that it was shut out
	frames uint64        // that were not used since

	looked bool   // since the term was over
	good   int    // frames in a row that are in order
	step   uint64 // of the latest of them,
	turn   uint16 // and its exchange

	differs time.Duration // since when it runs another model; 0 if it does not
	numbers numbers
	echoes  int // frames in a row that came before
}

// numbers is which of the last frames of a host came, and how often.
type numbers struct {
	newest uint64
	copies [numbered]uint8
	sums   [numbered]uint32 // checksums of them
	fell   uint64           // the latest number of long ago,
	falls  int              // and how many in a row
}

// note takes in a frame's number and checksum. It says whether the frame is one that
// came before, and whether only a liar sends it: it came too often, or its number is
// one of long ago. A host that was restarted begins again with 1. Where that frame was
// lost numbers of long ago follow each other, and the third is believed.
func (n *numbers) note(number uint64, sum uint32) (again, replay bool) {
	at, falls := number%numbered, n.falls
	inside := n.inside(number)
	n.falls = 0
	switch {
	case inside && n.copies[at] > 0 && n.sums[at] == sum:
		n.copies[at] = min(n.copies[at]+1, mostCopies+1)
		return true, n.copies[at] > mostCopies
	case inside && n.copies[at] == 0 && number > 1: // it is late
		n.copies[at], n.sums[at] = 1, sum
	case number > n.newest && number-n.newest < numbered:
		for k := n.newest + 1; k < number; k++ {
			n.copies[k%numbered] = 0
		}
		n.newest, n.copies[at], n.sums[at] = number, 1, sum
	case !inside && number > 1 && number < n.newest && (falls+1 < believed || number != n.fell+1):
		if n.falls = 1; number == n.fell+1 {
			n.falls += falls
		}
		n.fell = number
		return true, true
	default: // it was restarted, or is far ahead
		n.begin(number, sum)
	}
	return false, false
}

// inside says whether it is known how often the frame of a number came.
func (n *numbers) inside(number uint64) bool { return number <= n.newest && n.newest-number < numbered }

// past says whether a number is further back than frames are late, also such as are
// sent several times.
func (n *numbers) past(number uint64) bool { return number+longAgo <= n.newest }

// echoed counts a frame that came before, and returns what that weighs as an offence:
// nothing after one that is new, because who tells the truth beside is better heard than
// not. Networks double frames, and a few may come late. None repeats what was said long
// ago, or anything too often, while nothing new comes.
func (c *conduct) echoed(number uint64, often bool) float64 {
	c.echoes++
	switch {
	case c.echoes == 1:
		return 0
	case c.numbers.past(number) && c.numbers.inside(number):
		return float64(min(c.echoes-1, mostEcho))
	case often || c.echoes > 2*latest:
		return 1
	}
	return 0
}

// begin forgets all frames but one.
func (n *numbers) begin(number uint64, sum uint32) {
	clear(n.copies[:])
	n.newest, n.copies[number%numbered], n.sums[number%numbered] = number, 1, sum
}

// tally is what became of the rows of the frame that is being opened.
type tally struct {
	good, bad int
	worst     offence
	err       error
}

// add counts a row against its sender.
func (t *tally) add(o offence, err error) {
	if t.bad == 0 || o.weight() > t.worst.weight() {
		t.worst, t.err = o, err
	}
	t.bad++
}

// conductOf returns what is known of a host.
func (h *Machine) conductOf(host transport.HostID) *conduct {
	c := h.conduct[host]
	if c == nil {
		c = new(conduct)
		h.conduct[host] = c
	}
	return c
}

// isShut says whether a host is in quarantine.
func (h *Machine) isShut(host transport.HostID) bool {
	if h.shut == 0 {
		return false
	}
	c := h.conduct[host]
	return c != nil && c.shut
}

// liar says whether a host is in quarantine for what it says, and not for the model
// that it runs: the other may be this one's.
func (h *Machine) liar(host transport.HostID) bool {
	return h.isShut(host) && h.conduct[host].why != fickle
}

// accuse counts an offence of a host: a share of a frame, with the given number of
// rows, 0 for none.
func (h *Machine) accuse(from transport.HostID, o offence, share float64, rows int, err error) {
	c := h.conductOf(from)
	c.evidence[o] += uint64(max(rows, 1))
	c.err = err
	if o.idle() {
		c.idle += float64(o.weight() * share)
	} else {
		c.points += float64(o.weight() * share)
	}
	if max(c.points, c.idle) >= mostPoints && !c.shut {
		h.shutOut(from, o)
	}
}

// weigh judges a host by the rows of a frame that was opened. Most are in order, of hosts
// against which there is nothing.
func (h *Machine) weigh(from transport.HostID) {
	c := h.conduct[from]
	if h.tally.bad == 0 && (c == nil || c.points == 0 && c.idle == 0) {
		h.tally.good = 0
		return
	}
	t := h.tally
	h.tally = tally{}
	if t.good+t.bad == 0 {
		return
	}
	share := float64(t.bad) / float64(t.good+t.bad)
	if t.bad > 0 {
		h.accuse(from, t.worst, share, t.bad, t.err)
	}
	if c := h.conduct[from]; c != nil {
		c.points, c.idle = max(c.points-float64((1-share)*goodFrame), 0), max(c.idle-float64((1-share)*goodIdle), 0)
	}
}

// offenceOf says what is wrong with a row that an agent refused, and false if it was
// only that there is no room for it. In a step that a host repeats after a restart it
// may say something else than before.
func (h *Machine) offenceOf(from transport.HostID, err error) (offence, bool) {
	var lie agent.Lie
	if !errors.As(err, &lie) {
		return 0, false
	}
	if lie == agent.LieTwoFaced && h.mark(from).sequence <= settled {
		return 0, false
	}
	return offence(slices.Index(offenceNames[:], string(lie))), true
}

// least is how long the first quarantine of a host lasts.
func (h *Machine) least() time.Duration { return leastTerm * h.cfg.Pace.Deadline }

// shutOut puts a host in quarantine. What is kept of its frames is dropped with it.
func (h *Machine) shutOut(from transport.HostID, why offence) {
	c := h.conductOf(from)
	if c.times == 0 || h.now-c.freed > remembered*c.term {
		c.term = 0
	}
	c.shut, c.why, c.since, c.frames = true, why, h.now, 0
	c.times++
	h.shut++
	h.quarantines[why]++
	h.later = slices.DeleteFunc(h.later, func(l laterFrame) bool { return l.From == from })
	delete(h.spoke, from)
	h.prolong(c)
	h.warn("a host is put in quarantine: what it sends is not used", "host", from, "why", why.String(), "evidence", c.account(),
		"for", c.term, "time", h.time, "err", c.err)
}

// prolong begins a term, twice as long as the one before.
func (h *Machine) prolong(c *conduct) {
	c.term = min(max(2*c.term, h.least()), mostTerm*h.cfg.Pace.Deadline)
	c.until, c.looked, c.good = h.now+c.term, false, 0
}

// counts returns what there is against a host.
func (c *conduct) counts() map[string]uint64 {
	m := map[string]uint64{}
	for o, n := range c.evidence {
		if n > 0 {
			m[offence(o).String()] = n
		}
	}
	return m
}

// account writes it in a line.
func (c *conduct) account() string { return (&Quarantine{Evidence: c.counts()}).Reasons() }

// keepsOut counts a frame of a host in quarantine, and says whether that is all that
// happens to it. After its term it is looked at.
func (h *Machine) keepsOut(f transport.Frame) bool {
	if !h.isShut(f.From) {
		return false
	}
	c := h.conduct[f.From]
	h.stats.Quarantined++
	c.frames++
	if h.now < c.until {
		return true
	}
	order, o, err := h.lookAt(f, c)
	switch {
	case err != nil:
		c.evidence[o]++
		c.err, c.why = err, o
		h.prolong(c)
		h.warn("a host stays in quarantine", "host", f.From, "why", o.String(), "evidence", c.account(),
			"for", c.term, "time", h.time, "err", err)
	case order:
		if c.good++; c.good >= probation && defect.Number != 11 {
			h.letIn(f.From, c)
		}
	}
	return true
}

// errOften and the like say what is wrong with frames as a whole.
var (
	errOften  = errors.New("a frame came too often, or has a number of long ago")
	errNames  = errors.New("in somebody else's name")
	errRun    = errors.New("of another run")
	errFickle = errors.New("now this model, now another")
)

// lookAt says whether a frame of a host on probation is in order: rows of its nodes
// that somebody here hears, of the same model, later than those before, with nothing
// wrong in any message. One that is neither that nor an offence does not count.
func (h *Machine) lookAt(f transport.Frame, c *conduct) (order bool, o offence, err error) {
	header, messages, err := h.reader.Read(f.Data)
	switch {
	case errors.Is(err, agent.ErrVersion):
		c.good = 0
		return false, 0, nil
	case err != nil:
		h.stats.BadFrames++
		return false, malformed, err
	case header.Run != h.hash:
		return false, otherRun, errRun
	case header.Host != uint32(f.From):
		return false, impostor, errNames
	case header.Plan != h.plan:
		c.good = 0
		return false, 0, nil
	}
	if !c.looked { // what it sent meanwhile was not opened, and it may have been restarted
		c.looked, c.step, c.turn = true, 0, 0
		if header.Sequence < c.numbers.newest && c.numbers.newest-header.Sequence >= numbered {
			c.numbers.begin(header.Sequence, 0)
		}
	}
	if again, replay := c.numbers.note(header.Sequence, checksum(f.Data)); replay || again && c.numbers.past(header.Sequence) {
		return false, replayed, errOften
	}
	for k := range messages {
		m := &messages[k]
		if owner, known := h.cfg.Directory.Owner(m.From); known && owner != f.From {
			return false, impostor, errNames
		} else if !known || m.Kind != agent.Row {
			continue
		}
		if err := h.inspectRow(m); err != nil {
			if o, lie := h.offenceOf(f.From, err); lie {
				return false, o, err
			}
			continue
		}
		order = order || m.To == agent.Everyone && c.goesOn(m)
	}
	return order, 0, nil
}

// goesOn notes the step of a row, and says whether it is later than those before.
func (c *conduct) goesOn(m *agent.Message) bool {
	on := m.Time > c.step || m.Time == c.step && m.Exchange > c.turn || c.step == 0 && c.turn == 0
	c.step, c.turn = m.Time, m.Exchange
	return on
}

// inspectRow has a node that hears a row look at it.
func (h *Machine) inspectRow(m *agent.Message) error {
	i, here := h.index[m.To]
	if m.To == agent.Everyone {
		list := h.hearers[m.From]
		if here = len(list) > 0; here {
			i = list[0]
		}
	}
	if !here {
		i = 0 // all have the same plan
	}
	return h.cells[i].node.Inspect(m)
}

// checksum returns that of a frame which was read.
func checksum(frame []byte) uint32 { return binary.LittleEndian.Uint32(frame[28:]) }

// letIn ends a quarantine.
func (h *Machine) letIn(host transport.HostID, c *conduct) {
	h.info("a host is let back in: its frames are in order", "host", host, "was_for", c.why.String(), "after", h.now-c.since,
		"frames_not_used", c.frames, "time", h.time)
	c.shut, c.points, c.idle, c.freed, c.evidence, c.differs = false, mostPoints/2, mostPoints/2, h.now, [offences]uint64{}, 0
	h.shut--
	delete(h.others, host)
}

// wavers counts that a host which ran the same model runs another: a model may be
// changed, once, and is not changed back and forth. One that runs another for long is
// put in quarantine, without a term: it is looked at all the while.
func (h *Machine) wavers(from transport.HostID, before bool) {
	c := h.conductOf(from)
	switch {
	case c.differs == 0:
		c.differs = max(h.now, 1)
		if before {
			h.accuse(from, fickle, 1, 1, errFickle)
		}
	case h.now-c.differs >= h.least():
		c.evidence[fickle] += 1
		c.err = fmt.Errorf("it runs the model %06x, here is %06x", h.others[from], h.plan)
		h.shutOut(from, fickle)
		c.until, c.term = h.now, 0
	}
}

// Quarantine is a host whose frames are not used, because it sent what no honest host
// sends.
type Quarantine struct {
	Host     transport.HostID  `json:"host"`
	Why      string            `json:"why"`          // malformed, replay, numbers, bounds, degree and so on
	Seconds  float64           `json:"seconds"`      // that it has lasted
	Left     float64           `json:"left_seconds"` // until its frames are looked at again; 0 means that they are
	Term     float64           `json:"term_seconds"` // that it lasts in all, from the latest offence; the next is twice as long
	Times    int               `json:"times"`        // with this one
	Frames   uint64            `json:"frames"`       // that were not used
	Evidence map[string]uint64 `json:"evidence"`     // frames and rows, by what is wrong with them
}

// Reasons writes the evidence in a line, as bounds=3 numbers=12.
func (q *Quarantine) Reasons() string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(q.Evidence)) {
		list = append(list, fmt.Sprintf("%s=%d", name, q.Evidence[name]))
	}
	return strings.Join(list, " ")
}

// reportQuarantine says who is in quarantine, and how often hosts were, by reason.
func (h *Machine) reportQuarantine(r *Report) {
	for o, n := range h.quarantines {
		if n > 0 {
			if r.Quarantines == nil {
				r.Quarantines = map[string]uint64{}
			}
			r.Quarantines[offence(o).String()] = n
		}
	}
	r.Quarantine = h.inQuarantine()
}

// inQuarantine returns who is in quarantine, nil if nobody is.
func (h *Machine) inQuarantine() (list []Quarantine) {
	if h.shut == 0 {
		return nil
	}
	for _, host := range slices.Sorted(maps.Keys(h.conduct)) {
		c := h.conduct[host]
		if !c.shut {
			continue
		}
		list = append(list, Quarantine{
			Host: host, Why: c.why.String(), Seconds: (h.now - c.since).Seconds(), Left: max(c.until-h.now, 0).Seconds(),
			Term: c.term.Seconds(), Times: c.times, Frames: c.frames, Evidence: c.counts(),
		})
	}
	return list
}

// shutAgain goes on with the quarantines of a checkpoint: who was shut out is not believed
// because this host was started again. The time in between does not count. Who ran another
// model is heard: that may be the one that this host was started with.
func (h *Machine) shutAgain(list []Quarantine) {
	for _, q := range list {
		why := slices.Index(offenceNames[:], q.Why)
		known := q.Host != h.cfg.Host && h.cfg.Directory.has(q.Host)
		if why < 0 || offence(why) == fickle || !known || h.isShut(q.Host) {
			continue
		}
		most := mostTerm * h.cfg.Pace.Deadline
		c := h.conductOf(q.Host)
		c.shut, c.why, c.times, c.frames = true, offence(why), max(q.Times, 1), q.Frames
		c.since, c.until, c.term = h.now-seconds(q.Seconds, forLong), h.now+seconds(q.Left, most), seconds(q.Term, most)
		for name, n := range q.Evidence {
			if o := slices.Index(offenceNames[:], name); o >= 0 {
				c.evidence[o] = n
			}
		}
		h.shut++
	}
}

// forLong is as long as a quarantine is said to have lasted at most.
const forLong = 1 << 14 * time.Hour

// seconds returns a time that a checkpoint says, from 0 to most.
func seconds(s float64, most time.Duration) time.Duration {
	if !(s < most.Seconds()) {
		return most
	}
	return max(time.Duration(s*float64(time.Second)), 0)
}

// sayShut logs who is in quarantine since before the start.
func (h *Machine) sayShut() {
	for _, q := range h.inQuarantine() {
		h.warn("a host is in quarantine as before the restart: what it sends is not used", "host", q.Host, "why", q.Why,
			"evidence", q.Reasons(), "for", time.Duration(q.Left*float64(time.Second)))
	}
}
