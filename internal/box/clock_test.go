package box

import (
	"bytes"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wdgnn/wdgnn/host"
)

// A clock with a start leaves out what is over, one without goes on where the
// box was; both wait for their time, and stop when told.
func TestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		c := &Config{Pace: Pace{Period: 100 * time.Millisecond, Start: now.Add(-250 * time.Millisecond)}}
		stop := make(chan struct{})
		k := c.newClock(0)
		if got := k.first(0); got != 3 {
			t.Errorf("begins with step %d, want 3, the next whose time comes", got)
		}
		if got := k.first(7); got != 7 {
			t.Errorf("step 7 became %d", got)
		}
		if !k.wait(3, stop) {
			t.Error("step 3 did not come")
		}
		if got := time.Since(now); got != 50*time.Millisecond {
			t.Errorf("step 3 came after %v, want 50ms", got)
		}
		c.Pace.Start, now = time.Time{}, time.Now()
		if k = c.newClock(40); k.first(40) != 40 {
			t.Errorf("begins with step %d, want 40", k.first(40))
		}
		if k.wait(41, stop); time.Since(now) != 100*time.Millisecond {
			t.Errorf("step 41 came after %v, want 100ms", time.Since(now))
		}
		c.Pace.Period = 0
		if k = c.newClock(0); !k.wait(1000, stop) || time.Since(now) != 100*time.Millisecond {
			t.Error("without a period steps should come at once")
		}
		close(stop)
		if k.wait(1, stop) {
			t.Error("a step came after the end")
		}
	})
}

// A box paced by the clock goes on in its steps, one per period, when somebody puts
// the machine's clock by hours, whichever way; small corrections are followed, and so
// is everything before the first step.
func TestClockJumps(t *testing.T) {
	const period = 100 * time.Millisecond
	for _, jump := range []time.Duration{3 * time.Hour, -3 * time.Hour, 500 * time.Millisecond, -500 * time.Millisecond} {
		t.Run(jump.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				began, put := time.Now(), time.Duration(0)
				wall := func() time.Time { return time.Now().Round(0).Add(put) }
				c := &Config{
					Pace:  Pace{Period: period, Start: began.Round(0)},
					jumps: &jumps{log: slog.New(slog.NewTextHandler(&log, nil))},
				}
				k := c.clockBy(0, wall, func() time.Duration { return time.Since(began) })
				stop := make(chan struct{})
				play := func(from uint64, steps int) (next uint64) {
					next = k.first(from)
					for range steps {
						k.wait(next, stop)
						next = k.first(next + 1)
					}
					return next
				}
				next := play(0, 10)
				put = jump
				before := time.Now()
				next = play(next, 10)
				took := time.Since(before)
				if jump.Abs() > tolerance {
					if next != 20 || took > 10*period {
						t.Errorf("got to step %d in %v, want 20 in %v: as if nothing had happened", next, took, 10*period)
					}
					if c.jumps.off() != jump || strings.Count(log.String(), "jumped") != 1 {
						t.Errorf("got off by %v, said %q, want %v and one warning", c.jumps.off(), log.String(), jump)
					}
					put = 0
					if next = play(next, 1); next != 21 || c.jumps.off() != 0 || !strings.Contains(log.String(), "is back") {
						t.Errorf("put right: got step %d, off by %v, said %q; want 21, 0 and a word", next, c.jumps.off(), log.String())
					}
					return
				}
				if got, want := time.Duration(next)*period-wall().Sub(began), time.Duration(0); got < want || got > period {
					t.Errorf("after a small correction the next step is in %v, want at most %v", got, period)
				}
			})
		})
	}
}

// A box that was started with a wrong clock, and waits for its first step, follows
// the clock when it is put right.
func TestClockPutRightBeforeStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var put atomic.Int64
		put.Store(int64(-2 * time.Hour)) // as after a reboot without a battery
		began := time.Now()
		c := &Config{Pace: Pace{Period: time.Second, Start: began.Round(0)}}
		wall := func() time.Time { return time.Now().Round(0).Add(time.Duration(put.Load())) }
		k := c.clockBy(0, wall, func() time.Duration { return time.Since(began) })
		go func() {
			time.Sleep(5 * time.Second)
			put.Store(0)
		}()
		k.wait(k.first(0), nil)
		if took := time.Since(began); took > 7*time.Second {
			t.Errorf("the first step came after %v, want soon after 5s", took)
		}
		if next := k.first(1); next < 5 || next > 7 {
			t.Errorf("then step %d, want the one whose time it is", next)
		}
	})
}

// A clock that was set back before the start is behind the checkpoint. The box waits, and
// says so, until it is there.
func TestClockBehindCheckpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		began := time.Now()
		c := &Config{
			Pace:  Pace{Period: time.Second, Start: began.Add(-time.Hour)},
			jumps: &jumps{log: slog.New(slog.NewTextHandler(&log, nil))},
		}
		box := conditions{jumps: c.jumps}
		problems := func() string {
			return strings.Join(box.problems(box.observe(&host.Report{}, nil, time.Now()), time.Now()), "; ")
		}
		k := c.newClock(3900)
		go k.wait(k.first(3900), nil)
		time.Sleep(10*time.Second + time.Second/2)
		got := problems()
		if !strings.Contains(got, "the checkpoint is 4m50s ahead of the clock") || strings.Count(log.String(), "level=WARN") != 1 {
			t.Errorf("ten seconds after the start the box is %q, and said %s; want how far the checkpoint is ahead, and one warning",
				got, log.String())
		}
		time.Sleep(5 * time.Minute)
		if got := problems(); got != "" {
			t.Errorf("when the clock is there the box is %q, want well", got)
		}
		k = c.newClock(3910) // of a box that was started again in time
		k.wait(k.first(3910), nil)
		if problems() != "" || strings.Count(log.String(), "level=WARN") != 1 {
			t.Errorf("a box that was just started again is %q, want well, and said %s", problems(), log.String())
		}
	})
}

// By the clock a world ends when its last step is over, so that there is time to
// answer it; one of which no step was played ends at once.
func TestWorldsEndWithTheirLastStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		c := &Config{Pace: Pace{Period: time.Second, Start: now}}
		k := c.newClock(0)
		if k.end(nil); time.Since(now) != 0 {
			t.Errorf("before any step: ended after %v, want at once", time.Since(now))
		}
		k.wait(3, nil)
		if k.end(nil); time.Since(now) != 4*time.Second {
			t.Errorf("after step 3: ended after %v, want 4 s, when step 4 would begin", time.Since(now))
		}
	})
}
