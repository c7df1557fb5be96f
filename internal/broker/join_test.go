package broker_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/natsbus"
)

// A host that joins is let in by a server that runs, shows its record to those who
// attend, and is heard by whom it may be: also if they asked for it too early, when the
// server did not know it yet. Connections from before go on.
func TestHostJoins(t *testing.T) {
	dir := makeKeys(t)
	s := follow(t, dir)
	a, b := dial(t, as(t, s, dir, 0)), dial(t, as(t, s, dir, 1))
	shown := make(chan string, 10)
	if err := a.Attend(func(host transport.HostID, data []byte) {
		if host == 5 {
			shown <- string(data)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if err := a.Hear([]transport.HostID{1, 5}); err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); a.Stats().Refused == 0; time.Sleep(time.Millisecond) {
		if time.Since(began) > patience {
			t.Fatal("host 0 may hear host 5 before that joined, want it refused")
		}
	}
	join(t, dir)
	config := as(t, s, dir, 5)
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		later, err := tryDial(t, config)
		if err != nil && time.Since(began) < patience && strings.Contains(err.Error(), "uthorization") {
			continue // the server has not looked yet
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := later.Show([]byte("hello")); err != nil {
			t.Fatal(err)
		}
		reaches(t, a, later, 0)
		for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
			if err := later.Send([]byte("here")); err != nil {
				t.Fatal(err)
			}
			if len(a.Frames()) > 0 {
				break
			}
			if time.Since(began) > patience {
				t.Fatal("host 0 does not hear host 5, want it to ask the server again")
			}
		}
		break
	}
	select {
	case text := <-shown:
		if text != "hello" {
			t.Errorf("shown %q, want hello", text)
		}
	case <-time.After(patience):
		t.Error("host 0 was shown nothing")
	}
	if n := a.Stats().Reconnects + b.Stats().Reconnects; n != 0 {
		t.Errorf("got %d new connections, want the old ones to go on", n)
	}
}

// join adds host 5, which hears host 0, to a set of keys.
func join(t *testing.T, dir string) {
	t.Helper()
	_, err := keys.Join(dir, keys.Entry{
		Host: keys.Host{ID: 5, Hears: []transport.HostID{0}},
		Record: func(serial uint64, key string) ([]byte, error) {
			return json.Marshal(map[string]any{"run": "test", "host": 5, "serial": serial, "key": key})
		},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The server of NATS itself, with the files of a set of keys, lets a host in that joined
// once it is told to read them again, and hangs up on nobody.
func TestHostJoinsStockServer(t *testing.T) {
	dir := makeKeys(t)
	folder := filepath.Join(dir, "server")
	path := filepath.Join(folder, "nats.conf")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(folder)
	port := freePorts(t, 1)[0]
	text = bytes.Replace(text, []byte("0.0.0.0:4222"), []byte("127.0.0.1:"+port), 1)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	options, err := server.ProcessConfigFile("nats.conf")
	if err != nil {
		t.Fatal(err)
	}
	options.NoSigs, options.NoLog = true, true
	s, err := server.NewServer(options)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	defer s.WaitForShutdown()
	defer s.Shutdown()
	host := func(id transport.HostID) natsbus.Config {
		c, err := keys.LoadClient(dir, keys.HostName(id))
		if err != nil {
			t.Fatal(err)
		}
		return natsbus.Config{URL: "tls://127.0.0.1:" + port, Host: id, Seed: c.Seed, TLS: c.TLS}
	}
	a := dial(t, host(0))
	join(t, dir)
	if _, err := tryDial(t, host(5)); err == nil {
		t.Error("host 5 was let in before the server read who it is")
	}
	if err := s.Reload(); err != nil {
		t.Fatal(err)
	}
	later := dial(t, host(5))
	reaches(t, later, a, 5)
	reaches(t, a, later, 0)
	if n := a.Stats().Reconnects; n != 0 {
		t.Errorf("got %d new connections, want the old one to go on", n)
	}
}
