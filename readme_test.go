package wdgnn

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The program in README.md is that of Example, which the compiler and its output
// check, but for the folder that a test has to make.
func TestREADMEShowsExample(t *testing.T) {
	shown := between(t, "README.md", "```go\n", "```\n")
	example := between(t, "example_test.go", "func Example() {\n", "\t// Output:")
	example = regexp.MustCompile(`(?m)^\t`).ReplaceAllString(example, "")
	example = regexp.MustCompile(`(?m)^(dir :=|defer) .*\n`).ReplaceAllString(example, "")
	example = strings.Replace(example, `filepath.Join(dir, "model.safetensors")`, `"model.safetensors"`, 1)
	got, want := strings.Split(shown, "\n"), strings.Split(example, "\n")
	for k := range max(len(got), len(want)) {
		if k >= len(got) || k >= len(want) || got[k] != want[k] {
			t.Fatalf("README.md, line %d of the block: got\n%s\nwant\n%s", k+1,
				strings.Join(got[min(k, len(got)):], "\n"), strings.Join(want[min(k, len(want)):], "\n"))
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
