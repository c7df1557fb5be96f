package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// agentsOf returns the section about agents of the given raw lines.
func agentsOf(t *testing.T, text ...string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "results"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "results", "swarm-test.jsonl"), []byte(strings.Join(text, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	if lines, err := readAll(dir); err != nil || len(lines) > 0 {
		t.Errorf("the lines of agents among those of tasks: %d, %v, want none", len(lines), err)
	}
	lines, err := readAgents(dir)
	return agentsPage(lines), err
}

const agentFacts = `"about":"what it is","case":"5 hosts","cpu":"Test CPU","cores":2,` +
	`"commit":"abc","go":"go1","seed":1,"run_seconds":60,"load":0.5,`

func TestAgents(t *testing.T) {
	got, err := agentsOf(t,
		`{"measurement":"m",`+agentFacts+
			`"date":"2026-01-02T00:00:00Z","steps_per_second":10,"goals":[{"name":"rate","value":10,"unit":"steps/s","wanted":60}]}`,
		`{"measurement":"m",`+agentFacts+
			`"date":"2026-01-03T00:00:00Z","steps_per_second":61.29,"messages_per_step":7420,"frames_per_step":200,"bytes_per_step":242400,`+
			`"host_cpu_seconds_per_step":0.009,"world_cpu_seconds_per_step":0.001,"latency":{"median_ns":1500000,`+
			`"p99_ns":2000000},"late_share":0.004,`+
			`"goals":[{"name":"rate","value":61.29,"unit":"steps/s","wanted":60},{"name":"late",`+
			`"value":1.001,"unit":"% late","wanted":1,"below":true}]}`,
		`{"measurement":"p","about":"sizes","case":"wdgnn","cpu":"Test CPU","date":"2026-01-03T00:00:00Z",`+
			`"file_bytes":5,"goals":[{"name":"size","value":44.9,"unit":"MB","wanted":45,"below":true}]}`,
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"### Test CPU, 2 cores",
		"| m | 5 hosts | 61.2 | 7420, 200, 242 | 10 ms | 1.5 ms, 2 ms | 0.40 % | ≥ 60 steps/s; < 1 % late | 61.2: met; 1.01: **missed** |",
		"| p | wdgnn | – | – | – | – | – | < 45 MB | 44.9: met |",
		"- `m`: what it is.",
		"- 2026-01-03T00:00:00Z to 2026-01-03T00:00:00Z, commit abc, go1, seed 1, runs of 60 s; load average, ours included, 0.5 to 0.5",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("want %q in\n%s", want, got)
		}
	}
	for _, bad := range []string{"2026-01-02", "Everything that was wanted"} {
		if strings.Contains(got, bad) {
			t.Errorf("got %q, want no such words in\n%s", bad, got)
		}
	}
}

func TestAgentsBadLines(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{`, "swarm-test.jsonl:1: unexpected end"},
		{`{"measurement":"m","case":"c","cpu":"x","date":"y"}`, "a rate of 0"},
		{`{"measurement":"m","case":"c","steps_per_second":1}`, "no cpu"},
		{`{"case":"c","cpu":"x","date":"y","steps_per_second":1}`, "no measurement"},
	} {
		if _, err := agentsOf(t, c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.text, err, c.want)
		}
	}
}
