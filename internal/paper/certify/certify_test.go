package certify

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/mat"
)

// Whatever the run, centralized or distributed, delayed, with a ridge, with steps
// that change, on graphs that fall apart for a while: no learner is ever farther
// from the optimum than the bound says, neither the one that ran in float32 nor
// those that learn once more. One of the runs diverges; it is looked at up to
// there. In another, nodes go so far that their neighbours do not hear them: its
// steps are beside eq. (9), and its bound holds but is not called proven.
//
// Reference: Theorems 2 and 3.
func TestCertifyRunBoundsHold(t *testing.T) {
	for _, task := range []config.Task{config.Classify, config.Regress} {
		for _, delayed := range []bool{false, true} {
			f := newOnlineCase(t, task, delayed)
			for _, settings := range []string{
				"mode: centralized, preset: paper, step_size: {value: 0.05}",
				"mode: centralized, preset: paper, step_size: {value: 0.05}, ridge: 0.1, retrain: taps+bias",
				"mode: distributed, preset: paper, step_size: {value: 0.02}",
				"mode: distributed, preset: paper, step_size: {value: 0.05}, ridge: 0.1, retrain: taps+bias",
				"mode: centralized, preset: paper, step_size: {value: 10}, ridge: 0.05", // it diverges
				"mode: distributed, preset: paper, step_size: {value: 3}, ridge: 0.05",  // too far to be heard
				"mode: centralized, preset: paper, step_size: {schedule: decaying, value: 0.05, steps: 3}",
				"mode: centralized, preset: paper, step_size: {schedule: decaying, value: 0.05, steps: 3}, ridge: 0.1",
				"mode: distributed, preset: paper, step_size: {schedule: decaying, value: 0.05}, ridge: 0.1",
				"mode: distributed, preset: paper, step_size: {schedule: decaying, value: 0.05, steps: 3}, retrain: taps+bias",
				"mode: centralized, preset: paper, step_size: {value: 0.05}, clip_norm: 0.2",
				"mode: distributed, preset: paper, step_size: {value: 0.02}, clip_norm: 0.2",
			} {
				r, err := Run(context.Background(), f.config(settings), f.model, nil)
				if err != nil {
					t.Fatalf("%s, delayed %v, %s: %v", task, delayed, settings, err)
				}
				if r.Ridged == nil || len(r.Ridged.Measured) != r.Steps || r.Steps < 10 {
					t.Errorf("%s, %s: no bounds with a ridge", task, settings)
				}
				for _, s := range []*Tracked{r.AsRun, r.Ridged} {
					if s == nil {
						continue
					}
					for k, m := range s.Measured {
						if b := s.Bound[k]; float64(m) > float64(b)*(1+1e-9)+1e-12 {
							t.Errorf("%s, delayed %v, %s, ridge %v: step %d: %v away, bound %v", task, delayed, settings, s.Ridge, k, m, b)
						}
					}
				}
				if r.AsRun == nil || strings.Contains(settings, "ridge") && len(r.AsRun.Bound) < 10 ||
					(strings.Contains(settings, "schedule") || strings.Contains(settings, "clip_norm")) != (len(r.AsRun.Sizes) > 0) {
					t.Errorf("%s, %s: no bounds of the run as it was", task, settings)
				}
				far := task == config.Regress && strings.Contains(settings, "value: 3}")
				if far != (r.AsRun.Rough >= 1e-6) || far && r.Bounds[0].Proven || r.Ridged.Rest != 0 {
					t.Errorf("%s, %s: steps are %.3g beside gradient steps, %.3g once more; want rounding in float32, and none",
						task, settings, float64(r.AsRun.Rough), float64(r.Ridged.Rest))
				}
				for _, p := range r.Limits {
					if ceiling := max(p.Start, float64(p.Bound)); p.Measured > ceiling*(1+1e-6) ||
						p.Measured > p.Own*(1+1e-6) || p.Own > ceiling*(1+1e-6) || p.Share < 1 == math.IsInf(float64(p.Bound), 1) {
						t.Errorf("%s, %s: γ = %v ends at %v, want %v at most, and that %v", task, settings, p.StepSize,
							p.Measured, p.Own, ceiling)
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
	if got := Number(1.23456).Text(3) + Number(math.NaN()).Text(3) + Number(math.Inf(1)).Text(3); got != "1.23–∞" {
		t.Errorf("as text: got %s", got)
	}
	var back []Number
	if err := json.Unmarshal(text, &back); err != nil || back[0] != 1.5 || !math.IsNaN(float64(back[1])) ||
		!math.IsInf(float64(back[2]), 1) {
		t.Errorf("read back: got %v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`["much"]`), &back); err == nil {
		t.Errorf("got %v, want an error", back)
	}
}

// A sequence on its own graphs does not change, on others within its certificate;
// one that does not fit is refused.
//
// Reference: eq. (24).
func TestCertifySequence(t *testing.T) {
	f := newOnlineCase(t, config.Regress, true)
	net := f.model.Network
	const nodes, steps = 5, 4
	shift, err := graph.ShiftSpectral.Of(graph.Ring(nodes))
	if err != nil {
		t.Fatal(err)
	}
	none := &mat.CSR{Rows: nodes, Cols: nodes, RowPtr: make([]int, nodes+1)}
	var shifts, torn []*mat.CSR
	var signals []mat.Dense
	for k := range steps {
		x := mat.NewDense(nodes, net.Config.In, nil)
		for i := range x.Data {
			x.Data[i] = float32(i+k) / 10
		}
		shifts, torn, signals = append(shifts, shift), append(torn, shift), append(signals, x)
	}
	torn[2] = none
	r, err := Sequence(context.Background(), net, shifts, shifts, signals)
	if err != nil || r.Measured != 0 || r.Known > 1e-9 || r.Steps != steps || r.Nodes != nodes {
		t.Errorf("the same graphs: got %+v, %v; want no change", r, err)
	}
	if r, err = Sequence(context.Background(), net, shifts, torn, signals); err != nil || r.Measured == 0 ||
		r.Measured > r.Known || r.Known > r.Any*(1+1e-9) {
		t.Errorf("no messages at step 2: got %+v, %v; want a change below the certificate", r, err)
	}
	for name, bad := range map[string]func() error{
		"want as many of each": func() error {
			_, err := Sequence(context.Background(), net, shifts, torn[1:], signals)
			return err
		},
		"step 0: shifts of 5 and 5 nodes and a signal of 1": func() error {
			_, err := Sequence(context.Background(), net, shifts[:1], torn[:1], []mat.Dense{mat.NewDense(1, net.Config.In, nil)})
			return err
		},
		"without a link": func() error {
			_, err := Sequence(context.Background(), net, []*mat.CSR{none, none}, []*mat.CSR{none, none}, signals[:2])
			return err
		},
	} {
		if err := bad(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %q", err, name)
		}
	}
}
