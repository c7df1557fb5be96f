package keys

import (
	"crypto/tls"
	"io"
	"net"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/transport"
)

// connected returns two ends of a connection, which fails rather than hangs. A
// net.Pipe has no room for an alert while the other end still writes.
func connected(t *testing.T) (near, far net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if far, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if near, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []net.Conn{near, far} {
		if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
	}
	return near, far
}

// shake lets two ends meet and returns what each says of it.
func shake(t *testing.T, server, client *tls.Config) (peer tls.ConnectionState, serverErr, clientErr error) {
	t.Helper()
	near, far := connected(t)
	defer near.Close()
	defer far.Close()
	done := make(chan error, 1)
	s := tls.Server(near, server)
	go func() {
		err := s.HandshakeContext(t.Context())
		if err == nil {
			_, err = s.Write([]byte{1})
		}
		near.Close()
		done <- err
	}()
	c := tls.Client(far, client)
	clientErr = c.HandshakeContext(t.Context())
	if clientErr == nil {
		_, clientErr = io.ReadFull(c, make([]byte, 1)) // in TLS 1.3 the server's verdict comes later
	}
	far.Close()
	serverErr = <-done
	return s.ConnectionState(), serverErr, clientErr
}

// Hosts of one set meet and learn who the other is; nobody else gets in.
func TestPeers(t *testing.T) {
	dir, elsewhere := made(t, line), made(t, line)
	host := func(dir string, id transport.HostID) *tls.Config {
		t.Helper()
		c, err := HostTLS(dir, id)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	state, serverErr, clientErr := shake(t, host(dir, 0), host(dir, 1))
	if serverErr != nil || clientErr != nil {
		t.Fatalf("two hosts: got %v and %v, want no error", serverErr, clientErr)
	}
	if id, err := HostOf(state.PeerCertificates[0], "test"); id != 1 || err != nil {
		t.Errorf("the other end: got host %d, %v, want 1", id, err)
	}
	if state.Version != tls.VersionTLS13 {
		t.Errorf("got TLS version %x, want 1.3", state.Version)
	}

	nobody := host(dir, 1)
	nobody.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return new(tls.Certificate), nil }
	server, err := ServerTLS(dir)
	if err != nil {
		t.Fatal(err)
	}
	asServer := server.Clone()
	asServer.InsecureSkipVerify = true
	old := host(dir, 1)
	old.MinVersion, old.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	for name, client := range map[string]*tls.Config{
		"no certificate":           nobody,
		"another authority's host": host(elsewhere, 1),
		"the server's certificate": asServer,
		"an old version of TLS":    old,
	} {
		if _, serverErr, _ := shake(t, host(dir, 0), client); serverErr == nil {
			t.Errorf("%s: got in, want a refusal", name)
		}
	}
	for name, server := range map[string]*tls.Config{
		"another authority's host": host(elsewhere, 0),
		"the server's certificate": server,
	} {
		if _, _, clientErr := shake(t, server, host(dir, 1)); clientErr == nil {
			t.Errorf("a link to %s: got no error, want one", name)
		}
	}

	// The same authority, another run: the certificate is good, the name is not.
	ca, root, err := newAuthority("other", time.Now(), 1)
	if err != nil {
		t.Fatal(err)
	}
	id, err := ca.issue(nil, hostPath(1))
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(id.cert, id.key)
	if err != nil {
		t.Fatal(err)
	}
	base := host(dir, 0)
	base.ClientCAs = base.ClientCAs.Clone()
	base.ClientCAs.AppendCertsFromPEM(root.cert)
	roots := base.ClientCAs
	base.VerifyConnection = func(s tls.ConnectionState) error { return verifyPeer(s, roots, "test") }
	stranger := &tls.Config{Certificates: []tls.Certificate{pair}, InsecureSkipVerify: true}
	if _, serverErr, _ := shake(t, base, stranger); serverErr == nil {
		t.Error("a host of another run: got in, want a refusal")
	}
}

// A certificate says whom its host may hear, and one of an older set that says
// nothing permits everybody.
func TestMayHear(t *testing.T) {
	ca, _, err := newAuthority("test", time.Now(), 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		paths []string
		may   []transport.HostID
		not   []transport.HostID
	}{
		{
			[]string{hostPath(3), hearsPath([]transport.HostID{7, 0, 1, 2, 9})},
			[]transport.HostID{0, 1, 2, 7, 9},
			[]transport.HostID{3, 4, 8, 10, 79},
		},
		{[]string{hostPath(3), hearsPath(nil)}, nil, []transport.HostID{0, 3, 4}},
		{[]string{hostPath(3)}, []transport.HostID{0, 3, 4}, nil},
	} {
		id, err := ca.issue(nil, c.paths...)
		if err != nil {
			t.Fatal(err)
		}
		pair, err := tls.X509KeyPair(id.cert, id.key)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range c.may {
			if err := MayHear(pair.Leaf, "test", h); err != nil {
				t.Errorf("%v: %v, want host %d permitted", c.paths, err, h)
			}
		}
		for _, h := range c.not {
			if err := MayHear(pair.Leaf, "test", h); err == nil {
				t.Errorf("%v: host %d is permitted, want a refusal", c.paths, h)
			}
		}
	}
}
