package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/bench/agents"
)

func TestSwarmBenchJSON(t *testing.T) {
	code, stdout, stderr := exec(context.Background(), "swarm", "bench", "--json", "--only", "programs", "--agent", "no/such/program")
	if code != exitFailure || !strings.Contains(stderr, "no/such/program") {
		t.Errorf("exit code %d and %q, want %d and word of the missing program", code, stderr, exitFailure)
	}
	var l agents.Line
	if err := json.Unmarshal([]byte(stdout), &l); err != nil {
		t.Fatalf("%q: %v", stdout, err)
	}
	if l.Measurement != "programs" || l.FileBytes == 0 || l.CPU == "" || l.Cores == 0 || l.Date == "" || l.Go == "" || l.Seed != 1 ||
		l.About == "" {
		t.Errorf("got %+v, want the size of this program and where it was measured", l)
	}
}

func TestSwarmBenchUsage(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--only speed", `no measurement is called "speed"`},
		{"--seconds 0", "want 1 at least"},
		{"now", "takes no arguments"},
	} {
		code, _, stderr := exec(context.Background(), append([]string{"swarm", "bench"}, strings.Fields(c.args)...)...)
		if code != exitUsage || !strings.Contains(stderr, c.want) {
			t.Errorf("swarm bench %s: exit code %d and %q, want %d and %q", c.args, code, stderr, exitUsage, c.want)
		}
	}
	if code, stdout, _ := exec(context.Background(), "swarm", "-h"); code != exitOK || strings.Contains(stdout, "probe") {
		t.Errorf("exit code %d, help with the hidden command probe: %v", code, strings.Contains(stdout, "probe"))
	}
}
