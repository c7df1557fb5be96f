package box

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/forecast"
)

// A model whose readings, steps or answers mean something else is refused, with what is
// different.
func TestSameSensors(t *testing.T) {
	spec := func(change func(*forecast.Spec)) *forecast.Spec {
		s := &forecast.Spec{Sensors: []string{"a", "b"}, Interval: time.Hour, Horizons: []int{1, 3}, Unit: "km/h"}
		if change != nil {
			change(s)
		}
		return s
	}
	now := spec(nil)
	if err := sameSensors(now, spec(func(s *forecast.Spec) { s.Lags = 6 })); err != nil {
		t.Errorf("other lags: got %v, want none", err)
	}
	for want, next := range map[string]*forecast.Spec{
		"forecasts and the other does not": nil,
		"trained with 1 sensors":           spec(func(s *forecast.Spec) { s.Sensors = s.Sensors[:1] }),
		"steps of 1m0s":                    spec(func(s *forecast.Spec) { s.Interval = time.Minute }),
		"[1 6] steps ahead":                spec(func(s *forecast.Spec) { s.Horizons = []int{1, 6} }),
		"2 numbers beside a reading":       spec(func(s *forecast.Spec) { s.Extras = 2 }),
		`readings are in "mph"`:            spec(func(s *forecast.Spec) { s.Unit = "mph" }),
	} {
		if err := sameSensors(now, next); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// What is on disk of a deployment is read back; that of another run, or of a newer
// program, is refused in words.
func TestDeploymentOnDisk(t *testing.T) {
	c := &Config{Run: "yard", State: t.TempDir()}
	if d, err := c.readDeployment(); d != nil || err != nil {
		t.Errorf("nothing on disk: got %v, %v", d, err)
	}
	want := &deployment{Version: deployFile.version, Run: "yard", First: "a", Model: "b", Since: 7, Armed: &armed{ID: 3, Step: 7, Model: "b"}}
	if err := deployFile.write(c, want); err != nil {
		t.Fatal(err)
	}
	if d, err := c.readDeployment(); err != nil || d.Model != "b" || d.Armed == nil || d.Armed.Step != 7 {
		t.Errorf("got %+v, %v, want %+v", d, err, want)
	}
	if model, err := c.running(want); model != "b" || err != nil {
		t.Errorf("without a checkpoint: got %q, %v, want the model that was deployed", model, err)
	}
	for text, words := range map[string]string{`{"version":9}`: "a newer one wrote it", `{"version":1,"run":"x"}`: `the run "x"`} {
		if err := os.WriteFile(filepath.Join(c.State, deployFile.name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := c.readDeployment(); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: got %v, want %q", text, err, words)
		}
	}
}
