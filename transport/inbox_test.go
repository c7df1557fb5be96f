package transport_test

import (
	"testing"

	"github.com/wdgnn/wdgnn/transport"
)

func frame(from transport.HostID, size int) transport.Frame {
	return transport.Frame{From: from, Data: make([]byte, size)}
}

// held reads everything that waits and counts it by sender.
func held(b *transport.Inbox) map[transport.HostID]int {
	count := map[transport.HostID]int{}
	for len(b.Frames()) > 0 {
		f := <-b.Frames()
		count[f.From]++
	}
	return count
}

// However much one or two send, there is room for the rest: a flood takes a half
// of the frames, or of the bytes, and two take a third each.
func TestInboxShares(t *testing.T) {
	for name, c := range map[string]struct {
		frames, bytes, size int
	}{"frames": {120, 1 << 30, 10}, "bytes": {10_000, 12_000, 100}} {
		b := transport.NewInbox(c.frames, c.bytes)
		b.Senders(3)
		for range 5000 {
			b.Put(frame(1, c.size))
		}
		for range 30 {
			b.Put(frame(2, c.size))
		}
		if got := held(b); got[1] != 60 || got[2] != 30 {
			t.Errorf("%s: of a flood and 30 others got %v, want 60 and 30", name, got)
		}
		for range 5000 { // the room is there again
			b.Put(frame(1, c.size))
			b.Put(frame(3, c.size))
		}
		for range 30 {
			b.Put(frame(2, c.size))
		}
		if got := held(b); got[1] < 39 || got[1] > 41 || got[3] < 39 || got[3] > 41 || got[2] < 19 {
			t.Errorf("%s: of two floods and 30 others got %v, want 40, 40 and 20", name, got)
		}
		if s := b.Stats(); s.Received+s.Dropped != 5000+30+10_000+30 {
			t.Errorf("%s: %+v, want all counted", name, s)
		}
	}
}

// One alone has all the room, and a frame that is larger than all of it fits if
// nothing waits.
func TestInboxAlone(t *testing.T) {
	b := transport.NewInbox(8, 100)
	b.Put(frame(1, 1000))
	b.Put(frame(1, 1))
	if got := held(b)[1]; got != 1 {
		t.Errorf("a large frame and another: got %d, want 1", got)
	}
	for range 20 {
		b.Put(frame(1, 1))
	}
	if got := held(b)[1]; got != 8 {
		t.Errorf("got %d frames, want 8", got)
	}
	b.Close()
	b.Close()
	b.Put(frame(1, 1))
	if _, open := <-b.Frames(); open {
		t.Error("a frame after Close")
	}
}

// A frame for which there is no room is not sifted: what was dropped has not been heard,
// and is kept when it comes again.
func TestInboxSiftsWhatFits(t *testing.T) {
	in := transport.NewInbox(1, 1<<20)
	heard := map[string]bool{}
	in.Sift(func(f *transport.Frame) bool {
		before := heard[string(f.Data)]
		heard[string(f.Data)] = true
		return !before
	})
	put := func(data string, want bool) {
		t.Helper()
		if got := in.Put(transport.Frame{From: 1, Data: []byte(data)}); got != want {
			t.Errorf("frame %q: got taken %v, want %v", data, got, want)
		}
	}
	put("first", true)
	put("second", false)
	<-in.Frames()
	put("second", true)
	if got := <-in.Frames(); string(got.Data) != "second" {
		t.Errorf("got %q, want the copy of the frame that was dropped", got.Data)
	}
	put("second", true) // and is held back
	if s := in.Stats(); s.Received != 3 || s.Dropped != 1 || len(in.Frames()) != 0 {
		t.Errorf("got %+v and %d frames that wait, want 3 received, 1 dropped and none", s, len(in.Frames()))
	}
}
