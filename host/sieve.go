package host

import (
	"math/bits"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/transport"
)

// Copies that need not be heard
//
// Where frames are lost everybody sends each several times (copies), and most of them
// say what is known. A bus that asks ([transport.Sifter]) is told so where they arrive,
// so that they cost neither a way through channels nor an event of the machine. Which
// numbers they had the machine must know, because numbers that are missing are losses:
// the next frame of the same host that is worth hearing carries them (transport.Frame.Copies).

// sieve holds back copies. It is asked of one frame at a time.
type sieve struct {
	reader agent.Reader
	losses *transport.Losses // asked before: a frame that is lost is none that copies can be held back for
	last   map[transport.HostID]*sifted
}

// sifted is the latest frame of a host that was not held back.
type sifted struct {
	data   []byte
	number uint64
	came   uint64 // bit k: the frame whose number is so much above, a copy, was held back
}

// keep says whether a frame has something new.
func (s *sieve) keep(f *transport.Frame) bool {
	if s.losses.Lose(f.From) {
		return false
	}
	last := s.last[f.From]
	if last == nil {
		last = new(sifted)
		s.last[f.From] = last
	} else if header, again := s.reader.Again(last.data, f.Data); again {
		if above := header.Sequence - last.number; above < 64 && last.came>>above&1 == 0 {
			last.came |= 1 << above
			return false
		}
		return true // one that came before
	}
	header, whole := s.reader.Peek(f.Data)
	if !whole {
		return true // the machine says what it is
	}
	f.Copies = last.below(header.Sequence)
	*last = sifted{data: f.Data, number: header.Sequence, came: 1}
	return true
}

// below returns which copies of the frame came, counted downwards from the number of
// the next: bit k for the one k+1 below it.
func (s *sifted) below(number uint64) uint64 {
	if s.came <= 1 || number <= s.number || number-s.number > 64 {
		return 0
	}
	return bits.Reverse64(s.came&^1) >> (64 - (number - s.number))
}
