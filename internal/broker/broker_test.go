package broker_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/internal/broker"
	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/natsbus"
)

const patience = time.Minute

func start(t *testing.T, config broker.Config) *broker.Server {
	t.Helper()
	s, err := broker.Start(config)
	if err != nil {
		t.Fatalf("Start: got %v, want no error", err)
	}
	t.Cleanup(s.Stop)
	return s
}

func dial(t *testing.T, config natsbus.Config) *natsbus.Conn {
	t.Helper()
	c, err := tryDial(t, config)
	if err != nil {
		t.Fatalf("Dial: got %v, want no error", err)
	}
	return c
}

func tryDial(t *testing.T, config natsbus.Config) (*natsbus.Conn, error) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	config.Run = "test"
	c, err := natsbus.Dial(ctx, config)
	if err == nil {
		t.Cleanup(func() { c.Close() })
	}
	return c, err
}

// reaches checks that what one host sends reaches another, sooner or later.
func reaches(t *testing.T, from, to *natsbus.Conn, id transport.HostID) {
	t.Helper()
	if err := to.Hear([]transport.HostID{id}); err != nil {
		t.Fatal(err)
	}
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for began := time.Now(); time.Since(began) < patience; {
		if err := from.Send([]byte("hello")); err != nil {
			t.Fatal(err)
		}
		select {
		case f := <-to.Frames():
			if f.From != id || string(f.Data) != "hello" {
				t.Fatalf("got %q of host %d, want hello of host %d", f.Data, f.From, id)
			}
			return
		case <-again.C:
		}
	}
	t.Fatalf("got nothing of host %d for %v", id, patience)
}

func TestStart(t *testing.T) {
	var log bytes.Buffer
	s := start(t, broker.Config{Name: "one", Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	if !strings.HasPrefix(s.URL(), "nats://127.0.0.1:") || s.URL() != "nats://"+s.Addr() {
		t.Errorf("got %s at %s, want a loopback address", s.URL(), s.Addr())
	}
	a, b := dial(t, natsbus.Config{URL: s.URL(), Host: 0}), dial(t, natsbus.Config{URL: s.URL(), Host: 1})
	reaches(t, a, b, 0)
	if st := s.Stats(); st.Connections != 2 || st.Messages == 0 || st.Deliveries == 0 || st.DeliveryBytes < 5 || st.Refused != 0 {
		t.Errorf("got stats %+v, want two connections and what they said", st)
	}
	if _, err := broker.Start(broker.Config{Addr: s.Addr()}); err == nil || !strings.Contains(err.Error(), s.Addr()) ||
		!strings.Contains(err.Error(), "in use") {
		t.Errorf("a second server on the port: got %v, want that it is in use", err)
	}
	s.Stop()
	s.Stop() // does nothing
	again := start(t, broker.Config{Addr: s.Addr()})
	if again.URL() != s.URL() {
		t.Errorf("started again: got %s, want %s", again.URL(), s.URL())
	}
	if !strings.Contains(log.String(), "Server is ready") {
		t.Errorf("got log %q, want the server's words", log.String())
	}
}

func TestRefuses(t *testing.T) {
	for _, c := range []struct {
		config broker.Config
		want   string
	}{
		{broker.Config{Addr: "0.0.0.0:0"}, "no keys"},
		{broker.Config{Addr: ":4222"}, "no keys"},
		{broker.Config{Addr: "192.0.2.1:4222"}, "no keys"},
		{broker.Config{Addr: "localhost"}, "want host:port"},
		{broker.Config{Addr: "127.0.0.1:70000"}, "want a port"},
		{broker.Config{MaxPayload: 65 << 20}, "a payload"},
		{broker.Config{Keys: &keys.Permissions{Run: "a"}}, "no users"},
		{broker.Config{Cluster: &broker.Cluster{Addr: "127.0.0.1:0"}}, "no name"},
		{broker.Config{Cluster: &broker.Cluster{Name: "c", Addr: "0.0.0.0:0"}}, "pose as a server"},
		{broker.Config{Cluster: &broker.Cluster{Name: "c", Addr: "127.0.0.1:0", Routes: []string{"x"}}}, "route \"x\""},
	} {
		if s, err := broker.Start(c.config); err == nil {
			s.Stop()
			t.Errorf("%+v: it started, want %q", c.config, c.want)
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want %q", c.config, err, c.want)
		}
	}
	s := start(t, broker.Config{Addr: "0.0.0.0:0", Insecure: true})
	if !strings.HasPrefix(s.URL(), "nats://127.0.0.1:") {
		t.Errorf("got URL %s, want one that this machine can use", s.URL())
	}
}
