package natsbus_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/wdgnn/wdgnn/internal/broker"
	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/natsbus"
)

// deployment is a server with keys and hosts 0 - 1 - 2 in a line. Hosts 0 and 1
// are honest and connected.
type deployment struct {
	*testing.T
	dir    string
	server *broker.Server
	a, b   *natsbus.Conn
	said   int
}

func deploy(t *testing.T) *deployment {
	dir := filepath.Join(t.TempDir(), "keys")
	if err := keys.Make(dir, keys.Plan{Run: "test", Hosts: []keys.Host{
		{ID: 0, Hears: []transport.HostID{1}},
		{ID: 1, Hears: []transport.HostID{0, 2}},
		{ID: 2, Hears: []transport.HostID{1}},
	}}); err != nil {
		t.Fatal(err)
	}
	permissions, err := keys.LoadPermissions(dir)
	if err != nil {
		t.Fatal(err)
	}
	d := &deployment{T: t, dir: dir, server: start(t, broker.Config{Keys: permissions})}
	d.a, d.b = d.host(0), d.host(1)
	hear(t, d.a, 1)
	hear(t, d.b, 0, 2)
	d.honest()
	return d
}

// host connects with the key of a host.
func (d *deployment) host(id transport.HostID) *natsbus.Conn {
	d.Helper()
	return dial(d, natsbus.Config{URL: d.server.URL(), Host: id, SeedFile: filepath.Join(d.dir, keys.HostName(id), "host.seed")})
}

// honest checks that hosts 0 and 1 still hear each other and nobody else.
func (d *deployment) honest() {
	d.Helper()
	d.said++
	text := fmt.Sprint("honest ", d.said)
	send(d, d.a, text)
	expect(d, d.b, 0, text)
	send(d, d.b, text)
	expect(d, d.a, 1, text)
	for _, c := range []*natsbus.Conn{d.a, d.b} {
		if s := c.Stats(); s.Reconnects+s.Refused+s.Failed+s.Dropped != 0 {
			d.Fatalf("an honest host: got stats %+v, want no trouble", s)
		}
	}
}

// refused waits until the server has counted more refusals than before.
func (d *deployment) refused(attack func()) {
	d.Helper()
	before := d.server.Stats().Refused
	attack()
	await(d, "the server counts a refusal", func() bool { return d.server.Stats().Refused > before })
	d.honest()
}

// Who has no key, or one that the server does not know, gets nowhere.
func TestWrongKey(t *testing.T) {
	d := deploy(t)
	stranger, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := stranger.Seed()
	if err != nil {
		t.Fatal(err)
	}
	for name, seed := range map[string][]byte{"no key": nil, "a stranger's key": seed} {
		d.refused(func() {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			began := time.Now()
			c, err := natsbus.Dial(ctx, natsbus.Config{URL: d.server.URL(), Run: "test", Seed: seed})
			if err == nil {
				c.Close()
			}
			if err == nil || !strings.Contains(err.Error(), "wants a key it knows") {
				t.Errorf("%s: got %v, want that the server wants a key it knows", name, err)
			}
			if time.Since(began) > patience/2 {
				t.Errorf("%s: Dial took %v, want no waiting for what cannot happen", name, time.Since(began))
			}
		})
	}
}

// Host 2 has a key. It may not speak as host 0, nor as the world.
func TestForeignSubject(t *testing.T) {
	d := deploy(t)
	evil := d.host(2)
	for _, subject := range []string{
		natsbus.FromSubject("test", 0), natsbus.FromSubject("test", 1), natsbus.ReportSubject("test", 0),
		natsbus.AnswerSubject("test", 1), natsbus.WorldSubject("test", 2), natsbus.FromSubject("other", 2),
		"_INBOX.x", "$SYS.REQ.SERVER.PING", "anything",
	} {
		d.refused(func() {
			before := evil.Stats().Refused
			if err := evil.Publish(subject, []byte("I am somebody else")); err != nil {
				t.Fatal(err)
			}
			await(t, subject, func() bool { return evil.Stats().Refused > before })
		})
	}
	send(t, evil, "as myself")
	expect(t, d.b, 2, "as myself")
}

// Host 2 may not hear host 0, which is not its neighbour, nor everybody.
func TestForeignEars(t *testing.T) {
	d := deploy(t)
	told := make(chan error, 100)
	evil := dial(t, natsbus.Config{
		URL: d.server.URL(), Host: 2, SeedFile: filepath.Join(d.dir, "host-2", "host.seed"),
		OnError: func(err error) { told <- err },
	})
	d.refused(func() { hear(t, evil, 0, 1) })
	select {
	case err := <-told:
		if !strings.Contains(err.Error(), natsbus.FromSubject("test", 0)) {
			t.Errorf("OnError: got %v, want the subject that was refused", err)
		}
	case <-time.After(patience):
		t.Error("OnError: got nothing, want the refusal")
	}
	for _, subject := range []string{
		">", "wdgnn.>", "wdgnn.test.from.*", natsbus.WorldSubject("test", 0), natsbus.ReportSubjects("test"), "_INBOX.>",
	} {
		d.refused(func() {
			if _, err := evil.Subscribe(subject, func(subject string, data []byte) {
				t.Errorf("heard %q on %s, want nothing", data, subject)
			}); err != nil {
				t.Fatal(err)
			}
		})
	}
	d.honest()
	expect(t, evil, 1, "honest 2") // its neighbour, from the moment it hears
	await(t, "the hostile host counts 7 refusals", func() bool { return evil.Stats().Refused == 7 })
}

// Bytes that are no messages, before and after a handshake that never ends.
func TestRandomBytes(t *testing.T) {
	d := deploy(t)
	r := rand.New(rand.NewPCG(1, 2))
	junk := make([]byte, 1<<16)
	for i := range junk {
		junk[i] = byte(r.Uint32())
	}
	for name, data := range map[string][]byte{
		"random":          junk,
		"no end of line":  []byte(strings.Repeat("A", 1<<16)),
		"a huge claim":    []byte("CONNECT {}\r\nPUB wdgnn.test.from.0 4000000000\r\n"),
		"sent at once":    []byte("PUB wdgnn.test.from.0 4\r\nevil\r\n"),
		"negative size":   []byte("PUB wdgnn.test.from.0 -1\r\n"),
		"connect, broken": []byte("CONNECT {\"nkey\":\r\n"),
		"http":            []byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			d.refused(func() { d.pour(data) })
		})
	}
}

// pour writes data to the server's port until the server hangs up.
func (d *deployment) pour(data []byte) {
	d.Helper()
	conn, err := net.Dial("tcp", d.server.Addr())
	if err != nil {
		d.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		d.Fatal(err)
	}
	_, _ = conn.Write(data) // the server may hang up in the middle
	if _, err := io.Copy(io.Discard, conn); err != nil && strings.Contains(err.Error(), "timeout") {
		d.Errorf("the server keeps a connection that talks nonsense for %v, want it to hang up", patience)
	}
}

// A host whose server takes less than its frame is told so, and goes on.
func TestTooLargeForServer(t *testing.T) {
	s := start(t, broker.Config{MaxPayload: 1000})
	a := dial(t, natsbus.Config{URL: s.URL(), Host: 0})
	b := dial(t, natsbus.Config{URL: s.URL(), Host: 1})
	hear(t, b, 0)
	if err := a.Send(make([]byte, 1001)); err == nil || !strings.Contains(err.Error(), "max_payload") {
		t.Errorf("got %v, want an error that names max_payload", err)
	}
	if got := a.Stats().Failed; got != 1 {
		t.Errorf("got %d failed, want 1", got)
	}
	send(t, a, "small")
	expect(t, b, 0, "small")

	conn, err := net.Dial("tcp", s.Addr()) // a client that does not ask
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "CONNECT {}\r\nPUB wdgnn.test.from.0 2000\r\n%s\r\n", strings.Repeat("x", 2000))
	reply, err := io.ReadAll(conn)
	if !strings.Contains(string(reply), "Maximum Payload") {
		t.Errorf("a client with a large message: got %.200q, %v, want a refusal", reply, err)
	}
	if got := s.Stats().Refused; got != 1 {
		t.Errorf("the server: got %d refused, want 1", got)
	}
	send(t, a, "still here")
	expect(t, b, 0, "still here")
}
