package grid

import (
	"slices"
	"strings"
	"testing"
)

func TestCount(t *testing.T) {
	for n, want := range []string{"0 hosts", "1 host", "2 hosts"} {
		if got := Count(n, "host"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		line string
		wide int
		want []string
	}{
		{"a line that is long", 0, []string{"a line that is long"}},
		{"a line that is long", 19, []string{"a line that is long"}},
		{"a line that is long", 18, []string{"a line that is", "long"}},
		{"a line that is long", 6, []string{"a line", "that", "is", "long"}},
		{"averyveryvery longword", 5, []string{"averyveryvery", "longword"}},
		{"nospacesanywhere", 5, []string{"nospacesanywhere"}},
		{"  two spaces before it", 12, []string{"  two spaces", "  before it"}},
		{"late     0.1 % of the rows", 22, []string{"late     0.1 % of the", "         rows"}},
		{"a label that is long     and text", 20, []string{"a label that is long", "and text"}},
		{"✓ ✓ ✓ ✓", 5, []string{"✓ ✓ ✓", "✓"}},
		{"", 5, []string{""}},
	} {
		if got := Wrap(c.line, c.wide); !slices.Equal(got, c.want) {
			t.Errorf("%q in %d columns: got\n%s\nwant\n%s", c.line, c.wide, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}
