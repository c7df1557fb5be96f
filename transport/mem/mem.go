// Package mem is a [transport.Bus] between hosts of one process, for programs
// that run them all and for tests. Nothing is lost unless a reader leaves no
// room; [transport.Disturb] makes it a worse network.
package mem

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/wdgnn/wdgnn/transport"
)

// defaultBuffer is the room of a host, in frames.
const defaultBuffer = 1024

// Network connects hosts. Its zero value is one without hosts. It starts no
// goroutine: Send puts a copy of the frame into the channel of each host that
// hears. Methods may be called concurrently.
type Network struct {
	Buffer int // frames that a host holds for its reader; 0 means 1024; read by Join

	mu    sync.Mutex // held to join, leave and hear, not to send
	hosts map[transport.HostID]*bus
}

// bus is one host.
type bus struct {
	network *Network
	self    transport.HostID
	hears   []transport.HostID     // ascending, without self; guarded by network.mu
	hearers atomic.Pointer[[]*bus] // replaced, never changed; written under network.mu

	sent, sentBytes, failed atomic.Uint64

	inbox    *transport.Inbox
	isClosed atomic.Bool
}

// Join returns a host's bus. A host that is there already may not join again
// until its bus was closed.
func (n *Network) Join(host transport.HostID) (transport.Bus, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.hosts[host] != nil {
		return nil, fmt.Errorf("mem: join: host %d is there already; close its bus first", host)
	}
	size := n.Buffer
	if size <= 0 {
		size = defaultBuffer
	}
	b := &bus{network: n, self: host, inbox: transport.NewInbox(size, math.MaxInt)}
	var hearers []*bus
	for _, other := range n.hosts {
		if _, hears := slices.BinarySearch(other.hears, host); hears {
			hearers = append(hearers, other)
		}
	}
	b.hearers.Store(&hearers)
	if n.hosts == nil {
		n.hosts = make(map[transport.HostID]*bus)
	}
	n.hosts[host] = b
	return b, nil
}

func (b *bus) Send(frame []byte) error {
	if b.isClosed.Load() {
		return transport.ErrClosed
	}
	if len(frame) > transport.MaxFrame {
		b.failed.Add(1)
		return fmt.Errorf("mem: send: a frame of %d bytes, at most %d fit", len(frame), transport.MaxFrame)
	}
	b.sent.Add(1)
	b.sentBytes.Add(uint64(len(frame)))
	for _, h := range *b.hearers.Load() {
		h.inbox.Put(transport.Frame{From: b.self, Data: bytes.Clone(frame)})
	}
	return nil
}

func (b *bus) Hear(hosts []transport.HostID) error {
	b.network.mu.Lock()
	defer b.network.mu.Unlock()
	if b.isClosed.Load() {
		return transport.ErrClosed
	}
	hears := slices.Clone(hosts)
	slices.Sort(hears)
	hears = slices.Compact(hears)
	if i, itself := slices.BinarySearch(hears, b.self); itself {
		hears = slices.Delete(hears, i, i+1)
	}
	b.hear(hears)
	return nil
}

// hear replaces whom b hears. The caller holds network.mu.
func (b *bus) hear(hears []transport.HostID) {
	for _, host := range b.hears {
		if _, stays := slices.BinarySearch(hears, host); !stays {
			b.network.hosts[host].remove(b)
		}
	}
	for _, host := range hears {
		if _, was := slices.BinarySearch(b.hears, host); !was {
			b.network.hosts[host].add(b)
		}
	}
	b.hears = hears
	b.inbox.Senders(len(hears))
}

// add adds a hearer to b, which may be nil: a host that has not joined.
func (b *bus) add(hearer *bus) {
	if b != nil {
		hearers := append(slices.Clone(*b.hearers.Load()), hearer)
		b.hearers.Store(&hearers)
	}
}

// remove removes a hearer from b, which may be nil: a host that has left.
func (b *bus) remove(hearer *bus) {
	if b != nil {
		hearers := slices.DeleteFunc(slices.Clone(*b.hearers.Load()), func(h *bus) bool { return h == hearer })
		b.hearers.Store(&hearers)
	}
}

func (b *bus) Frames() <-chan transport.Frame { return b.inbox.Frames() }

// Sift implements [transport.Sifter].
func (b *bus) Sift(keep func(*transport.Frame) bool) { b.inbox.Sift(keep) }

func (b *bus) Stats() transport.Stats {
	s := b.inbox.Stats()
	s.Sent, s.SentBytes, s.Failed = b.sent.Load(), b.sentBytes.Load(), b.failed.Load()
	return s
}

func (b *bus) Close() error {
	b.network.mu.Lock()
	defer b.network.mu.Unlock()
	if b.isClosed.Load() {
		return nil
	}
	b.hear(nil)
	delete(b.network.hosts, b.self)
	b.isClosed.Store(true)
	b.inbox.Close()
	return nil
}
