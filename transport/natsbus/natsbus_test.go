package natsbus_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/internal/broker"
	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/natsbus"
	"github.com/wdgnn/wdgnn/transport/transporttest"
)

func TestConformance(t *testing.T) {
	transporttest.Run(t, func(t *testing.T, hosts int) []transport.Bus {
		s := start(t, broker.Config{})
		var buses []transport.Bus
		for i := range hosts {
			buses = append(buses, dial(t, natsbus.Config{URL: s.URL(), Host: transport.HostID(i)}))
		}
		return buses
	})
}

// The same with TLS and keys, which change nothing for hosts that may hear each
// other.
func TestConformanceSecure(t *testing.T) {
	const hosts = 4
	plan := keys.Plan{Run: "test"}
	for i := range transport.HostID(hosts) {
		h := keys.Host{ID: i}
		for k := range transport.HostID(hosts - 1) {
			h.Hears = append(h.Hears, (i+k+1)%hosts)
		}
		plan.Hosts = append(plan.Hosts, h)
	}
	dir := filepath.Join(t.TempDir(), "keys")
	if err := keys.Make(dir, plan); err != nil {
		t.Fatal(err)
	}
	permissions, err := keys.LoadPermissions(dir)
	if err != nil {
		t.Fatal(err)
	}
	config, err := keys.ServerTLS(dir)
	if err != nil {
		t.Fatal(err)
	}
	transporttest.Run(t, func(t *testing.T, n int) []transport.Bus {
		s := start(t, broker.Config{Keys: permissions, TLS: config})
		var buses []transport.Bus
		for i := range transport.HostID(n) {
			c, err := keys.LoadClient(dir, keys.HostName(i))
			if err != nil {
				t.Fatal(err)
			}
			buses = append(buses, dial(t, natsbus.Config{URL: s.URL(), Host: i, Seed: c.Seed, TLS: c.TLS}))
		}
		return buses
	})
}

func TestSubjects(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{natsbus.FromSubject("demo", 7), "wdgnn.demo.from.7"},
		{natsbus.WorldSubject("demo", 7), "wdgnn.demo.world.7"},
		{natsbus.AnswerSubject("demo", 7), "wdgnn.demo.answer.7"},
		{natsbus.ReportSubject("demo", 4294967295), "wdgnn.demo.report.4294967295"},
		{natsbus.WorldSubjects("demo"), "wdgnn.demo.world.>"},
		{natsbus.AnswerSubjects("demo"), "wdgnn.demo.answer.>"},
		{natsbus.ReportSubjects("demo"), "wdgnn.demo.report.>"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
	if host, err := natsbus.HostOf("wdgnn.demo.report.12"); host != 12 || err != nil {
		t.Errorf("HostOf: got %d, %v, want 12", host, err)
	}
	for _, subject := range []string{
		"", "12", "wdgnn.demo.report.", "wdgnn.demo.report.-1", "wdgnn.demo.report.4294967296", "wdgnn.demo.report.1x",
	} {
		if host, err := natsbus.HostOf(subject); err == nil {
			t.Errorf("HostOf(%q): got %d, want an error", subject, host)
		}
	}
}

func TestValidRun(t *testing.T) {
	for _, name := range []string{"a", "demo", "Run-7_b", strings.Repeat("x", 64)} {
		if err := natsbus.ValidRun(name); err != nil {
			t.Errorf("ValidRun(%q): got %v, want no error", name, err)
		}
	}
	for _, name := range []string{"", "a.b", "a b", "*", ">", "ü", "a\x00", strings.Repeat("x", 65)} {
		if natsbus.ValidRun(name) == nil {
			t.Errorf("ValidRun(%q): got no error, want one", name)
		}
	}
}

// Runs do not hear each other, and lines do not reach Frames.
func TestRunsAreApart(t *testing.T) {
	s := start(t, broker.Config{})
	a := dial(t, natsbus.Config{URL: s.URL(), Run: "one", Host: 0})
	b := dial(t, natsbus.Config{URL: s.URL(), Run: "one", Host: 1})
	c := dial(t, natsbus.Config{URL: s.URL(), Run: "two", Host: 1})
	hear(t, b, 0)
	hear(t, c, 0)
	if err := a.Publish(natsbus.AnswerSubject("one", 0), []byte("a line")); err != nil {
		t.Fatal(err)
	}
	send(t, a, "a frame")
	expect(t, b, 0, "a frame")
	flush(t, a)
	flush(t, c)
	if n := len(c.Frames()); n != 0 {
		t.Errorf("the other run got %d frames, want 0", n)
	}
}

func TestLines(t *testing.T) {
	s := start(t, broker.Config{})
	world := dial(t, natsbus.Config{URL: s.URL()})
	host := dial(t, natsbus.Config{URL: s.URL(), Host: 5})
	got := make(chan string, 1)
	stop, err := world.Subscribe(natsbus.AnswerSubjects("test"), func(subject string, data []byte) {
		got <- fmt.Sprintf("%s %s", subject, data)
	})
	if err != nil {
		t.Fatal(err)
	}
	flush(t, world)
	say := func(text string) {
		t.Helper()
		if err := host.Publish(natsbus.AnswerSubject("test", 5), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	say("yes")
	select {
	case line := <-got:
		if want := "wdgnn.test.answer.5 yes"; line != want {
			t.Errorf("got %q, want %q", line, want)
		}
	case <-time.After(patience):
		t.Fatal("got no answer, want one")
	}
	stop()
	stop() // does nothing
	flush(t, world)
	say("too late")
	flush(t, host)
	flush(t, world)
	select {
	case line := <-got:
		t.Errorf("after stop: got %q, want nothing", line)
	default:
	}
}

// Frames that wait are bounded in bytes as well as in number.
func TestWaitingBytes(t *testing.T) {
	s := start(t, broker.Config{})
	a := dial(t, natsbus.Config{URL: s.URL(), Host: 0})
	b := dial(t, natsbus.Config{URL: s.URL(), Host: 1, Buffer: 100, Bytes: 10_000})
	hear(t, b, 0)
	frame := strings.Repeat("x", 4000)
	for range 5 {
		send(t, a, frame)
	}
	await(t, "five frames", func() bool { s := b.Stats(); return s.Received+s.Dropped == 5 })
	if s := b.Stats(); s.Received != 2 || s.Dropped != 3 {
		t.Errorf("5 frames of 4000 bytes, room for 10000: got %d received and %d dropped, want 2 and 3", s.Received, s.Dropped)
	}
	expect(t, b, 0, frame)
	send(t, a, frame)
	await(t, "a third frame", func() bool { return b.Stats().Received == 3 })
}

func TestDialRefuses(t *testing.T) {
	for _, c := range []struct {
		config natsbus.Config
		want   string
	}{
		{natsbus.Config{Run: "test"}, "no URL"},
		{natsbus.Config{URL: "nats://127.0.0.1:1", Run: "a.b"}, "run \"a.b\""},
		{natsbus.Config{URL: "nats://127.0.0.1:1", Run: "test", Buffer: -1}, "-1 frames"},
		{natsbus.Config{URL: "nats://127.0.0.1:1", Run: "test", Seed: []byte("SUxyz")}, "want an NKey seed"},
		{natsbus.Config{URL: "nats://127.0.0.1:1", Run: "test", SeedFile: "testdata/none"}, "no such file"},
		{natsbus.Config{URL: "nats://127.0.0.1:1", Run: "test", Seed: []byte("S"), SeedFile: "f"}, "give one"},
		{natsbus.Config{URL: "nats://127.0.0.1:xyz", Run: "test"}, "invalid port"},
	} {
		if _, err := natsbus.Dial(t.Context(), c.config); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Dial(%+v): got %v, want %q", c.config, err, c.want)
		}
	}
}

// Without a server Dial gives up when its context ends, and says where it
// looked but no password.
func TestDialWithoutServer(t *testing.T) {
	s := start(t, broker.Config{})
	s.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := natsbus.Dial(ctx, natsbus.Config{URL: "nats://me:secret@" + s.Addr(), Run: "test"})
	if err == nil || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), s.Addr()) ||
		!strings.Contains(err.Error(), "is it running") || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v, want an error with the address, a hint and no password", err)
	}
	if took := time.Since(began); took > patience/4 {
		t.Errorf("took %v, want about 100 ms", took)
	}
}

// Dial waits for a server that is still starting.
func TestDialWaits(t *testing.T) {
	first := start(t, broker.Config{})
	first.Stop()
	failures := make(chan error, 1)
	dialled := make(chan *natsbus.Conn, 1)
	go func() {
		c, err := natsbus.Dial(t.Context(), natsbus.Config{URL: first.URL(), Run: "test"})
		failures <- err
		dialled <- c
	}()
	start(t, broker.Config{Addr: first.Addr()})
	select {
	case err := <-failures:
		if err != nil {
			t.Fatalf("Dial before the server: got %v, want no error", err)
		}
	case <-time.After(patience):
		t.Fatalf("Dial before the server: got nothing for %v, want a connection", patience)
	}
	c := <-dialled
	defer c.Close()
	flush(t, c)
}
