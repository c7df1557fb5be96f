package box_test

import (
	"crypto/x509"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/tcpbus"
)

// record has a host join a set of keys and returns its record.
func record(t *testing.T, dir string, m host.Member) []byte {
	t.Helper()
	_, err := keys.Join(dir, keys.Entry{
		Host: keys.Host{ID: m.Host, Hears: []transport.HostID{0}},
		Record: func(serial uint64, key string) ([]byte, error) {
			if m.Serial = serial; m.Key == "" {
				m.Key = key
			}
			return json.Marshal(&m)
		},
	})
	check(t, err)
	text, err := keys.Record(dir, keys.HostName(m.Host))
	check(t, err)
	return text
}

// A neighbour passes on records that nobody should believe: of its own making, of
// another authority, of another run, of nodes that the box runs itself, of too many, of
// a host whose key is revoked, and an old one behind the one that took its place. Each is
// counted, the box takes the one that is in order, and its answers go on.
func TestEnemyRecords(t *testing.T) {
	f := newFixture(t, graph.ShiftRowStochastic, true)
	plan := keys.Plan{Run: "test", Hosts: []keys.Host{{ID: 0, Hears: []transport.HostID{1}}, {ID: 1, Hears: []transport.HostID{0}}}}
	dir, other := f.path("keys"), f.path("other")
	check(t, keys.Make(dir, plan))
	check(t, keys.Make(other, plan))
	old := record(t, dir, host.Member{Run: "test", Host: 5, Nodes: "50"})
	links := map[agent.NodeID][]host.Link{50: {{Node: 0, Weight: 1}}, 0: {{Node: 50, Weight: 1}}}
	good := record(t, dir, host.Member{Run: "test", Host: 5, Nodes: "50-54", Links: links})
	revoked := record(t, dir, host.Member{Run: "test", Host: 6, Nodes: "60"})
	bad := [][]byte{
		[]byte("nonsense"),
		fmt.Appendf(nil, `{"member":{"run":"test","host":7,"serial":9,"nodes":"70"},"signature":"%s"}`, "AAAA"),
		record(t, other, host.Member{Run: "test", Host: 8, Nodes: "80"}),
		record(t, dir, host.Member{Run: "elsewhere", Host: 9, Nodes: "90"}),
		record(t, dir, host.Member{Run: "test", Host: 10, Nodes: "1"}),
		record(t, dir, host.Member{Run: "test", Host: 11, Nodes: "100-4000000000"}),
		revoked,
	}
	check(t, keys.Revoke(dir, "host-6"))

	addresses := freeAddresses(t, 3)
	c := f.config(0, 2)
	c.Bus, c.World, c.Metrics = box.Bus{Kind: box.BusTCP, Keys: "keys/host-0"}, box.World{Kind: box.WorldLines}, addresses[2]
	c.Pace.Deadline, c.Pace.First = 20*time.Millisecond, 20*time.Millisecond
	c.Links = nil
	for id, p := range c.Hosts {
		p.Address = addresses[id]
		c.Hosts[id] = p
	}
	loaded := f.load(t, c)
	p, err := loaded.Plan(f.model)
	check(t, err)
	k := open(t, loaded)
	secrets, err := keys.HostTLS(dir, 1)
	check(t, err)
	enemy, err := tcpbus.Open(t.Context(), tcpbus.Config{
		Host: 1, Listen: addresses[1], Peers: map[transport.HostID]string{0: addresses[0]}, TLS: secrets,
		Identify: func(c *x509.Certificate) (transport.HostID, error) { return keys.HostOf(c, "test") },
	})
	check(t, err)
	t.Cleanup(func() { enemy.Close() })
	check(t, enemy.Hear([]transport.HostID{0}))

	records := append(bad, good, old)
	header := agent.Header{Run: host.RunHash("test"), Plan: p.Digest(), Host: 1}
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	end := time.After(patience)
	for step := 0; ; step++ {
		k.say(fmt.Sprintf(`{"time":%d,"nodes":[{"node":0,"row":[1,1],"links":[6]}]}`, step))
		header.Sequence++
		word := agent.Message{From: 6, To: 6, Kind: agent.Member, Data: records[step%len(records)]}
		check(t, enemy.Send(agent.AppendFrame(nil, header, []agent.Message{word})))
		refused, joined := count(addresses[2], "wdgnn_host_refused_records_total"), count(addresses[2], "wdgnn_host_joined_total")
		if joined > 1 {
			t.Fatalf("%v hosts joined, want the one whose record is in order", joined)
		}
		if joined == 1 && refused > float64(4*len(bad)) && count(addresses[2], "wdgnn_host_steps_total") > 20 {
			break
		}
		select {
		case <-ticker.C:
		case <-end:
			t.Fatalf("%v hosts joined and %v records were refused, want 1 and many", joined, refused)
		}
	}
	k.stop()
	check(t, k.end())
}
