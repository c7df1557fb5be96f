package box

import (
	"testing"
	"testing/synctest"
	"time"
)

// A clock with a start leaves out what is over, one without goes on where the
// box was; both wait for their time, and stop when told.
func TestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		c := &Config{Pace: Pace{Period: 100 * time.Millisecond, Start: now.Add(-250 * time.Millisecond)}}
		stop := make(chan struct{})
		k := c.newClock(0, now)
		if got := k.first(0, now); got != 3 {
			t.Errorf("begins with step %d, want 3, the next whose time comes", got)
		}
		if got := k.first(7, now); got != 7 {
			t.Errorf("step 7 became %d", got)
		}
		if !k.wait(3, stop) {
			t.Error("step 3 did not come")
		}
		if got := time.Since(now); got != 50*time.Millisecond {
			t.Errorf("step 3 came after %v, want 50ms", got)
		}
		c.Pace.Start, now = time.Time{}, time.Now()
		if k = c.newClock(40, now); k.first(40, now) != 40 {
			t.Errorf("begins with step %d, want 40", k.first(40, now))
		}
		if k.wait(41, stop); time.Since(now) != 100*time.Millisecond {
			t.Errorf("step 41 came after %v, want 100ms", time.Since(now))
		}
		c.Pace.Period = 0
		if k = c.newClock(0, now); !k.wait(1000, stop) || time.Since(now) != 100*time.Millisecond {
			t.Error("without a period steps should come at once")
		}
		close(stop)
		if k.wait(1, stop) {
			t.Error("a step came after the end")
		}
	})
}
