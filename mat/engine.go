package mat

import (
	"runtime"
	"slices"
)

// Engine runs products on a number of threads. It never changes a result: any
// number of threads gives the same bits, because threads share out the rows of
// a destination and never a sum.
//
// The nil Engine is valid and works on the calling goroutine; any number of
// goroutines may use it. An Engine with threads runs one product at a time;
// use one per goroutine. Nothing is allocated after NewEngine.
type Engine struct {
	threads int
	pool    *pool               // nil for one thread
	slot    int                 // of the pool: 0, or that of a thread within Share
	within  []*Engine           // one per thread, for Within
	job     job                 // the product at hand; written before helpers see it
	rows    int                 // of its destination
	parts   int                 // in how many it is cut
	part    func(thread, k int) // Engine.runPart
}

// Serial is the nil Engine.
var Serial *Engine

// NewEngine returns an Engine with the given number of threads; 0 and 1 mean
// the calling goroutine alone, a negative number one thread per available CPU.
// Call Close when an Engine with threads is no longer used.
func NewEngine(threads int) *Engine {
	if threads < 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	e := &Engine{threads: max(threads, 1)}
	if threads > 1 {
		e.part = e.runPart
		e.pool = newPool(threads-1, threads <= runtime.GOMAXPROCS(0))
		for t := range min(threads, mostSlots-1) {
			inner := &Engine{threads: threads, pool: e.pool, slot: t + 1}
			inner.part = inner.runPart
			e.within = append(e.within, inner)
		}
	}
	return e
}

// Threads returns the number of threads that e uses.
func (e *Engine) Threads() int {
	if e == nil {
		return 1
	}
	return e.threads
}

// Close ends the goroutines of e, which must not be used afterwards.
func (e *Engine) Close() {
	if e != nil && e.pool != nil {
		e.pool.close()
		e.pool, e.threads, e.within = nil, 1, nil
	}
}

// Share calls work for every part, 0 ≤ part < parts, on the threads of e, each
// part once, and returns when all are finished. Parts begin in ascending order.
// The thread is a number below Threads that no two calls have at the same time:
// by it a part finds memory of its own. Work must not use e; see Within. A nil
// Engine and one of a single thread run all parts on the calling goroutine.
//
// It is for pieces of work larger than a product, such as passes of a model.
// Results do not depend on the number of threads if every part writes memory of
// its own.
func (e *Engine) Share(parts int, work func(thread, part int)) {
	if e == nil || e.pool == nil || parts < 2 {
		for part := range parts {
			work(e.thread(), part)
		}
		return
	}
	e.pool.share(e.slot, e.thread(), parts, work)
}

// thread is the one that e is called on: within Share that of the part.
func (e *Engine) thread() int {
	if e == nil {
		return 0
	}
	return max(e.slot-1, 0)
}

// Within returns the Engine that a part of Share may use on the given thread: its
// products are shared with threads that have no part to run.
func (e *Engine) Within(thread int) *Engine {
	if e == nil || thread >= len(e.within) {
		return nil
	}
	return e.within[thread]
}

const (
	// worthWaking is the number of multiply-adds below which waking another
	// thread costs more than it saves, worthSharing the same for one that is
	// awake and has nothing to do.
	worthWaking  = 1 << 20
	worthSharing = 1 << 18

	// partWork is the least number of multiply-adds in a part: some microseconds.
	// There is one for each thread, and partsEach where each has manyWork or more,
	// so that one that the system holds up leaves the rest to others.
	partWork  = 1 << 17
	manyWork  = 1 << 20
	partsEach = 4
)

// alone says whether that many multiply-adds are left to the calling goroutine.
func (e *Engine) alone(work int) bool {
	return e == nil || e.pool == nil || work < worthSharing
}

// do runs j over n rows, on several threads if work, its number of multiply-adds,
// makes that worth while.
func (e *Engine) do(j *job, n, work int) {
	if e.alone(work) {
		j.run(0, n)
		return
	}
	threads := e.free(work) + 1
	parts := min(work/partWork, threads)
	// Every part of a product with a transposed operand reads or lays out all of B.
	if j.op != opMulATB && j.op != opMulABT && threads > 1 && work/(partsEach*threads) >= manyWork {
		parts = partsEach * threads
	}
	if parts < 2 {
		j.run(0, n)
		return
	}
	e.job, e.rows, e.parts = *j, n, parts
	e.pool.share(e.slot, e.thread(), parts, e.part)
	e.job = job{} // keep no reference to the operands
}

// free returns how many other threads a product of that much work may use.
func (e *Engine) free(work int) int {
	awake, asleep := int(e.pool.looking.Load()), int(e.pool.sleeping.Load())
	if e.slot == 0 { // nobody else brings work
		awake = e.pool.helpers - asleep
	}
	if work >= worthWaking {
		return awake + asleep
	}
	return awake
}

// runPart runs one part of the product at hand.
func (e *Engine) runPart(_, k int) {
	e.job.run(e.job.cut(e.rows, k, e.parts), e.job.cut(e.rows, k+1, e.parts))
}

// rowTile is the number of rows that the product kernels work on at once.
const rowTile = 6

// cut returns the row at which part t of parts begins, 0 ≤ t ≤ parts.
func (j *job) cut(n, t, parts int) int {
	switch {
	case t == 0:
		return 0
	case t == parts:
		return n
	case j.op == opSpMM: // rows differ in length: share out entries
		i, _ := slices.BinarySearch(j.s.RowPtr, j.s.NNZ()/parts*t)
		return min(i, n)
	}
	tiles := (n + rowTile - 1) / rowTile
	return min(tiles*t/parts*rowTile, n)
}
