package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCommandLine(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(bad, []byte("rum: test\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args        []string
		code        int
		out, errors string // parts of what is printed
	}{
		{[]string{"version"}, 0, "wdgnn-agent ", ""},
		{[]string{"-h"}, 0, "", "bus: {kind: nats"},
		{nil, exitUsage, "", "--config FILE says what to run"},
		{[]string{"--colour"}, exitUsage, "", "flag provided but not defined"},
		{[]string{"--config", bad}, exitFailure, "", `unknown key "rum"; did you mean "run"?`},
		{[]string{"--config", bad, "--check"}, exitFailure, "", "line 1"},
		{[]string{"--config", "gone.yaml"}, exitFailure, "", "gone.yaml"},
	} {
		var out, errors strings.Builder
		code := run(t.Context(), c.args, nil, &out, &errors)
		if code != c.code || !strings.Contains(out.String(), c.out) || !strings.Contains(errors.String(), c.errors) {
			t.Errorf("%v: code %d, printed %q and %q; want %d, %q and %q", c.args, code, out.String(), errors.String(), c.code, c.out, c.errors)
		}
	}
}
