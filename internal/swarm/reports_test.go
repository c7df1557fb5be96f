package swarm

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/broker"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/natsbus"
)

// Reports are collected from those whom they are of; what host 4 says of host 3
// is not.
func TestListen(t *testing.T) {
	server, err := broker.Start(broker.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	conn, err := Dial(t.Context(), natsbus.Config{URL: server.URL(), Run: "test", Host: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	publish := func(r *host.Report) {
		text, err := json.Marshal(r)
		if err == nil {
			err = conn.Publish(natsbus.ReportSubject("test", 4), text)
		}
		if err != nil {
			t.Error(err)
		}
	}
	type collected struct {
		heard map[transport.HostID]Sighting
		err   error
	}
	done := make(chan collected, 1)
	go func() {
		heard, err := Listen(t.Context(), ReportSource{URL: server.URL(), Run: "test", Wait: time.Second})
		done <- collected{heard, err}
	}()
	tick := time.NewTicker(10 * time.Millisecond) // whoever listens later misses what was said before
	defer tick.Stop()
	for {
		select {
		case got := <-done:
			if got.err != nil || len(got.heard) != 1 || got.heard[4].Last == nil || got.heard[4].Last.Time != 7 {
				t.Errorf("got %v, %v, want the report of host 4", got.heard, got.err)
			}
			return
		case <-tick.C:
			publish(&host.Report{Run: "test", Host: 3, Time: 9})
			publish(&host.Report{Run: "test", Host: 4, Time: 7})
		}
	}
}
