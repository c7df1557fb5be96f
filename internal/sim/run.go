package sim

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/transport"
)

// Outcome is how a trial went.
type Outcome struct {
	Broken  []string      `json:"broken,omitempty"` // promises that were, in the order of time
	Time    time.Duration `json:"time_ns"`          // that passed in it
	Steps   uint64        `json:"steps"`            // of all hosts
	Frames  uint64        `json:"frames"`           // that were sent, once per receiver
	Settled bool          `json:"settled"`          // neighbours were on the same step a while after the last fault
	Exact   bool          `json:"exact"`            // nothing was lost, and nodes ended with the bits of one process
	Shut    uint64        `json:"quarantines"`      // hosts that others put in quarantine, as often as they did

	Deployed int `json:"deployed,omitempty"` // models that all hosts went over to
}

// mostBroken is after how many broken promises a trial ends.
const mostBroken = 5

// run is a trial while it is played.
type run struct {
	trial     *Trial
	now       time.Duration
	rng       *rand.Rand
	cost      time.Duration // of one event at a host
	directory *host.Directory
	boxes     []*box
	queue     []event // a heap
	pushed    uint64
	loads     []load
	spare     []int32 // of them that are not used
	occurs    uint    // a bit for each kind of fault that the trial has
	honest    bool    // nobody talked nonsense
	outcome   Outcome
	trace     io.Writer // nil means none
	bytes     slab[byte]
	values    slab[float32]
	lines     slab[host.NodeLine]
	tools     []*tool // who bring other models
	expired   uint64  // rows given up by all hosts when they had to be together
	checked   bool
}

// event is something that will happen.
type event struct {
	at         time.Duration
	order      uint64 // among those of one time
	kind       eventKind
	host, life int32
	load       int32 // what it carries, in loads
}

// load is a frame on its way, a checkpoint, a record, a host, or what somebody is about
// to do.
type load struct {
	frame      transport.Frame
	checkpoint *host.Checkpoint
	errand     errand
	record     []byte
	fault      *Fault
}

// slab is memory that is handed out piece by piece and never given back: machines
// may keep what they are told, and a history is short.
type slab[T any] []T

// take returns n zeros, of a new slab of size if this one is used up.
func (s *slab[T]) take(n, size int) []T {
	if len(*s) < n {
		*s = make([]T, max(n, size))
	}
	piece := (*s)[:n:n]
	*s = (*s)[n:]
	return piece
}

type eventKind int32

const (
	serve   eventKind = iota // a host looks at what there is
	arrive                   // a frame comes
	written                  // a checkpoint is
	die                      // a host does
	rise                     // and is started again
	poke                     // something around a host changed
	joins                    // a host or a node does
	shown                    // a record of one is
	heal                     // the last fault is over
	inspect                  // promises are looked at
	order                    // somebody who brings a model does something
)

// Run plays the trial, and writes what happens to trace, nil for nothing.
func (t *Trial) Run(trace io.Writer) (*Outcome, error) {
	d, err := t.directory(-1)
	if err != nil {
		return nil, err
	}
	r := &run{trial: t, rng: random.Stream(t.Seed, "run"), cost: t.pace.Deadline / 4000, directory: d, trace: trace, honest: true}
	for h := range t.hosts {
		if h < t.base || slices.ContainsFunc(t.joins(), func(f *Fault) bool { return f.Whole }) {
			r.boxes = append(r.boxes, r.newBox(h))
		}
	}
	for _, b := range r.boxes[:t.base] { // boxes are started by hand, one after the other
		r.push(event{at: time.Duration(r.rng.Int64N(int64(t.pace.Deadline / 4))), kind: rise, host: int32(b.id)})
	}
	for k := range t.Faults {
		r.schedule(&t.Faults[k])
	}
	r.push(event{at: t.healed, kind: heal})
	r.play()
	r.finish()
	return &r.outcome, nil
}

// schedule takes a fault up, and puts its beginning and end into the queue.
func (r *run) schedule(f *Fault) {
	r.occurs |= 1 << f.Kind
	if f.Host >= len(r.boxes) {
		return // it never comes
	}
	switch f.Kind {
	case faultJoin:
		r.honest = false // nobody else computes the same
		r.push(event{at: f.From, kind: joins, load: r.carry(load{fault: f})})
	case faultKill:
		r.push(event{at: f.From, kind: die, host: int32(f.Host)})
		r.push(event{at: f.To, kind: rise, host: int32(f.Host)})
	case faultDeploy:
		r.bring(f)
	case faultJump, faultLate, faultStop:
		r.push(event{at: f.From, kind: poke, host: int32(f.Host)})
		r.push(event{at: f.To, kind: poke, host: int32(f.Host)})
	}
}

// play takes events until all worlds have ended, or it takes too long.
func (r *run) play() {
	limit := r.trial.check + time.Duration(r.trial.steps)*(r.trial.pace.Deadline+r.trial.period+r.trial.think)
	for len(r.queue) > 0 && len(r.outcome.Broken) < mostBroken {
		e := r.pop()
		r.now = max(r.now, e.at)
		if r.now > limit {
			r.fail("after %v some worlds have not ended", r.now)
			return
		}
		b := r.boxes[e.host]
		switch e.kind {
		case serve:
			if e.order == b.ticket && b.machine != nil {
				b.serve()
			}
		case arrive:
			r.arrived(b, r.unload(e.load).frame)
		case written:
			if c := r.unload(e.load).checkpoint; int(e.life) == b.life && b.machine != nil {
				b.written(c)
			}
		case die:
			if b.machine != nil {
				r.tracef("host %d dies", b.id)
				b.kill()
			}
		case rise:
			if b.machine == nil && !r.dead(b.id) && (b.id < r.trial.base || b.record != nil) {
				r.tracef("host %d starts", b.id)
				b.start()
			}
		case poke:
			b.poke()
		case joins:
			r.joinAt(r.unload(e.load).fault)
		case shown:
			if record := r.unload(e.load).record; b.machine != nil {
				b.step(host.Shown{Record: record})
				b.poke()
			}
		case heal:
			r.heal()
		case inspect:
			r.inspect()
		case order:
			r.tools[e.life].act(int(e.host), r.unload(e.load).errand)
		}
		if r.over() {
			return
		}
	}
}

// dead says whether another fault keeps a host dead.
func (r *run) dead(h int) bool {
	for k := range r.trial.Faults {
		if f := &r.trial.Faults[k]; f.Kind == faultKill && f.Host == h && f.active(r.now) {
			return true
		}
	}
	return false
}

// over says whether all worlds have ended.
func (r *run) over() bool {
	return !slices.ContainsFunc(r.boxes, func(b *box) bool { return !b.ended || b.machine == nil })
}

// fail notes that a promise was broken.
func (r *run) fail(format string, args ...any) {
	text := fmt.Sprintf("%v: ", r.now.Round(time.Microsecond)) + fmt.Sprintf(format, args...)
	r.outcome.Broken = append(r.outcome.Broken, text)
	r.tracef("BROKEN %s", text)
}

func (r *run) tracef(format string, args ...any) {
	if r.trace != nil {
		fmt.Fprintf(r.trace, "%12v  %s\n", r.now.Round(time.Microsecond), fmt.Sprintf(format, args...))
	}
}

// traceStep writes what a host did.
func (r *run) traceStep(b *box, ev host.Event, a *host.Actions) {
	if r.trace == nil {
		return
	}
	var does []string
	for _, f := range a.Frames {
		does = append(does, "sends"+contents(f))
	}
	if a.Answer != nil {
		does = append(does, fmt.Sprintf("answers t=%d %s", a.Answer.Time, a.Answer.Error))
	}
	for _, e := range a.Log {
		does = append(does, fmt.Sprintf("logs %q %v", e.Text, e.Args))
	}
	r.tracef("host %d: %s  %s", b.id, describe(ev), strings.Join(does, "; "))
}

// contents names the messages of a frame.
func contents(frame []byte) string {
	var reader agent.Reader
	_, messages, err := reader.Read(frame)
	if err != nil {
		return " (unreadable)"
	}
	s := ""
	for k := range messages {
		s += " [" + messages[k].String() + "]"
	}
	return s
}

// carry keeps a load until it is unloaded.
func (r *run) carry(l load) int32 {
	if n := len(r.spare); n > 0 {
		k := r.spare[n-1]
		r.spare = r.spare[:n-1]
		r.loads[k] = l
		return k
	}
	r.loads = append(r.loads, l)
	return int32(len(r.loads) - 1)
}

func (r *run) unload(k int32) load {
	l := r.loads[k]
	r.loads[k] = load{}
	r.spare = append(r.spare, k)
	return l
}

// push puts an event into the queue, and returns its place among all.
func (r *run) push(e event) uint64 {
	r.pushed++
	e.order = r.pushed
	r.queue = append(r.queue, e)
	k := len(r.queue) - 1
	for k > 0 && before(&e, &r.queue[(k-1)/2]) {
		r.queue[k] = r.queue[(k-1)/2]
		k = (k - 1) / 2
	}
	r.queue[k] = e
	return e.order
}

// pop takes the earliest event.
func (r *run) pop() event {
	n := len(r.queue) - 1
	q, first, last, k := r.queue[:n], r.queue[0], r.queue[n], 0
	for {
		c := 2*k + 1
		if c+1 < n && before(&q[c+1], &q[c]) {
			c++
		}
		if c >= n || !before(&q[c], &last) {
			break
		}
		q[k] = q[c]
		k = c
	}
	if n > 0 {
		q[k] = last
	}
	r.queue = q
	return first
}

func before(a, b *event) bool { return a.at < b.at || a.at == b.at && a.order < b.order }
