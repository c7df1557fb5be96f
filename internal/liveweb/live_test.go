package liveweb

import (
	"testing"
	"testing/synctest"
	"time"
)

// What the page may be told in a second, and at once, is bounded.
func TestBucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bucket
		count := func() (taken int) {
			for range 1000 {
				if b.take(time.Now()) {
					taken++
				}
			}
			return taken
		}
		if got := count(); got != commandBurst {
			t.Errorf("%d at once, want %d", got, commandBurst)
		}
		time.Sleep(time.Second)
		if got := count(); got != commandRate {
			t.Errorf("%d a second later, want %d", got, commandRate)
		}
	})
}
