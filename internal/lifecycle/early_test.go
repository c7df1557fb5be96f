package lifecycle

import (
	"math"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/modelfile"
)

// Models that early versions left in the middle of a stream, with parameters in
// other coordinates (testdata, written by one after ten steps), go on as if this
// version had learned them: the same taps, and the same answers to the end.
func TestAdaptedModelsOfEarlyVersions(t *testing.T) {
	for _, mode := range []string{"distributed", "centralized"} {
		t.Run(mode, func(t *testing.T) {
			early, err := modelfile.Load("testdata/early-" + mode + ".safetensors")
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := early.Extra["online.vector.0"]; !ok {
				t.Fatal("the file is not of an early version")
			}
			f := newOnlineCase(t, config.Classify, false)
			settings := "mode: " + mode + ", preset: personal, window: 3, step_size: {value: 0.1}, clip: off, gate: off"
			whole := f.start(f.model, settings)
			f.play(whole, -1)
			was, err := AdaptationOf(early)
			if err != nil {
				t.Fatal(err)
			}
			if err := f.start(early, strings.TrimSuffix(settings, ", clip: off")).Resume(was, whole.Predictions); err != nil {
				t.Fatalf("without a word on clip, which early versions did not know: %v", err)
			}
			rest := f.start(early, settings)
			if err := rest.Resume(was, whole.Predictions); err != nil {
				t.Fatal(err)
			}
			f.play(rest, -1)
			if was.At != 10 || rest.State.At != 20 || len(rest.Predictions) != len(whole.Predictions) {
				t.Fatalf("from step %d to %d with %d answers, want 10 to 20 with %d",
					was.At, rest.State.At, len(rest.Predictions), len(whole.Predictions))
			}
			moved := rest.learner.Drift().Moved
			for e, want := range whole.Predictions {
				if got := rest.Predictions[e]; math.Abs(float64(got-want)) > 1e-4 {
					t.Fatalf("number %d of the answers is %v, want %v", e, got, want)
				}
			}
			if want := whole.learner.Drift().Moved; moved == 0 || math.Abs(moved-want) > 1e-4*want {
				t.Errorf("the taps moved by %v, want %v", moved, want)
			}
		})
	}
}
