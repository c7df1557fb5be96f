package transporttest_test

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wdgnn/wdgnn/transport"
)

// broken is a bus of package mem that breaks the contract in one way.
type broken struct {
	transport.Bus
	fault  string
	self   transport.HostID
	others *[]*broken // all hosts of the network, this one too
	shared *sync.Map  // content to the one slice that all receivers get

	frames  chan transport.Frame
	pumped  chan struct{}
	closing atomic.Bool

	mu    sync.Mutex
	heard []transport.HostID // by every Hear so far
	kept  *transport.Frame   // held back
	spoil bool               // an oversize frame was sent
}

func (b *broken) start() {
	b.frames, b.pumped = make(chan transport.Frame, cap(b.Bus.Frames())), make(chan struct{})
	go b.pump()
	if b.fault == "hears at once" {
		b.Bus.Hear(b.all())
	}
}

func (b *broken) all() []transport.HostID {
	var ids []transport.HostID
	for h := range *b.others {
		ids = append(ids, transport.HostID(h))
	}
	return ids
}

// pump passes on what arrives, not quite as it came.
func (b *broken) pump() {
	defer close(b.pumped)
	for f := range b.Bus.Frames() {
		switch b.fault {
		case "wrong sender":
			f.From++
		case "flips a bit":
			if len(f.Data) > 500 {
				f.Data[500] ^= 1
			}
		case "cuts at 1 MiB":
			f.Data = f.Data[:min(len(f.Data), 1<<20)]
		case "no empty frames":
			if len(f.Data) == 0 {
				continue
			}
		case "doubles":
			b.put(transport.Frame{From: f.From, Data: bytes.Clone(f.Data)})
		case "swaps":
			if b.kept == nil && f.Data[len(f.Data)-1]%16 == 0 {
				b.kept = &f
				continue
			}
		case "shares data":
			data, _ := b.shared.LoadOrStore(string(f.Data), f.Data)
			f.Data = data.([]byte)
		}
		b.put(f)
		if b.kept != nil {
			b.put(*b.kept)
			b.kept = nil
		}
	}
	if b.fault != "leaves Frames open" {
		close(b.frames)
	}
}

func (b *broken) put(f transport.Frame) {
	if b.fault == "stalls" {
		b.frames <- f
		return
	}
	select {
	case b.frames <- f:
	default:
	}
}

func (b *broken) Frames() <-chan transport.Frame { return b.frames }

func (b *broken) Hear(hosts []transport.HostID) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	first := b.heard == nil
	b.heard = append(b.heard, hosts...)
	switch b.fault {
	case "hears all":
		return b.Bus.Hear(b.all())
	case "Hear adds":
		return b.Bus.Hear(b.heard)
	case "hears once":
		if !first {
			return nil
		}
	}
	return b.Bus.Hear(hosts)
}

func (b *broken) Send(frame []byte) error {
	switch b.fault {
	case "keeps the slice":
		time.AfterFunc(time.Millisecond, func() { b.Bus.Send(frame) })
		return nil
	case "takes any size":
		if len(frame) > transport.MaxFrame {
			return nil
		}
	case "breaks on large ones":
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.spoil = b.spoil || len(frame) > transport.MaxFrame; b.spoil && len(frame) <= transport.MaxFrame {
			return nil
		}
	case "hears itself":
		b.mu.Lock()
		if slices.Contains(b.heard, b.self) {
			b.put(transport.Frame{From: b.self, Data: bytes.Clone(frame)})
		}
		b.mu.Unlock()
	case "stalls": // waits until all have room
		for _, o := range *b.others {
			for len(o.frames)+len(o.Bus.Frames()) >= cap(o.frames) && !b.closing.Load() {
				time.Sleep(time.Millisecond)
			}
		}
	case "sends when closed":
		b.Bus.Send(frame)
		return nil
	case "dies with others":
		for _, o := range *b.others {
			if o.closing.Load() {
				return nil
			}
		}
	}
	return b.Bus.Send(frame)
}

func (b *broken) Stats() transport.Stats {
	s := b.Bus.Stats()
	switch b.fault {
	case "hides drops":
		s.Dropped = 0
	case "counts hearers":
		s.Sent *= 2
	case "counts too few bytes":
		s.ReceivedBytes -= min(s.ReceivedBytes, 1)
	default:
		if b.fault != "" && s.Received > uint64(cap(b.frames)) && len(b.frames) == cap(b.frames) {
			s.Dropped++
		}
	}
	return s
}

func (b *broken) Close() error {
	if b.closing.Swap(true) && b.fault == "closes once" {
		return transport.ErrClosed
	}
	err := b.Bus.Close()
	if b.fault != "stalls" {
		<-b.pumped
	}
	return err
}
