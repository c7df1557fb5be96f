package broker_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/transport"
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
	_, err := keys.Join(dir, keys.Entry{
		Host: keys.Host{ID: 5, Hears: []transport.HostID{0}},
		Record: func(serial uint64, key string) ([]byte, error) {
			return json.Marshal(map[string]any{"run": "test", "host": 5, "serial": serial, "key": key})
		},
	})
	if err != nil {
		t.Fatal(err)
	}
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
