package livepage

import (
	"io/fs"
	"strings"
	"testing"
)

// The page is small and holds nothing that the policy forbids.
func TestPageFiles(t *testing.T) {
	total := int64(0)
	entries, err := fs.ReadDir(Files(), ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := fs.ReadFile(Files(), e.Name())
		if err != nil {
			t.Fatal(err)
		}
		total += int64(len(text))
		ours := !strings.HasPrefix(e.Name(), "uplot")
		for _, bad := range []string{
			"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "style=\"", " onclick=", "//cdn", "https://",
		} {
			if ours && strings.Contains(string(text), bad) {
				t.Errorf("%s holds %q", e.Name(), bad)
			}
		}
	}
	t.Logf("the page has %d bytes in %d files", total, len(entries))
	if total >= 260_000 {
		t.Errorf("%d bytes, want less than 260,000", total)
	}
}
