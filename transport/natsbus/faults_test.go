package natsbus_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/internal/broker"
	"github.com/wdgnn/wdgnn/internal/clocktest"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/natsbus"
)

// While the server is away Send fails and is counted; once it is back both
// directions work again, without a Dial, without what was sent meanwhile, and
// with what Hear asked for meanwhile.
func TestServerRestart(t *testing.T) {
	s := start(t, broker.Config{})
	told := make(chan error, 100)
	a := dial(t, natsbus.Config{URL: s.URL(), Host: 0, OnError: func(err error) { told <- err }})
	b := dial(t, natsbus.Config{URL: s.URL(), Host: 1})
	c := dial(t, natsbus.Config{URL: s.URL(), Host: 2})
	hear(t, a, 1)
	hear(t, b, 0)
	send(t, a, "before")
	expect(t, b, 0, "before")

	s.Stop()
	select {
	case err := <-told:
		if !strings.Contains(err.Error(), "the server is gone") {
			t.Errorf("OnError: got %v, want that the server is gone", err)
		}
	case <-time.After(patience):
		t.Fatal("OnError: got nothing, want that the server is gone")
	}
	for _, bus := range []*natsbus.Conn{a, b, c} {
		await(t, "Send fails", func() bool { return bus.Send([]byte("stale")) != nil })
	}
	const more = 100
	before := a.Stats()
	for range more {
		if err := a.Send([]byte("stale")); !errors.Is(err, natsbus.ErrDisconnected) {
			t.Fatalf("Send without a server: got %v, want %v", err, natsbus.ErrDisconnected)
		}
	}
	if got := a.Stats().Failed - before.Failed; got != more {
		t.Errorf("after %d sends without a server: got %d failed, want all", more, got)
	}
	if err := c.Hear([]transport.HostID{0, 1}); err != nil {
		t.Errorf("Hear without a server: got %v, want no error", err)
	}
	if err := a.Hear([]transport.HostID{2}); err != nil {
		t.Errorf("Hear without a server: got %v, want no error", err)
	}

	start(t, broker.Config{Addr: s.Addr()})
	began := time.Now()
	for _, bus := range []*natsbus.Conn{a, b, c} {
		await(t, "reconnected", func() bool { return bus.Stats().Reconnects == 1 && bus.Flush(t.Context()) == nil })
	}
	took := time.Since(began)
	t.Logf("three hosts are back %v after the server", took.Round(time.Millisecond))
	if took > 5*time.Second {
		clocktest.Need(t)
		t.Errorf("took %v, want less than a second on a quiet machine", took)
	}
	send(t, a, "after")
	expect(t, b, 0, "after")
	expect(t, c, 0, "after")
	send(t, b, "back") // a hears it no more, c does
	expect(t, c, 1, "back")
	send(t, c, "new")
	expect(t, a, 2, "new")
}

// A reader that stops loses the newest frames; the others lose nothing.
func TestSlowReader(t *testing.T) {
	s := start(t, broker.Config{})
	a := dial(t, natsbus.Config{URL: s.URL(), Host: 0})
	slow := dial(t, natsbus.Config{URL: s.URL(), Host: 1, Buffer: 8})
	quick := dial(t, natsbus.Config{URL: s.URL(), Host: 2})
	hear(t, slow, 0)
	hear(t, quick, 0)
	const frames = 1000
	for i := range frames {
		send(t, a, strings.Repeat("x", i))
		expect(t, quick, 0, strings.Repeat("x", i))
	}
	await(t, "all counted", func() bool { s := slow.Stats(); return s.Received+s.Dropped == frames })
	if st := slow.Stats(); st.Received != 8 {
		t.Errorf("got %d frames received, want the 8 there is room for", st.Received)
	}
	for i := range 8 {
		expect(t, slow, 0, strings.Repeat("x", i)) // the oldest
	}
	if st := quick.Stats(); st.Dropped != 0 || st.Received != frames {
		t.Errorf("the quick reader: got %+v, want %d received and none dropped", st, frames)
	}
	send(t, a, "on")
	expect(t, slow, 0, "on")
}

// Close ends every goroutine, with a server and without.
func TestCloseLeavesNothing(t *testing.T) {
	s := start(t, broker.Config{})
	warm := dial(t, natsbus.Config{URL: s.URL()}) // what is started once stays
	warm.Close()
	before := settled(t)
	var conns []*natsbus.Conn
	for i := range 5 {
		c := dial(t, natsbus.Config{URL: s.URL(), Host: transport.HostID(i)})
		hear(t, c, 0, 1, 2, 3, 4)
		if _, err := c.Subscribe(natsbus.WorldSubject("test", 0), func(string, []byte) {}); err != nil {
			t.Fatal(err)
		}
		send(t, c, "hello")
		conns = append(conns, c)
	}
	for _, c := range conns[:2] {
		c.Close()
	}
	s.Stop()
	for _, c := range conns[2:] {
		await(t, "the server is gone", func() bool { return c.Send(nil) != nil })
		c.Close()
	}
	await(t, "goroutines end", func() bool { return runtime.NumGoroutine() <= before })
}

// settled returns how many goroutines there are once their number stays.
func settled(t *testing.T) int {
	n, same := runtime.NumGoroutine(), 0
	await(t, "goroutines settle", func() bool {
		now := runtime.NumGoroutine()
		if now == n {
			same++
		} else {
			n, same = now, 0
		}
		return same == 50
	})
	return n
}
