package swarm

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/transport"
)

// Whatever a network does short of losing a row for good, the swarm has the bits
// of one process: doubled, reordered and late frames change nothing, and lost
// ones are asked for again.
// Reference: Section 3, eq. (9).
func TestDisturbedSameBits(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault transport.Faults
		seen  func(s *Sums) bool
	}{
		{
			"doubled and reordered",
			transport.Faults{Duplicate: 0.3, Reorder: 0.3},
			func(s *Sums) bool { return s.Host.Disordered > 0 && s.Agents.Duplicates > 0 },
		},
		{
			"late",
			transport.Faults{Delay: 2 * time.Millisecond, Jitter: 8 * time.Millisecond},
			func(s *Sums) bool { return s.Host.Disordered > 0 },
		},
		{"30 % lost", transport.Faults{Loss: 0.3}, func(s *Sums) bool { return s.Host.Gaps > 0 && s.Agents.Asked > 0 && s.Agents.Resent > 0 }},
	} {
		for _, bus := range []string{box.BusNATS, box.BusTCP} {
			t.Run(c.name+", "+bus, func(t *testing.T) {
				t.Parallel()
				o, w := observe(t, &settings[1], Options{
					Bus: bus, Faults: c.fault, Verify: true, Pace: host.Pace{Deadline: 30 * time.Second, Retry: 10 * time.Millisecond},
				})
				w.then = func() { w.enough = w.steps == 20 }
				r := w.up(o, 0)
				if !r.Verified.Same() || r.Missing > 0 || r.Counters.Agents.Expired > 0 {
					t.Errorf("%+v; %d answers missing, %d links given up, want the same bits", *r.Verified, r.Missing, r.Counters.Agents.Expired)
				}
				if !c.seen(&r.Counters) {
					t.Errorf("counters %+v do not tell of it", r.Counters)
				}
			})
		}
	}
}

// When nobody asks again, a third of the frames is lost for good: steps end at
// their deadline, nodes go on with the neighbours that they heard, and
// parameters stay near.
func TestLossWithoutAsking(t *testing.T) {
	o, w := observe(t, &settings[1], Options{
		Bus: box.BusNATS, Faults: transport.Faults{Loss: 0.3}, Pace: host.Pace{Deadline: 20 * time.Millisecond, Retry: -1, Suspect: 100},
	})
	w.then = func() { w.enough = w.steps == 60 }
	r := w.up(o, sane)
	w.prompt(o.Pace)
	if r.Missing > 0 || r.Counters.Host.Gaps == 0 || r.Counters.Agents.Expired == 0 || r.Counters.Agents.Asked > 0 {
		t.Errorf("%d answers missing, counters %+v, want all answers, gaps and links given up", r.Missing, r.Counters)
	}
}

// healSteps is after how many steps everybody hears everybody again, once a
// network has healed.
const healSteps = 10

// A network falls apart and heals. The halves go on by themselves; soon after it
// has healed nobody is taken for silent.
func TestPartitionHeals(t *testing.T) {
	for _, c := range []struct {
		name    string
		program func(t *testing.T) []string
		bus     string
	}{
		{"goroutines over NATS", func(*testing.T) []string { return nil }, box.BusNATS},
		{"processes over TCP", program, box.BusTCP},
	} {
		t.Run(c.name, func(t *testing.T) {
			cut := transport.Partition{Hosts: []transport.HostID{0, 1}, From: 100 * time.Millisecond, To: 900 * time.Millisecond}
			o, w := observe(t, &settings[0], Options{
				Program: c.program(t), Bus: c.bus, Faults: transport.Faults{Partitions: []transport.Partition{cut}},
				Pace: host.Pace{Deadline: 100 * time.Millisecond},
			})
			healed := 0
			w.then = func() {
				if w.since() > cut.To+100*time.Millisecond { // hosts count from the first frame they hear
					healed++
				}
				w.enough = healed >= healSteps
			}
			r := w.up(o, sane)
			w.prompt(o.Pace)
			heard(t, r)
			if n := &r.Counters; r.Missing > 0 || n.Host.Suspected == 0 || n.Agents.Expired == 0 || n.Host.Gaps == 0 {
				t.Errorf("%d answers missing, counters %+v, want all answers, silent neighbours, links given up and gaps", r.Missing, *n)
			}
		})
	}
}

// A host that is started again is told since when there are faults, so that its
// partitions are those of the others.
func TestFaultsOfRestarted(t *testing.T) {
	cut := transport.Partition{Hosts: []transport.HostID{2}, From: 20 * time.Millisecond, To: 40 * time.Millisecond}
	o, w := observe(t, &settings[0], Options{
		Program: program(t), Faults: transport.Faults{Partitions: []transport.Partition{cut}}, Pace: short,
		Kills: []Kill{{Host: 2, From: 50 * time.Millisecond, To: 60 * time.Millisecond}},
	})
	w.then = func() { w.enough = w.since() > o.Kills[0].To && w.calm >= healSteps }
	heard(t, w.up(o, sane))
	for id := range transport.HostID(fieldHosts) {
		c, err := box.Read(filepath.Join(o.Dir, fmt.Sprintf("host-%d.yaml", id)))
		if err != nil {
			t.Fatal(err)
		}
		if told := !c.Faults.Began.IsZero(); told != (id == 2) {
			t.Errorf("host %d is told when faults began: %v, want %v", id, told, id == 2)
		}
	}
}

// The server is restarted. Hosts and world connect again by themselves; nothing
// goes on without them meanwhile, and soon everybody is heard.
func TestServerRestart(t *testing.T) {
	for name, run := range map[string]func(t *testing.T) []string{
		"goroutines": func(*testing.T) []string { return nil },
		"processes":  program,
	} {
		t.Run(name, func(t *testing.T) {
			o, w := observe(t, &settings[0], Options{Program: run(t), Pace: short, Restart: 150 * time.Millisecond})
			w.then = func() { w.enough = w.since() > o.Restart+100*time.Millisecond && w.calm >= healSteps && w.longest > 0 }
			r := w.up(o, sane)
			heard(t, r)
			if len(r.Events) != 1 || strings.Contains(r.Events[0], "failed") {
				t.Errorf("events %q, want that the server was restarted", r.Events)
			}
			// nats.go tries again after a quarter of a second or so; nobody
			// hears the world until then, which waits.
			w.within(3 * time.Second)
			if got := r.Counters.Bus.Reconnects; got < fieldHosts {
				t.Errorf("%d connections were made again, want %d", got, fieldHosts)
			}
		})
	}
}
