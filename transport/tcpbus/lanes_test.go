package tcpbus_test

import (
	"encoding/binary"
	"io"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/tcpbus"
)

// ford is a way to a host on which single connections can be held up, as where a
// packet was lost and all that follows waits for it.
type ford struct {
	mu    sync.Mutex
	gates []*sync.RWMutex // of connections in the order of their dialling; held: nothing comes back
	open  atomic.Int64    // connections that there are
}

// newFord passes connections to an address on, and returns its own.
func newFord(t *testing.T, to string) (*ford, string) {
	t.Helper()
	f, l := new(ford), listen(t, "127.0.0.1:0")
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				near.Close()
				continue
			}
			gate := new(sync.RWMutex)
			f.mu.Lock()
			f.gates = append(f.gates, gate)
			f.mu.Unlock()
			f.open.Add(1)
			go func() {
				io.Copy(far, near)
				far.Close()
			}()
			go func() {
				io.Copy(near, gated{far, gate})
				near.Close()
				f.open.Add(-1)
			}()
		}
	}()
	return f, l.Addr().String()
}

// gated reads while its gate is open.
type gated struct {
	from net.Conn
	gate *sync.RWMutex
}

func (g gated) Read(data []byte) (int, error) {
	n, err := g.from.Read(data)
	g.gate.RLock()
	defer g.gate.RUnlock()
	return n, err
}

// gate returns that of a connection.
func (f *ford) gate(k int) *sync.RWMutex {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.gates[k]
}

// dialled returns how many connections there have been.
func (f *ford) dialled() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.gates)
}

// lossy counts packets as lost whenever it is asked.
func lossy(asked chan<- struct{}) func(net.Conn) (uint64, bool) {
	var total atomic.Uint64
	return func(net.Conn) (uint64, bool) {
		select {
		case asked <- struct{}{}:
		default:
		}
		return total.Add(10), true
	}
}

// row sends numbered frames and counts how often each arrives.
type row struct {
	t        *testing.T
	from, to *tcpbus.Bus
	last     uint64         // that was sent
	times    map[uint64]int // that each came
}

// send sends the next frame.
func (r *row) send() {
	r.t.Helper()
	r.last++
	if err := r.from.Send(binary.LittleEndian.AppendUint64(nil, r.last)); err != nil {
		r.t.Fatal(err)
	}
}

// take takes what has arrived.
func (r *row) take() {
	for len(r.to.Frames()) > 0 {
		if f := <-r.to.Frames(); len(f.Data) == 8 { // another helped to connect
			r.times[binary.LittleEndian.Uint64(f.Data)]++
		}
	}
}

// arrives waits for the last frame.
func (r *row) arrives() {
	r.t.Helper()
	eventually(r.t, "frame", func() bool {
		r.take()
		return r.times[r.last] > 0
	})
}

// A link that loses packets gets further lanes. While the first stands still all frames
// come over another, and when it goes on none comes a second time.
func TestStalledLane(t *testing.T) {
	c := newCluster(t, 2, newAuthority(t))
	way, address := newFord(t, c.peers[0])
	sender := c.open(0, func(f *tcpbus.Config) { f.Losses(lossy(nil)) })
	hearer := c.open(1, func(f *tcpbus.Config) { f.Peers = map[transport.HostID]string{0: address} })
	c.hears(hearer, sender, 0)
	r := &row{t: t, from: sender, to: hearer, times: map[uint64]int{}}
	eventually(t, "second lane", func() bool {
		r.send()
		return way.dialled() > 1
	})
	r.arrives()

	way.gate(0).Lock()
	held := r.last // what follows does not come over the first
	eventually(t, "frame over the second lane", func() bool {
		r.send()
		r.take()
		return slices.Max(slices.Collect(maps.Keys(r.times))) > held
	})
	for range 100 {
		r.send()
		r.arrives()
	}
	way.gate(0).Unlock()
	lanes := way.dialled()
	for k := 1; k < lanes; k++ {
		way.gate(k).Lock()
	}
	r.send()
	r.arrives() // over the first, after all copies
	for k := 1; k < lanes; k++ {
		way.gate(k).Unlock()
	}
	for k := uint64(1); k <= r.last; k++ {
		if r.times[k] != 1 {
			t.Errorf("frame %d of %d came %d times, want once", k, r.last, r.times[k])
		}
	}
	if s := hearer.Stats(); s.Reconnects != 0 || s.Dropped != 0 {
		t.Errorf("got %+v, want no reconnects and nothing dropped", s)
	}
}

// Lanes that are asked for no more are given up, and the first stays.
func TestLanesEnd(t *testing.T) {
	c := newCluster(t, 2, newAuthority(t))
	way, address := newFord(t, c.peers[0])
	sender := c.open(0, func(f *tcpbus.Config) { f.Losses(lossy(nil)) })
	hearer := c.open(1, func(f *tcpbus.Config) {
		f.Peers = map[transport.HostID]string{0: address}
		f.LaneTime(200 * time.Millisecond)
	})
	c.hears(hearer, sender, 0)
	r := &row{t: t, from: sender, to: hearer, times: map[uint64]int{}}
	eventually(t, "second lane", func() bool {
		r.send()
		return way.dialled() > 1
	})
	eventually(t, "end of further lanes", func() bool { return way.open.Load() == 1 })
	r.send()
	r.arrives()
	if s := hearer.Stats(); s.Reconnects != 0 {
		t.Errorf("got %d reconnects, want 0", s.Reconnects)
	}
}

// Hearers of the version before are not asked for lanes, which they would take for a
// frame of four gigabytes; others are.
func TestLanesAreAgreedOn(t *testing.T) {
	for protocols, want := range map[string]bool{"wdgnn-tcpbus/1": false, "wdgnn-tcpbus/2": true, "": false} {
		t.Run(protocols, func(t *testing.T) {
			a := newAuthority(t)
			c := newCluster(t, 2, a)
			asked := make(chan struct{}, 1)
			sender := c.open(0, func(f *tcpbus.Config) { f.Losses(lossy(asked)) })
			config := a.host(1)
			if protocols != "" {
				config.NextProtos = []string{protocols}
			}
			conn := dial(t, c.peers[0], config)
			conn.Write(hello(1, 0))
			if _, err := io.ReadFull(conn, make([]byte, 12)); err != nil {
				t.Fatal(err)
			}
			for looked := false; !looked; {
				if err := sender.Send([]byte("before")); err != nil {
					t.Fatal(err)
				}
				select {
				case <-asked:
					looked = true
				case <-time.After(10 * time.Millisecond):
				}
			}
			if err := sender.Send([]byte("after")); err != nil {
				t.Fatal(err)
			}
			if got := words(t, conn, "after"); got != want {
				t.Errorf("got asked for lanes: %v, want %v", got, want)
			}
		})
	}
}

// words reads up to a frame, and says whether further lanes were asked for.
func words(t *testing.T, r io.Reader, last string) (asked bool) {
	t.Helper()
	for {
		var length uint32
		if err := binary.Read(r, binary.LittleEndian, &length); err != nil {
			t.Fatal(err)
		}
		switch {
		case length == 1<<32-1:
		case length >= 1<<32-3:
			asked = true
		default:
			frame := make([]byte, length)
			if _, err := io.ReadFull(r, frame); err != nil {
				t.Fatal(err)
			}
			if string(frame) == last {
				return asked
			}
		}
	}
}
