package agentcmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/rule"
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
		{[]string{"--version"}, 0, "wdgnn-agent ", ""},
		{[]string{"-h"}, 0, "", "bus: {kind: nats"},
		{nil, exitUsage, "", "--config FILE says what to run"},
		{[]string{"-h"}, 0, "", "  -v, --verbose         log more"},
		{[]string{"--colour"}, exitUsage, "", "wdgnn-agent: flag provided but not defined: -colour\nTry: wdgnn-agent -h\n"},
		{[]string{"agent.yaml"}, exitUsage, "", "did you mean --config agent.yaml?\nTry: wdgnn-agent -h\n"},
		{[]string{"--config", bad, "now"}, exitUsage, "", "it takes flags only, got now"},
		{[]string{"--config", bad}, exitFailure, "", "\nTry: wdgnn-agent -h, which shows an example"},
		{[]string{"--config", bad}, exitFailure, "", `unknown key "rum"; did you mean "run"?`},
		{[]string{"--config", bad, "--check"}, exitFailure, "", "line 1"},
		{[]string{"--config", "gone.yaml"}, exitFailure, "", "gone.yaml"},
	} {
		var out, errors strings.Builder
		p := program{name: "wdgnn-agent", out: &out, errors: &errors}
		code := p.run(t.Context(), c.args)
		if code != c.code || !strings.Contains(out.String(), c.out) || !strings.Contains(errors.String(), c.errors) {
			t.Errorf("%v: code %d, printed %q and %q; want %d, %q and %q", c.args, code, out.String(), errors.String(), c.code, c.out, c.errors)
		}
	}
}

// A program says which rules it has: in its help, and to whoever names another.
func TestOwnRules(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.yaml")
	const text = `run: test
host: 0
hosts: {0: {nodes: 0-3}}
model: model.safetensors
bus: {kind: none}
world: {kind: lines}
learn: {rule: min}
`
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	own := map[string]rule.Rule{"mine": rule.Descent{}, "min2": rule.Descent{}}
	for _, c := range []struct {
		args  []string
		rules map[string]rule.Rule
		code  int
		want  string
	}{
		{[]string{"-h"}, own, 0, "own-agent --config agent.yaml "},
		{[]string{"-h"}, own, 0, "Its own rules, for learn.rule: min2, mine\n"},
		{[]string{"--config", path}, own, exitFailure, `agent.yaml: learn.rule: no rule is called "min"; this program has: min2, mine`},
		{[]string{"--config", path}, nil, exitFailure, `agent.yaml: learn.rule: no rule is called "min"; this program has none of its own`},
	} {
		var out, errors strings.Builder
		p := program{name: "own-agent", rules: c.rules, out: &out, errors: &errors}
		if code := p.run(t.Context(), c.args); code != c.code || !strings.Contains(errors.String(), c.want) {
			t.Errorf("%v: code %d, printed %q; want %d and %q", c.args, code, errors.String(), c.code, c.want)
		}
	}
}
