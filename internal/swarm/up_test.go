package swarm

import (
	"fmt"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/modelfile"
)

// toyTask returns the toy world as a task.
func toyTask(t testing.TB, s *setting, steps int) *Task {
	t.Helper()
	w := &toy{nodes: 12, steps: steps, features: 2, classes: 3, seed: 5}
	_, m := plan(t, w, s)
	return &Task{
		name: "toy", Nodes: w.nodes, rule: s.rule, cost: host.CrossEntropy, World: w,
		model: &modelfile.Model{Network: m, Meta: modelfile.Meta{Shift: graph.ShiftRowStochastic, Delayed: s.delayed, Task: "classify"}},
	}
}

// However many hosts the nodes are divided among and whatever carries their
// frames, agents end with the bits of the learner in one process.
// Reference: Section 3, eq. (9).
func TestUpSameBits(t *testing.T) {
	for _, c := range []struct {
		bus   string
		hosts int
	}{{BusMem, 1}, {BusMem, 3}, {BusMem, 12}, {box.BusNATS, 4}, {box.BusTCP, 4}} {
		for _, s := range settings {
			t.Run(fmt.Sprintf("%d hosts over %s, %s", c.hosts, c.bus, s.name), func(t *testing.T) {
				r, err := Up(t.Context(), Options{
					Task: toyTask(t, &s, 20), Run: "toy", Hosts: c.hosts, Bus: c.bus, Dir: t.TempDir(), Verify: true,
					Pace: host.Pace{Deadline: 20 * time.Second, Retry: 20 * time.Millisecond},
				})
				if err != nil {
					t.Fatal(err)
				}
				if !r.Verified.Same() || r.Missing != 0 || r.Steps != 20 || r.Counters.Agents.Expired != 0 {
					t.Errorf("%+v; %d answers missing, %d links given up, %d steps, want 20 steps of the same bits",
						*r.Verified, r.Missing, r.Counters.Agents.Expired, r.Steps)
				}
			})
		}
	}
}

// Nodes that weight their neighbours one by one learn from the messages that the
// filter needs: as many as nodes that mix, and shorter ones.
func TestHeardMessages(t *testing.T) {
	messages, bytes := map[string]uint64{}, map[string]uint64{}
	for _, s := range settings {
		if s.delayed {
			continue
		}
		r, err := Up(t.Context(), Options{
			Task: toyTask(t, &s, 20), Run: "toy", Hosts: 4, Bus: box.BusNATS, Dir: t.TempDir(), Verify: true,
			Pace: host.Pace{Deadline: 20 * time.Second, Retry: time.Second},
		})
		if err != nil {
			t.Fatal(err)
		}
		messages[s.name], bytes[s.name] = r.Counters.Agents.Received, r.Counters.Bus.SentBytes
	}
	const neighbours, paper = "multi-hop, neighbours", "multi-hop, paper"
	t.Logf("neighbours: %d messages, %d bytes; paper: %d and %d", messages[neighbours], bytes[neighbours], messages[paper], bytes[paper])
	if messages[neighbours] == 0 || messages[neighbours] != messages[paper] || bytes[neighbours] >= bytes[paper] {
		t.Errorf("neighbours takes %d messages and %d bytes, paper, which mixes, %d and %d; want as many messages of fewer bytes",
			messages[neighbours], bytes[neighbours], messages[paper], bytes[paper])
	}
}
