package box

import (
	"encoding/json"
	"log/slog"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/transport/natsbus"
)

// reporter passes reports on, beside the loop that makes them: to the monitor,
// the supervisor, the bus and stdout.
type reporter struct {
	monitor *monitor
	notify  supervisor
	log     *slog.Logger
	publish func([]byte) error // nil if nobody hears
	print   func([]byte) error
	ready   bool
	queue   chan *host.Report
	done    chan struct{}
}

func (b *Box) newReporter() *reporter {
	r := &reporter{monitor: b.monitor, notify: newSupervisor(), log: b.log, queue: make(chan *host.Report, 1), done: make(chan struct{})}
	if conn := b.buses.nats; conn != nil {
		subject := natsbus.ReportSubject(b.Run, b.Host)
		r.publish = func(text []byte) error { return conn.Publish(subject, text) }
	}
	if b.World.Kind == WorldLines && b.World.File == "" {
		r.print = b.stdout.put
	}
	go func() {
		defer close(r.done)
		for report := range r.queue {
			r.pass(report)
		}
	}()
	b.later(r.close)
	return r
}

// take hears a report from the loop. One that comes while the one before is
// being passed on is left to the monitor alone.
func (r *reporter) take(report *host.Report) {
	report = r.monitor.see(report)
	if report.Final {
		return // end passes it on
	}
	select {
	case r.queue <- report:
	default:
	}
}

// pass passes a report on.
func (r *reporter) pass(report *host.Report) {
	if !r.ready {
		r.notify.tell("READY=1")
		r.ready = true
	}
	r.notify.tell("WATCHDOG=1")
	if r.publish == nil && r.print == nil {
		return
	}
	text, err := json.Marshal(report)
	if err != nil {
		r.log.Warn("report", "err", err)
		return
	}
	if r.publish != nil {
		if err := r.publish(text); err != nil {
			r.log.Debug("report", "err", err)
		}
	}
	if r.print != nil {
		line, err := json.Marshal(struct {
			Report json.RawMessage `json:"report"`
		}{text})
		if err == nil {
			err = r.print(line)
		}
		if err != nil {
			r.log.Debug("report", "err", err)
		}
	}
}

// end passes the last report on, when the loop has ended. A nil reporter has
// nobody to tell.
func (r *reporter) end(last *host.Report) {
	if r == nil {
		return
	}
	r.notify.tell("STOPPING=1")
	r.close()
	if seen := r.monitor.report(); seen != nil && seen.Final {
		last = seen // and what the box knows of itself
	}
	r.pass(last)
}

// close ends the goroutine; a second close does nothing.
func (r *reporter) close() error {
	select {
	case <-r.done:
	default:
		close(r.queue)
		<-r.done
	}
	return nil
}
