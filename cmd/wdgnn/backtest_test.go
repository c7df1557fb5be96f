package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/internal/lifecycle"
)

// trigger calls once something is written that holds a text.
type trigger struct {
	bytes.Buffer
	text string
	call func()
}

func (w *trigger) Write(p []byte) (int, error) {
	n, err := w.Buffer.Write(p)
	if strings.Contains(w.String(), w.text) {
		w.call()
	}
	return n, err
}

// A backtest that is interrupted keeps the origins that are done, and fails.
func TestInterruptBacktest(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: it trains twice; it runs without -short", t.Name())
	}
	dir := filepath.Join(t.TempDir(), "d")
	if code, _, stderr := exec(t.Context(), "init", "--task", "forecast", dir); code != exitOK {
		t.Fatal(stderr)
	}
	config := filepath.Join(dir, "config.yaml")
	text, err := os.ReadFile(config)
	if err == nil {
		err = os.WriteFile(config, bytes.Replace(text, []byte("epochs: 40"), []byte("epochs: 1"), 1), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stdout bytes.Buffer
	stderr := &trigger{text: "origin 1 of 3 done", call: cancel}
	code := run(ctx, []string{"backtest", config, "--part", "0.05"}, &stdout, stderr)
	want := "stopped after 1 of 3 origins\nwdgnn: interrupted\nTry: wdgnn backtest "
	if code != exitInterrupted || !strings.Contains(stderr.String(), want) {
		t.Errorf("exit code %d and %q, want %d and what was done", code, stderr.String(), exitInterrupted)
	}
	if !strings.Contains(stdout.String(), "origin 1 of 3: ") {
		t.Errorf("got %q, want the table of the first origin", stdout.String())
	}
	var result lifecycle.BacktestResult
	if text, err = os.ReadFile(filepath.Join(dir, "backtest", "result.json")); err == nil {
		err = json.Unmarshal(text, &result)
	}
	if err != nil || len(result.Origins) != 1 || result.Planned != 3 || len(result.Mean) != 3 {
		t.Errorf("got %d of %d origins, %d horizons and %v; want 1 of 3 and 3", len(result.Origins), result.Planned, len(result.Mean), err)
	}
}
