package host

import (
	"testing"

	"github.com/wdgnn/wdgnn/transport"
)

// Frames that were overtaken do not count as lost once they come: nobody is told of losses
// where there are none, and sends everything several times for them.
func TestOvertaken(t *testing.T) {
	for _, c := range []struct {
		numbers []uint64
		want    uint32 // lost
	}{
		{[]uint64{1, 2, 3, 4}, 0},
		{[]uint64{1, 2, 4, 5}, 1},
		{[]uint64{1, 3, 2, 5, 4, 6}, 0},
		{[]uint64{1, 5, 2, 3, 6}, 1},
		{[]uint64{1, 3, 2, 5, 4, 6, 9, 10}, 2},
	} {
		h := &Machine{spoke: map[transport.HostID]*frameMark{}}
		for _, n := range c.numbers {
			h.count(1, n, false)
		}
		if got := h.spoke[1].losses(); got != c.want {
			t.Errorf("frames %v: got %d lost, want %d", c.numbers, got, c.want)
		}
	}
}
