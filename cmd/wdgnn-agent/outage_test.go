package main_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/internal/clocktest"
)

// A NATS server that is gone for three seconds splits nobody: boxes wait for
// each other, and go on together when it is back.
func TestServerOutage(t *testing.T) {
	f := newField(t, "nats")
	for k := range boxes {
		f.configure(k, "first")
	}
	f.startAll()
	f.await("all boxes agree", func() bool { return f.steps(0, 1, 2, 3, 4)[0] > 50 && f.rightFor(30) })
	f.check(f.broker.Process.Kill())
	f.broker.Wait()
	before, from := f.steps(0, 1, 2, 3, 4), time.Now()
	time.Sleep(3 * time.Second) // the outage
	apart := f.steps(0, 1, 2, 3, 4)
	if made, most := apart[boxes-1]-before[0], int(2*time.Since(from).Seconds())+5; made > most {
		t.Errorf("boxes made up to %d steps alone, want at most %d", made, most)
	}
	f.serve()
	f.await("all boxes agree again", func() bool { return f.steps(0, 1, 2, 3, 4)[0] > apart[boxes-1]+30 && f.rightFor(30) })
}

// A box that stands still while the others, over direct links, make 500 steps: they do not
// wait for it in each, and it comes back.
func TestStandstill(t *testing.T) {
	f := newField(t, "tcp")
	for k := range boxes {
		f.configure(k, "first")
	}
	f.startAll()
	f.await("all boxes agree", func() bool { return f.steps(0, 1, 2, 3, 4)[0] > 50 && f.rightFor(30) })
	f.check(f.procs[2].Process.Signal(syscall.SIGSTOP))
	before := f.steps(0, 1, 3, 4)[0]
	f.await("the others go on, not one step in a deadline", func() bool { return f.steps(0, 1, 3, 4)[0] > before+500 })
	f.check(f.procs[2].Process.Signal(syscall.SIGCONT))
	apart := f.steps(0, 1, 2, 3, 4)
	f.await("all boxes agree again", func() bool { return f.steps(0, 1, 2, 3, 4)[0] > apart[boxes-1]+30 && f.rightFor(30) })
}

// Whoever has lost all its neighbours goes on at the pace of the deadline, a
// step in half a second, until it hears one.
func TestLeftAlone(t *testing.T) {
	f := newField(t, "tcp")
	for k := range boxes {
		f.configure(k, "first")
	}
	f.startAll()
	f.await("all boxes agree", func() bool { return f.steps(0, 1, 2, 3, 4)[0] > 50 && f.rightFor(30) })
	for _, k := range []int{0, 1, 2, 4} {
		f.end(k)
	}
	at, from := f.step(3), time.Now()
	time.Sleep(4 * time.Second)
	if made, most := f.step(3)-at, int(2*time.Since(from).Seconds())+3; made < 1 || made > most {
		clocktest.Need(t)
		t.Errorf("a box alone made %d steps, want 1 to %d", made, most)
	}
}
