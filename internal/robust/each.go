package robust

import (
	"context"
	"sync"
)

// each does jobs 0 … total-1 on threads of their own runner, and returns how many were
// done: all, unless the context ends. begin is called once per thread, by the
// caller's goroutine, and returns what does a job.
func (l *losing) each(ctx context.Context, lost, total int, begin func() func(r *runner, k int) error) (done int, err error) {
	watch := func(int, int) {}
	if l.config.Watch != nil {
		watch = func(done, total int) { l.config.Watch(lost, done, total) }
	}
	return l.passes.each(ctx, l.config.Threads, total, watch, begin)
}

// each does so for any jobs on the graphs of a question.
func (p *passes) each(
	ctx context.Context, threads, total int, watch func(done, total int), begin func() func(r *runner, k int) error,
) (done int, err error) {
	var (
		group sync.WaitGroup
		mutex sync.Mutex
		next  int
	)
	take := func() (k int, more bool) {
		mutex.Lock()
		defer mutex.Unlock()
		if next == total || err != nil || ctx.Err() != nil {
			return 0, false
		}
		next++
		return next - 1, true
	}
	ready := func(fault error) {
		mutex.Lock()
		defer mutex.Unlock()
		if fault != nil {
			err = fault
			return
		}
		done++
		watch(done, total)
	}
	for range min(max(threads, 1), max(total, 1)) {
		work, r := begin(), newRunner(p, nil)
		group.Go(func() {
			for {
				k, more := take()
				if !more {
					return
				}
				ready(work(r, k))
			}
		})
	}
	group.Wait()
	return done, err
}
