package box_test

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/agent"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/config/comments"
	"github.com/wdgnn/wdgnn/loss"
	"github.com/wdgnn/wdgnn/rule"
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
			key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if row := fmt.Sprintf("| `wdgnn_%s_%s_total` |", part, key); !strings.Contains(page, row) {
				t.Errorf("doc/runtime.md has no row %s", row)
			}
		}
	}
}

var update = flag.Bool("update", false, "write the keys in doc/runtime.md again")

// The table of agent.yaml in doc/runtime.md is what the types say.
func TestKeysPage(t *testing.T) {
	docs, err := comments.Of("config.go")
	check(t, err)
	var table strings.Builder
	table.WriteString("| key | meaning |\n| --- | --- |\n")
	var add func(of reflect.Type, prefix string)
	add = func(of reflect.Type, prefix string) {
		for f := range of.Fields() {
			key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			doc := comments.Losses(docs[of.String()+"."+f.Name], append(loss.Names(false), string(host.Gradient)))
			switch {
			case key == "":
			case f.Type.PkgPath() == of.PkgPath() && f.Type.Kind() == reflect.Struct:
				add(f.Type, prefix+key+".")
			case doc == "":
				t.Errorf("%v.%s: key %q has no comment", of, f.Name, prefix+key)
			default:
				fmt.Fprintf(&table, "| `%s%s` | %s |\n", prefix, key, doc)
			}
		}
	}
	add(reflect.TypeFor[box.Config](), "")
	const (
		begin = "<!-- Written by \"go generate ./internal/box\" from the types of that package; change their comments. -->\n\n"
		end   = "\n## Size"
	)
	before, rest, found := strings.Cut(runtimePage(t), begin)
	got, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("doc/runtime.md has no table between %q and %q", begin, end)
	}
	if *update {
		check(t, os.WriteFile("../../doc/runtime.md", []byte(before+begin+table.String()+end+after), 0o644))
	} else if got != table.String() {
		t.Error("the table of agent.yaml in doc/runtime.md is not what the types say\nTry: go generate ./internal/box")
	}
}

// Every key of a section that another package defines is named in its row.
func TestKeysOfOthers(t *testing.T) {
	docs, err := comments.Of("config.go")
	check(t, err)
	for field, of := range map[string]reflect.Type{
		"Learn": reflect.TypeFor[rule.Settings](), "Faults": reflect.TypeFor[transport.Faults](), "Hosts": reflect.TypeFor[box.Peer](),
	} {
		for f := range of.Fields() {
			key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			if key != "began" && !strings.Contains(docs["box.Config."+field], "`"+key+"`") { // a launcher writes that one
				t.Errorf("the comment of %s does not name `%s`", field, key)
			}
		}
	}
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
