package sim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/journal"
	"github.com/wdgnn/wdgnn/internal/journal/faultdisk"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/transport"
)

// box is one deployed host: a machine, the loop around it in virtual time, its
// world and its disk.
type box struct {
	run *run
	id  int

	machine *host.Machine // nil while the box is dead
	life    int           // how often it was started
	born    time.Duration // when this life began
	rate    float64       // of its clock
	hears   []transport.HostID
	inbox   []transport.Frame
	wake    time.Duration // when it wants a Tick, in virtual time; 0 means never
	busy    bool          // the world's line must wait
	free    time.Duration // when it can take the next event
	at      time.Duration // when it will look for one
	ticket  uint64        // of that, in the queue; 0 if there is none
	ended   bool          // its world has

	next   uint64        // step of the next line
	lineAt time.Duration // before which the world says nothing, without a clock

	disk   *faultdisk.Disk
	store  *journal.Snapshots
	saving bool
	saved  uint64 // step of the latest checkpoint, plus one
	model  int    // that it runs

	refused error // why the last order was

	began   time.Duration // when the step under way did, in virtual time
	waiting bool
	idle    time.Duration // how much of it the box stood still
	account account

	lied   int    // frames in which it did
	record []byte // in its folder of keys; nil if there is none
	joined int    // records in its latest checkpoint

	past [][]byte     // the first frames that it sent, if somebody lies
	shut map[int]bool // hosts that it put in quarantine, in all its lives
	out  map[int]bool // and those that are there now
}

// account is what a box was asked and said in one life.
type account struct {
	lines, answers uint64
	slow           int // steps that waited for a whole deadline, while others talked nonsense and nothing else went wrong
	held           int // while somebody joined
}

func (r *run) newBox(id int) *box {
	b := &box{run: r, id: id, rate: 1, disk: faultdisk.New(), shut: map[int]bool{}, out: map[int]bool{}}
	for _, f := range r.trial.Faults {
		if f.Kind == faultDrift && f.Host == id {
			b.rate = f.Size
		}
	}
	return b
}

// clock returns the time since the box was started, by its own clock.
func (b *box) clock() time.Duration {
	return time.Duration(float64(b.run.now-b.born) * b.rate)
}

// start starts the box with what its disk holds.
func (b *box) start() {
	store, err := journal.OpenSnapshots(b.disk)
	if err != nil {
		b.run.fail("host %d: %v", b.id, err)
		return
	}
	last, _ := store.Last()
	m, err := b.awake(last)
	if err != nil {
		b.run.fail("host %d: %v", b.id, err)
		return
	}
	b.machine, b.store, b.born, b.hears = m, store, b.run.now, m.Hears()
	b.life++
	clear(b.out) // it remembers nobody's lies
	b.inbox, b.wake, b.busy, b.free, b.ticket, b.saving, b.waiting, b.account = nil, 0, false, b.run.now, 0, false, false, account{}
	if b.saved > m.Next() {
		b.run.fail("host %d: its checkpoint is of step %d, and one of step %d was written before", b.id, int64(m.Next())-1, b.saved-1)
	}
	if len(m.Members()) < b.joined {
		b.run.fail("host %d: it knows %d who joined, and %d were in a checkpoint before", b.id, len(m.Members()), b.joined)
	}
	b.step(host.Start{})
	b.next, b.lineAt = m.Next(), b.run.now
	b.poke()
}

// kill ends the box as a power failure does.
func (b *box) kill() {
	b.closeAccount(true)
	b.machine, b.ended = nil, false
	b.disk = b.disk.Crash(b.run.rng)
}

// poke makes sure that the box looks at what there is to do.
func (b *box) poke() {
	if b.machine == nil {
		return
	}
	at, any := b.due()
	at = max(at, b.free, b.run.now)
	if !any || b.ticket != 0 && b.at <= at {
		return
	}
	b.at, b.ticket = at, b.run.push(event{at: at, kind: serve, host: int32(b.id)})
}

// due returns when there will be something to do.
func (b *box) due() (at time.Duration, any bool) {
	if len(b.inbox) > 0 {
		return b.run.now, true
	}
	if b.wake > 0 {
		at, any = b.wake, true
	}
	if l, ok := b.lineDue(); ok && (!any || l < at) {
		at, any = l, true
	}
	return at, any
}

// lineDue returns when the world's next line can be taken.
func (b *box) lineDue() (time.Duration, bool) {
	if b.ended || b.busy {
		return 0, false
	}
	t := b.run.trial
	at := b.lineAt
	if t.period > 0 {
		at = max(at, time.Duration(b.next)*t.period-b.run.jump(b.id))
	}
	return max(at, b.run.late(b.id)), true
}

// serve takes one event: any that is there.
func (b *box) serve() {
	b.ticket = 0
	if until, factor := b.run.stall(b.id); until > b.run.now {
		b.idle += until - b.run.now
		b.free = until
		b.poke()
		return
	} else if factor > 1 {
		b.idle += time.Duration(factor * float64(b.run.cost))
		b.free = b.run.now + time.Duration(factor*float64(b.run.cost))
	} else {
		b.free = b.run.now + b.run.cost
	}
	line, ok := b.lineDue()
	ready := [3]bool{len(b.inbox) > 0, b.wake > 0 && b.wake <= b.run.now, ok && line <= b.run.now}
	begin := b.run.rng.IntN(3)
	for n := range 3 {
		k := (begin + n) % 3
		if !ready[k] {
			continue
		}
		switch k {
		case 0:
			f := b.inbox[0]
			b.inbox = slices.Delete(b.inbox, 0, 1)
			b.step(host.Arrive{Frame: f})
		case 1:
			b.step(host.Tick{})
		case 2:
			b.say()
		}
		break
	}
	b.poke()
}

// say gives the machine the world's next line.
func (b *box) say() {
	t := b.run.trial
	if wall := b.run.now + b.run.jump(b.id); t.period > 0 && wall > 0 { // steps whose time is over are left out
		b.next = max(b.next, uint64(wall/t.period))
	}
	if b.next >= t.steps {
		b.ended = true
		b.step(&host.Line{End: true})
		return
	}
	l := b.run.line(b.id, b.next)
	b.next++
	b.lineAt = b.run.now + t.think
	b.account.lines++
	b.began, b.idle, b.waiting = b.run.now, 0, true
	b.step(l)
}

// step tells the machine what happened and does what it asks for.
func (b *box) step(ev host.Event) {
	a := b.machine.Step(b.clock(), ev)
	b.run.traceStep(b, ev, a)
	b.refused = a.Refused
	if a.Failed != nil {
		b.run.fail("host %d: %v", b.id, a.Failed)
	}
	for _, e := range a.Log {
		switch {
		case strings.HasPrefix(e.Text, "a host is put in quarantine"):
			b.run.accused(b, int(e.Args[1].(transport.HostID)), fmt.Sprint(e.Args...))
		case strings.HasPrefix(e.Text, "a host is let back in"):
			delete(b.out, int(e.Args[1].(transport.HostID)))
		}
	}
	if a.Changed != nil {
		b.changed(a.Changed)
	}
	if a.Hear != nil {
		b.hears = slices.Clone(a.Hear)
	}
	if _, record := ev.(host.Shown); record && a.Refused != nil {
		b.run.fail("host %d: the record of who joins is refused: %v", b.id, a.Refused)
	}
	if a.Hail != nil {
		b.run.hail(b.id, a.Hail)
	}
	for _, f := range a.Frames {
		b.run.send(b.id, f)
	}
	if a.Answer != nil {
		b.answer(a.Answer)
	}
	if a.Save && !b.saving {
		b.save()
	}
	b.busy, b.wake = a.Busy, 0
	if a.Wake > 0 {
		b.wake = b.born + time.Duration(float64(a.Wake)/b.rate) + 1
	}
}

// answer takes in what the box says to its world.
func (b *box) answer(a *host.Answer) {
	b.account.answers++
	for _, o := range a.Outputs {
		if !mat.Finite(o.Value...) {
			b.run.fail("host %d: its answer at step %d cannot be written as JSON: node %d says %v", b.id, a.Time, o.Node, o.Value)
		}
	}
	if a.Error != "" && len(a.Outputs) == 0 {
		b.lineAt, b.waiting = b.run.now, false // it was left out: nothing to think about
		return
	}
	b.run.waited(b, a.Time)
	b.waiting = false
	if b.run.trial.think > 0 {
		b.lineAt = b.run.now + b.run.trial.think
	}
}

// save begins to write a checkpoint.
func (b *box) save() {
	c := b.machine.Checkpoint()
	b.saving = true
	b.run.push(event{
		at: b.run.now + b.run.trial.delay, kind: written, host: int32(b.id), life: int32(b.life),
		load: b.run.carry(load{checkpoint: c}),
	})
}

// written ends it.
func (b *box) written(c *host.Checkpoint) {
	b.saving = false
	text, err := json.Marshal(c)
	if err != nil {
		b.run.fail("host %d: checkpoint of step %d: %v", b.id, c.Time, err)
		return
	}
	b.disk.SetRoom(-1)
	if b.run.diskFull(b.id) {
		b.disk.SetRoom(10)
	}
	if c.Time+1 < b.saved {
		b.run.fail("host %d: a checkpoint of step %d after one of step %d", b.id, c.Time, b.saved-1)
	}
	if b.store.Write(text) == nil {
		b.saved, b.joined = c.Time+1, len(c.Members)
	}
}

// report returns how the box is doing.
func (b *box) report() *host.Report { return b.machine.Step(b.clock(), host.Look{}).Report }

// closeAccount compares lines and answers at the end of a life.
func (b *box) closeAccount(killed bool) {
	r := b.report()
	open := uint64(0)
	if b.waiting && (killed || r.Time == b.next-1) {
		open = 1
	}
	if got := b.account.answers + r.Stats.Unanswered + open; got != b.account.lines {
		b.run.fail("host %d: %d lines, %d answers, %d steps without one by the counters: %d are not explained",
			b.id, b.account.lines, b.account.answers, r.Stats.Unanswered, int64(b.account.lines)-int64(got))
	}
}

// describe names an event for a trace.
func describe(ev host.Event) string {
	switch ev := ev.(type) {
	case *host.Line:
		if ev.End {
			return "world ends"
		}
		return fmt.Sprintf("line t=%d", ev.Time)
	case host.Arrive:
		return fmt.Sprintf("frame from %d%s", ev.From, contents(ev.Data))
	case host.Tick:
		return "tick"
	case host.Drop:
		return "what is armed is dropped"
	case host.Arm:
		return fmt.Sprintf("armed for step %d", ev.Change.Step)
	case host.Agree:
		return "agreed"
	case host.Shown:
		return "shown a record"
	}
	return "start"
}
