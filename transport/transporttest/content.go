package transporttest

import (
	"bytes"
	"errors"
	"testing"

	"github.com/wdgnn/wdgnn/transport"
)

// Frames of 0 to transport.MaxFrame bytes arrive bit for bit.
func allSizes(n *network) {
	n.hear(1, 0)
	n.connect(0, 1)
	for _, size := range []int{
		0, 1, 2, 8, 255, 256, 1200, 4095, 4096, 16384, 16385, 65535, 65536, 1<<20 - 1, 1 << 20, 1<<20 + 1, 3<<20 + 17, 0,
		1200,
	} {
		n.say(0, 1, size, 1)
	}
	n.send(0, nil)
	n.expect(1, 0, nil)
	if !testing.Short() {
		n.say(0, 1, transport.MaxFrame, 1)
	}
	n.say(0, window, 100, 1)
}

// A frame over transport.MaxFrame is refused, is not counted as sent, and does
// no harm.
func tooLarge(n *network) {
	n.hear(1, 0)
	n.connect(0, 1)
	before := n.buses[0].Stats()
	err := n.buses[0].Send(make([]byte, transport.MaxFrame+1))
	if err == nil || errors.Is(err, transport.ErrClosed) {
		n.t.Fatalf("Send of %d bytes: got %v, want an error that says it is too large", transport.MaxFrame+1, err)
	}
	after := n.buses[0].Stats()
	if after.Sent != before.Sent || after.SentBytes != before.SentBytes || after.Failed != before.Failed+1 {
		n.t.Errorf("after a refused frame: stats %+v, want those before with one more failed: %+v", after, before)
	}
	n.say(0, window, 100, 1)
}

// A frame may be overwritten once Send has returned.
func keepsNoReference(n *network) {
	n.hear(1, 0)
	n.connect(0, 1)
	for _, size := range []int{20, 1200, 40000} {
		buffer := make([]byte, size)
		for range 4 {
			var sent [][]byte
			for range window {
				sent = append(sent, n.message(size))
				copy(buffer, sent[len(sent)-1])
				n.send(0, buffer)
				clear(buffer)
			}
			for _, data := range sent {
				n.expect(1, 0, data)
			}
		}
	}
}

// What one host does to the data it received is seen by nobody else.
func receiverOwns(n *network) {
	n.hear(1, 0)
	n.hear(2, 0)
	n.connect(0, 1)
	n.connect(0, 2)
	for range 4 * window {
		data := n.message(1200)
		sent := bytes.Clone(data)
		n.send(0, sent)
		f := n.next(1)
		if !bytes.Equal(f.Data, data) {
			n.t.Fatalf("host 1: got %s, want what was sent", describe(f))
		}
		clear(f.Data)
		clear(f.Data[:cap(f.Data)])
		n.expect(2, 0, data)
		if !bytes.Equal(sent, data) {
			n.t.Fatal("host 1 overwrote what it received: got a change of what the sender holds, want none")
		}
	}
}
