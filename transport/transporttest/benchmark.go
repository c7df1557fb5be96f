package transporttest

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/transport"
)

// The network of Benchmark: a ring in which every host is heard by the next
// few, and the size of a frame in bytes.
const (
	benchHosts   = 10
	benchHearers = 8
	benchFrame   = 1200
)

// Benchmark measures a bus between 10 hosts that 8 others hear each, in frames
// of 1200 bytes. Open is as for Run.
//
//	latency   a frame from Send until the last of its hearers has it; nothing
//	          else is under way
//	rounds    every host sends a frame and waits for those of the 8 it hears,
//	          as agents do that keep in step; an operation is a round of all
func Benchmark(b *testing.B, open func(b testing.TB, hosts int) []transport.Bus) {
	b.Run("latency", func(b *testing.B) {
		buses := ring(b, open)
		took := make([]time.Duration, 0, b.N)
		frame := make([]byte, benchFrame)
		for b.Loop() {
			began := time.Now()
			send(b, buses[0], frame)
			for h := 1; h <= benchHearers; h++ {
				receive(b, buses[h])
			}
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e3, "p50-µs")
		b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1e3, "p99-µs")
	})
	b.Run("rounds", func(b *testing.B) {
		buses := ring(b, open)
		b.ReportAllocs()
		b.ResetTimer()
		var all sync.WaitGroup
		for _, bus := range buses {
			all.Go(func() {
				frame := make([]byte, benchFrame)
				for range b.N {
					send(b, bus, frame)
					for range benchHearers {
						receive(b, bus)
					}
				}
			})
		}
		all.Wait()
		b.ReportMetric(float64(b.N*benchHosts*benchHearers)/b.Elapsed().Seconds(), "deliveries/s")
	})
}

// ring opens hosts that hear the 8 before them, once they do.
func ring(b *testing.B, open func(b testing.TB, hosts int) []transport.Bus) []transport.Bus {
	b.Helper()
	n := &network{t: b, buses: open(b, benchHosts)}
	for h := range n.buses {
		var whom []transport.HostID
		for k := 1; k <= benchHearers; k++ {
			whom = append(whom, transport.HostID((h+benchHosts-k)%benchHosts))
		}
		n.hear(h, whom...)
	}
	for h := range n.buses {
		for _, hearer := range hearersOf(h) {
			n.connect(h, hearer)
		}
	}
	for h := range n.buses { // the last probes leave the channels
		n.say(h, 1, benchFrame, hearersOf(h)...)
	}
	return n.buses
}

func hearersOf(host int) []int {
	var hearers []int
	for k := 1; k <= benchHearers; k++ {
		hearers = append(hearers, (host+k)%benchHosts)
	}
	return hearers
}

func send(b *testing.B, bus transport.Bus, frame []byte) {
	if err := bus.Send(frame); err != nil {
		b.Error(err)
	}
}

// receive takes the next frame, and gives up if none comes.
func receive(b *testing.B, bus transport.Bus) {
	select {
	case <-bus.Frames():
		return
	default:
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-bus.Frames():
	case <-timer.C:
		b.Errorf("got no frame for %v, want one", patience)
	}
}
