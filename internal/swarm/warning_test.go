package swarm

import (
	"testing"

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
