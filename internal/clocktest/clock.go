// Package clocktest tells tests that go by the clock whether the clock is theirs: on a
// machine that is busy with other things a deadline passes before this process has had
// its turn, and what misses it says nothing about the program.
package clocktest

import (
	"math"
	"testing"
	"time"
)

const (
	pieces = 512     // of work that are timed, a tenth of a second together
	rounds = 1 << 18 // of a piece
	least  = 1. / 16 // of a processor: with two of them some thirty others want to run
	much   = 1 << 62 // a duration beyond all others
	factor = 0x9E3779B97F4A7C15
)

var sink uint64

// Share returns how much of a processor this process gets when it asks for all of one:
// about 1 on an idle machine. The fastest of many equal pieces of work was not
// interrupted; all of them together were as often as any work is.
func Share() float64 {
	fastest, all, x := time.Duration(much), time.Duration(0), sink
	for range pieces {
		from := time.Now()
		for range rounds {
			x = x*factor + 1
		}
		took := time.Since(from)
		fastest, all = min(fastest, took), all+took
	}
	sink = x
	return math.Min(1, pieces*float64(fastest)/float64(all))
}

// Need skips a test, loudly, that goes by the clock where the clock is stolen. It belongs
// before such a test, and before it says that something came too late.
func Need(t testing.TB) {
	t.Helper()
	if share := Share(); share < least {
		t.Skipf("SKIPPED %s: it goes by the clock, and this process gets %.2f of a processor; it needs %.2f", t.Name(), share, least)
	}
}
