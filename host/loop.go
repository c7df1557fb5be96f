package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/wdgnn/wdgnn/transport"
)

// Env is what surrounds a machine.
type Env struct {
	World World
	Bus   transport.Bus // nil if all nodes are here
	Store Store         // keeps checkpoints; nil means none
	Log   *slog.Logger  // nil means silence

	// Records brings those of hosts that join, in other ways than frames; nil means
	// none. Hail, if set, shows this host's own to all, heard or not, and OnJoin
	// hears of each host that joined, and of those that had before New, before the
	// bus is to hear it. They are called by the loop and must not wait.
	Records <-chan Introduction
	Hail    func(record []byte) error
	OnJoin  func(*Member)

	// OnReady, if set, is called once, when the host is ready for the world's
	// lines. Its error ends the host.
	OnReady func(*Ready) error

	// OnReport, if set, hears how things are every ReportEvery, 0 means a
	// second, and at the end. It is called by the loop and must not wait.
	OnReport    func(*Report)
	ReportEvery time.Duration

	// Orders brings changes of the plan; nil means none. OnChange, if set, is told of
	// one that is agreed on, or made: that is on disk when it returns, or its error ends
	// the host before anybody hears of it. A host that is started again is as it was before.
	Orders   <-chan Order
	OnChange func(*Changed) error
}

// Order is a [Drop], an [Arm] or an [Agree] for a host that runs. Why it is refused, or nil, goes
// to Reply, which must have room: nobody waits for who does not take it.
type Order struct {
	Event Event
	Reply chan<- error
}

// Introduction is a record of a host that joins.
type Introduction struct {
	Record []byte
	Reply  func(refused error) // is told whether it was taken; may be nil, and must not wait
}

// Host runs a [Machine]: it is the loop where clock, bus, world and disk meet.
// Report may be called from anywhere, everything else belongs to one goroutine.
type Host struct {
	env     Env
	machine *Machine
	started time.Time
	timer   alarm
	saver   *saver // nil without a store
	ran     bool   // or runs
	forgets bool   // what the machine remembers is not to be kept
	unheard bool   // the world did not take the last answer
	lost    uint64 // answers that it did not take
	latency latencies
	report  atomic.Pointer[Report]
}

// New returns a host whose nodes stand where their last checkpoint left them, and
// whose bus hears whom it should. Run is to follow.
func New(c Config, e Env) (*Host, error) {
	if e.World == nil {
		return nil, errors.New("host: no world")
	}
	if (e.Bus == nil) != (c.Directory == nil) {
		return nil, errors.New("host: a bus needs a directory of who runs which node, and the other way round")
	}
	if e.Log == nil {
		e.Log = slog.New(slog.DiscardHandler)
	}
	h := &Host{env: e, started: time.Now(), timer: newAlarm()}
	var last []byte
	var err error
	if e.Store != nil {
		if last, err = e.Store.Last(); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrState, err)
		}
	} else {
		c.Every = -1 // nobody would take them
	}
	if h.machine, err = NewMachine(c, last); err != nil {
		return nil, err
	}
	if last != nil {
		e.Log.Info("goes on from a checkpoint", "time", h.machine.time, "nodes", len(c.Nodes))
	}
	h.introduce(h.machine.Members())
	if e.Bus != nil {
		h.hear(h.machine.Hears())
	}
	if e.Store != nil {
		h.saver = newSaver(e.Store, e.Log)
	}
	h.report.Store(h.machine.Step(0, Look{}).Report)
	return h, nil
}

// Next returns the first step that the nodes have not made, by their checkpoint or, if they
// forecast, by what their sensors have read in training. It is meant for before Run.
func (h *Host) Next() uint64 { return h.machine.Next() }

// Report returns how the host was doing when it last looked, every
// Env.ReportEvery.
func (h *Host) Report() *Report { return h.report.Load() }

// Run is the loop. It ends with nil when the world does, with the context's
// error, or with an error if the bus ends. Checkpoints are written in all cases.
// It is called once.
func (h *Host) Run(ctx context.Context) (err error) {
	if err := h.begin(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.finish()) }()
	var frames <-chan transport.Frame
	if h.env.Bus != nil {
		frames = h.env.Bus.Frames()
	}
	reports := time.NewTicker(cmp.Or(h.env.ReportEvery, time.Second))
	defer reports.Stop()
	defer h.timer.stop()
	lines, records, orders := h.env.World.Lines(), h.env.Records, h.env.Orders
	var stay <-chan time.Time // set when the world has ended
	h.step(Look{})
	a, err := h.step(Start{})
	for err == nil {
		heard := lines
		if a.Busy {
			heard = nil
		}
		h.timer.set(h.started, a.Wake)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case l, ok := <-heard:
			if !ok {
				l = &Line{End: true}
			}
			if a, err = h.step(l); a.Ended {
				linger := h.machine.cfg.Pace.Linger
				if h.env.Bus == nil || linger == 0 {
					return err
				}
				lines, stay = nil, time.After(linger)
			}
		case f, ok := <-frames:
			for waiting := len(frames); ok; waiting-- { // all that are there, before anything else is looked at
				a, err = h.step(Arrive{f})
				if waiting == 0 || err != nil {
					break
				}
				f, ok = <-frames
			}
			if !ok {
				return fmt.Errorf("host %d: %w", h.machine.cfg.Host, transport.ErrClosed)
			}
		case <-h.timer.c():
			h.timer.rang()
			a, err = h.step(Tick{})
		case <-reports.C:
			a, err = h.step(Look{})
		case in, ok := <-records:
			if !ok {
				records = nil
				break
			}
			a, err = h.show(in)
		case o, ok := <-orders:
			if !ok {
				orders = nil
				break
			}
			a, err = h.obey(o)
		case <-stay:
			return nil
		}
	}
	return err
}

// begin starts what runs beside the loop, once.
func (h *Host) begin() error {
	if h.ran {
		return errors.New("host: Run was called before; make another host with New")
	}
	h.ran = true
	if h.saver != nil {
		go h.saver.run()
	}
	return nil
}

// show shows the machine a record.
func (h *Host) show(in Introduction) (*Actions, error) {
	a, err := h.step(Shown{in.Record})
	if in.Reply != nil {
		in.Reply(a.Refused)
	}
	return a, err
}

// obey gives the machine an order. Whoever gave it should see soon what came of it.
func (h *Host) obey(o Order) (*Actions, error) {
	a, err := h.step(o.Event)
	select {
	case o.Reply <- cmp.Or(a.Refused, err):
	default: // it has gone
	}
	if err == nil {
		a, err = h.step(Look{})
	}
	return a, err
}

// step tells the machine what happened and does what it asks for.
func (h *Host) step(ev Event) (*Actions, error) {
	if l, ok := ev.(*Line); ok && l != nil && !l.came.IsZero() {
		l.age = time.Since(l.came)
	}
	a := h.machine.Step(time.Since(h.started), ev)
	for _, e := range a.Log {
		h.env.Log.Log(context.Background(), e.Level, e.Text, e.Args...)
	}
	h.introduce(a.Joined)
	if a.Changed != nil && h.env.OnChange != nil {
		if err := h.env.OnChange(a.Changed); err != nil {
			h.forgets = true
			return a, fmt.Errorf("host %d: %w", h.machine.cfg.Host, err)
		}
	}
	if a.Hear != nil {
		h.hear(a.Hear)
	}
	if a.Hail != nil && h.env.Hail != nil {
		if err := h.env.Hail(a.Hail); err != nil {
			h.env.Log.Debug("record not shown", "err", err)
		}
	}
	for _, f := range a.Frames {
		if err := h.env.Bus.Send(f); err != nil {
			h.env.Log.Debug("frame not sent", "err", err)
		}
	}
	if a.Answer != nil {
		h.tell(a.Answer)
	}
	if a.Save && h.saver != nil {
		h.saver.offer(h.machine)
	}
	if a.Report != nil {
		h.publish(a.Report)
	}
	if a.Ready != nil && h.env.OnReady != nil && a.Failed == nil {
		return a, h.env.OnReady(a.Ready)
	}
	return a, a.Failed
}

// introduce says who joined.
func (h *Host) introduce(list []*Member) {
	for _, m := range list {
		if h.env.OnJoin != nil {
			h.env.OnJoin(m)
		}
	}
}

// hear tells the bus whom to hear.
func (h *Host) hear(hosts []transport.HostID) {
	if err := h.env.Bus.Hear(hosts); err != nil {
		h.env.Log.Warn("cannot hear", "hosts", hosts, "err", err)
	}
}

// tell gives the world an answer, and logs when it begins to refuse them.
func (h *Host) tell(a *Answer) {
	h.latency.add(time.Since(h.started) - a.began)
	err := h.env.World.Act(a)
	if err != nil {
		h.lost++
		if !h.unheard { // once, until it takes one again
			h.env.Log.Warn("the world does not take answers", "time", a.Time, "err", err)
		}
	}
	h.unheard = err != nil
}

// publish completes a report and passes it on.
func (h *Host) publish(r *Report) {
	r.Latency, r.Stats.LostAnswers = h.latency.summary(), h.lost
	if h.env.Bus != nil {
		r.Bus = h.env.Bus.Stats()
	}
	if h.saver != nil {
		r.Stats.Checkpoints, r.Stats.FailedCheckpoint = h.saver.written.Load(), h.saver.failed.Load()
		r.Unsaved = h.saver.unsaved.Load()
	}
	if w, ok := h.env.World.(interface{ Refused() uint64 }); ok {
		r.Stats.BadLines = w.Refused()
	}
	if w, ok := h.env.World.(interface{ Lost() uint64 }); ok { // after it took them
		r.Stats.LostAnswers += w.Lost()
	}
	h.report.Store(r)
	if h.env.OnReport != nil {
		h.env.OnReport(r)
	}
}

// finish ends the step under way, writes a last checkpoint, if there was a step, and
// tells how things ended.
func (h *Host) finish() (err error) {
	var last *Checkpoint
	if !h.forgets {
		_, err = h.step(Stop{})
		last = h.machine.Checkpoint()
	}
	if h.saver != nil {
		err = errors.Join(err, h.saver.close(last))
	}
	h.step(Look{Final: true})
	return err
}

// alarm is a timer that is set often and rings rarely.
type alarm struct {
	timer *time.Timer
	at    time.Duration // 0 if it will not ring
}

func newAlarm() alarm {
	a := alarm{timer: time.NewTimer(time.Hour)}
	a.timer.Stop()
	return a
}

func (a *alarm) c() <-chan time.Time { return a.timer.C }

func (a *alarm) rang() { a.at = 0 }

func (a *alarm) stop() { a.timer.Stop() }

// set makes the alarm ring so long after the start; 0 means never.
func (a *alarm) set(start time.Time, at time.Duration) {
	if at == a.at {
		return
	}
	a.at = at
	if at == 0 {
		a.timer.Stop()
		return
	}
	a.timer.Reset(time.Until(start.Add(at)))
}
