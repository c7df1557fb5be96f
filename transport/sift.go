package transport

import "sync/atomic"

// Sifter is a [Bus] that asks of every frame that arrives whether it is worth the way
// to the reader, before there are channels and other goroutines between: all buses of
// this module do, by their [Inbox].
type Sifter interface {
	// Sift has keep asked of every frame for which there is room from now on, one at a
	// time, instead of what was asked before. It must not wait. Those that it does not
	// keep count as received.
	Sift(keep func(*Frame) bool)
}

// leaky is a Bus that loses frames and does nothing else to them.
type leaky struct {
	Bus
	lost, lostBytes atomic.Uint64
}

// leak returns a Bus that loses frames that arrive at b, without a goroutine between
// the two: what is lost should cost what it costs in a network, and no more. nil means
// that b cannot.
func leak(b Bus, self HostID, f Faults) Bus {
	sifter, ok := b.(Sifter)
	if !ok || f.Duplicate > 0 || f.Reorder > 0 || f.Delay > 0 || f.Jitter > 0 || len(f.Partitions) > 0 {
		return nil
	}
	counts := map[HostID]uint64{} // frames that arrived, by sender
	l := &leaky{Bus: b}
	sifter.Sift(func(arrived *Frame) bool {
		n := counts[arrived.From]
		counts[arrived.From] = n + 1
		lost := f.fate(arrived.From, self, n).lost
		if lost {
			l.lost.Add(1)
			l.lostBytes.Add(uint64(len(arrived.Data)))
		}
		return !lost
	})
	return l
}

// Stats implements [Bus]: what is lost was not received.
func (l *leaky) Stats() Stats {
	lost, size := l.lost.Load(), l.lostBytes.Load()
	s := l.Bus.Stats()
	s.Received -= lost
	s.ReceivedBytes -= size
	return s
}
