package wdgnn

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The program in doc/library.md is Example, which the compiler and its output check:
// as a program, with the files that wdgnn init writes, and without the folder that a
// test has to make.
func TestLibraryPageShowsExample(t *testing.T) {
	text, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	program := string(text)
	for _, r := range []struct{ old, by string }{
		{"package wdgnn_test", "package main"},
		{"\t\"os\"\n\t\"path/filepath\"\n", ""},
		{"func Example() {", "func main() {"},
		{`filepath.Join(dir, "model.safetensors")`, `"model.safetensors"`},
		{"examples/own-data/model", "first/run/model"},
		{"examples/own-data/", "first/"},
	} {
		program = strings.ReplaceAll(program, r.old, r.by)
	}
	program = regexp.MustCompile(`(?m)^\t(dir :=|defer|// Output:|// node 15|// its loss) ?.*\n`).ReplaceAllString(program, "")
	compareLines(t, "doc/library.md", between(t, "doc/library.md", "```go\n", "```\n"), program)
}

// The lines of Go in README.md are lines of Example, in its order.
func TestREADMEShowsExample(t *testing.T) {
	example := between(t, "example_test.go", "func Example() {\n", "\t// Output:")
	for _, line := range strings.Split(strings.TrimSpace(between(t, "README.md", "```go\n", "```\n")), "\n") {
		_, rest, found := strings.Cut(example, "\t"+line+"\n")
		if !found {
			t.Fatalf("README.md: got the line %q, want one of Example that comes next", line)
		}
		example = rest
	}
}

// compareLines says where two texts differ first.
func compareLines(t *testing.T, where, got, want string) {
	t.Helper()
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for k := range max(len(a), len(b)) {
		if k >= len(a) || k >= len(b) || a[k] != b[k] {
			t.Fatalf("%s, line %d of the block: got\n%s\nwant\n%s", where, k+1,
				strings.Join(a[min(k, len(a)):], "\n"), strings.Join(b[min(k, len(b)):], "\n"))
		}
	}
}

// between returns what stands in a file between two marks.
func between(t *testing.T, path, from, to string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), from)
	inside, _, ended := strings.Cut(rest, to)
	if !found || !ended {
		t.Fatalf("%s: got nothing between %q and %q, want some lines", path, from, to)
	}
	return inside
}

// foreign are messages of the troubleshooting page that other programs print.
var foreign = []string{
	"wdgnn: command not found", "go install …@latest", "bind: address already in use", "authentication error", "wdgnn serve",
}

// Messages that the troubleshooting page explains are those of the program: what stands
// in bold as code is in its source, "…" stands for anything.
func TestTroubleshootingQuotesMessages(t *testing.T) {
	source := goSource(t)
	bold, code := regexp.MustCompile(`(?s)\*\*(.*?)\*\*`), regexp.MustCompile("`([^`]+)`")
	count := 0
	for _, head := range bold.FindAllStringSubmatch(read(t, "doc/troubleshooting.md"), -1) {
		for _, message := range code.FindAllStringSubmatch(head[1], -1) {
			if slices.Contains(foreign, message[1]) {
				continue
			}
			for _, piece := range strings.Split(message[1], "…") {
				if piece = strings.Trim(piece, " :;?"); piece != "" && !strings.Contains(source, piece) {
					t.Errorf("doc/troubleshooting.md: got the message %q, want one of the program: nothing says %q", message[1], piece)
				}
				count++
			}
		}
	}
	if count < 15 {
		t.Errorf("got %d messages, want at least 15", count)
	}
}

// goSource returns the source of all packages but tests, in one text.
func goSource(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			b.WriteString(read(t, path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
