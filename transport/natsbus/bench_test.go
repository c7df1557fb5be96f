package natsbus_test

import (
	"sync"
	"testing"

	"github.com/wdgnn/wdgnn/internal/broker"
	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/natsbus"
)

const frameSize = 1200 // bytes, as a node's taps and rows take

// Rounds of 10 hosts, each heard by 8 others: everybody sends, then waits for
// all it hears. Server and hosts share one process.
func BenchmarkRound(b *testing.B) {
	const hosts, hearers = 10, 8
	s := start(b, broker.Config{})
	var conns []*natsbus.Conn
	for i := range hosts {
		c := dial(b, natsbus.Config{URL: s.URL(), Host: transport.HostID(i)})
		var heard []transport.HostID
		for k := 1; k <= hearers; k++ {
			heard = append(heard, transport.HostID((i+k)%hosts))
		}
		hear(b, c, heard...)
		conns = append(conns, c)
	}
	b.SetBytes(hosts * hearers * frameSize)
	b.ResetTimer()
	var all sync.WaitGroup
	for _, c := range conns {
		all.Go(func() {
			frame := make([]byte, frameSize)
			for range b.N {
				if err := c.Send(frame); err != nil {
					b.Error(err)
				}
				for range hearers {
					<-c.Frames()
				}
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)*hosts*hearers/b.Elapsed().Seconds(), "deliveries/s")
}

// One frame at a time there and back; half of that is one way.
func BenchmarkOneWay(b *testing.B) {
	s := start(b, broker.Config{})
	one := dial(b, natsbus.Config{URL: s.URL(), Host: 0})
	two := dial(b, natsbus.Config{URL: s.URL(), Host: 1})
	hear(b, one, 1)
	hear(b, two, 0)
	frame := make([]byte, frameSize)
	b.ResetTimer()
	for range b.N {
		if err := one.Send(frame); err != nil {
			b.Fatal(err)
		}
		<-two.Frames()
		if err := two.Send(frame); err != nil {
			b.Fatal(err)
		}
		<-one.Frames()
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e6/float64(2*b.N), "µs/way")
}

// Send itself allocates nothing, nor does it when there is no server.
func TestSendAllocates(t *testing.T) {
	if raceEnabled {
		t.Skipf("SKIPPED %s: the race detector allocates; it runs without -race", t.Name())
	}
	s := start(t, broker.Config{})
	c := dial(t, natsbus.Config{URL: s.URL()})
	frame := make([]byte, frameSize)
	check := func(when string) {
		t.Helper()
		if n := testing.AllocsPerRun(1000, func() { _ = c.Send(frame) }); n >= 1 {
			t.Errorf("Send %s: got %v allocations, want none", when, n)
		}
	}
	check("with a server")
	s.Stop()
	await(t, "the server is gone", func() bool { return c.Send(frame) != nil })
	check("without a server")
}
