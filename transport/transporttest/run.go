package transporttest

import (
	"testing"

	"github.com/wdgnn/wdgnn/transport"
)

// Run runs the suite: one subtest per clause of the contract. Open returns the
// connected buses of hosts 0 to hosts-1, each with room for at least 64 frames
// that nobody has read. Nobody hears anybody yet. It has t.Cleanup close them;
// the suite closes some of them before.
//
// Subscriptions may take effect late: the suite sends again until somebody
// hears. A frame of transport.MaxFrame bytes is left out with -short.
func Run(t *testing.T, open func(t *testing.T, hosts int) []transport.Bus) {
	t.Helper()
	for _, c := range []struct {
		name  string
		hosts int
		check func(n *network)
	}{
		{"nobody is heard before Hear", 3, nobodyBeforeHear},
		{"all who hear and nobody else", 4, allWhoHear},
		{"each once and in order", 2, onceInOrder},
		{"Hear replaces", 4, hearReplaces},
		{"a host never hears itself", 2, neverItself},
		{"frames of all sizes", 2, allSizes},
		{"too large is refused", 2, tooLarge},
		{"Send keeps no reference", 2, keepsNoReference},
		{"the receiver owns the data", 3, receiverOwns},
		{"a slow reader stalls nobody", 3, slowReader},
		{"a flood leaves room", 3, floodLeavesRoom},
		{"counts add up", 3, countsAddUp},
		{"all at once", 3, allAtOnce},
		{"Close ends it", 2, closeEnds},
		{"others go on after Close", 3, othersGoOn},
	} {
		t.Run(c.name, func(t *testing.T) {
			buses := open(t, c.hosts)
			if len(buses) != c.hosts {
				t.Fatalf("transporttest: open returned %d buses, want %d", len(buses), c.hosts)
			}
			c.check(&network{t: t, buses: buses})
		})
	}
}
