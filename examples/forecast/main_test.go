package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/internal/lifecycle"
)

// The program runs on what init writes, where learning helps.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: it trains; it runs without -short", t.Name())
	}
	dir, example := t.TempDir(), lifecycle.NewForecastExample()
	files := map[string]string{"readings.csv": example.Readings, "sensors.csv": example.Sensors, "later.csv": example.Later}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	if err := run(dir, &out); err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", out.String())
	for _, want := range []string{
		"24 sensors, 2688 steps", " 15 minutes ahead: mean error", " 60 minutes ahead: mean error", "Sunday 23:45, and then",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got %q, want it to say %q", out.String(), want)
		}
	}
	var trained, learning float64
	for line := range strings.Lines(out.String()) {
		if _, after, ok := strings.Cut(line, "60 minutes ahead: mean error "); ok {
			if _, err := fmt.Sscanf(after, "%f km/h as trained, %f learning", &trained, &learning); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !(learning <= trained) {
		t.Errorf("an hour ahead: got an error of %v learning, want no more than the %v as trained", learning, trained)
	}
}

// A folder without files is an error that names one.
func TestRunWithoutFiles(t *testing.T) {
	if err := run(t.TempDir(), new(strings.Builder)); err == nil || !strings.Contains(err.Error(), "readings.csv") {
		t.Errorf("got %v, want an error that names readings.csv", err)
	}
}
