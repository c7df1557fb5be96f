package box

import (
	"log/slog"
	"sync/atomic"
	"time"
)

// tolerance is how far the clock of the machine may be put at once so that steps
// follow it, as NTP does. What is farther is a jump.
const tolerance = time.Second

// farAway is how long a box waits for its first step without a word.
const farAway = 10 * time.Second

// clock says when the steps of a world are. Step 0 is at an instant of the machine's
// clock, but the time in between is counted by one that nobody puts: a jump of the
// machine's clock, by hours and in either direction, neither stalls a box nor makes
// it leave out what is not over. It is used by one goroutine.
type clock struct {
	period time.Duration // 0 means at once
	skips  bool          // a step whose time is over is left out
	jumps  *jumps

	wall func() time.Time     // the machine's clock
	even func() time.Duration // time that has passed since the start

	start  time.Time     // of step 0 by the machine's clock; zero means none was named
	origin time.Duration // of step 0 by even
	next   uint64        // the first step that nodes have not made, by the checkpoint
	begun  bool          // a step was waited for to its end
	latest uint64        // the latest that was
	said   bool          // that the first is far away
}

// jumps says by how much the machine's clock is off what steps follow, 0 if they
// follow it. It is safe for concurrent use, nil is never off.
type jumps struct {
	log   *slog.Logger
	by    atomic.Int64
	early atomic.Int64 // how long it is until the step after the checkpoint, which is ahead of the clock; 0 if it is not
}

func (j *jumps) off() time.Duration {
	if j == nil {
		return 0
	}
	return time.Duration(j.by.Load())
}

// ahead returns by how much the checkpoint is ahead of the clock.
func (j *jumps) ahead() time.Duration {
	if j == nil {
		return 0
	}
	return time.Duration(j.early.Load())
}

// note takes in how far the clock is off.
func (j *jumps) note(by time.Duration) {
	if j == nil {
		return
	}
	before := time.Duration(j.by.Swap(int64(by)))
	switch {
	case by != 0 && (by-before).Abs() > tolerance:
		j.log.Warn("the clock of this machine jumped; steps go on as before; restart the box if the clock is right now",
			"by", by.Round(time.Millisecond))
	case by == 0 && before != 0:
		j.log.Info("the clock of this machine is back where steps follow it")
	}
}

// newClock returns the clock of a world that goes on with step next.
func (c *Config) newClock(next uint64) *clock {
	began := time.Now()
	wall := func() time.Time { return time.Now().Round(0) } // without what time.Time counts evenly
	return c.clockBy(next, wall, func() time.Duration { return time.Since(began) })
}

// newGridClock is newClock for steps on a grid that is known.
func (c *Config) newGridClock(next uint64, origin time.Time, every time.Duration) *clock {
	k := c.newClock(next)
	k.period, k.start, k.skips = every, origin, true
	k.origin = k.named()
	return k
}

// clockBy is newClock with clocks of one's own.
func (c *Config) clockBy(next uint64, wall func() time.Time, even func() time.Duration) *clock {
	k := &clock{period: c.Pace.Period, start: c.Pace.Start, next: next, jumps: c.jumps, wall: wall, even: even}
	if k.start.IsZero() {
		k.origin = even() - time.Duration(next)*k.period
	} else {
		k.origin, k.skips = k.named(), true
	}
	return k
}

// named returns when step 0 is by even, if the machine's clock is right now.
func (k *clock) named() time.Duration { return k.even() + k.start.Sub(k.wall()) }

// follow looks at the machine's clock: where it was put by a little, or before the
// first step, steps follow it; else they go on as before.
func (k *clock) follow() {
	if k.start.IsZero() || k.period == 0 {
		return
	}
	at := k.named()
	jump := k.origin - at // > 0: the clock went forwards
	if !k.begun || jump.Abs() <= tolerance {
		k.origin, jump = at, 0
	}
	k.jumps.note(jump)
}

// first returns the first step, from t on, whose time is not over.
func (k *clock) first(t uint64) uint64 {
	if !k.skips || k.period == 0 {
		return t
	}
	k.follow()
	if since := k.even() - k.origin; since > 0 {
		t = max(t, uint64((since+k.period-1)/k.period))
	}
	return t
}

// left returns how long it is until step t; less than 0 after it.
func (k *clock) left(t uint64) time.Duration {
	k.follow()
	if k.period == 0 {
		return 0
	}
	left := k.origin + time.Duration(t)*k.period - k.even()
	k.lookEarly(t, left)
	return left
}

// lookEarly notes whether the step after the checkpoint is so long away as none is, though
// steps have begun: the clock was set back since, and the box waits until it is there.
func (k *clock) lookEarly(t uint64, left time.Duration) {
	if k.jumps == nil || k.start.IsZero() {
		return
	}
	if k.begun || t != k.next || k.even() < k.origin || left <= k.period+farAway {
		k.jumps.early.Store(0)
		return
	}
	if k.jumps.early.Swap(int64(left)) == 0 && !k.said {
		k.said = true
		k.jumps.log.Warn("the checkpoint is ahead of the clock of this machine: was it set back? The box waits until it is there; "+
			"to begin anew now, move the state folder away", "step", t, "in", left.Round(time.Second))
	}
}

// now returns what time it is by the clock that steps follow, which has a start.
func (k *clock) now() time.Time { return k.start.Add(k.even() - k.origin) }

// wait waits for step t, and says whether it came before stop was closed.
func (k *clock) wait(t uint64, stop <-chan struct{}) bool {
	for {
		left := k.left(t)
		if left <= 0 {
			k.begun, k.latest = true, max(k.latest, t)
			select {
			case <-stop:
				return false
			default:
				return true
			}
		}
		if !k.begun && !k.said && left > farAway && k.jumps != nil {
			k.said = true
			k.jumps.log.Info("waits for its first step, by pace.start and the clock of this machine",
				"step", t, "in", left.Round(time.Second))
		}
		timer := time.NewTimer(min(left, tolerance)) // and look at the clock again
		select {
		case <-timer.C:
		case <-stop:
			timer.Stop()
			return false
		}
	}
}

// end waits until the latest step is over, by the clock: a world that ends at once
// would leave its last line without an answer, because that takes neighbours a while.
func (k *clock) end(stop <-chan struct{}) {
	if k.period > 0 && k.begun {
		k.wait(k.latest+1, stop)
	}
}
