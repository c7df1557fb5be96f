package tcpbus

import (
	"bufio"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/wdgnn/wdgnn/transport"
)

// queueSize is how many bytes may wait for a hearer.
const queueSize = 2 * transport.MaxFrame

// shortestBeat is the shortest time between beats, whatever a hearer asks for.
const shortestBeat = 10 * time.Millisecond

// outlet is a link to a hearer. Frames wait in a ring that holds the newest;
// a hearer that is slow stalls nobody.
type outlet struct {
	lane
	conn, raw net.Conn      // with TLS and without
	ready     chan struct{} // holds a token if there may be frames
	several   bool          // the hearer may be asked for further lanes

	losses  losses // known to write alone, like what follows
	hurried bool   // something was done about them,
	brisk   bool   // and the system could

	mu    sync.Mutex // guards what follows
	ring  [][]byte   // shared with other outlets, read only
	first int        // index of the oldest
	count int
	size  int // bytes
}

func newOutlet(l lane, conn, raw net.Conn, queue int) *outlet {
	if l.number > 0 {
		queue = min(queue, laneQueue)
		slender(raw)
	}
	secure, ok := conn.(*tls.Conn)
	several := ok && secure.ConnectionState().NegotiatedProtocol == severalLanes
	return &outlet{lane: l, conn: conn, raw: raw, ready: make(chan struct{}, 1), several: several, ring: make([][]byte, queue)}
}

// put queues a frame, which nobody may change any more, and returns how many
// older ones had to go.
func (o *outlet) put(frame []byte) (dropped uint64) {
	o.mu.Lock()
	for o.count == len(o.ring) || o.count > 0 && o.size+len(frame) > queueSize {
		o.shift()
		dropped++
	}
	o.ring[(o.first+o.count)%len(o.ring)] = frame
	o.count++
	o.size += len(frame)
	o.mu.Unlock()
	select {
	case o.ready <- struct{}{}:
	default:
	}
	return dropped
}

// shift takes the oldest frame. The caller holds mu.
func (o *outlet) shift() []byte {
	frame := o.ring[o.first]
	o.ring[o.first] = nil
	o.first = (o.first + 1) % len(o.ring)
	o.count--
	o.size -= len(frame)
	return frame
}

// take returns the oldest frame, if there is one.
func (o *outlet) take() ([]byte, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.count == 0 {
		return nil, false
	}
	return o.shift(), true
}

// waiting returns how many frames wait.
func (o *outlet) waiting() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.count
}

// feed welcomes a hearer and sends it frames, and beats so often that neither
// side takes the other for gone, until the link breaks.
func (b *Bus) feed(o *outlet, idle time.Duration) error {
	answers := make(chan error, 1)
	b.running.Go(func() { answers <- o.attend(b.config.Idle) })
	err := b.write(o, min(idle, b.config.Idle)/3, answers)
	o.raw.Close()
	return err
}

// write sends frames, many at once if many wait, until the link breaks or the
// hearer answers no more.
func (b *Bus) write(o *outlet, every time.Duration, answers <-chan error) error {
	w := bufio.NewWriterSize(steady{o.conn, b.config.WriteTimeout, b.config.Idle}, chunk)
	w.Write(appendWelcome(nil, b.config.Host)) // errors stay until Flush
	beats := time.NewTicker(max(every, shortestBeat))
	defer beats.Stop()
	var head [4]byte
	var quiet nudge
	nudged := time.NewTimer(mostNudge)
	defer nudged.Stop()
	fresh := false // a frame was written since the last flush
	for {
		select {
		case err := <-answers:
			return err
		case <-beats.C:
			w.Write(binary.LittleEndian.AppendUint32(head[:0], beat))
		default:
		}
		frame, ok := o.take()
		if ok {
			fresh = true
			w.Write(binary.LittleEndian.AppendUint32(head[:0], uint32(len(frame))))
			if _, err := w.Write(frame); err != nil {
				return err
			}
			continue
		}
		if fresh {
			fresh = false
			now := time.Now()
			w.Write(o.suffer(now, b.config.losses))
			nudged.Reset(quiet.frame(now))
		}
		if err := w.Flush(); err != nil {
			return err
		}
		select {
		case err := <-answers:
			return err
		case <-o.ready:
		case <-beats.C:
			w.Write(binary.LittleEndian.AppendUint32(head[:0], beat))
		case <-nudged.C:
			w.Write(binary.LittleEndian.AppendUint32(head[:0], beat))
			if wait := quiet.beat(); wait > 0 {
				nudged.Reset(wait)
			}
		}
	}
}

// attend reads answers to beats until none comes for too long.
func (o *outlet) attend(idle time.Duration) error {
	var data [64]byte
	r := patient{o.conn, idle}
	for {
		n, err := r.Read(data[:])
		if err != nil {
			return err
		}
		for _, c := range data[:n] {
			if c != answer {
				return refusal{fmt.Errorf("it answers %#x to a beat, want %#x", c, answer)}
			}
		}
	}
}
