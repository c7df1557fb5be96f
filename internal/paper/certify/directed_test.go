package certify

import (
	"context"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/config"
)

// A run of classes on links with a direction, whose rows can be separated in part: a
// step without an optimum ends the bounds of the run as it was, and nothing else.
// With a ridge there are bounds to the end, and they hold.
//
// Reference: Assumption 1, Theorem 3.
func TestDirectedRunWithoutOptimum(t *testing.T) {
	f := newOnlineCase(t, config.Classify, false)
	f.model.Meta.Shift = graph.ShiftRowStochastic
	f.text("g.csv", "src,dst\n0,1\n1,2\n2,3\n3,4\n4,5\n5,0\n0,3\n2,5\n4,1\n")
	for _, mode := range []string{"centralized", "distributed"} {
		f.text("c.yaml", "online: {stream: {graph: g.csv, signals: x.npy, targets: y.npy, directed: true}, mode: "+mode+
			", preset: paper, step_size: {value: 0.05}, mixing_matrix: sinkhorn}\n")
		c, err := config.Load(f.dir + "/c.yaml")
		if err != nil {
			t.Fatal(err)
		}
		r, err := Run(context.Background(), c, f.model, nil)
		if err != nil {
			t.Fatalf("%s: %v", mode, err)
		}
		if r.AsRun.Missing < 0 || len(r.AsRun.Bound) != r.AsRun.Missing {
			t.Errorf("%s: bounds of %d steps, the first without an optimum is %d; want them up to there", mode, len(r.AsRun.Bound), r.AsRun.Missing)
		}
		said := false
		for _, check := range r.Checks {
			said = said || check.Name == "optima exist" && !check.Holds && strings.Contains(check.Text, "infimum")
		}
		if !said {
			t.Errorf("%s: got %+v, want it said that an infimum is at infinity", mode, r.Checks)
		}
		for k, m := range r.Ridged.Measured {
			if m > r.Ridged.Bound[k]*(1+1e-9)+1e-12 {
				t.Errorf("%s, with a ridge, step %d: %v away, bound %v", mode, k, m, r.Ridged.Bound[k])
			}
		}
		if len(r.Ridged.Measured) != r.Steps || r.Steps < 15 {
			t.Errorf("%s: with a ridge bounds of %d steps of %d, want all", mode, len(r.Ridged.Measured), r.Steps)
		}
	}
}
