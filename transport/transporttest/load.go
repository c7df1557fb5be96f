package transporttest

import (
	"bytes"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wdgnn/wdgnn/transport"
)

// Frames for a host that does not read are dropped and counted. The sender and
// other hosts notice nothing, and the host hears again once it reads.
func slowReader(n *network) {
	n.hear(1, 0)
	n.hear(2, 0)
	n.connect(0, 1)
	n.connect(0, 2)
	for began := time.Now(); n.buses[1].Stats().Dropped == 0; {
		if time.Since(began) > patience {
			n.t.Fatalf("host 1 does not read: got stats %+v after %v, want dropped frames", n.buses[1].Stats(), patience)
		}
		n.say(0, window, 100, 2)
	}
	n.say(0, 8*window, 1200, 2)
	if d := n.buses[2].Stats().Dropped; d != 0 {
		n.t.Errorf("host 2 reads: got %d dropped frames, want 0", d)
	}

	for began := time.Now(); ; { // host 1 reads on until it is up to date
		if time.Since(began) > patience {
			n.t.Fatalf("host 1 reads again: got nothing that was sent since, for %v", patience)
		}
		last := n.message(100)
		n.send(0, last)
		n.expect(2, 0, last)
		for {
			f, ok := n.within(1, resend)
			if !ok {
				break
			}
			if bytes.Equal(f.Data, last) {
				return
			}
		}
	}
}

// A host that is heard does not take the room of another, however much it sends:
// what the other sent is there when the reader comes.
func floodLeavesRoom(n *network) {
	n.hear(1, 0, 2)
	n.connect(0, 1)
	n.connect(2, 1)
	arrived := func() uint64 { s := n.buses[1].Stats(); return s.Received + s.Dropped }
	for began := time.Now(); n.buses[1].Stats().Dropped == 0; {
		if time.Since(began) > patience {
			n.t.Fatalf("host 1 does not read: got stats %+v after %v, want dropped frames", n.buses[1].Stats(), patience)
		}
		n.send(0, n.message(100))
	}
	for last := uint64(0); last != arrived(); { // what is on its way
		last = arrived()
		time.Sleep(4 * resend)
	}
	const few = 8
	var sent [][]byte
	before := arrived()
	for range few {
		sent = append(sent, n.message(200))
		n.send(2, sent[len(sent)-1])
	}
	for began := time.Now(); arrived() < before+few; time.Sleep(resend / 10) {
		if time.Since(began) > patience {
			n.t.Fatalf("%d of %d frames of host 2 arrived after %v", arrived()-before, few, patience)
		}
	}
	for len(sent) > 0 {
		f, ok := n.within(1, resend)
		if !ok {
			n.t.Fatalf("%d of %d frames of host 2 found no room beside those of host 0, want all there; stats %+v",
				len(sent), few, n.buses[1].Stats())
		}
		if f.From == 2 && bytes.Equal(f.Data, sent[0]) {
			sent = sent[1:]
		}
	}
}

// A frame counts as sent once, however many hear it, and as received where it
// was put into the channel.
func countsAddUp(n *network) {
	var want tally
	for host, b := range n.buses {
		if s := b.Stats(); s.Sent+s.SentBytes+s.Received+s.ReceivedBytes+s.Dropped != 0 {
			n.t.Errorf("host %d: stats %+v before anything was sent, want none", host, s)
		}
	}
	n.hear(1, 0)
	n.hear(2, 0)
	n.connect(0, 1)
	n.connect(0, 2)
	before := n.buses[0].Stats()
	for _, size := range []int{0, 1, 100, 5000} {
		n.say(0, window, size, 1, 2)
		want.frames += window
		want.bytes += uint64(window * size)
	}
	after := n.buses[0].Stats()
	if got := (tally{after.Sent - before.Sent, after.SentBytes - before.SentBytes}); got != want {
		n.t.Errorf("host 0 counts %+v sent, want %+v", got, want)
	}
	if after.Received != 0 || after.Failed != 0 {
		n.t.Errorf("host 0: stats %+v, want nothing received and nothing failed", after)
	}
	for _, host := range []int{1, 2} {
		if err := n.buses[host].Close(); err != nil { // no more arrive
			n.t.Errorf("Close: got %v, want no error", err)
		}
		for f := range n.buses[host].Frames() {
			n.count(host, f)
		}
		s := n.buses[host].Stats()
		if got := (tally{s.Received, s.ReceivedBytes}); got != n.taken[host] || s.Sent+s.Dropped+s.Refused+s.Failed != 0 {
			n.t.Errorf("host %d: stats %+v, want %+v received and nothing else", host, s, n.taken[host])
		}
	}
}

// All methods may be called at once, and Close in the middle of it.
func allAtOnce(n *network) {
	const enough = 20 * window // frames at each host before Close
	c := crowd{network: n}
	for host, b := range n.buses {
		heard := make(chan struct{}, 1)
		c.busy.Add(1)
		c.all.Go(func() { c.read(host, enough, heard) })
		left, right := transport.HostID((host+1)%3), transport.HostID((host+2)%3)
		c.all.Go(func() { // one stays, the other comes and goes
			c.until("Hear", func() error {
				if err := b.Hear([]transport.HostID{left}); err != nil {
					return err
				}
				<-heard
				return b.Hear([]transport.HostID{left, right})
			})
		})
		for range 2 {
			c.all.Go(func() {
				c.until("Send", func() error { return b.Send(content(c.sent.Add(1), 200)) })
			})
		}
		c.all.Go(func() {
			for !c.closed.Load() {
				b.Stats()
				runtime.Gosched()
			}
		})
	}
	if !n.ends(c.busy.Wait) {
		n.t.Errorf("after %v: got too few frames at some host, want %d at each", patience, enough)
	}
	returned := n.ends(c.closeTwice)
	c.closed.Store(true)
	if !returned || !n.ends(c.all.Wait) {
		n.t.Fatalf("after Close: got calls or readers that go on for %v, want them to end", patience)
	}
}

// crowd is many goroutines on the buses of a network.
type crowd struct {
	*network
	all    sync.WaitGroup // the goroutines
	busy   sync.WaitGroup // hosts that have not received enough
	sent   atomic.Uint64  // messages
	closed atomic.Bool
}

// until calls again and again until the bus is closed.
func (c *crowd) until(name string, call func() error) {
	for began := time.Now(); ; runtime.Gosched() {
		if err := call(); errors.Is(err, transport.ErrClosed) {
			return
		} else if time.Since(began) > 3*patience {
			c.t.Errorf("%s: got %v, want ErrClosed once the bus is closed", name, err)
			return
		}
	}
}

// read reads what arrives at a host until its bus is closed. Each frame is a sign
// on heard; after enough of them the host is no longer busy.
func (c *crowd) read(host, enough int, heard chan<- struct{}) {
	defer close(heard)
	received := 0
	for f := range c.buses[host].Frames() {
		if k := c.sent.Load(); len(f.Data) != 200 || f.From == transport.HostID(host) || !whole(f.Data, k) {
			c.t.Errorf("host %d: got %s, want messages 1 to %d", host, describe(f), k)
		}
		if received++; received == enough {
			c.busy.Done()
		}
		select {
		case heard <- struct{}{}:
		default:
		}
	}
	if received < enough {
		c.busy.Done()
	}
}

// closeTwice closes every bus from two goroutines.
func (c *crowd) closeTwice() {
	var closers sync.WaitGroup
	for _, b := range c.buses {
		for range 2 {
			closers.Go(func() {
				if err := b.Close(); err != nil {
					c.t.Errorf("Close: got %v, want no error", err)
				}
			})
		}
	}
	closers.Wait()
}

// whole says whether data is one of messages 1 to last.
func whole(data []byte, last uint64) bool {
	k := number(data)
	return 0 < k && k <= last && bytes.Equal(data, content(k, len(data)))
}
