package section

import (
	"strings"
	"testing"
)

func TestReplace(t *testing.T) {
	const page = "a\n<!-- n: written by make n -->\nold\n<!-- end of n -->\nz\n"
	got, err := Replace(page, "n", "make n", "new\n")
	if want := "a\n<!-- n: written by make n -->\n\nnew\n\n<!-- end of n -->\nz\n"; err != nil || got != want {
		t.Errorf("got %q and %v, want %q", got, err, want)
	}
	if again, err := Replace(got, "n", "make n", "new"); err != nil || again != got {
		t.Errorf("once more: got %q and %v, want the same", again, err)
	}
	for _, other := range []string{"", "a\n", strings.Replace(page, "<!-- end of n -->", "", 1)} {
		if _, err := Replace(other, "n", "make n", "new"); err == nil || !strings.Contains(err.Error(), "no section n") {
			t.Errorf("%q: got error %v, want one that names the section", other, err)
		}
	}
}
