package transporttest

import (
	"errors"

	"github.com/wdgnn/wdgnn/transport"
)

// Close closes Frames, once; what was not read stays readable and Stats too.
// Send and Hear then fail. It waits for nobody.
func closeEnds(n *network) {
	n.hear(1, 0)
	n.connect(0, 1)
	for range window { // unread
		n.send(0, n.message(1<<16))
	}
	for _, b := range n.buses {
		frames := b.Frames()
		for range 2 {
			if !n.ends(func() {
				if err := b.Close(); err != nil {
					n.t.Errorf("Close: got %v, want no error", err)
				}
			}) {
				n.t.Fatalf("Close takes more than %v, want it to wait for nobody", patience)
			}
		}
		if !n.ends(func() {
			for range frames {
			}
		}) {
			n.t.Fatalf("Frames is still open %v after Close, want it closed", patience)
		}
		if _, open := <-b.Frames(); open {
			n.t.Error("Frames after Close: got a frame, want a closed channel")
		}
		if err := b.Send([]byte{1}); !errors.Is(err, transport.ErrClosed) {
			n.t.Errorf("Send after Close: got %v, want %v", err, transport.ErrClosed)
		}
		if err := b.Hear([]transport.HostID{0, 1}); !errors.Is(err, transport.ErrClosed) {
			n.t.Errorf("Hear after Close: got %v, want %v", err, transport.ErrClosed)
		}
	}
	if s := n.buses[0].Stats(); s.Sent < window {
		n.t.Errorf("stats after Close: got %+v, want at least %d sent", s, window)
	}
}

// A host that leaves disturbs nobody.
func othersGoOn(n *network) {
	n.hear(0, 1, 2)
	n.hear(1, 0, 2)
	n.hear(2, 0, 1)
	for _, pair := range [][2]int{{0, 1}, {1, 0}, {2, 0}, {0, 2}, {2, 1}, {1, 2}} {
		n.connect(pair[0], pair[1])
	}
	n.say(2, window, 100, 0, 1)
	if err := n.buses[2].Close(); err != nil {
		n.t.Errorf("Close: got %v, want no error", err)
	}
	n.buses = n.buses[:2]
	for range 4 {
		n.say(0, window, 100, 1)
		n.say(1, window, 100, 0)
	}
	n.hear(1, 0)
	n.say(0, window, 100, 1)
}
