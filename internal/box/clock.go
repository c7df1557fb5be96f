package box

import "time"

// clock says when the steps of a world are.
type clock struct {
	period time.Duration // 0 means at once
	origin time.Time     // of step 0
	skips  bool          // a step whose time is over is left out
}

// newClock returns the clock of a world that goes on with step next.
func (c *Config) newClock(next uint64, now time.Time) clock {
	k := clock{period: c.Pace.Period, origin: c.Pace.Start}
	if k.origin.IsZero() {
		k.origin = now.Add(-time.Duration(next) * k.period)
	} else {
		k.skips = true
	}
	return k
}

// first returns the first step, from t on, whose time is not over.
func (k clock) first(t uint64, now time.Time) uint64 {
	if !k.skips || k.period == 0 {
		return t
	}
	if since := now.Sub(k.origin); since > 0 {
		t = max(t, uint64((since+k.period-1)/k.period))
	}
	return t
}

// wait waits for step t, and says whether it came before stop was closed.
func (k clock) wait(t uint64, stop <-chan struct{}) bool {
	left := time.Duration(0)
	if k.period > 0 {
		left = time.Until(k.origin.Add(time.Duration(t) * k.period))
	}
	if left <= 0 {
		select {
		case <-stop:
			return false
		default:
			return true
		}
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-stop:
		return false
	}
}
