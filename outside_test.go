package wdgnn

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// quotation finds code in a page, and the file that it is from.
var quotation = regexp.MustCompile("(?s)<!-- quoted from (\\S+)(, as a program)? -->\n\n```go\n(.*?)```\n")

// Code that pages show is code that compiles: every block names its file and
// stands there. Tabs at the beginning of lines do not count. What is quoted as a
// program TestLibraryPageShowsExample compares.
func TestQuotations(t *testing.T) {
	pages, err := filepath.Glob("doc/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		text := read(t, page)
		found := quotation.FindAllStringSubmatch(text, -1)
		if blocks := strings.Count(text, "```go\n"); blocks != len(found) {
			t.Errorf("%s: %d blocks of Go, %d with a line <!-- quoted from FILE --> before them", page, blocks, len(found))
		}
		for _, q := range found {
			if q[2] == "" && !strings.Contains(unindented(read(t, q[1])), unindented(q[3])) {
				t.Errorf("%s: this is not in %s:\n%s", page, q[1], q[3])
			}
		}
	}
}

// unindented returns text without the tabs that its lines begin with.
func unindented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimLeft(line, "\t"))
	}
	return b.String()
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
