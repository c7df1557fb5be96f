package swarm

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/transport"
)

// Hosts are told apart that are well, behind, not heard and in trouble; how far behind
// is usual follows from how fast the fastest is.
func TestStandings(t *testing.T) {
	at := func(id transport.HostID, step uint64) *host.Report {
		return &host.Report{Run: "test", Host: id, Time: step, Health: &host.Health{Certificate: 300 * 86400, Checkpoint: 1}}
	}
	saw := func(first, last *host.Report) Sighting { return Sighting{first, last, 2 * time.Second} }
	ill := at(3, 990)
	ill.Silent, ill.BrokenSensors, ill.Differ = []agent.NodeID{4, 5}, 2, []transport.HostID{9}
	ill.SilentSensors = 1
	ill.Quarantine = []host.Quarantine{{Host: 7, Why: "numbers", Seconds: 90, Evidence: map[string]uint64{"numbers": 12, "bounds": 3}}}
	ill.Health = &host.Health{Problems: []string{"answers are lost: no space left on device"}, Certificate: 5 * 86400, Damaged: 1}
	list := Standings("test", []transport.HostID{0, 1, 2, 3, 4}, map[transport.HostID]Sighting{
		0: saw(at(0, 900), at(0, 1000)), // 50 steps/s
		1: saw(at(1, 800), at(1, 850)),  // within three seconds of it
		2: saw(at(2, 700), at(2, 750)),
		3: saw(ill, ill),
	})
	if got := Wrong(list); got != 3 || len(list) != 5 {
		t.Errorf("got %d of %d hosts not well, want 3 of 5", got, len(list))
	}
	for id, want := range [][]string{
		nil, nil,
		{"it is 250 steps behind"},
		{
			"answers are lost", "ends in 5 days", "1 checkpoint could not be read", "silent: nodes 4-5",
			"hosts [9] run another model", "it has kept host 7 in quarantine for 1m30s: bounds=3 numbers=12", "2 of its sensors are broken",
			"1 of its sensors are silent",
		},
		{"nothing is heard of it"},
	} {
		got := strings.Join(list[id].Problems, "\n")
		if len(list[id].Problems) != len(want) {
			t.Errorf("host %d: got %q, want %d problems", id, got, len(want))
		}
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("host %d: got %q, want %q in it", id, got, w)
			}
		}
	}
	header, rows, notes := StandingTable(list)
	for _, row := range rows {
		if len(row) != len(header) {
			t.Errorf("row %q under %q", row, header)
		}
	}
	table := fmt.Sprint(rows, notes)
	for _, want := range []string{"not heard", "300 days", "host 2: it is 250 steps behind", "1s old"} {
		if !strings.Contains(table, want) {
			t.Errorf("got\n%s\nwant %q in it", table, want)
		}
	}
}
