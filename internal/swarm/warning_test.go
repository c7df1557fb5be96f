package swarm

import (
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/rule"
)

// The end of a run names how many hosts learning did harm on, and the worst.
func TestWarningNamesTheWorstHost(t *testing.T) {
	reports := []*host.Report{
		{Host: 0, Nodes: "0-4"}, // nobody told
		{Host: 1, Nodes: "5-9", Learning: &rule.Comparison{Steps: 100, Learned: 1, Frozen: 1, Usual: 1}},
	}
	if got := warning(reports); got != "" {
		t.Errorf("got %q, want nothing", got)
	}
	for k, cost := range []float64{3, 8.1e15, 2} {
		reports = append(reports, &host.Report{
			Host: 2, Nodes: []string{"10-14", "15-19", "20-24"}[k],
			Learning: &rule.Comparison{Steps: 100, Learned: cost, Frozen: 1, Usual: 1},
		})
	}
	want := "online learning does harm on 3 of 5 hosts, the most on host 2 (nodes 15-19): " +
		"the answers of the last 100 steps cost 8.1e+15, those of the model as trained 1"
	if got := warning(reports); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A swarm that does not keep up with the clock says so at its end.
func TestWarningOfASlowSwarm(t *testing.T) {
	r := &run{Options: &Options{Period: 50 * time.Millisecond}}
	for _, c := range []struct {
		seconds float64
		want    string
	}{
		{5, ""},
		{5.2, ""},
		{10, "10.0 steps/s where 20 were asked for: this machine does not keep up; try a lower rate or fewer processes"},
	} {
		if got := r.slow(&Result{Steps: 101, Seconds: c.seconds}); got != c.want {
			t.Errorf("100 steps in %v s: got %q, want %q", c.seconds, got, c.want)
		}
	}
	r.Period = 0
	if got := r.slow(&Result{Steps: 101, Seconds: 1000}); got != "" {
		t.Errorf("got %q of a swarm without a clock, want nothing", got)
	}
}
