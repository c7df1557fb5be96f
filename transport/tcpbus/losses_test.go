package tcpbus

import (
	"net"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/transport"
)

// A link loses packets if some were sent again within seconds, and is taken for whole
// again once that was long ago; it is not looked at all the time.
func TestLosses(t *testing.T) {
	var l losses
	now := time.Now()
	for _, c := range []struct {
		after time.Duration
		total uint64
		want  bool
	}{
		{0, 2, false},
		{time.Second, 3, false},
		{time.Second, 4, true},
		{3 * time.Second, 4, true},   // in the window before
		{6 * time.Second, 4, false},  // further back
		{4 * time.Second, 7, false},  // three
		{2 * time.Second, 8, true},   // and one more in the next window
		{11 * time.Second, 9, false}, // all of them long ago
		{time.Second, 9 + 3, true},
		{time.Second, 0, true}, // a count that goes back, as where what is known of copies comes late
	} {
		now = now.Add(c.after)
		if got := l.note(now, c.total); got != c.want {
			t.Errorf("%d packets: got losses %v, want %v", c.total, got, c.want)
		}
	}
	if !l.due(now) || l.due(now.Add(lookEvery/2)) || !l.due(now.Add(lookEvery)) {
		t.Error("got looks at other times than every 100 ms")
	}
	if !l.ask(now) || l.ask(now.Add(askEvery/2)) || !l.ask(now.Add(askEvery)) {
		t.Error("got requests for lanes at other times than every second")
	}
}

// Copies are known by the lane they came over; what was sent twice over one is not a
// copy, and what is long gone is not remembered.
func TestSeen(t *testing.T) {
	s := newSeen()
	for _, c := range []struct {
		frame string
		lane  int
		want  bool
	}{
		{"a", 0, false},
		{"b", 0, false},
		{"a", 1, true},
		{"b", 1, true},
		{"c", 1, false},
		{"c", 0, true},
		{"c", 2, true},
		{"d", 1, false},
		{"d", 1, false},
		{"d", 0, true},
	} {
		if got := s.note([]byte(c.frame), c.lane); got != c.want {
			t.Errorf("frame %q of lane %d: got a copy: %v, want %v", c.frame, c.lane, got, c.want)
		}
	}
	for k := range 2 * mostSeen {
		s.note([]byte{byte(k), byte(k >> 8)}, 0)
	}
	if len(s.lanes) != mostSeen || len(s.order) != mostSeen {
		t.Errorf("got %d frames remembered of %d, want %d", len(s.lanes), len(s.order), mostSeen)
	}
	if s.note([]byte("a"), 2) {
		t.Error("a frame of long ago: got a copy, want it forgotten")
	}
}

// A lane that stood still for a thousand frames brings none a second time, and one for
// which the reader had no room is taken from the next lane.
func TestEar(t *testing.T) {
	e, in := &ear{host: 1, seen: newSeen()}, transport.NewInbox(1, 1<<20)
	took := func() (data []byte) {
		select {
		case f := <-in.Frames():
			data = f.Data
		default:
		}
		return data
	}
	const frames = 1000
	for k := range frames {
		data := []byte{byte(k), byte(k >> 8)}
		if e.take(in, data, 1); took() == nil {
			t.Fatalf("frame %d: got nothing, want it", k)
		}
	}
	for k := range frames {
		if e.take(in, []byte{byte(k), byte(k >> 8)}, 0); took() != nil {
			t.Fatalf("frame %d: got it again, over the lane that stood still", k)
		}
	}
	e.take(in, []byte("first"), 0)
	e.take(in, []byte("second"), 0) // there is no room
	if got := took(); string(got) != "first" {
		t.Errorf("got %q, want the first", got)
	}
	e.take(in, []byte("second"), 1)
	if got := took(); string(got) != "second" {
		t.Errorf("got %q, want the second over the other lane", got)
	}
}

// A connection that lost nothing says so, and can be told to hurry; what is no socket
// says nothing.
func TestLostPackets(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if total, known := lostPackets(c); total != 0 {
		t.Errorf("got %d packets lost (known: %v), want 0", total, known)
	}
	t.Logf("this system can hurry: %v", hurry(c))
	relax(c)
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if total, known := lostPackets(a); total != 0 || known || hurry(a) {
		t.Errorf("a pipe: got %d packets lost (known: %v), want nothing known", total, known)
	}
}
