package wdgnn

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every entry of doc/deviations.md names the files in which it is marked, and
// every mark has an entry.
func TestDeviationsAreMarked(t *testing.T) {
	text, err := os.ReadFile("doc/deviations.md")
	if err != nil {
		t.Fatal(err)
	}
	marked, named := markedFiles(t), map[string]bool{}
	file := regexp.MustCompile("`([a-z0-9/]+\\.go)`")
	for _, entry := range strings.Split(string(text), "\n\n") {
		if !strings.HasPrefix(entry, "**") {
			continue
		}
		title := strings.Split(entry, "**")[1]
		_, places, found := strings.Cut(entry, "\nMarked in ")
		if !found {
			t.Errorf("%q: got no line \"Marked in `FILE`.\", want one", title)
		}
		for _, m := range file.FindAllStringSubmatch(places, -1) {
			named[m[1]] = true
			if !marked[m[1]] {
				t.Errorf("%q: got no comment \"Deviation:\" in %s, want one", title, m[1])
			}
		}
	}
	for path := range marked {
		if !named[path] {
			t.Errorf("%s: got a comment \"Deviation:\" without an entry in doc/deviations.md, want one that names the file", path)
		}
	}
}

// markedFiles returns the Go files in which a comment says where the code
// differs from the paper.
func markedFiles(t *testing.T) map[string]bool {
	t.Helper()
	marked := map[string]bool{}
	comment := regexp.MustCompile(`(?m)^\s*// Deviation:`)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != "." {
			if err == nil {
				err = fs.SkipDir
			}
			return err
		}
		if d.IsDir() || filepath.Ext(path) != ".go" {
			return nil
		}
		text, err := os.ReadFile(path)
		if comment.Match(text) {
			marked[filepath.ToSlash(path)] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return marked
}
