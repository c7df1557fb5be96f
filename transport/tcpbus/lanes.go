package tcpbus

import (
	"context"
	"fmt"
	"hash/maphash"
	"net"
	"sync"
	"time"

	"github.com/wdgnn/wdgnn/transport"
)

// A hearer may have several connections to a sender, its lanes, of which the first is
// always there. The others are dialled when the sender says that it loses packets, and
// given up when it has not said so for half a minute. All carry the same frames, so that one
// is late only if it is held up in every lane. The hearer takes the copy that comes
// first. Every lane is met like the first: certificate, permit, hello.
//
// Large frames go over the first lane alone: they are many packets, which show TCP that
// one of them is missing, and copies of them would cost what the link may not have.

const (
	mostLanes = 3
	laneQueue = 16       // frames that wait for a further lane, oldest dropped first
	laneFrame = 16 << 10 // bytes of the largest frame of which further lanes get a copy
	laneRoom  = 64 << 10 // bytes that the system keeps for one that stands still
)

// lane names a connection to a hearer.
type lane struct {
	host   transport.HostID
	number int // 0 is the first
}

// ear is how one host is heard.
type ear struct {
	host    transport.HostID
	context context.Context // until it is heard no more

	mu      sync.Mutex
	further [mostLanes]*time.Timer // that end lanes; nil before they were first asked for
	open    int                    // further lanes that there are
	seen    *seen                  // nil if there is only the first
}

// widen hears a host over so many further lanes for a while from now on.
func (b *Bus) widen(e *ear, further int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for k := 1; k <= further && e.context.Err() == nil; k++ {
		if t := e.further[k]; t != nil && t.Stop() {
			t.Reset(b.config.laneTime)
			continue
		}
		during, end := context.WithCancel(e.context)
		e.further[k] = time.AfterFunc(b.config.laneTime, end)
		if e.open++; e.seen == nil {
			e.seen = newSeen()
		}
		b.running.Go(func() {
			defer e.narrow()
			defer end()
			b.follow(during, e, k)
		})
		b.config.OnError(fmt.Errorf("tcpbus: host %d hears host %d over one more connection, because packets are lost", b.config.Host, e.host))
	}
}

// narrow notes that a further lane has ended.
func (e *ear) narrow() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.open--; e.open == 0 {
		e.seen = nil
	}
}

// take hands a frame of a lane to the reader, unless it came over another before. One for
// which there was no room has not come.
func (e *ear) take(inbox *transport.Inbox, data []byte, lane int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f := transport.Frame{From: e.host, Data: data}
	if e.seen == nil || len(data) > laneFrame {
		inbox.Put(f)
		return
	}
	if !e.seen.note(data, lane) && !inbox.Put(f) {
		delete(e.seen.lanes, maphash.Bytes(e.seen.seed, data))
	}
}

// mostSeen is how many frames of a host are known. A lane that goes on after it stood still
// brings all that waited in it, up to ten seconds of frames and more. What is not known
// any more then would come a second time, and who only repeats itself is taken for a liar.
const mostSeen = 1 << 14

// seen knows the last frames of a host and over which lanes they came. A frame that
// comes over one lane twice was sent twice, and is not counted as a copy.
type seen struct {
	seed  maphash.Seed
	lanes map[uint64]uint // by hash; a bit for every lane
	order []uint64        // hashes, in a ring once there are mostSeen
	next  int
}

func newSeen() *seen { return &seen{seed: maphash.MakeSeed(), lanes: map[uint64]uint{}} }

// note takes in a frame and says whether it is a copy of one of another lane.
func (s *seen) note(data []byte, lane int) (copied bool) {
	hash := maphash.Bytes(s.seed, data)
	before, known := s.lanes[hash]
	switch {
	case known:
	case len(s.order) < mostSeen:
		s.order = append(s.order, hash)
	default:
		delete(s.lanes, s.order[s.next])
		s.order[s.next] = hash
		s.next = (s.next + 1) % mostSeen
	}
	s.lanes[hash] = before | 1<<lane
	return known && before>>lane&1 == 0
}

// slender has the system keep little for a further lane: what waits there comes too late.
func slender(raw net.Conn) {
	if c, ok := raw.(interface{ SetWriteBuffer(int) error }); ok {
		_ = c.SetWriteBuffer(laneRoom) // it also goes without
	}
}
