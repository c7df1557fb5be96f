package natsbus

import (
	"sync/atomic"

	"github.com/nats-io/nats.go"

	"github.com/wdgnn/wdgnn/transport"
)

// translate hands on what arrives until Close. It is the only goroutine between
// nats.go's reader and ours, whatever the number of neighbours.
func (c *Conn) translate() {
	defer close(c.inbox.frames)
	for {
		select {
		case m := <-c.in:
			c.inbox.put(m)
		case <-c.done:
			return
		}
	}
}

// inbox holds frames that were not read yet, bounded in number and in bytes.
// One goroutine puts.
type inbox struct {
	frames chan transport.Frame
	most   uint64   // bytes
	puts   uint64   // frames put so far
	bytes  []uint64 // bytes put so far after each of the last puts; by puts modulo length

	received, receivedBytes, dropped, strange atomic.Uint64
}

func newInbox(frames int, most uint64) inbox {
	return inbox{
		frames: make(chan transport.Frame, frames),
		most:   most,
		bytes:  make([]uint64, frames+1),
	}
}

// put hands a message over unless there is no room.
func (b *inbox) put(m *nats.Msg) {
	from, ok := lastNumber(m.Subject)
	if !ok {
		b.strange.Add(1)
		return
	}
	size, ring := uint64(len(m.Data)), uint64(len(b.bytes))
	waiting := uint64(len(b.frames)) // fewer by the time we look, never more
	total := b.bytes[b.puts%ring]
	queued := total - b.bytes[(b.puts-waiting)%ring]
	if waiting == uint64(cap(b.frames)) || waiting > 0 && queued+size > b.most {
		b.dropped.Add(1)
		return
	}
	b.puts++
	b.bytes[b.puts%ring] = total + size
	b.received.Add(1)
	b.receivedBytes.Add(size)
	b.frames <- transport.Frame{From: from, Data: m.Data}
}
