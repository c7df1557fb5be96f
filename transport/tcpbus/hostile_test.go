package tcpbus_test

import (
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/tcpbus"
)

const protocol = "wdgnnTB1"

// hello returns what a hearer says first.
func hello(hearer, sender uint32) []byte {
	said := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32([]byte(protocol), hearer), sender)
	return binary.LittleEndian.AppendUint32(said, 15000)
}

// dial connects to a host, with TLS unless config is nil.
func dial(t *testing.T, address string, config *tls.Config) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(patience))
	if config == nil {
		return conn
	}
	config = config.Clone()
	config.InsecureSkipVerify = true
	return tls.Client(conn, config)
}

// ended says whether the other side hangs up.
func ended(conn net.Conn) bool {
	_, err := io.Copy(io.Discard, conn)
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

// Whoever is not a peer with a certificate to prove it is refused and counted.
func TestHostileHearers(t *testing.T) {
	a, foreign := newAuthority(t), newAuthority(t)
	c := newCluster(t, 3, a)
	sender, hearer := c.open(0), c.open(1)
	c.hears(hearer, sender, 0)
	old := a.host(2)
	old.MaxVersion = tls.VersionTLS12
	for _, h := range []struct {
		name   string
		config *tls.Config
		say    string
		want   string // in the complaint
	}{
		{"no certificate", &tls.Config{}, string(hello(2, 0)), "certificate"},
		{"foreign authority", foreign.host(2), string(hello(2, 0)), "authority"},
		{"not a peer", a.host(99), string(hello(99, 0)), "not among the peers"},
		{"the host itself", a.host(0), string(hello(0, 0)), "not among the peers"},
		{"another's name", a.host(2), string(hello(1, 0)), "certificate says 2"},
		{"wants another host", a.host(2), string(hello(2, 1)), "wants to hear host 1"},
		{"old TLS", old, string(hello(2, 0)), "version"},
		{"other protocol", a.host(2), "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "protocol"},
		{"no TLS", nil, string(hello(2, 0)), "TLS"},
		{"a fourth lane", a.host(2), strings.Replace(string(hello(2, 0)), protocol, "wdgnnTB4", 1), "protocol"},
		{"random bytes", nil, strings.Repeat("\x9c\x01\xfe\x77", 1000), "TLS"},
		{"wrong answers", a.host(2), string(hello(2, 0)) + "??", "answers"},
	} {
		t.Run(h.name, func(t *testing.T) {
			for len(c.errors) > 0 {
				<-c.errors
			}
			before := sender.Stats().Refused
			conn := dial(t, c.peers[0], h.config)
			conn.Write([]byte(h.say)) // may fail: that is a refusal too
			if !ended(conn) {
				t.Errorf("got a link that stays, want it refused")
			}
			select {
			case err := <-c.errors:
				if !strings.Contains(err.Error(), h.want) {
					t.Errorf("got %q, want it to name %q", err, h.want)
				}
			case <-time.After(patience):
				t.Fatal("got no complaint, want one")
			}
			if got := sender.Stats().Refused; got != before+1 {
				t.Errorf("got %d refused, want %d", got, before+1)
			}
			c.reaches(sender, hearer, 0)
		})
	}
	if s := hearer.Stats(); s.Reconnects != 0 {
		t.Errorf("the honest hearer: got %d reconnects, want 0", s.Reconnects)
	}
}

// Connections that say nothing are sent away, at the latest when there are too
// many, and keep nobody out.
func TestSilentConnections(t *testing.T) {
	c := newCluster(t, 2, newAuthority(t))
	sender, hearer := c.open(0, func(f *tcpbus.Config) { f.HandshakeTimeout = time.Hour }), c.open(1)
	first := dial(t, c.peers[0], nil)
	for range 100 {
		dial(t, c.peers[0], nil)
	}
	if !ended(first) {
		t.Error("the oldest of 101 silent connections: got a link that stays, want it closed")
	}
	c.hears(hearer, sender, 0)
	if r := sender.Stats().Refused; r < 30 {
		t.Errorf("got %d refused, want those that are too many", r)
	}

	quick := newCluster(t, 2, newAuthority(t))
	quick.open(0, func(f *tcpbus.Config) { f.HandshakeTimeout = 50 * time.Millisecond })
	slow := dial(t, quick.peers[0], nil)
	slow.Write([]byte{22, 3, 1}) // the beginning of a handshake
	if !ended(slow) {
		t.Error("a handshake that does not go on: got a link that stays, want it closed")
	}
}

// impostor serves one connection at a time in a host's place.
func impostor(t *testing.T, l net.Listener, config *tls.Config, say []byte) {
	config = config.Clone()
	config.ClientAuth = tls.RequestClientCert
	config.NextProtos = []string{"wdgnn-tcpbus/1"}
	go func() {
		for {
			raw, err := l.Accept()
			if err != nil {
				return
			}
			raw.SetDeadline(time.Now().Add(patience))
			conn := tls.Server(raw, config)
			if _, err := io.ReadFull(conn, make([]byte, len(hello(0, 0)))); err == nil {
				conn.Write(say)
				io.Copy(io.Discard, conn)
			}
			raw.Close()
		}
	}()
}

// A host behind a peer's address that is not that peer, or does not keep to the
// protocol, is not heard; others are.
func TestHostileSenders(t *testing.T) {
	a, foreign := newAuthority(t), newAuthority(t)
	welcome := func(host uint32, then ...byte) []byte {
		return append(binary.LittleEndian.AppendUint32([]byte(protocol), host), then...)
	}
	for _, h := range []struct {
		name    string
		config  *tls.Config
		say     []byte
		want    string
		refused bool
	}{
		{"another host", a.host(2), welcome(0), "certificate says host 2", true},
		{"foreign authority", foreign.host(0), welcome(0), "authority", true},
		{"another name", a.host(0), welcome(5), "host 5", true},
		{"other protocol", a.host(0), []byte("HTTP/1.1 400 Bad Request\r\n\r\n"), "protocol", true},
		{"huge length", a.host(0), welcome(0, 0xfc, 0xff, 0xff, 0xff), "4294967292 bytes", true},
		{"never goes on", a.host(0), welcome(0, 0, 0, 0, 4, 1, 2, 3), "timeout", false},
		{"never welcomes", a.host(0), nil, "timeout", false},
	} {
		t.Run(h.name, func(t *testing.T) {
			c := newCluster(t, 3, a)
			impostor(t, c.listeners[0], h.config, h.say)
			honest := c.open(2)
			hearer := c.open(1, func(f *tcpbus.Config) {
				if !h.refused {
					f.Idle, f.HandshakeTimeout = time.Second, time.Second
				}
			})
			if err := hearer.Hear([]transport.HostID{0, 2}); err != nil {
				t.Fatal(err)
			}
			for deadline, named := time.After(patience), false; !named; {
				select {
				case err := <-c.errors:
					named = strings.Contains(err.Error(), "host 1 hears host 0: ") && strings.Contains(err.Error(), h.want)
					t.Log(err)
				case <-deadline:
					t.Fatalf("got no complaint about host 0 that names %q, want one", h.want)
				}
			}
			if got := hearer.Stats().Refused > 0; got != h.refused {
				t.Errorf("got refused: %t, want %t", got, h.refused)
			}
			c.reaches(honest, hearer, 2)
		})
	}
}

// A hearer that does not read loses the oldest frames and then its link. Nobody
// else notices.
func TestHearerThatDoesNotRead(t *testing.T) {
	a := newAuthority(t)
	c := newCluster(t, 3, a)
	sender := c.open(0, func(f *tcpbus.Config) { f.SendQueue, f.WriteTimeout = 16, 3*time.Second })
	hearer := c.open(1)
	c.hears(hearer, sender, 0)
	lazy := dial(t, c.peers[0], a.host(2))
	lazy.Write(hello(2, 0))
	io.ReadFull(lazy, make([]byte, 12)) // welcome, and no more
	for len(c.errors) > 0 {
		<-c.errors
	}
	frame := make([]byte, 256<<10)
	deadline := time.After(patience)
	pace := time.NewTicker(5 * time.Millisecond)
	defer pace.Stop()
	for n := 0; ; n++ {
		<-pace.C
		binary.LittleEndian.PutUint64(frame, uint64(n))
		if err := sender.Send(frame); err != nil {
			t.Fatal(err)
		}
		for heard := false; !heard; { // skips what was sent to connect
			select {
			case f := <-hearer.Frames():
				if heard = len(f.Data) == len(frame); heard && binary.LittleEndian.Uint64(f.Data) != uint64(n) {
					t.Fatalf("got frame %d, want %d", binary.LittleEndian.Uint64(f.Data), n)
				}
			case <-deadline:
				t.Fatalf("the one who reads: got no frame %d in %v, want it", n, patience)
			}
		}
		select {
		case err := <-c.errors:
			if !strings.Contains(err.Error(), "host 2 no more") || !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("got %v, want that host 2 takes nothing", err)
			}
			if s := sender.Stats(); s.Dropped == 0 {
				t.Errorf("got stats %+v, want dropped frames", s)
			}
			if s := hearer.Stats(); s.Dropped != 0 || s.Reconnects != 0 {
				t.Errorf("the one who reads: got %+v, want nothing dropped and no reconnects", s)
			}
			return
		case <-deadline:
			t.Fatalf("host 2 takes nothing: got its link kept for %v, want it given up", patience)
		default:
		}
	}
}

// A hearer that answers no beats counts as gone; one that does stays, and a
// quiet sender beats as often as its hearer asks for.
func TestBeats(t *testing.T) {
	a := newAuthority(t)
	c := newCluster(t, 4, a)
	sender := c.open(0, func(f *tcpbus.Config) { f.Idle = 2 * time.Second })
	hearer := c.open(1, func(f *tcpbus.Config) { f.Idle = 1500 * time.Millisecond })
	quiet := c.open(3)
	c.hears(hearer, quiet, 3)
	if err := hearer.Hear([]transport.HostID{0, 3}); err != nil {
		t.Fatal(err)
	}
	mute := dial(t, c.peers[0], a.host(2))
	mute.Write(hello(2, 0))
	if !ended(mute) { // after 2 s
		t.Error("a hearer without answers: got a link that stays, want it given up")
	}
	for len(hearer.Frames()) > 0 {
		<-hearer.Frames()
	}
	c.reaches(sender, hearer, 0)
	if s := hearer.Stats(); s.Reconnects != 0 {
		t.Errorf("got %d reconnects, want 0: beats keep a quiet link", s.Reconnects)
	}
}

// Close leaves no goroutine behind.
func TestCloseEndsGoroutines(t *testing.T) {
	before := runtime.NumGoroutine()
	c := newCluster(t, 3, newAuthority(t))
	c.listeners[2].Close() // dialled in vain
	a, b := c.open(0), c.open(1)
	if err := a.Hear([]transport.HostID{1, 2}); err != nil {
		t.Fatal(err)
	}
	c.hears(b, a, 0)
	dial(t, c.peers[0], nil) // a stranger
	a.Close()
	b.Close()
	eventually(t, "end of goroutines", func() bool { return runtime.NumGoroutine() <= before })
}
