package demo

import (
	"testing"

	"github.com/wdgnn/wdgnn/internal/live"
)

// Links that are lost before a story has begun make nothing to keep; when they are back
// it begins.
func TestStoryWaitsForAllLinks(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: it trains; it runs without -short", t.Name())
	}
	l := begun(t)
	step := func(n int) {
		t.Helper()
		for range n {
			if err := l.step(); err != nil {
				t.Fatal(err)
			}
		}
	}
	ask(t, l, live.ControlDrop, 0.5)
	step(60)
	if len(l.story.updates) != 0 || l.story.story.Before != nil {
		t.Errorf("got %d lists of updates before the story begins, want none", len(l.story.updates))
	}
	ask(t, l, live.ControlReset, 0)
	step(60)
	if l.story.story.Before == nil {
		t.Error("links are back, and the story does not begin")
	}
}
