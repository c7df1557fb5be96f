package inbox

import "testing"

// held reads everything that waits and counts it by sender.
func held(b *Inbox[uint32]) map[uint32]int {
	count := map[uint32]int{}
	for len(b.frames) > 0 {
		count[<-b.frames]++
	}
	return count
}

// However much one or two send, there is room for the rest: a flood takes a half
// of the frames, or of the bytes, and two take a third each.
func TestShares(t *testing.T) {
	for name, c := range map[string]struct {
		frames, bytes, size int
	}{"frames": {120, 1 << 30, 10}, "bytes": {10_000, 12_000, 100}} {
		b := New[uint32](c.frames, c.bytes)
		b.Senders(3)
		for range 5000 {
			b.Put(1, c.size, 1)
		}
		for range 30 {
			b.Put(2, c.size, 2)
		}
		if got := held(b); got[1] != 60 || got[2] != 30 {
			t.Errorf("%s: of a flood and 30 others got %v, want 60 and 30", name, got)
		}
		for range 5000 { // the room is there again
			b.Put(1, c.size, 1)
			b.Put(3, c.size, 3)
		}
		for range 30 {
			b.Put(2, c.size, 2)
		}
		if got := held(b); got[1] < 39 || got[1] > 41 || got[3] < 39 || got[3] > 41 || got[2] < 19 {
			t.Errorf("%s: of two floods and 30 others got %v, want 40, 40 and 20", name, got)
		}
		if s := b.Counts(); s.Received+s.Dropped != 5000+30+10_000+30 {
			t.Errorf("%s: %+v, want all counted", name, s)
		}
	}
}

// One alone has all the room, and a frame that is larger than all of it fits if
// nothing waits.
func TestAlone(t *testing.T) {
	b := New[uint32](8, 100)
	b.Put(1, 1000, 1)
	b.Put(1, 1, 1)
	if got := held(b)[1]; got != 1 {
		t.Errorf("a large frame and another: got %d, want 1", got)
	}
	for range 20 {
		b.Put(1, 1, 1)
	}
	if got := held(b)[1]; got != 8 {
		t.Errorf("got %d frames, want 8", got)
	}
	b.Close()
	b.Close()
	b.Put(1, 1, 1)
	if _, open := <-b.Frames(); open {
		t.Error("a frame after Close")
	}
}
