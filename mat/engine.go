package mat

import (
	"runtime"
	"slices"
	"sync"

	"github.com/wdgnn/wdgnn/internal/kernel"
)

// Engine runs products on a number of threads. It never changes a result: any
// number of threads gives the same bits, because threads share out the rows of
// a destination and never a sum.
//
// The nil Engine is valid and works on the calling goroutine; any number of
// goroutines may use it. An Engine with threads runs one product at a time;
// use one per goroutine. Nothing is allocated after NewEngine.
type Engine struct {
	wake []chan span // one per helping goroutine
	done sync.WaitGroup
	job  job // what the helpers work on; written before they wake
}

// Serial is the nil Engine.
var Serial *Engine

type span struct{ lo, hi int }

// NewEngine returns an Engine with the given number of threads; 0 and 1 mean
// the calling goroutine alone, a negative number one thread per available CPU.
// Call Close when an Engine with threads is no longer used.
func NewEngine(threads int) *Engine {
	if threads < 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	e := &Engine{}
	for range threads - 1 {
		wake := make(chan span, 1)
		e.wake = append(e.wake, wake)
		go func() {
			for s := range wake {
				e.job.run(s.lo, s.hi)
				e.done.Done()
			}
		}()
	}
	return e
}

// Kernels names the kernel set in use: "avx2" where the processor has AVX2 and
// FMA, "portable" elsewhere, and wherever GODEBUG contains cpu.avx2=off.
func Kernels() string { return kernels.Name }

var kernels = kernel.Current()

// Threads returns the number of threads that e uses.
func (e *Engine) Threads() int {
	if e == nil {
		return 1
	}
	return len(e.wake) + 1
}

// Close ends the goroutines of e, which must not be used afterwards.
func (e *Engine) Close() {
	if e == nil {
		return
	}
	for _, w := range e.wake {
		close(w)
	}
	e.wake = nil
}

// worthSharing is the number of multiply-adds below which waking another
// thread costs more than it saves.
const worthSharing = 1 << 20

// do runs j over n rows, on all threads if work, its number of multiply-adds,
// makes that worth while.
func (e *Engine) do(j *job, n, work int) {
	if e == nil || len(e.wake) == 0 || work < worthSharing {
		j.run(0, n)
		return
	}
	e.job = *j
	lo, threads := 0, len(e.wake)+1
	for t, wake := range e.wake {
		hi := j.cut(n, t+1, threads)
		e.done.Add(1)
		wake <- span{lo, hi}
		lo = hi
	}
	e.job.run(lo, n)
	e.done.Wait()
	e.job = job{} // keep no reference to the operands
}

// rowTile is the number of rows that the product kernels work on at once.
const rowTile = 6

// cut returns the row at which part t of parts ends, 0 < t < parts.
func (j *job) cut(n, t, parts int) int {
	if j.op == opSpMM { // rows differ in length: share out entries
		i, _ := slices.BinarySearch(j.s.RowPtr, j.s.NNZ()/parts*t)
		return min(i, n)
	}
	tiles := (n + rowTile - 1) / rowTile
	return min(tiles*t/parts*rowTile, n)
}
