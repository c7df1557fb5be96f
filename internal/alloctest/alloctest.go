// Package alloctest counts allocations of work that is shared between threads.
package alloctest

import (
	"math"
	"testing"
)

// Steady returns how often run allocates once every thread has its memory: the
// least of threads+3 looks. Which threads take part is up to the system, and each
// allocates in its first pass; and the runtime, which counts for the whole process,
// may allocate a waiter of its own while a thread sleeps.
func Steady(threads int, run func()) float64 {
	least := math.Inf(1)
	for look := 0; look < threads+3 && least > 0; look++ {
		least = min(least, testing.AllocsPerRun(2, run))
	}
	return least
}
