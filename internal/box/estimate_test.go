package box_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/broker"
	"github.com/wdgnn/wdgnn/transport"
)

// A model scaled by λmax runs when its nodes find λmax together, and a box that
// is started again does not need the others for it.
func TestEstimate(t *testing.T) {
	f := newFixture(t, graph.ShiftSpectral, true)
	s, err := broker.Start(broker.Config{})
	check(t, err)
	t.Cleanup(s.Stop)
	var configs []*box.Config
	for id := range 3 {
		c := f.config(id, 3)
		c.Scale, c.Diameter, c.State = box.Estimate, 6, fmt.Sprintf("state-%d", id)
		c.Bus = box.Bus{Kind: box.BusNATS, URL: s.URL()}
		c.Pace.Deadline = 10 * patience                   // longer than this test
		c.Faults = &transport.Faults{Seed: 2, Loss: 0.05} // who is done answers those who are not
		configs = append(configs, f.load(t, c))
	}
	lines := run(t, configs...)
	if got := strings.Count(string(lines), "\n"); got != 3*steps {
		t.Errorf("%d answers, want %d", got, 3*steps)
	}
	want := graph.LargestEigenvalue(f.graphs[0].Adjacency())
	for id := range 3 {
		text, err := os.ReadFile(f.path(fmt.Sprintf("state-%d/scale.json", id)))
		check(t, err)
		var m struct{ Scale float64 }
		check(t, json.Unmarshal(text, &m))
		if math.Abs(m.Scale-want) > 1e-5*want {
			t.Errorf("host %d found %v, want %v", id, m.Scale, want)
		}
	}
	for text, hint := range map[string]string{
		`{"run":"other","scale":2}`:                          "remove the file to measure again",
		`{"version":2,"run":"other","scale":{"of":["S",2]}}`: "is of version 2, this program reads up to 1",
	} {
		check(t, os.WriteFile(f.path("state-0/scale.json"), []byte(text), 0o644))
		if err := box.Run(t.Context(), configs[0], box.Streams{}); err == nil || !strings.Contains(err.Error(), hint) {
			t.Errorf("with %s: %v, want %q", text, err, hint)
		}
	}
	run(t, configs[1]) // its stream is over; it must not wait for the others
	for _, kept := range []string{"testdata/scale-0.json", "testdata/scale-1.json"} {
		text, err := os.ReadFile(kept)
		check(t, err)
		check(t, os.WriteFile(f.path("state-2/scale.json"), text, 0o644))
		run(t, configs[2])
	}
}
