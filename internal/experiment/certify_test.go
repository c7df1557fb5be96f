package experiment

import (
	"context"
	"encoding/json"
	"math"
	"path/filepath"
	"testing"

	"github.com/wdgnn/wdgnn/internal/config"
)

// Whatever the run, centralized or distributed, delayed, whitened, with a window
// or a ridge, on graphs that fall apart for a while: no learner is ever farther
// from the optimum than the bound says, neither the one that ran in float32 nor
// those that learn once more. One of the runs diverges; it is looked at up to
// there.
//
// Reference: Theorems 2 and 3.
func TestCertifyRunBoundsHold(t *testing.T) {
	for _, task := range []config.Task{config.Classify, config.Regress} {
		for _, delayed := range []bool{false, true} {
			f := newOnlineCase(t, task, delayed)
			for _, settings := range []string{
				"mode: centralized, preset: literal, step_size: {value: 0.05}",
				"mode: centralized, preset: literal, step_size: {value: 0.05}, ridge: 0.1, window: 4",
				"mode: centralized, preset: personal, ridge: 0.05",
				"mode: distributed, preset: literal, step_size: {value: 0.02}",
				"mode: distributed, preset: literal, step_size: {value: 0.05}, ridge: 0.1, window: 4, retrain: taps+bias",
				"mode: distributed, preset: personal, ridge: 0.05",
				"mode: centralized, preset: literal, step_size: {schedule: automatic}",
			} {
				f.text("c.yaml", "online: {stream: {graph: g.csv, signals: x.npy, targets: y.npy}, "+settings+"}\n")
				c, err := config.Load(filepath.Join(f.dir, "c.yaml"))
				if err != nil {
					t.Fatal(err)
				}
				r, err := CertifyRun(context.Background(), c, f.model)
				if err != nil {
					t.Fatalf("%s, delayed %v, %s: %v", task, delayed, settings, err)
				}
				if r.Ridged == nil || len(r.Ridged.Measured) != r.Steps || r.Steps < 10 {
					t.Errorf("%s, %s: no bounds with a ridge", task, settings)
				}
				for _, s := range []*Tracked{r.AsRun, r.Ridged, r.Windowed} {
					if s == nil {
						continue
					}
					for k, m := range s.Measured {
						if b := s.Bound[k]; float64(m) > float64(b)*(1+1e-3)+1e-4 {
							t.Errorf("%s, delayed %v, %s, ridge %v, window %d: step %d: %v away, bound %v", task, delayed, settings, s.Ridge, s.Window, k, m, b)
						}
					}
				}
				if _, err := json.Marshal(r); err != nil {
					t.Errorf("%s: %v", settings, err)
				}
			}
		}
	}
}

// Numbers that JSON does not know are written so that readers can tell them.
func TestNumberInJSON(t *testing.T) {
	text, err := json.Marshal([]Number{1.5, Number(math.NaN()), Number(math.Inf(1))})
	if err != nil || string(text) != `[1.5,null,"inf"]` {
		t.Errorf("got %s, %v", text, err)
	}
}
