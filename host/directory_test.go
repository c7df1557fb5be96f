package host_test

import (
	"testing"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/transport"
)

// Nodes far apart have their owners, whatever an int has room for.
func TestDirectoryOfFarNodes(t *testing.T) {
	const far = 3_000_000_000
	d, err := host.NewDirectory(map[transport.HostID][]agent.NodeID{0: {1}, 1: {far}})
	if err != nil {
		t.Fatal(err)
	}
	for node, want := range map[agent.NodeID]transport.HostID{1: 0, far: 1} {
		if got, ok := d.Owner(node); got != want || !ok {
			t.Errorf("node %d: got host %d, %t, want host %d", node, got, ok, want)
		}
	}
}
