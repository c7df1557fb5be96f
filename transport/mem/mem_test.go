package mem_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/mem"
	"github.com/wdgnn/wdgnn/transport/transporttest"
)

// join returns the buses of hosts 0 to hosts-1 of one network.
func join(t testing.TB, n *mem.Network, hosts int) []transport.Bus {
	t.Helper()
	var buses []transport.Bus
	for h := range hosts {
		b, err := n.Join(transport.HostID(h))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close() })
		buses = append(buses, b)
	}
	return buses
}

func TestConformance(t *testing.T) {
	transporttest.Run(t, func(t *testing.T, hosts int) []transport.Bus {
		return join(t, new(mem.Network), hosts)
	})
}

// A host joins once at a time, and is heard again when it comes back.
func TestJoinAgain(t *testing.T) {
	var n mem.Network
	b := join(t, &n, 2)
	if err := b[0].Hear([]transport.HostID{1}); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Join(1); err == nil {
		t.Error("a second Join of host 1: got no error, want one")
	}
	b[1].Close()
	again, err := n.Join(1)
	if err != nil {
		t.Fatalf("Join after Close: got %v, want no error", err)
	}
	defer again.Close()
	if err := b[1].Send([]byte("old")); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("Send on the old bus: got %v, want %v", err, transport.ErrClosed)
	}
	if err := again.Send([]byte("back")); err != nil {
		t.Fatal(err)
	}
	if f := <-b[0].Frames(); f.From != 1 || string(f.Data) != "back" {
		t.Errorf("got %q of host %d, want %q of host 1", f.Data, f.From, "back")
	}
}

// A full channel drops the newest.
func TestDropsNewest(t *testing.T) {
	b := join(t, &mem.Network{Buffer: 2}, 2)
	if err := b[1].Hear([]transport.HostID{0}); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		if err := b[0].Send([]byte{byte(i)}); err != nil {
			t.Fatal(err)
		}
	}
	b[1].Close()
	var got []byte
	for f := range b[1].Frames() {
		got = append(got, f.Data...)
	}
	if string(got) != "\x00\x01" {
		t.Errorf("got frames %v, want [0 1]", got)
	}
	want := transport.Stats{Received: 2, ReceivedBytes: 2, Dropped: 3}
	if s := b[1].Stats(); s != want {
		t.Errorf("got stats %+v, want %+v", s, want)
	}
}

func ExampleNetwork() {
	var network mem.Network
	speaker, _ := network.Join(0)
	hearer, _ := network.Join(1)
	hearer.Hear([]transport.HostID{0})
	speaker.Send([]byte("hello"))
	f := <-hearer.Frames()
	fmt.Printf("host %d: %s\n", f.From, f.Data)
	// Output: host 0: hello
}

func BenchmarkNetwork(b *testing.B) {
	transporttest.Benchmark(b, func(b testing.TB, hosts int) []transport.Bus {
		return join(b, new(mem.Network), hosts)
	})
}
