package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

// exec runs one command line.
func exec(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(ctx, args, &out, &err)
	return code, out.String(), err.String()
}

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		want string // in stdout for code 0, in stderr otherwise
	}{
		{"", exitOK, "wdgnn demo"},
		{"-h", exitOK, "Examples:"},
		{"demo -h", exitOK, "--subgraphs"},
		{"dmo", exitUsage, `no command is called "dmo"`},
		{"demo --speed", exitUsage, "unknown flag: --speed"},
		{"demo --seed minus", exitUsage, "invalid argument"},
		{"demo now", exitUsage, "takes no arguments"},
		{"demo --subgraphs 0", exitUsage, "want at least 1"},
	} {
		code, stdout, stderr := exec(context.Background(), strings.Fields(c.args)...)
		got := stderr
		if c.code == exitOK {
			got = stdout
		}
		if code != c.code || !strings.Contains(got, c.want) {
			t.Errorf("wdgnn %s: exit code %d and %q, want %d and %q", c.args, code, got, c.code, c.want)
		}
		if c.code == exitUsage && !strings.Contains(stderr, "Try: wdgnn") {
			t.Errorf("wdgnn %s: %q does not say what to try", c.args, stderr)
		}
	}
}

func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	code, _, stderr := exec(ctx, "demo")
	if code != exitFailure || !strings.Contains(stderr, "wdgnn: interrupted") {
		t.Errorf("exit code %d and %q, want %d and word of the interruption", code, stderr, exitFailure)
	}
}
