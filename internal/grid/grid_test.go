package grid

import (
	"slices"
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	header := []string{"robots", "total", "× expert"}
	rows := [][]string{{"25", "63.56", "1.300"}, {"1000", "64.54"}}
	for _, c := range []struct {
		wide int
		want []string
	}{
		{0, []string{"robots   total   × expert", "25       63.56      1.300", "1000     64.54"}},
		{25, []string{"robots   total   × expert", "25       63.56      1.300", "1000     64.54"}},
		{24, []string{"robots        25    1000", "total      63.56   64.54", "× expert   1.300"}},
		{23, []string{"robots", "25", "  total     63.56", "  × expert  1.300", "1000", "  total     64.54"}},
	} {
		got, inBlocks := Lines(header, rows, 3, c.wide)
		if !slices.Equal(got, c.want) || inBlocks != (c.wide == 23) {
			t.Errorf("%d columns: got blocks %v and\n%s\nwant\n%s", c.wide, inBlocks, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}
