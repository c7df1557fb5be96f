package tcpbus_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/tcpbus"
	"github.com/wdgnn/wdgnn/transport/transporttest"
)

// patience is how long a test waits for what must happen.
const patience = time.Minute

// cluster is hosts 0 to n-1 that know each other.
type cluster struct {
	t         testing.TB
	authority *authority // nil for hosts without TLS
	peers     map[transport.HostID]string
	listeners []net.Listener
	errors    chan error // what hosts report, as far as there is room
}

// newCluster listens for hosts and opens none.
func newCluster(t testing.TB, hosts int, a *authority) *cluster {
	t.Helper()
	c := &cluster{t: t, authority: a, peers: make(map[transport.HostID]string), errors: make(chan error, 1000)}
	for h := range transport.HostID(hosts) {
		c.listeners = append(c.listeners, listen(t, "127.0.0.1:0"))
		c.peers[h] = c.listeners[h].Addr().String()
	}
	return c
}

func listen(t testing.TB, address string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// config returns that of a host.
func (c *cluster) config(host transport.HostID) tcpbus.Config {
	config := tcpbus.Config{Host: host, Listener: c.listeners[host], Peers: c.peers, Insecure: c.authority == nil, OnError: func(err error) {
		select {
		case c.errors <- err:
		default:
		}
	}}
	if c.authority != nil {
		config.TLS, config.Identify = c.authority.host(host), identify
	}
	return config
}

// open opens a host's bus, changed as wanted.
func (c *cluster) open(host transport.HostID, change ...func(*tcpbus.Config)) *tcpbus.Bus {
	c.t.Helper()
	config := c.config(host)
	for _, f := range change {
		f(&config)
	}
	b, err := tcpbus.Open(context.Background(), config)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { b.Close() })
	return b
}

// openAll opens every host.
func openAll(c *cluster, hosts int) []transport.Bus {
	c.t.Helper()
	var buses []transport.Bus
	for h := range transport.HostID(hosts) {
		buses = append(buses, c.open(h))
	}
	return buses
}

// hears has one host hear another and sends until it does.
func (c *cluster) hears(hearer, sender *tcpbus.Bus, from transport.HostID) {
	c.t.Helper()
	if err := hearer.Hear([]transport.HostID{from}); err != nil {
		c.t.Fatal(err)
	}
	c.reaches(sender, hearer, from)
}

// reaches sends until a frame arrives.
func (c *cluster) reaches(sender, hearer *tcpbus.Bus, from transport.HostID) {
	c.t.Helper()
	deadline := time.After(patience)
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		if err := sender.Send([]byte("hello")); err != nil {
			c.t.Fatal(err)
		}
		select {
		case f := <-hearer.Frames():
			if f.From != from || string(f.Data) != "hello" {
				c.t.Fatalf("got %q of host %d, want %q of host %d", f.Data, f.From, "hello", from)
			}
			return
		case <-again.C:
		case <-deadline:
			for len(c.errors) > 0 {
				c.t.Log(<-c.errors)
			}
			c.t.Fatalf("got no frame of host %d in %v, want one", from, patience)
		}
	}
}

// eventually waits until something holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(patience)
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for !holds() {
		select {
		case <-again.C:
		case <-deadline:
			t.Fatalf("got no %s in %v, want it", what, patience)
		}
	}
}

func TestConformance(t *testing.T) {
	for name, a := range map[string]*authority{"TLS": newAuthority(t), "insecure": nil} {
		t.Run(name, func(t *testing.T) {
			transporttest.Run(t, func(t *testing.T, hosts int) []transport.Bus {
				return openAll(newCluster(t, hosts, a), hosts)
			})
		})
	}
}

// Validate names every complaint at once, and Open insists on it.
func TestConfig(t *testing.T) {
	for _, c := range []struct {
		config tcpbus.Config
		want   []string
	}{
		{
			tcpbus.Config{Buffer: -1, SendQueue: -1, Idle: -1, Peers: map[transport.HostID]string{3: "nowhere"}},
			[]string{"listen", "no TLS", "Buffer", "SendQueue", "Idle", "peer 3"},
		},
		{tcpbus.Config{Listen: "127.0.0.1:0", TLS: newAuthority(t).host(0), Insecure: true, Identify: identify}, []string{"exclude"}},
		{tcpbus.Config{Listen: "127.0.0.1:0", TLS: newAuthority(t).host(0)}, []string{"Identify"}},
		{tcpbus.Config{Listen: "0.0.0.0:0", Insecure: true}, []string{"loopback"}},
	} {
		b, err := tcpbus.Open(context.Background(), c.config)
		if err == nil {
			b.Close()
			t.Errorf("%+v: got no error, want %q", c.config, c.want)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("got %q, want it to name %q", err, want)
			}
		}
	}
}

// A host that is not among the peers cannot be heard, and asking for it changes
// nothing.
func TestHearUnknown(t *testing.T) {
	c := newCluster(t, 2, newAuthority(t))
	a, b := c.open(0), c.open(1)
	c.hears(b, a, 0)
	if err := b.Hear([]transport.HostID{7}); err == nil || !strings.Contains(err.Error(), "Peers") {
		t.Errorf("got %v, want an error that names Peers", err)
	}
	c.reaches(a, b, 0)
}

// A host is heard once it is there, and again after it was gone.
func TestPeerRestart(t *testing.T) {
	c := newCluster(t, 2, newAuthority(t))
	address := c.peers[0]
	c.listeners[0].Close()
	hearer := c.open(1)
	if err := hearer.Hear([]transport.HostID{0}); err != nil {
		t.Fatal(err)
	}
	<-c.errors // it was dialled in vain
	for restart := range uint64(3) {
		c.listeners[0] = listen(t, address)
		sender := c.open(0)
		c.reaches(sender, hearer, 0)
		if got := hearer.Stats().Reconnects; got != restart {
			t.Errorf("restart %d: got %d reconnects, want %d", restart, got, restart)
		}
		sender.Close()
		for len(hearer.Frames()) > 0 {
			<-hearer.Frames()
		}
	}
}

// A hearer that restarts takes the place of its former self.
func TestHearerRestart(t *testing.T) {
	c := newCluster(t, 2, newAuthority(t))
	sender := c.open(0)
	for range 3 {
		hearer := c.open(1)
		c.hears(hearer, sender, 0)
		hearer.Close()
		c.listeners[1] = listen(t, c.peers[1])
	}
}

func BenchmarkBus(b *testing.B) {
	transporttest.Benchmark(b, func(b testing.TB, hosts int) []transport.Bus {
		return openAll(newCluster(b, hosts, newAuthority(b)), hosts)
	})
}
