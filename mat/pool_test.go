package mat_test

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

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

func TestShareDoesNotAllocate(t *testing.T) {
	e := mat.NewEngine(3)
	defer e.Close()
	var sum atomic.Int64
	work := func(_, part int) { sum.Add(int64(part)) }
	if n := testing.AllocsPerRun(100, func() { e.Share(7, work) }); n > 0 {
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
