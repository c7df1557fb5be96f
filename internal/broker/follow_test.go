package broker_test

import (
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/internal/broker"
	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/natsbus"
)

// follow starts a server with TLS that follows the keys in dir.
func follow(t *testing.T, dir string) *broker.Server {
	t.Helper()
	p, err := keys.LoadPermissions(dir)
	if err != nil {
		t.Fatal(err)
	}
	secure, err := keys.ServerTLS(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, broker.Config{Keys: p, TLS: secure})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Follow(ctx, dir, slog.New(slog.NewTextHandler(io.Discard, nil)))
	}()
	t.Cleanup(func() { cancel(); <-done })
	return s
}

// as returns what a host dials a server with.
func as(t *testing.T, s *broker.Server, dir string, id transport.HostID) natsbus.Config {
	t.Helper()
	c, err := keys.LoadClient(dir, keys.HostName(id))
	if err != nil {
		t.Fatal(err)
	}
	return natsbus.Config{URL: s.URL(), Host: id, Seed: c.Seed, TLS: c.TLS}
}

// serial returns the number of the certificate that a server shows.
func serial(t *testing.T, s *broker.Server, dir string) string {
	t.Helper()
	c, err := keys.LoadClient(dir, keys.HostName(0))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if err := raw.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	for b := make([]byte, 1); b[0] != '\n'; { // INFO comes before TLS
		if _, err := raw.Read(b); err != nil {
			t.Fatal(err)
		}
	}
	config := c.TLS.Clone()
	config.ServerName = "127.0.0.1"
	conn := tls.Client(raw, config)
	if err := conn.Handshake(); err != nil {
		t.Fatal(err)
	}
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.String()
}

// A server shows a renewed certificate in the next handshake, without a restart, and
// connections from before go on.
func TestRenewedCertificate(t *testing.T) {
	dir := makeKeys(t)
	s := follow(t, dir)
	a, b := dial(t, as(t, s, dir, 0)), dial(t, as(t, s, dir, 1))
	reaches(t, a, b, 0)
	before := serial(t, s, dir)
	if _, err := keys.Renew(dir, keys.Renewal{}); err != nil {
		t.Fatal(err)
	}
	if after := serial(t, s, dir); after == before {
		t.Errorf("got certificate %s again, want the renewed one", after)
	}
	reaches(t, a, b, 0)
	if n := a.Stats().Reconnects + b.Stats().Reconnects; n != 0 {
		t.Errorf("got %d new connections, want the old ones to go on", n)
	}
}

// A revoked host is thrown out and not let in again; the other goes on. With new
// keys it is back.
func TestRevokedHost(t *testing.T) {
	dir := makeKeys(t)
	s := follow(t, dir)
	stolen := as(t, s, dir, 1)
	gone := make(chan error, 100)
	config := stolen
	config.OnError = func(err error) {
		select {
		case gone <- err:
		default:
		}
	}
	a, b := dial(t, as(t, s, dir, 0)), dial(t, config)
	reaches(t, a, b, 0)
	if err := keys.Revoke(dir, "host-1"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-gone:
	case <-time.After(patience):
		t.Fatalf("got nothing for %v, want the revoked host thrown out", patience)
	}
	b.Close()
	if _, err := tryDial(t, stolen); err == nil {
		t.Fatal("the revoked host was let in again")
	}
	if a.Stats().Reconnects != 0 {
		t.Error("the other host was thrown out too")
	}
	if _, err := keys.Renew(dir, keys.Renewal{Parties: []string{"host-1"}}); err == nil || !strings.Contains(err.Error(), "--rekey") {
		t.Errorf("renewing a revoked key: got %v, want that it needs another", err)
	}
	if _, err := keys.Renew(dir, keys.Renewal{Parties: []string{"host-1"}, Rekey: true}); err != nil {
		t.Fatal(err)
	}
	back := as(t, s, dir, 1)
	for began := time.Now(); ; {
		again, err := tryDial(t, back)
		if err == nil {
			reaches(t, a, again, 0)
			break
		}
		if time.Since(began) > patience {
			t.Fatalf("with new keys: got %v for %v, want to be let in", err, patience)
		}
	}
	if _, err := tryDial(t, stolen); err == nil {
		t.Fatal("the old key was let in after new ones were made")
	}
}
