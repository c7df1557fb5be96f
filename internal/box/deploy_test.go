package box

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// metricNames are all that a box serves of its own.
func metricNames() map[string]bool {
	names := map[string]bool{brokenName: true, ageName: true, shutName: true, latencyName: true}
	for _, c := range counters {
		names[c.name] = true
	}
	for _, g := range gauges {
		names[g.name] = true
	}
	return names
}

// The alerts and the dashboard in deploy/ name metrics that boxes serve, and the page
// of the runtime names all of them.
func TestDeployedMetrics(t *testing.T) {
	known := metricNames()
	for _, file := range []string{"prometheus-rules.yaml", "prometheus-rules-test.yaml", "grafana-dashboard.json"} {
		text, err := os.ReadFile("../../deploy/" + file)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(`\bwdgnn_[a-z0-9_]+`).FindAllString(string(text), -1)
		if len(found) == 0 {
			t.Errorf("deploy/%s names no metric", file)
		}
		for _, name := range found {
			if !known[name] {
				t.Errorf("deploy/%s names %s, which no box serves", file, name)
			}
		}
		if strings.HasSuffix(file, ".json") && !json.Valid(text) {
			t.Errorf("deploy/%s is no JSON", file)
		}
	}
	page, err := os.ReadFile("../../doc/runtime.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range known {
		if !strings.Contains(string(page), "| `"+name) {
			t.Errorf("doc/runtime.md has no row for %s", name)
		}
	}
}

// The alerts are such as Prometheus takes, and ring when they should, where its tool
// is installed.
func TestDeployedRules(t *testing.T) {
	tool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skipf("SKIPPED %s: there is no promtool", t.Name())
	}
	for _, args := range [][]string{{"check", "rules", "prometheus-rules.yaml"}, {"test", "rules", "prometheus-rules-test.yaml"}} {
		cmd := exec.Command(tool, args...)
		cmd.Dir = "../../deploy"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v\n%s", args, err, out)
		}
	}
}
