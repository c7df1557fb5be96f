package mat_test

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/internal/alloctest"
	"github.com/wdgnn/wdgnn/mat"
)

// Every part runs once, whatever their number, and no two parts that run at the
// same time have the same thread. Where there are more threads than processors
// helpers sleep at once; where there are not they look for work first.
func TestShareRunsEveryPartOnce(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, threads := range []int{0, 1, 2, 3, 4, 9} {
		e := mat.NewEngine(threads)
		for _, parts := range []int{0, 1, 2, 3, 8, 100} {
			ran, busy := make([]atomic.Int32, parts), make([]atomic.Bool, max(threads, 1))
			for range 20 {
				e.Share(parts, func(thread, part int) {
					if busy[thread].Swap(true) {
						t.Errorf("%d threads, %d parts: thread %d has two parts at a time", threads, parts, thread)
					}
					ran[part].Add(1)
					busy[thread].Store(false)
				})
			}
			for part := range ran {
				if n := ran[part].Load(); n != 20 {
					t.Fatalf("%d threads, %d parts: part %d ran %d times, want 20", threads, parts, part, n)
				}
			}
		}
		e.Close()
	}
	mat.Serial.Share(3, func(thread, _ int) {
		if thread != 0 {
			t.Errorf("got thread %d of the nil Engine, want 0", thread)
		}
	})
}

// Parts run side by side: each of three waits for the others. It is so after
// helpers fell asleep, too.
func TestShareRunsSideBySide(t *testing.T) {
	e := mat.NewEngine(3)
	defer e.Close()
	for _, rest := range []time.Duration{0, 5 * time.Millisecond} {
		time.Sleep(rest) // longer than helpers look for work
		met := make(chan struct{})
		var here atomic.Int32
		e.Share(3, func(_, part int) {
			if here.Add(1) == 3 {
				close(met)
			}
			select {
			case <-met:
			case <-time.After(20 * time.Second):
				t.Errorf("part %d was alone for 20 s", part)
			}
		})
	}
}

// What a part brings is shared with threads that have none: two of a part's own
// parts meet, and products within parts have the bits of those outside.
func TestWithinSharesWithIdleThreads(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	a, b, want := normal(rng, 600, 200), normal(rng, 200, 40), mat.NewDense(600, 40, nil)
	mat.Serial.Mul(want, a, b)
	for _, threads := range []int{2, 3, 8} {
		e := mat.NewEngine(threads)
		results := make([]mat.Dense, 5)
		for round := range 20 {
			var met [2]chan struct{}
			var here [2]atomic.Int32
			for i := range met {
				met[i] = make(chan struct{})
			}
			if threads > 2 {
				e.Share(2, func(thread, outer int) {
					e.Within(thread).Share(2, func(_, _ int) { meet(t, &here[outer], met[outer]) })
				})
			}
			e.Share(len(results), func(thread, k int) {
				results[k] = results[k].Resize(600, 40)
				e.Within(thread).Mul(results[k], a, b)
			})
			for k, got := range results {
				if !slices.Equal(got.Data, want.Data) {
					t.Fatalf("%d threads, round %d, part %d: got another product, want the same bits", threads, round, k)
				}
			}
		}
		e.Close()
	}
	if e := mat.Serial.Within(0); e != nil {
		t.Errorf("got %v within the nil Engine, want nil", e)
	}
}

// meet waits until two are here.
func meet(t *testing.T, here *atomic.Int32, met chan struct{}) {
	if here.Add(1) == 2 {
		close(met)
	}
	select {
	case <-met:
	case <-time.After(20 * time.Second):
		t.Error("a part was alone for 20 s, want help")
	}
}

func TestShareDoesNotAllocate(t *testing.T) {
	e := mat.NewEngine(3)
	defer e.Close()
	var sum atomic.Int64
	work := func(_, part int) { sum.Add(int64(part)) }
	if n := alloctest.Steady(3, func() { e.Share(7, work) }); n > 0 {
		t.Errorf("got %v allocations, want none", n)
	}
}

// Close ends the goroutines, those that sleep and those that look for work.
func TestCloseEndsHelpers(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 10 {
		e := mat.NewEngine(4)
		e.Share(8, func(_, _ int) {})
		e.Close()
	}
	for end := time.Now().Add(20 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("got %d goroutines 20 s after Close, want %d", runtime.NumGoroutine(), before)
		}
	}
}

// One part within a part runs on the thread of that part: it finds memory of its own
// by it, however few parts there are.
func TestShareWithinKeepsTheThread(t *testing.T) {
	e := mat.NewEngine(3)
	defer e.Close()
	var here atomic.Int32
	e.Share(3, func(thread, _ int) {
		for here.Add(1); here.Load() < 3; runtime.Gosched() { // one on each thread
		}
		e.Within(thread).Share(1, func(within, _ int) {
			if within != thread {
				t.Errorf("got thread %d within a part of thread %d, want the same", within, thread)
			}
		})
	})
}

// An Engine that is closed has one thread, within Share too.
func TestShareAfterClose(t *testing.T) {
	e := mat.NewEngine(3)
	e.Share(3, func(_, _ int) {})
	time.Sleep(5 * time.Millisecond) // longer than helpers look for work
	e.Close()
	a, c := mat.NewDense(256, 256, nil), mat.NewDense(256, 256, nil)
	e.Share(2, func(thread, _ int) { e.Within(thread).Mul(c, a, a) })
}

// A part that panics on the calling goroutine ends Share once no other part runs. Who
// recovers from it may go on.
func TestShareAfterPanic(t *testing.T) {
	e := mat.NewEngine(2)
	defer e.Close()
	for range 50 {
		var here, running, ran atomic.Int32
		func() {
			defer func() {
				if r := recover(); r != "on purpose" || running.Load() != 0 {
					t.Fatalf("got %v with %d parts running, want what was thrown on purpose and none", r, running.Load())
				}
			}()
			e.Share(9, func(thread, _ int) {
				for here.Add(1); here.Load() < 2; runtime.Gosched() { // one on each thread
				}
				if thread == 0 {
					panic("on purpose")
				}
				running.Add(1)
				time.Sleep(100 * time.Microsecond)
				running.Add(-1)
			})
		}()
		e.Share(5, func(_, _ int) {
			time.Sleep(50 * time.Microsecond)
			ran.Add(1)
		})
		if n := ran.Load(); n != 5 {
			t.Fatalf("got %d of 5 parts when Share returned", n)
		}
	}
}

// BenchmarkShare is the cost of handing out parts that do nothing.
func BenchmarkShare(b *testing.B) {
	e := mat.NewEngine(-1)
	defer e.Close()
	work := func(_, _ int) {}
	b.ReportAllocs()
	for b.Loop() {
		e.Share(e.Threads(), work)
	}
}
