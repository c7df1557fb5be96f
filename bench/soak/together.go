//go:build linux

package main

import (
	"context"
	"fmt"
	"time"
)

const (
	// healWithin is how long boxes may take until they are together again.
	healWithin = 10 * time.Second

	healHold  = 1500 * time.Millisecond // for which they must stay so: a report of each comes meanwhile
	healNever = 45 * time.Second        // after which nobody waits any more
	healLook  = 20 * time.Millisecond

	mostBehind  = time.Second // of an answer, behind the clock
	mostExpired = 0.3         // share of the neighbours' rows that are given up: feeders leave lines out
)

// apart says why boxes are not together; empty if they are. They are together if,
// by what each said since a moment, all its nodes answer lines that are at most a
// second old, or a second's lines behind the farthest where no clock tells, it waits
// for every neighbour, it gave up few rows within the last second, and its checkpoints
// are written.
func (y *yard) apart(since, now time.Time) string {
	least := int64(y.due(now)) - int64(mostBehind/y.period)
	for _, b := range y.boxes {
		p := b.live()
		if p == nil {
			return fmt.Sprintf("box %d is down", b.number)
		}
		if why := p.ledger.apart(since, now, least); why != "" {
			return fmt.Sprintf("box %d %s", b.number, why)
		}
	}
	return ""
}

// apart says why a box is not with the others.
func (l *ledger) apart(since, now time.Time, least int64) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.report
	switch {
	case r == nil || l.heard.Before(since):
		return "has not reported since"
	case now.Sub(l.heard) > 3*time.Second:
		return fmt.Sprintf("reported %v ago", now.Sub(l.heard).Round(time.Millisecond))
	case int64(l.good) < least:
		return fmt.Sprintf("last answered step %d, want %d", l.good, least)
	case len(r.Silent) > 0:
		return fmt.Sprintf("does not wait for nodes %v", r.Silent)
	case r.Unsaved:
		return "has a checkpoint that was not written"
	case l.before == nil:
		return "has reported once"
	}
	expired, received := r.Agents.Expired-l.before.Agents.Expired, r.Agents.Received-l.before.Agents.Received
	if float64(expired) > mostExpired*float64(expired+received) {
		return fmt.Sprintf("gave up %d rows and received %d", expired, received)
	}
	return ""
}

// heal waits until boxes are together, and returns how long that took since a moment
// in seconds; if they are not, why, and otherwise what was last amiss.
func (y *yard) heal(ctx context.Context, since time.Time) (seconds float64, why, last string) {
	ticks := time.NewTicker(healLook)
	defer ticks.Stop()
	var from time.Time // from when on they have been
	for {
		now := time.Now()
		amiss := y.apart(since, now)
		switch {
		case amiss != "":
			last, from = amiss, time.Time{}
		case from.IsZero():
			from = now
		case now.Sub(from) >= healHold:
			return from.Sub(since).Seconds(), "", last
		}
		if now.Sub(since) > healNever {
			return now.Sub(since).Seconds(), last, last
		}
		select {
		case <-ctx.Done():
			return now.Sub(since).Seconds(), "it was ended", last
		case <-ticks.C:
		}
	}
}
