package box

import (
	"runtime/debug"
	"testing"

	"github.com/wdgnn/wdgnn/transport"
)

// Garbage of boxes with many nodes is collected sooner, unless somebody says when.
func TestManyNodesSpareMemory(t *testing.T) {
	const usual = 100
	before := debug.SetGCPercent(usual)
	defer debug.SetGCPercent(before)
	for _, c := range []struct {
		nodes, said string
		want        int
	}{
		{"0-999", "", usual},
		{"0-1000", "", largeGarbage},
		{"0-1000", "200", usual},
	} {
		t.Setenv("GOGC", c.said)
		config := &Config{Hosts: map[transport.HostID]Peer{0: {Nodes: c.nodes}}}
		config.spare()
		if got := debug.SetGCPercent(usual); got != c.want {
			t.Errorf("nodes %s, GOGC=%q: got %d %%, want %d %%", c.nodes, c.said, got, c.want)
		}
	}
}
