package outside_test

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/wdgnn/wdgnn/transport"
	"github.com/wdgnn/wdgnn/transport/transporttest"
)

// Room is a network of one's own, of hosts that share memory: where a radio or a
// field bus would be. It keeps the contract of transport.Bus, which the shipped
// suite checks below.
type Room struct {
	mu    sync.Mutex // guards all seats
	seats []*seat
}

// seat is a host's place in a Room, a transport.Bus.
type seat struct {
	*transport.Inbox // Frames, and a share of the room in it for every sender
	room             *Room
	self             transport.HostID
	hears            []transport.HostID
	sent             transport.Stats
	closed           bool
}

// Join returns the bus of a host.
func (r *Room) Join(self transport.HostID) transport.Bus {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &seat{Inbox: transport.NewInbox(256, 4*transport.MaxFrame), room: r, self: self}
	r.seats = append(r.seats, s)
	return s
}

func (s *seat) Send(frame []byte) error {
	s.room.mu.Lock()
	defer s.room.mu.Unlock()
	switch {
	case s.closed:
		return transport.ErrClosed
	case len(frame) > transport.MaxFrame:
		s.sent.Failed++
		return fmt.Errorf("room: a frame of %d bytes, at most %d", len(frame), transport.MaxFrame)
	}
	s.sent.Sent++
	s.sent.SentBytes += uint64(len(frame))
	for _, other := range s.room.seats {
		if other != s && slices.Contains(other.hears, s.self) {
			other.Put(transport.Frame{From: s.self, Data: bytes.Clone(frame)})
		}
	}
	return nil
}

func (s *seat) Hear(hosts []transport.HostID) error {
	s.room.mu.Lock()
	defer s.room.mu.Unlock()
	if s.closed {
		return transport.ErrClosed
	}
	s.hears = slices.Clone(hosts)
	s.Senders(len(hosts))
	return nil
}

func (s *seat) Stats() transport.Stats {
	s.room.mu.Lock()
	defer s.room.mu.Unlock()
	all := s.sent
	all.Add(s.Inbox.Stats())
	return all
}

func (s *seat) Close() error {
	s.room.mu.Lock()
	defer s.room.mu.Unlock()
	s.closed, s.hears = true, nil
	s.Inbox.Close()
	return nil
}

func TestRoom(t *testing.T) {
	transporttest.Run(t, func(t *testing.T, hosts int) []transport.Bus {
		var room Room
		var buses []transport.Bus
		for host := range hosts {
			bus := room.Join(transport.HostID(host))
			t.Cleanup(func() { bus.Close() })
			buses = append(buses, bus)
		}
		return buses
	})
}
