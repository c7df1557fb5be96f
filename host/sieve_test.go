package host

import (
	"math/rand/v2"
	"testing"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/transport"
)

// A sieve holds back what was heard and nothing else, and what a machine knows of
// losses is the same with and without it, however many frames are lost.
func TestSieve(t *testing.T) {
	for _, loss := range []float64{0, 0.1, 0.5} {
		rng := rand.New(rand.NewPCG(1, uint64(100*loss)))
		s := &sieve{last: map[transport.HostID]*sifted{}}
		plain, sifted := newCounter(), newCounter()
		number, heard, held := uint64(0), 0, 0
		for step := range uint64(500) {
			came := false
			for range 3 {
				number++
				if rng.Float64() < loss {
					continue
				}
				f := transport.Frame{From: 1, Data: agent.AppendFrame(nil, agent.Header{Host: 1, Sequence: number},
					[]agent.Message{{From: 7, To: agent.Everyone, Time: step, Kind: agent.Row, Values: []float32{1}}})}
				plain.number(f, number, plain.conductOf(1))
				kept := s.keep(&f)
				if kept == came {
					t.Fatalf("loss %v, frame %d: got kept %v, want %v: another with the same rows came %v", loss, number, kept, !came, came)
				}
				if came = true; kept {
					sifted.number(f, number, sifted.conductOf(1))
					heard++
				} else {
					held++
				}
			}
		}
		if int(sifted.stats.Copies) > held || int(sifted.stats.Copies) < held-2 { // the latest are told with the next
			t.Errorf("loss %v: got %d copies, want %d that were held back", loss, sifted.stats.Copies, held)
		}
		a, b := plain.mark(1), sifted.mark(1)
		if d := plain.stats.Gaps - sifted.stats.Gaps; d > 2 || a.losses() != b.losses() {
			t.Errorf("loss %v: got %d frames and %d of the last 200 lost of %d heard, want %d and %d as without a sieve",
				loss, sifted.stats.Gaps, b.losses(), heard, plain.stats.Gaps, a.losses())
		}
	}
}

// newCounter returns a machine that can do nothing but count frames.
func newCounter() *Machine {
	return &Machine{spoke: map[transport.HostID]*frameMark{}, conduct: map[transport.HostID]*conduct{}}
}

// What is damaged, or came before, is for the machine to judge.
func TestSieveKeeps(t *testing.T) {
	s := &sieve{last: map[transport.HostID]*sifted{}}
	frame := func(number uint64) []byte {
		return agent.AppendFrame(nil, agent.Header{Host: 1, Sequence: number},
			[]agent.Message{{From: 7, To: agent.Everyone, Kind: agent.Row, Values: []float32{1}}})
	}
	keep := func(what string, data []byte, want bool) {
		t.Helper()
		if got := s.keep(&transport.Frame{From: 1, Data: data}); got != want {
			t.Errorf("%s: got kept %v, want %v", what, got, want)
		}
	}
	damaged := frame(1)
	damaged[30] ^= 1
	keep("a damaged frame", damaged, true)
	keep("the first that is whole", frame(2), true)
	keep("its copy", frame(3), false)
	keep("the same copy again", frame(3), true)
	keep("the frame itself again", frame(2), true)
	keep("a copy with a number of long ago", frame(1), true)
	keep("a damaged copy", damaged, true)
	keep("no frame", []byte("WDGN"), true)
	keep("another copy", frame(4), false)
	keep("a copy far ahead", frame(1000), true)
}

// Who asks once more, or says once more that something is not there yet, is heard.
func TestSieveKeepsRequests(t *testing.T) {
	s := &sieve{last: map[transport.HostID]*sifted{}}
	number := uint64(0)
	for _, c := range []struct {
		m    agent.Message
		want bool
	}{
		{agent.Message{Kind: agent.Ask, To: 1, Time: 8}, true},
		{agent.Message{Kind: agent.NotYet, To: 1, Time: 8}, true},
		{agent.Message{Kind: agent.Ask, To: 1, Time: 8, Exchange: noRow, Links: 20}, false},
		{agent.Message{Kind: agent.Row, To: 1, Time: 8, Values: []float32{1}}, false},
	} {
		var kept bool
		for range 2 {
			number++
			row := agent.Message{Kind: agent.Row, From: 7, To: agent.Everyone, Time: 7, Values: []float32{2}}
			data := agent.AppendFrame(nil, agent.Header{Host: 1, Sequence: number}, []agent.Message{row, c.m})
			kept = s.keep(&transport.Frame{From: 1, Data: data})
		}
		if kept != c.want {
			t.Errorf("a second frame with a message of kind %d, exchange %d: got kept %v, want %v", c.m.Kind, c.m.Exchange, kept, c.want)
		}
	}
}
