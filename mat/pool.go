package mat

import (
	"sync/atomic"
)

// pool is a set of goroutines that wait for work. Work comes in parts; whoever
// is free takes the next one, the caller too, so that a thread that the system
// holds up delays nothing but the part it holds.
//
// Helpers that have just worked keep looking for more for a while before they
// sleep: steps of training and products of a pass follow each other closely, and
// waking a sleeping thread takes longer than many of them. Nothing is allocated
// after newPool.
type pool struct {
	// What is at hand, written before the ticket.
	parts int
	work  func(thread, part int)

	_        [64]byte      // what helpers look at has cache lines of its own
	ticket   atomic.Uint64 // generation of the work · 2³² + parts that nobody has taken
	_        [64]byte
	done     atomic.Int64 // parts that are finished
	_        [64]byte
	sleeping atomic.Int64 // helpers that wait for a token, or are about to
	waiting  atomic.Bool  // the caller waits for a token, or is about to

	helpers  int
	patience int           // looks before sleep
	wake     chan struct{} // tokens for helpers
	finished chan struct{} // a token for the caller
}

// patience is how often helpers look for more work before they sleep: some
// 100 µs, longer than what lies between two steps of training.
const patience = 4000

// newPool starts the helpers. An impatient pool sleeps at once: where there are
// more threads than processors, whoever looks for work keeps others from it.
func newPool(helpers int, patient bool) *pool {
	p := &pool{helpers: helpers, wake: make(chan struct{}, helpers), finished: make(chan struct{}, 1)}
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

// share runs work for every part, 0 ≤ part < parts, on the calling thread, which
// is number 0, and on the helpers, and returns when all are finished.
func (p *pool) share(parts int, work func(thread, part int)) {
	p.parts, p.work = parts, work
	p.done.Store(0)
	generation := uint32(p.ticket.Load()>>32) + 1
	p.ticket.Store(uint64(generation)<<32 | uint64(parts))
	asleep := int(p.sleeping.Load())
	for range min(asleep, parts-1-(p.helpers-asleep)) {
		select {
		case p.wake <- struct{}{}:
		default:
		}
	}
	p.takeAll(0, generation)
	p.wait(parts)
	p.work = nil // keep no reference to what it works on
}

// wait returns when all parts are finished.
func (p *pool) wait(parts int) {
	for range p.patience {
		if p.done.Load() == int64(parts) {
			return
		}
		pause()
	}
	for {
		p.waiting.Store(true)
		if p.done.Load() == int64(parts) {
			if !p.waiting.Swap(false) {
				<-p.finished // whoever took the flag sends a token
			}
			return
		}
		<-p.finished
	}
}

// takeAll runs parts until none of the generation is left.
func (p *pool) takeAll(thread int, generation uint32) {
	for {
		t := p.ticket.Load()
		left := uint32(t)
		if uint32(t>>32) != generation || left == 0 {
			return
		}
		if !p.ticket.CompareAndSwap(t, t-1) {
			continue
		}
		// The caller waits for this part: nothing is overwritten until it is finished.
		parts := p.parts
		p.work(thread, parts-int(left))
		if p.done.Add(1) == int64(parts) && p.waiting.Swap(false) {
			p.finished <- struct{}{}
		}
	}
}

// help is a helper: it works, looks for more, and sleeps.
func (p *pool) help(thread int) {
	for looks := 0; ; looks++ {
		if t := p.ticket.Load(); uint32(t) > 0 {
			p.takeAll(thread, uint32(t>>32))
			looks = 0
		}
		if looks < p.patience {
			pause()
			continue
		}
		p.sleeping.Add(1)
		if uint32(p.ticket.Load()) == 0 {
			if _, open := <-p.wake; !open {
				return
			}
		}
		p.sleeping.Add(-1)
		looks = 0
	}
}

// pause lets some nanoseconds pass between two looks, so that many who look do
// not slow down the one who writes.
func pause() {
	for range 64 {
	}
}
