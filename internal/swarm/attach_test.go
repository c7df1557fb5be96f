package swarm

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/transport"
)

// A deployment that is looked at: who is not heard and who is in quarantine is drawn and
// told, what learning brings is a mean of the hosts, and while nobody is heard curves
// have a gap.
func TestAttached(t *testing.T) {
	report := func(id transport.HostID, learned float64) *host.Report {
		return &host.Report{
			Run: "yard", Host: id, Nodes: "0-3", Time: 100, Learning: &rule.Comparison{Steps: 10, Learned: learned, Frozen: 2},
			Gate: &host.GateReport{Adapted: 3, Trained: 1},
		}
	}
	heard := func(list ...*host.Report) map[transport.HostID]Sighting {
		all := map[transport.HostID]Sighting{}
		for _, r := range list {
			all[r.Host] = Sighting{First: r, Last: r}
		}
		return all
	}
	expected, links := []transport.HostID{0, 1, 2}, [][2]transport.HostID{{0, 1}, {0, 2}, {1, 2}}
	a := Attach("yard", Standings("yard", expected, heard(report(0, 1), report(1, 1))), links)
	hub, err := live.NewHub(a.Scene())
	if err != nil {
		t.Fatal(err)
	}
	look := func(list ...*host.Report) (*live.Frame, string) {
		t.Helper()
		f, words := a.Take(heard(list...))
		if err := hub.Publish(f); err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, w := range words {
			texts = append(texts, w.Text)
		}
		return f, strings.Join(texts, " ")
	}

	f, words := look(report(0, 1), report(1, 0.5))
	if !slices.Equal(f.Down, []int32{2}) || !slices.Equal(f.Out, []int32{1, 2}) || f.Said[2] != "not heard yet" ||
		!strings.HasPrefix(words, "Host 2 is not heard yet: it is not started") {
		t.Errorf("host 2 is missing: got down %v, said %v, links out %v, %q", f.Down, f.Said, f.Out, words)
	}
	if f.Curves[0] != 2 || f.Curves[1] != 0.75 || f.Curves[3] != 6 || f.Counters[0] != 2 {
		t.Errorf("got curves %v, counters %v; want costs 2 and 0.75, 6 nodes, 2 hosts", f.Curves, f.Counters)
	}

	wary := report(0, 1)
	wary.Quarantine = []host.Quarantine{{Host: 1, Why: "replay"}}
	wary.Broken, wary.BrokenSensors = []host.BrokenSensor{{Node: 3, Sensor: "mast", Why: "it stands still"}}, 1
	f, words = look(wary, report(1, 1), report(2, 1))
	if !slices.Equal(f.Out, []int32{0}) || f.Counters[3] != 1 || f.Counters[4] != 1 {
		t.Errorf("host 1 is in quarantine: got links out %v, counters %v", f.Out, f.Counters)
	}
	if said := f.Said[0]; !strings.HasPrefix(said, "not well: it has kept host 1 in quarantine") {
		t.Errorf("of host 0 it says %q, want what is wrong", said)
	}
	for _, want := range []string{
		"Host 0 does not use what it hears of host 1 (replay).", "Host 0 does not believe mast (it stands still).", "Host 2 reports",
	} {
		if !strings.Contains(words, want) {
			t.Errorf("got %q, want %q", words, want)
		}
	}

	f, words = look()
	for i, id := range []string{"0", "1", "2"} {
		since := f.Said[int32(i)]
		if !strings.HasPrefix(since, "gone since ") || !strings.Contains(words, "Host "+id+" is "+since+": it is down") {
			t.Errorf("host %s: got %q and %q, want since when it is gone", id, since, words)
		}
	}
	if !math.IsNaN(f.Curves[0]) || !math.IsNaN(f.Curves[1]) || len(f.Down) != 3 {
		t.Errorf("nobody is heard: got curves %v, down %v; want a gap", f.Curves, f.Down)
	}
	if _, words = look(report(0, 1), report(1, 1), report(2, 1)); !strings.Contains(words, "Host 1 reports; it runs nodes 0-3.") {
		t.Errorf("got %q, want that host 1 reports", words)
	}

	if a.Grow(heard(report(0, 1)), nil) {
		t.Error("nobody joined, and it is drawn anew")
	}
	joined := heard(report(0, 1), report(1, 1), report(2, 1), report(5, 1))
	if !a.Grow(joined, func() [][2]transport.HostID { return append(links, [2]transport.HostID{2, 5}) }) {
		t.Fatal("host 5 joined, and it is not drawn")
	}
	s := a.Scene()
	if err := hub.Show(s); err != nil || len(s.Nodes) != 4 || !slices.Contains(s.Edges, [2]int32{2, 3}) {
		t.Errorf("host 5 joined: got %v, nodes %q, links %v; want it linked with host 2", err, s.Nodes, s.Edges)
	}
	f, words = look(report(0, 1), report(1, 1), report(2, 1), report(5, 1))
	if !strings.Contains(words, "Host 5 reports") || len(f.Values[0]) != 4 {
		t.Errorf("got %q, %d hosts; want that host 5 reports, 4 hosts", words, len(f.Values[0]))
	}
}
