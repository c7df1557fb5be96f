package lifecycle

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/snapshot"
	"github.com/wdgnn/wdgnn/modelfile"
	"github.com/wdgnn/wdgnn/random"
)

// What comes after the training and validation part changes nothing that is kept of
// it: the whole model file has the same bytes, with links that are learned, norms,
// errors and what the nodes remember. Without a validation part the same holds from
// the end of the training part on.
func TestForecastSeesNoFuture(t *testing.T) {
	for _, split := range []string{"{valid: 0.2, test: 0.3}", "{valid: 0, test: 0.3}"} {
		c := hillConfig(t, "  sensor_loss: 0.1\n  split: "+split)
		c.Train.Epochs = 2
		var files [2][]byte
		for k := range files {
			s := hill(300)
			fc := mustForecasts(t, c, s, nil).forecast
			if k == 1 {
				for step := max(fc.train.end, fc.valid.end); step < s.Steps; step++ { // the future runs backwards, in other units
					for i := range hillSensors {
						s.Values.Set(step*hillSensors+i, 0, float32(1000*(s.Steps-step)+i))
					}
				}
			}
			d := mustForecasts(t, c, s, nil)
			training, err := newTraining(c, d)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := training.Run(t.Context(), nil, nil, nil); err != nil {
				t.Fatal(err)
			}
			if err := training.Calibrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "model.safetensors")
			if err := modelfile.Save(path, training.File("test")); err != nil {
				t.Fatal(err)
			}
			training.Close()
			if files[k], err = os.ReadFile(path); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(files[0], files[1]) {
			t.Errorf("split %s: another future changes the model file", split)
		}
	}
}

// From a table of readings to a model that forecasts better than the last value
// stays, with gaps, a sensor that never reads and one without links.
func TestForecastTraining(t *testing.T) {
	c := hillConfig(t, "  unit: °C\n  split: {valid: 0.2, test: 0.2}")
	c.Train.Epochs = 20
	s := hill(500)
	rng := random.Stream(1, "gaps")
	var b strings.Builder
	b.WriteString("time," + strings.Join(s.Names, ",") + ",silent\n")
	for step := range s.Steps {
		b.WriteString(s.Time(step).Format(time.RFC3339))
		for i := range hillSensors {
			if rng.Float64() < 0.05 {
				b.WriteString(",")
				continue
			}
			fmt.Fprintf(&b, ",%.3f", s.Values.At(step*hillSensors+i, 0))
		}
		b.WriteString(",\n")
	}
	if err := os.WriteFile(c.Abs(c.Forecast.Series), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	training, err := NewTraining(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer training.Close()
	trained, err := training.Run(t.Context(), nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := training.Calibrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	result, err := training.Report(t.Context(), trained, "test")
	if err != nil {
		t.Fatal(err)
	}
	if result.Unit != "°C" || len(result.Notes) == 0 || len(result.Test.Horizons) != 2 {
		t.Fatalf("unit %q, notes %q and scores %+v, want those of two horizons", result.Unit, result.Notes, result.Test.Horizons)
	}
	for _, h := range result.Test.Horizons {
		model, last, ridge := h.Method(MethodFrozen), h.Method(MethodLast), h.Method(MethodRidge)
		if model.Count == 0 || model.Count != last.Count || !(model.MAE < 0.8*last.MAE) || !(model.MAE < ridge.MAE) {
			t.Errorf("%s: the model errs by %+v, the last value by %+v, each alone by %+v; want the model to be better",
				h.Ahead, model, last, ridge)
		}
	}
	if v := result.Verdicts; len(v.List) != 2 || len(v.List[0].Better) != 3 || v.Warning != "" {
		t.Errorf("got %+v, want two horizons at which the model beats the others", v)
	}
	path := filepath.Join(t.TempDir(), "model.safetensors")
	if err := modelfile.Save(path, training.File("test")); err != nil {
		t.Fatal(err)
	}
	checkForecastFile(t, path, training)
}

// checkForecastFile looks for all that a stream needs in a model file.
func checkForecastFile(t *testing.T, path string, training *Training) {
	t.Helper()
	file, err := modelfile.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := file.Forecast()
	if err != nil || spec == nil {
		t.Fatalf("sensors %v (%v), want those of the training", spec, err)
	}
	if got := spec.Sensors[0]; got != "mast 0" || len(spec.Norms) != hillSensors+1 || spec.Unit != "°C" {
		t.Errorf("sensor %q of %d, unit %q, want those of the series", got, len(spec.Norms), spec.Unit)
	}
	for i, n := range spec.Norms {
		if len(n.Sigma) != 2 || !(n.Sigma[0] > 0) || !(n.Sigma[1] > 0) {
			t.Errorf("sensor %d: usual errors %v, want one for each horizon", i, n.Sigma)
		}
	}
	g, err := file.SensorGraph()
	if err != nil || g == nil || g.Nodes() != hillSensors+1 || g.Edges() == 0 {
		t.Errorf("graph %v (%v), want the one that was learned", g, err)
	}
	past, found, err := snapshot.Of(file)
	if err != nil || !found || len(past.Nodes) != hillSensors+1 {
		t.Fatalf("what %d nodes learned in the replay (%v), want %d", len(past.Nodes), err, hillSensors+1)
	}
	gate, _ := past.Nodes[0].Gate()
	if seen := past.Nodes[0][5+2+spec.Season:][:spec.Season]; gate.Answered != 0 || gate.Frozen != 0 || slices.Max(seen) == 0 {
		t.Errorf("%v times at most in a slot, errors of %v and %v; want a season that was seen, and nothing counted yet",
			slices.Max(seen), gate.Answered, gate.Frozen)
	}
	if ridge, naive, err := file.Baselines(hillSensors + 1); err != nil || ridge == nil || naive == nil {
		t.Errorf("nothing to compare with in the file: %v", err)
	}
	memory, err := file.Sensors()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := memory[0].Step, uint64(training.Data.forecast.valid.end-1); got != want {
		t.Errorf("sensors have read up to step %d, want %d, the end of the validation part", got, want)
	}
}

// A model that is trained on the steps before a moment is the same whatever follows,
// and remembers up to that moment.
func TestTrainForecastUpTo(t *testing.T) {
	c := hillConfig(t, "")
	c.Train.Epochs = 1
	s := hill(260)
	var params [2][]float32
	for k := range params {
		file, err := trainForecast(t.Context(), c, s.Part(0, s.Steps-100*k), nil, 160, "test", nil)
		if err != nil {
			t.Fatal(err)
		}
		params[k] = file.Network.Params.Flat
		memory, err := file.Sensors()
		if err != nil {
			t.Fatal(err)
		}
		if memory[0].Step != 159 {
			t.Errorf("sensors have read up to step %d, want 159", memory[0].Step)
		}
	}
	if !slices.Equal(params[0], params[1]) {
		t.Error("what follows changes the model")
	}
}

// Answers and masks are files in the form of a series, found by names and times: an
// answer counts where it is and where the mask does not hide it.
func TestForecastAnswersAndMask(t *testing.T) {
	c := hillConfig(t, "  answers: answers.csv\n  mask: mask.csv")
	nan := func(v float32) bool { return v != v }
	for name, text := range map[string]string{
		"readings.csv": "time,a,b\n2024-05-06 00:00,1,2\n2024-05-06 01:00,3,4\n2024-05-06 02:00,5,6\n",
		"answers.csv":  "time,b,a\n2024-05-06 01:00,40,30\n2024-05-06 02:00,60,\n",
		"mask.csv":     "time,a,b\n2024-05-06 00:00,1,1\n2024-05-06 01:00,1,0\n2024-05-06 02:00,1,1\n",
	} {
		if err := os.WriteFile(c.Abs(config.Path(name)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, got, err := loadSeries(c)
	if err != nil || s.Steps != 3 {
		t.Fatalf("%+v: %v", s, err)
	}
	if !nan(got[0]) || !nan(got[1]) || got[2] != 30 || !nan(got[3]) || !nan(got[4]) || got[5] != 60 {
		t.Errorf("with answers and a mask: %v, want 30 for the second a, 60 for the last b and nothing else", got)
	}
	c.Forecast.Answers = ""
	if _, got, err = loadSeries(c); err != nil || got[0] != 1 || !nan(got[3]) || got[5] != 6 {
		t.Errorf("with a mask alone: %v (%v), want the readings that it does not hide", got, err)
	}
	c.Forecast.Mask = ""
	if _, got, err = loadSeries(c); err != nil || got != nil {
		t.Errorf("with neither: %v (%v), want that readings are their own truths", got, err)
	}
}
