package natsbus_test

import (
	"context"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/internal/broker"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/natsbus"
)

// patience is how long tests wait for what must happen.
const patience = time.Minute

func start(t testing.TB, config broker.Config) *broker.Server {
	t.Helper()
	s, err := broker.Start(config)
	if err != nil {
		t.Fatalf("start a server: got %v, want no error", err)
	}
	t.Cleanup(s.Stop)
	return s
}

func dial(t testing.TB, config natsbus.Config) *natsbus.Conn {
	t.Helper()
	if config.Run == "" {
		config.Run = "test"
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c, err := natsbus.Dial(ctx, config)
	if err != nil {
		t.Fatalf("Dial: got %v, want no error", err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// hear has c hear hosts, and returns when the server knows.
func hear(t testing.TB, c *natsbus.Conn, hosts ...transport.HostID) {
	t.Helper()
	if err := c.Hear(hosts); err != nil {
		t.Fatalf("Hear(%v): got %v, want no error", hosts, err)
	}
	flush(t, c)
}

func flush(t testing.TB, c *natsbus.Conn) {
	t.Helper()
	if err := c.Flush(t.Context()); err != nil {
		t.Fatalf("Flush: got %v, want no error", err)
	}
}

func send(t testing.TB, c *natsbus.Conn, text string) {
	t.Helper()
	if err := c.Send([]byte(text)); err != nil {
		t.Fatalf("Send: got %v, want no error", err)
	}
}

// expect checks the next frame at c.
func expect(t testing.TB, c *natsbus.Conn, from transport.HostID, text string) {
	t.Helper()
	select {
	case f := <-c.Frames():
		if f.From != from || string(f.Data) != text {
			t.Fatalf("got %.40q of host %d, want %q of host %d", f.Data, f.From, text, from)
		}
	case <-time.After(patience):
		t.Fatalf("got nothing for %v, want %q of host %d; stats %+v", patience, text, from, c.Stats())
	}
}

// await waits until something holds.
func await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for began := time.Now(); !holds(); <-tick.C {
		if time.Since(began) > patience {
			t.Fatalf("%s: got no such thing for %v", what, patience)
		}
	}
}
