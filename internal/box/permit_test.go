package box_test

import (
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/tcpbus"
)

// Over direct links a box is heard by those only whom the keys permit it, as
// over NATS, and hears nobody else: host 2 has a key of the deployment and is no
// neighbour of host 0.
func TestNeighboursOnlyOverTCP(t *testing.T) {
	f := newFixture(t, graph.ShiftRowStochastic, true)
	check(t, keys.Make(f.path("keys"), keys.Plan{Run: "test", Hosts: []keys.Host{
		{ID: 0, Hears: []transport.HostID{1}}, {ID: 1, Hears: []transport.HostID{0, 2}}, {ID: 2, Hears: []transport.HostID{1}},
	}}))
	addresses := freeAddresses(t, 4)
	c := f.config(0, 3)
	c.Bus, c.World, c.Metrics = box.Bus{Kind: box.BusTCP, Keys: "keys/host-0"}, box.World{Kind: box.WorldLines}, addresses[3]
	c.Pace.Deadline, c.Pace.First = 20*time.Millisecond, 20*time.Millisecond
	c.Links = nil
	for id, p := range c.Hosts {
		p.Address = addresses[id]
		c.Hosts[id] = p
	}
	k := open(t, f.load(t, c))
	peers := map[transport.HostID]string{0: addresses[0]}
	hearing := func(id transport.HostID) *tcpbus.Bus { // a host that looks at no permission itself
		secrets, err := keys.HostTLS(f.path("keys"), id)
		check(t, err)
		b, err := tcpbus.Open(t.Context(), tcpbus.Config{
			Host: id, Listen: addresses[id], Peers: peers, TLS: secrets,
			Identify: func(c *x509.Certificate) (transport.HostID, error) { return keys.HostOf(c, "test") },
		})
		check(t, err)
		t.Cleanup(func() { b.Close() })
		check(t, b.Hear([]transport.HostID{0}))
		return b
	}
	neighbour, stranger := hearing(1), hearing(2)
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	end := time.After(patience)
	for step := 0; ; step++ { // node 0 hears node 11 of host 2, which it may not, and node 4 of host 1
		k.say(fmt.Sprintf(`{"time":%d,"nodes":[{"node":0,"row":[1,1],"links":[4,11]}]}`, step))
		select {
		case <-neighbour.Frames():
			if refused := count(addresses[3], "wdgnn_bus_refused_total"); refused < 2 { // it wants to hear, and is to be heard
				continue
			}
			select {
			case <-stranger.Frames():
				t.Error("host 2 hears host 0")
			default:
			}
			k.stop()
			check(t, k.end())
			return
		case f := <-stranger.Frames():
			t.Fatalf("host 2 hears host 0: a frame of %d bytes", len(f.Data))
		case <-ticker.C:
		case <-end:
			t.Fatal("host 1 hears nothing, or nothing is refused")
		}
	}
}

// count reads a number from /metrics; 0 if there is none yet.
func count(address, name string) float64 {
	r, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		return 0
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return 0
	}
	return parseMetrics(string(text))[name]
}
