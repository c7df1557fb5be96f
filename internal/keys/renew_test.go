package keys

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/tcpbus"
)

const patience = time.Minute

// link opens the direct links of a host and returns what it says of errors.
func link(t *testing.T, dir string, id transport.HostID, peers map[transport.HostID]string) (*tcpbus.Bus, chan error) {
	t.Helper()
	config, err := HostTLS(dir, id)
	if err != nil {
		t.Fatal(err)
	}
	said := make(chan error, 1000)
	b, err := tcpbus.Open(t.Context(), tcpbus.Config{
		Host: id, Listen: "127.0.0.1:0", Peers: peers, TLS: config,
		Identify: func(c *x509.Certificate) (transport.HostID, error) { return HostOf(c, "test") },
		Permit:   func(c *x509.Certificate, sender transport.HostID) error { return MayHear(c, "test", sender) },
		OnError: func(err error) {
			select {
			case said <- err:
			default:
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b, said
}

// hears returns once a frame of one host has reached another.
func hears(t *testing.T, from, to *tcpbus.Bus) {
	t.Helper()
	again, deadline := time.NewTicker(5*time.Millisecond), time.After(patience)
	defer again.Stop()
	for {
		select {
		case <-to.Frames():
			return
		case <-again.C:
			if err := from.Send([]byte("hello")); err != nil {
				t.Fatal(err)
			}
		case <-deadline:
			t.Fatalf("got no frame in %v, want one", patience)
		}
	}
}

// says waits for an error that holds some words.
func says(t *testing.T, said <-chan error, want string) {
	t.Helper()
	for deadline := time.After(patience); ; {
		select {
		case err := <-said:
			if strings.Contains(Explain(err).Error(), want) {
				return
			}
		case <-deadline:
			t.Fatalf("got no error with %q in %v, want one", want, patience)
		}
	}
}

// Renewed certificates are shown in the next handshake of a host that runs, and its
// link from before goes on; keys and names stay.
func TestRenew(t *testing.T) {
	dir := made(t, line)
	before, err := readCertificate(filepath.Join(dir, "host-0", "host.crt"))
	if err != nil {
		t.Fatal(err)
	}
	if days := time.Until(before.NotAfter).Hours() / 24; days < 364 || days > 367 {
		t.Errorf("a certificate is valid for %.0f days, want a year", days)
	}
	zero, _ := link(t, dir, 0, map[transport.HostID]string{1: ""})
	one, _ := link(t, dir, 1, map[transport.HostID]string{0: zero.Addr().String()})
	if err := one.Hear([]transport.HostID{0}); err != nil {
		t.Fatal(err)
	}
	hears(t, zero, one)
	soon := time.Now().AddDate(0, 6, 0)
	done, err := renew(dir, Renewal{}, soon)
	if err != nil {
		t.Fatal(err)
	}
	if len(done) != 5 || done[0].Party != "host-0" || done[3].Party != Operator || done[4].Party != "server" ||
		done[0].Until.Sub(soon).Hours() < 364*24 {
		t.Errorf("got %v renewed, want three hosts, the operator and the server, for a year", done)
	}
	after, err := readCertificate(filepath.Join(dir, "host-0", "host.crt"))
	if err != nil {
		t.Fatal(err)
	}
	if pinOf(after) != pinOf(before) || after.URIs[1].String() != before.URIs[1].String() || after.DNSNames[0] != before.DNSNames[0] {
		t.Errorf("got another key or other names than before: %v", after.URIs)
	}
	config, err := HostTLS(dir, 1)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := tls.Dial("tcp", zero.Addr().String(), &tls.Config{
		InsecureSkipVerify: true, GetClientCertificate: config.GetClientCertificate, NextProtos: []string{"wdgnn-tcpbus/1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got := conn.ConnectionState().PeerCertificates[0].SerialNumber; got.Cmp(after.SerialNumber) != 0 {
		t.Errorf("a new handshake shows certificate %v, want %v, the renewed one", got, after.SerialNumber)
	}
	hears(t, zero, one)
	if n := one.Stats().Reconnects; n != 0 {
		t.Errorf("the link was made again %d times, want it to go on", n)
	}
}

// Files that are being copied, and make no pair, leave the last good pair in use.
func TestHalfCopied(t *testing.T) {
	dir := made(t, line)
	config, err := HostTLS(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	was, err := config.GetCertificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Renew(dir, Renewal{Parties: []string{"host-0"}, Rekey: true}); err != nil {
		t.Fatal(err)
	}
	crt, err := os.ReadFile(filepath.Join(dir, "host-0", "host.crt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, half := range [][]byte{nil, crt[:len(crt)/2], []byte("not a certificate")} {
		if err := os.WriteFile(filepath.Join(dir, "host-0", "host.crt"), half, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := config.GetCertificate(nil); err != nil || got != was {
			t.Errorf("half a certificate: got %v, %v, want the one before", got, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "host-0", "host.crt"), crt, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := config.GetCertificate(nil); err != nil || got == was {
		t.Errorf("whole again: got the old certificate (%v), want the new one", err)
	}
}

// A revoked host is hung up on and let in no more, by hosts that run; with new keys it
// is heard again.
func TestRevoke(t *testing.T) {
	dir := made(t, line)
	zero, said := link(t, dir, 0, map[transport.HostID]string{1: ""})
	one, _ := link(t, dir, 1, map[transport.HostID]string{0: zero.Addr().String()})
	if err := one.Hear([]transport.HostID{0}); err != nil {
		t.Fatal(err)
	}
	hears(t, zero, one)
	if err := Revoke(dir, "host-1"); err != nil {
		t.Fatal(err)
	}
	refuse, err := Revoked(dir, "host-0")
	if err != nil {
		t.Fatal(err)
	}
	zero.Recheck(refuse)
	says(t, said, "hangs up on")
	says(t, said, "the key of host-1 is revoked")
	one.Close()
	thief, heard := link(t, dir, 1, map[transport.HostID]string{0: zero.Addr().String()}) // with the stolen folder
	if err := thief.Hear([]transport.HostID{0}); err != nil {
		t.Fatal(err)
	}
	says(t, said, "the key of host-1 is revoked")
	says(t, heard, "it may be revoked")
	thief.Close()

	if _, err := Renew(dir, Renewal{Rekey: true}); err == nil || !strings.Contains(err.Error(), "name the parties") {
		t.Errorf("new keys for everybody: got %v, want a refusal", err)
	}
	if _, err := Renew(dir, Renewal{Parties: []string{"host-1"}, Rekey: true}); err != nil {
		t.Fatal(err)
	}
	again, _ := link(t, dir, 1, map[transport.HostID]string{0: zero.Addr().String()})
	if err := again.Hear([]transport.HostID{0}); err != nil {
		t.Fatal(err)
	}
	hears(t, zero, again)
	if err := Revoke(dir, "host-9"); err == nil || !strings.Contains(err.Error(), "there is no host-9") {
		t.Errorf("a party that is not there: got %v, want an error", err)
	}
	p, err := LoadPermissions(dir)
	if err != nil || len(p.Users) != 6 || len(p.Revoked) != 0 {
		t.Errorf("got %d users, %d revoked (%v), want all six again", len(p.Users), len(p.Revoked), err)
	}
}

// A certificate that has expired is refused in words that say what to do, on both ends.
func TestExpired(t *testing.T) {
	dir := made(t, line)
	if _, err := renew(dir, Renewal{Parties: []string{"host-1"}}, time.Now().AddDate(-2, 0, 0)); err != nil {
		t.Fatal(err)
	}
	if until, err := Expiry(dir, "host-1"); err != nil || !until.Before(time.Now()) {
		t.Errorf("got valid until %v, %v, want the past", until, err)
	}
	zero, said := link(t, dir, 0, map[transport.HostID]string{1: ""})
	one, heard := link(t, dir, 1, map[transport.HostID]string{0: zero.Addr().String()})
	if err := one.Hear([]transport.HostID{0}); err != nil {
		t.Fatal(err)
	}
	says(t, said, "the certificate of host/1 is valid from")
	says(t, heard, "wdgnn swarm keys renew makes another")
	if _, err := Renew(dir, Renewal{}); err != nil {
		t.Fatal(err)
	}
	hears(t, zero, one) // it dials again, and needs no restart
}

// A list that cannot be read is an error at the start, and leaves the last good one
// while a host runs.
func TestRevokedListDamaged(t *testing.T) {
	dir := made(t, line)
	if err := Revoke(dir, "host-2"); err != nil {
		t.Fatal(err)
	}
	r, err := newRevoked(filepath.Join(dir, "host-0"))
	if err != nil {
		t.Fatal(err)
	}
	cert, err := readCertificate(filepath.Join(dir, "host-2", "host.crt"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "host-0", revokedFile), []byte("zzz host-2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r.check(cert) == nil {
		t.Error("a damaged list let a revoked key in")
	}
	if _, err := HostTLS(dir, 0); err == nil || !strings.Contains(err.Error(), "no line of a list") {
		t.Errorf("a start with a damaged list: got %v, want an error", err)
	}
}
