package host_test

import (
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
)

// A host without a directory, which has all nodes, outlives lines that speak of others or
// of absurd numbers: the answer says what is wrong, and who is concerned gives none where
// it cannot be used.
func TestLinesOfNoSense(t *testing.T) {
	m := must(gnn.New(gnn.Config{In: 1, Features: 1, Outputs: 1, Wide: &gnn.WideConfig{Order: 1}}))
	plan := must(agent.NewPlan(agent.PlanConfig{Model: m, Operator: graph.ShiftSymmetric, MaxRows: []float64{10}}))
	for _, c := range []struct {
		line, want string
		outputs    int
	}{
		{`{"time":0,"nodes":[{"node":0,"row":[1],"links":[1]},{"node":1,"row":[1],"links":[0]}]}`, "", 2},
		{`{"time":0,"nodes":[{"node":0,"row":[1],"links":[9]},{"node":1,"row":[1]}]}`, "no host runs; compare links", 2},
		{`{"time":0,"nodes":[{"node":0,"row":[1]},{"node":1,"row":[1],"near":[0,9]}]}`, "no host runs", 2},
		{`{"time":0,"nodes":[{"node":0,"row":[1],"links":[[1,1e30]]},{"node":1,"row":[1]}]}`, "link to 1 with weight 1e+30", 1},
		{`{"time":0,"nodes":[{"node":0,"row":[1e7],"links":[1]},{"node":1,"row":[1],"links":[0]}]}`, "node 0 length 1e+07 most 10", 2},
	} {
		for _, together := range []int{-1, 1} {
			config := host.Config{Run: "alone", Nodes: []agent.NodeID{0, 1}, Plan: plan, Cost: host.MSE, Together: together}
			h := must(host.NewMachine(config, nil))
			h.Step(0, host.Start{})
			a := h.Step(0, must(host.ParseLine([]byte(c.line)))).Answer
			for now := time.Millisecond; a == nil && now < 2*time.Second; now += time.Millisecond {
				a = h.Step(now, host.Tick{}).Answer
			}
			if a == nil || len(a.Outputs) != c.outputs || !strings.Contains(a.Error, c.want) || (a.Error == "") != (c.want == "") {
				t.Errorf("%s, together %d: got %+v, want %d outputs and an error with %q", c.line, together, a, c.outputs, c.want)
			}
		}
	}
}
