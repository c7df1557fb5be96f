package tcpbus

import (
	"testing"
	"time"
)

// A link on which frames follow each other every 3 ms sends a beat after four times as
// long, then after four times that, and then no more. That most gaps are long, because
// packets are lost, does not make it wait longer.
func TestNudge(t *testing.T) {
	var n nudge
	now := time.Now()
	var wait time.Duration
	for k := range 400 {
		gap := 3 * time.Millisecond
		if k%5 > 1 { // three of five
			gap = 200 * time.Millisecond
		}
		now = now.Add(gap)
		wait = n.frame(now)
	}
	if wait < 8*time.Millisecond || wait > 16*time.Millisecond {
		t.Errorf("got a beat after %v, want about 12ms", wait)
	}
	second, third := n.beat(), n.beat()
	if second != 4*wait || third != mostNudge {
		t.Errorf("got further beats after %v and %v, want %v and %v", second, third, 4*wait, mostNudge)
	}
	if last := n.beat(); last != 0 {
		t.Errorf("got a fourth beat after %v, want none", last)
	}
}
