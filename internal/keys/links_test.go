package keys_test

import (
	"crypto/x509"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/internal/keys"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/tcpbus"
)

// Keys are all that hosts need for direct links.
func TestLinks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	if err := keys.Make(dir, keys.Plan{Run: "test", Hosts: []keys.Host{{ID: 3}, {ID: 4}}}); err != nil {
		t.Fatal(err)
	}
	listeners, peers := map[transport.HostID]net.Listener{}, map[transport.HostID]string{}
	for _, id := range []transport.HostID{3, 4} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listeners[id], peers[id] = l, l.Addr().String()
	}
	open := func(id transport.HostID) *tcpbus.Bus {
		config, err := keys.HostTLS(dir, id)
		if err != nil {
			t.Fatal(err)
		}
		bus, err := tcpbus.Open(t.Context(), tcpbus.Config{
			Host: id, Listener: listeners[id], Peers: peers, TLS: config,
			Identify: func(c *x509.Certificate) (transport.HostID, error) { return keys.HostOf(c, "test") },
			OnError:  func(err error) { t.Log(err) },
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { bus.Close() })
		return bus
	}
	a, b := open(3), open(4)
	if err := b.Hear([]transport.HostID{3}); err != nil {
		t.Fatal(err)
	}
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	timeout := time.After(20 * time.Second)
	for {
		_ = a.Send([]byte("hello")) // until it hears
		select {
		case f := <-b.Frames():
			if f.From != 3 || string(f.Data) != "hello" {
				t.Errorf("got %q of host %d, want hello of host 3", f.Data, f.From)
			}
			return
		case <-again.C:
		case <-timeout:
			t.Fatalf("got nothing, want a frame; stats %+v", b.Stats())
		}
	}
}
