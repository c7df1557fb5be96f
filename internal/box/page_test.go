package box_test

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/host"
	"github.com/wdgnn/wdgnn/transport"
)

// runtimePage is the page that lists what a box understands and counts.
func runtimePage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../doc/runtime.md")
	check(t, err)
	return string(page)
}

// Every metric is in the table of doc/runtime.md.
func TestMetricsPage(t *testing.T) {
	page := runtimePage(t)
	for part, stats := range map[string]any{"host": host.Stats{}, "agent": agent.Stats{}, "bus": transport.Stats{}} {
		for f := range reflect.TypeOf(stats).Fields() {
			if row := fmt.Sprintf("| `wdgnn_%s_%s_total` |", part, f.Tag.Get("json")); !strings.Contains(page, row) {
				t.Errorf("doc/runtime.md has no row %s", row)
			}
		}
	}
}

// Every key of agent.yaml is in the table of doc/runtime.md.
func TestKeysPage(t *testing.T) {
	_, table, _ := strings.Cut(runtimePage(t), "## agent.yaml")
	var visit func(of reflect.Type, prefix string)
	visit = func(of reflect.Type, prefix string) {
		for f := range of.Fields() {
			key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			switch {
			case key == "":
			case f.Type.PkgPath() == of.PkgPath() && f.Type.Kind() == reflect.Struct:
				visit(f.Type, prefix+key+".")
			case !strings.Contains(table, "`"+prefix+key+"`"):
				t.Errorf("doc/runtime.md does not list `%s%s`", prefix, key)
			}
		}
	}
	visit(reflect.TypeFor[box.Config](), "")
}

// The example in the help and that of deploy/ can be read.
func TestExamples(t *testing.T) {
	var example strings.Builder
	for line := range strings.Lines(box.Example) {
		if rest, ok := strings.CutPrefix(line, "  "); ok {
			example.WriteString(rest)
		}
	}
	path := t.TempDir() + "/agent.yaml"
	check(t, os.WriteFile(path, []byte(example.String()), 0o644))
	for _, p := range []string{path, "../../deploy/agent.yaml"} {
		if _, err := box.Load(p); err != nil {
			t.Error(err)
		}
	}
}
