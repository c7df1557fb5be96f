package transporttest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/transport"
)

// patience is how long the suite waits for what must happen.
var patience = 20 * time.Second

// resend is how long it waits for a frame before it sends another one.
const resend = 20 * time.Millisecond

// window is how many frames are under way at once where nothing may be lost.
const window = 8

// probe marks frames that only find out whether somebody hears.
var probe = []byte("is anybody there?")

// network is the hosts of one subtest.
type network struct {
	t     testing.TB
	buses []transport.Bus
	taken []tally // what was read from Frames, by host; probes too
	time  uint64  // number of the last message
}

// tally counts frames.
type tally struct{ frames, bytes uint64 }

// hear has a host hear others instead of those before.
func (n *network) hear(host int, whom ...transport.HostID) {
	n.t.Helper()
	if err := n.buses[host].Hear(whom); err != nil {
		n.t.Fatalf("host %d: Hear(%v): got %v, want no error", host, whom, err)
	}
}

// send sends a frame from a host.
func (n *network) send(host int, data []byte) {
	n.t.Helper()
	var err error
	if !n.ends(func() { err = n.buses[host].Send(data) }) {
		n.t.Fatalf("host %d: Send of %d bytes takes more than %v, want it to wait for nobody", host, len(data), patience)
	}
	if err != nil {
		n.t.Fatalf("host %d: Send of %d bytes: got %v, want no error", host, len(data), err)
	}
}

// ends says whether a call returns in time.
func (n *network) ends(call func()) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		call()
	}()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// within returns the next frame at a host, probes too, unless none comes in
// the given time.
func (n *network) within(host int, wait time.Duration) (transport.Frame, bool) {
	n.t.Helper()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case f, open := <-n.buses[host].Frames():
		if !open {
			n.t.Fatalf("host %d: Frames is closed, want it open until Close", host)
		}
		n.count(host, f)
		return f, true
	case <-timer.C:
		return transport.Frame{}, false
	}
}

// count notes a frame that was read.
func (n *network) count(host int, f transport.Frame) {
	if n.taken == nil {
		n.taken = make([]tally, len(n.buses))
	}
	n.taken[host].frames++
	n.taken[host].bytes += uint64(len(f.Data))
}

// next returns the next frame at a host that is no probe.
func (n *network) next(host int) transport.Frame {
	n.t.Helper()
	for {
		f, ok := n.within(host, patience)
		if !ok {
			n.t.Fatalf("host %d: no frame for %v, want one; stats %+v", host, patience, n.buses[host].Stats())
		}
		if !bytes.Equal(f.Data, probe) {
			return f
		}
	}
}

// connect sends probes until the hearer hears the sender.
func (n *network) connect(sender, hearer int) {
	n.t.Helper()
	for began := time.Now(); time.Since(began) < patience; {
		n.send(sender, probe)
		for {
			f, ok := n.within(hearer, resend)
			if !ok {
				break
			}
			if f.From == transport.HostID(sender) && bytes.Equal(f.Data, probe) {
				n.drain()
				return
			}
			n.only(hearer, f)
		}
		n.drain()
	}
	n.t.Fatalf("host %d does not hear host %d after %v, want it to; stats %+v and %+v",
		hearer, sender, patience, n.buses[hearer].Stats(), n.buses[sender].Stats())
}

// drain takes all probes that have arrived anywhere.
func (n *network) drain() {
	n.t.Helper()
	for host, b := range n.buses {
		for len(b.Frames()) > 0 {
			f := <-b.Frames()
			n.count(host, f)
			n.only(host, f)
		}
	}
}

// only fails unless a frame is a probe.
func (n *network) only(host int, f transport.Frame) {
	n.t.Helper()
	if !bytes.Equal(f.Data, probe) {
		n.t.Fatalf("host %d: got %v, want nothing but probes", host, describe(f))
	}
}

// message returns a frame unlike all before. Its content follows from its
// first 9 bytes.
func (n *network) message(size int) []byte {
	n.time++
	return content(n.time, size)
}

// content returns message number k.
func content(k uint64, size int) []byte {
	data := make([]byte, size+16)
	data[0] = 'm'
	binary.LittleEndian.PutUint64(data[1:], k)
	r := rand.NewPCG(k, uint64(size))
	noise := data[9:min(len(data), 1<<20)]
	for i := 0; i+8 <= len(noise); i += 8 {
		binary.LittleEndian.PutUint64(noise[i:], r.Uint64())
	}
	for i := 1 << 20; i < len(data); i += len(noise) - 1 { // large ones repeat it
		copy(data[i:], noise[1:])
	}
	return data[:size:size]
}

// number returns the number that a message says it has, 0 if it has no room for
// one.
func number(data []byte) uint64 {
	if len(data) < 9 || data[0] != 'm' {
		return 0
	}
	return binary.LittleEndian.Uint64(data[1:])
}

// say sends messages from a host, few at a time, and checks that each arrives
// at all who hear it, once, in order and bit for bit.
func (n *network) say(sender, count, size int, hearers ...int) {
	n.t.Helper()
	for count > 0 {
		var sent [][]byte
		for range min(count, window) {
			sent = append(sent, n.message(size))
			n.send(sender, sent[len(sent)-1])
		}
		count -= len(sent)
		for _, h := range hearers {
			for _, data := range sent {
				n.expect(h, sender, data)
			}
		}
	}
}

// expect checks that the next frame at a host is the one that was sent.
func (n *network) expect(hearer, sender int, data []byte) {
	n.t.Helper()
	got, want := n.next(hearer), transport.Frame{From: transport.HostID(sender), Data: data}
	if got.From != want.From || !bytes.Equal(got.Data, want.Data) {
		n.t.Fatalf("host %d: got %s, want %s", hearer, describe(got), describe(want))
	}
}

// silent fails if anything but a probe of the given hosts has arrived and was
// not read.
func (n *network) silent(host int, probes ...transport.HostID) {
	n.t.Helper()
	for len(n.buses[host].Frames()) > 0 {
		f := <-n.buses[host].Frames()
		n.count(host, f)
		known := false
		for _, h := range probes {
			known = known || f.From == h
		}
		if !known || !bytes.Equal(f.Data, probe) {
			n.t.Fatalf("host %d: got %s, want nothing", host, describe(f))
		}
	}
}

// describe names a frame in a few words.
func describe(f transport.Frame) string {
	switch {
	case bytes.Equal(f.Data, probe):
		return fmt.Sprintf("a probe of host %d", f.From)
	case number(f.Data) > 0 && bytes.Equal(content(number(f.Data), len(f.Data)), f.Data):
		return fmt.Sprintf("message %d, %d bytes, of host %d", number(f.Data), len(f.Data), f.From)
	}
	return fmt.Sprintf("%d bytes %.16x of host %d", len(f.Data), f.Data, f.From)
}
