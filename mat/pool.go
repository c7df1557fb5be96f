package mat

import (
	"math/bits"
	"sync/atomic"
)

// pool is a set of goroutines that wait for work. Work comes in parts; whoever
// is free takes the next one, the thread that brought it too, so that one that
// the system holds up delays nothing but the part it holds.
//
// A part may bring work of its own: who finds nothing else to do then helps
// there. So a few passes of a model keep many threads busy, and the last pass
// of many is not left to one.
//
// Helpers that have just worked keep looking for more for a while before they
// sleep: steps of training and products of a pass follow each other closely, and
// waking a sleeping thread takes longer than many of them. Nothing is allocated
// after newPool.
type pool struct {
	slots    []slot // slot 0 is work from outside; slot t+1 what thread t brings from within a part
	helpers  int
	patience int           // looks before sleep
	wake     chan struct{} // tokens for helpers

	_        [64]byte      // what helpers look at has cache lines of its own
	open     atomic.Uint64 // bit s is set while slot s has parts that nobody has taken
	_        [64]byte
	looking  atomic.Int64 // helpers that look for work
	sleeping atomic.Int64 // helpers that wait for a token, or are about to
	_        [64]byte
}

// slot is one piece of work.
type slot struct {
	// What is to be done, written before the ticket.
	parts int
	work  func(thread, part int)

	_        [64]byte
	ticket   atomic.Uint64 // generation of the work · 2³² + parts that nobody has taken
	done     atomic.Int64  // parts that are finished
	waiting  atomic.Bool   // who brought it waits for a token, or is about to
	finished chan struct{} // that token
	_        [64]byte
}

const (
	// patience is how often helpers look for more work before they sleep: some
	// 100 µs, longer than what lies between two steps of training.
	patience = 4000

	// mostSlots is the number of bits of pool.open.
	mostSlots = 64
)

// newPool starts the helpers. An impatient pool sleeps at once: where there are
// more threads than processors, whoever looks for work keeps others from it.
func newPool(helpers int, patient bool) *pool {
	p := &pool{helpers: helpers, wake: make(chan struct{}, helpers), slots: make([]slot, min(helpers+2, mostSlots))}
	for s := range p.slots {
		p.slots[s].finished = make(chan struct{}, 2) // one may be late, of the work before
	}
	if patient {
		p.patience = patience
	}
	for h := range helpers {
		go p.help(h + 1)
	}
	return p
}

// close ends the helpers once they look for a token.
func (p *pool) close() { close(p.wake) }

// share runs work for every part, 0 ≤ part < parts, on the given thread, which is
// the calling one, and on helpers, and returns when all are finished.
func (p *pool) share(at, thread, parts int, work func(thread, part int)) {
	s := &p.slots[at]
	s.parts, s.work = parts, work
	s.done.Store(0)
	p.open.Or(1 << at) // before there are parts: whoever takes the last one clears it
	s.ticket.Store((s.ticket.Load()>>32+1)<<32 | uint64(parts))
	for range min(int(p.sleeping.Load()), parts-1-int(p.looking.Load())) {
		select {
		case p.wake <- struct{}{}:
		default:
		}
	}
	panicked := true
	defer func() {
		if panicked { // leave nothing behind: whoever recovers may bring more work
			p.drop(at)
			p.wait(thread, at)
		}
		s.work = nil // keep no reference to what it works on
	}()
	p.takeAll(thread, at)
	p.wait(thread, at)
	panicked = false
}

// drop takes all parts of a slot that nobody has taken, and runs none.
func (p *pool) drop(at int) {
	s := &p.slots[at]
	for {
		t := s.ticket.Load()
		left := uint32(t)
		if left == 0 {
			return
		}
		if s.ticket.CompareAndSwap(t, t-uint64(left)) {
			p.open.And(^(uint64(1) << at))
			s.done.Add(int64(left))
			return
		}
	}
}

// wait returns when all parts of a slot are finished. Who waits for work from
// outside helps with what its parts bring.
func (p *pool) wait(thread, at int) {
	s := &p.slots[at]
	all := int64(s.parts)
	for looks := 0; looks < p.patience; looks++ {
		if s.done.Load() == all {
			return
		}
		if open := p.open.Load(); at == 0 && open != 0 {
			p.takeAll(thread, pick(open, thread))
			looks = 0
		}
		pause()
	}
	for {
		s.waiting.Store(true)
		if s.done.Load() == all {
			if !s.waiting.Swap(false) {
				<-s.finished // whoever took the flag sends a token
			}
			return
		}
		if at > 0 {
			<-s.finished
			continue
		}
		p.sleeping.Add(1)
		open := p.open.Load()
		if open == 0 {
			select {
			case <-s.finished:
			case <-p.wake:
			}
			open = p.open.Load()
		}
		p.sleeping.Add(-1)
		if open != 0 {
			p.takeAll(thread, pick(open, thread))
		}
	}
}

// pick chooses one of the open slots: work from outside, whose parts are large,
// and otherwise not the same one as others do.
func pick(open uint64, thread int) int {
	if open&1 != 0 {
		return 0
	}
	return (bits.TrailingZeros64(bits.RotateLeft64(open, -thread)) + thread) % mostSlots
}

// takeAll runs parts of a slot until none is left.
func (p *pool) takeAll(thread, at int) {
	s := &p.slots[at]
	for {
		t := s.ticket.Load()
		left := uint32(t)
		if left == 0 {
			return
		}
		if !s.ticket.CompareAndSwap(t, t-1) {
			continue
		}
		// Who brought the work waits for this part: nothing is overwritten until it is finished.
		if left == 1 {
			p.open.And(^(uint64(1) << at))
		}
		s.run(thread, s.parts-int(left))
	}
}

// run runs one part, which is finished even if it panics.
func (s *slot) run(thread, part int) {
	all := int64(s.parts)
	defer func() {
		if s.done.Add(1) == all && s.waiting.Swap(false) {
			s.finished <- struct{}{}
		}
	}()
	s.work(thread, part)
}

// help is a helper: it works, looks for more, and sleeps.
func (p *pool) help(thread int) {
	p.looking.Add(1)
	for looks := 0; ; looks++ {
		if open := p.open.Load(); open != 0 {
			p.looking.Add(-1)
			p.takeAll(thread, pick(open, thread))
			p.looking.Add(1)
			looks = 0
			continue
		}
		if looks < p.patience {
			pause()
			continue
		}
		p.looking.Add(-1)
		p.sleeping.Add(1)
		if p.open.Load() == 0 {
			if _, open := <-p.wake; !open {
				return
			}
		}
		p.sleeping.Add(-1)
		p.looking.Add(1)
		looks = 0
	}
}

// pause lets some nanoseconds pass between two looks, so that many who look do
// not slow down the one who writes.
func pause() {
	for range 64 {
	}
}
