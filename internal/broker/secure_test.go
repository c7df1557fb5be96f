package broker_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/wdgnn/wdgnn/internal/broker"
	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/natsbus"
)

// makeKeys makes keys for hosts 0 and 1, which hear each other.
func makeKeys(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "keys")
	if err := keys.Make(dir, keys.Plan{Run: "test", Hosts: []keys.Host{
		{ID: 0, Hears: []transport.HostID{1}},
		{ID: 1, Hears: []transport.HostID{0}},
	}}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// secure returns a configuration with the keys of dir.
func secure(t *testing.T, dir string) broker.Config {
	t.Helper()
	permissions, err := keys.LoadPermissions(dir)
	if err != nil {
		t.Fatal(err)
	}
	tls, err := keys.ServerTLS(dir)
	if err != nil {
		t.Fatal(err)
	}
	return broker.Config{Keys: permissions, TLS: tls}
}

// party returns how a party connects.
func party(t *testing.T, dir, url, name string, host transport.HostID) natsbus.Config {
	t.Helper()
	c, err := keys.LoadClient(dir, name)
	if err != nil {
		t.Fatal(err)
	}
	return natsbus.Config{URL: url, Host: host, Seed: c.Seed, TLS: c.TLS}
}

// talk checks that everybody may do what they are for.
func talk(t *testing.T, dir, url0, url1 string) {
	t.Helper()
	a := dial(t, party(t, dir, url0, keys.HostName(0), 0))
	b := dial(t, party(t, dir, url1, keys.HostName(1), 1))
	reaches(t, a, b, 0)
	reaches(t, b, a, 1)
	world := dial(t, party(t, dir, url0, keys.World, 0))
	observer := dial(t, party(t, dir, url1, keys.Observer, 0))
	for _, c := range []struct {
		from, to         *natsbus.Conn
		subject, pattern string
	}{
		{world, a, natsbus.WorldSubject("test", 0), natsbus.WorldSubject("test", 0)},
		{a, world, natsbus.AnswerSubject("test", 0), natsbus.AnswerSubjects("test")},
		{b, world, natsbus.ReportSubject("test", 1), natsbus.ReportSubjects("test")},
		{b, observer, natsbus.ReportSubject("test", 1), natsbus.ReportSubjects("test")},
	} {
		got := make(chan string, 100)
		if _, err := c.to.Subscribe(c.pattern, func(subject string, _ []byte) { got <- subject }); err != nil {
			t.Fatal(err)
		}
		again := time.NewTicker(20 * time.Millisecond)
		timeout := time.After(patience)
	wait:
		for {
			if err := c.from.Publish(c.subject, nil); err != nil {
				t.Fatal(err)
			}
			select {
			case subject := <-got:
				if subject != c.subject {
					t.Errorf("got %s, want %s", subject, c.subject)
				}
				break wait
			case <-again.C:
			case <-timeout:
				t.Fatalf("%s: got nothing, want what was said", c.subject)
			}
		}
		again.Stop()
	}
	for _, c := range []*natsbus.Conn{a, b, world, observer} {
		if s := c.Stats(); s.Refused != 0 {
			t.Errorf("got %d refusals, want none", s.Refused)
		}
	}
	// Whoever watches says nothing.
	if err := observer.Publish(natsbus.ReportSubject("test", 0), nil); err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); observer.Stats().Refused == 0; {
		if err := observer.Flush(t.Context()); err != nil || time.Since(began) > patience {
			t.Fatalf("the observer speaks: got no refusal (%v), want one", err)
		}
	}
}

func TestSecure(t *testing.T) {
	dir := makeKeys(t)
	s := start(t, secure(t, dir))
	if !strings.HasPrefix(s.URL(), "tls://") {
		t.Errorf("got URL %s, want tls://", s.URL())
	}
	talk(t, dir, s.URL(), s.URL())

	// Without the authority of the set a client does not trust the server,
	// and without TLS it gets nowhere.
	good := party(t, dir, s.URL(), keys.HostName(0), 0)
	for name, config := range map[string]natsbus.Config{
		"no authority":      {URL: s.URL(), Seed: good.Seed},
		"another authority": {URL: s.URL(), Seed: good.Seed, TLS: party(t, makeKeys(t), s.URL(), keys.World, 0).TLS},
		"no TLS asked for":  {URL: strings.Replace(s.URL(), "tls://", "nats://", 1), Seed: good.Seed},
	} {
		_, err := tryDial(t, config)
		if err == nil || !strings.Contains(err.Error(), "certificate signed by unknown authority") {
			t.Errorf("%s: got %v, want that the authority is unknown", name, err)
		}
	}
	plain := start(t, broker.Config{Keys: secure(t, dir).Keys})
	good.URL = plain.URL()
	if _, err := tryDial(t, good); err == nil || !strings.Contains(err.Error(), "one side wants TLS") {
		t.Errorf("a server without TLS: got %v, want an error", err)
	}
}

// Two servers share hosts; a host cannot pose as a third.
func TestCluster(t *testing.T) {
	dir := makeKeys(t)
	config := secure(t, dir)
	refused := make(chan struct{}, 1)
	config.Log = slog.New(slog.NewTextHandler(watcher{"pinned", refused}, nil))
	config.Cluster = &broker.Cluster{Name: "c", Addr: "127.0.0.1:0"}
	one := start(t, config)
	config.Cluster = &broker.Cluster{Name: "c", Addr: "127.0.0.1:0", Routes: []string{"nats://" + one.ClusterAddr()}}
	two := start(t, config)
	talk(t, dir, one.URL(), two.URL())
	if one.Stats().Routes == 0 || two.Stats().Routes == 0 {
		t.Errorf("got stats %+v and %+v, want routes between them", one.Stats(), two.Stats())
	}

	if err := one.Reload(config.Keys); err != nil {
		t.Errorf("reload in a cluster: got %v, want no error", err)
	}
	talk(t, dir, one.URL(), two.URL())

	posing, err := keys.HostTLS(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	posing.VerifyConnection = nil // it trusts everybody
	before := one.Stats().Refused
	three := start(t, broker.Config{
		TLS:     posing,
		Cluster: &broker.Cluster{Name: "c", Addr: "127.0.0.1:0", Routes: []string{"nats://" + one.ClusterAddr()}},
	})
	select {
	case <-refused:
	case <-time.After(patience):
		t.Fatal("a host's certificate on a route: got no refusal of it, want one")
	}
	if one.Stats().Refused == before {
		t.Error("got a refusal that was not counted, want it counted")
	}
	if n := three.Stats().Routes; n != 0 {
		t.Errorf("a host posing as a server: got %d routes, want 0", n)
	}
}

// The written configuration serves a NATS server of its own, alone and as a
// part of a cluster.
func TestWrittenConfiguration(t *testing.T) {
	dir := makeKeys(t)
	folder := filepath.Join(dir, "server")
	path := filepath.Join(folder, "nats.conf")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(folder)
	ports := freePorts(t, 2)
	text = bytes.Replace(text, []byte("0.0.0.0:4222"), fmt.Appendf(nil, "127.0.0.1:%s", ports[0]), 1)
	cluster := bytes.ReplaceAll(text, []byte("\n#"), []byte("\n"))
	cluster = bytes.ReplaceAll(cluster, []byte("\n Several servers"), []byte("\n# Several servers"))
	cluster = bytes.ReplaceAll(cluster, []byte("\n in routes."), []byte("\n# in routes."))
	cluster = bytes.Replace(cluster, []byte("0.0.0.0:6222"), fmt.Appendf(nil, "127.0.0.1:%s", ports[1]), 1)
	for name, text := range map[string][]byte{"alone": text, "cluster": cluster} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			options, err := server.ProcessConfigFile("nats.conf")
			if err != nil {
				t.Fatalf("the server reads its configuration: got %v, want no error", err)
			}
			if options.MaxPayload != transport.MaxFrame || !options.NoFastProducerStall {
				t.Errorf("got payloads of %d bytes and stall %v, want %d and none",
					options.MaxPayload, !options.NoFastProducerStall, transport.MaxFrame)
			}
			if got, want := len(options.Cluster.TLSPinnedCerts), strings.Count(name, "cluster"); got != want {
				t.Errorf("got %d pinned certificates, want %d", got, want)
			}
			options.NoSigs, options.NoLog = true, true
			s, err := server.NewServer(options)
			if err != nil {
				t.Fatal(err)
			}
			s.Start()
			defer s.WaitForShutdown()
			defer s.Shutdown()
			url := "tls://127.0.0.1:" + ports[0]
			talk(t, dir, url, url)
		})
	}
}

// watcher says when a word is written.
type watcher struct {
	word  string
	found chan struct{}
}

func (w watcher) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(w.word)) {
		select {
		case w.found <- struct{}{}:
		default:
		}
	}
	return len(p), nil
}

// freePorts returns ports of this machine that nobody listens on.
func freePorts(t *testing.T, n int) []string {
	t.Helper()
	var ports []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		_, port, err := net.SplitHostPort(l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		ports = append(ports, port)
	}
	return ports
}
