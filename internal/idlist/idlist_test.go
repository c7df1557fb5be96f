package idlist_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/internal/idlist"
)

// What is written is read again.
func TestFormat(t *testing.T) {
	for want, list := range map[string][]uint32{
		"":                          nil,
		"7":                         {7},
		"0-1":                       {0, 1},
		"0-2,4,6-7":                 {0, 1, 2, 4, 6, 7},
		"3,5,4294967294-4294967295": {3, 5, math.MaxUint32 - 1, math.MaxUint32},
	} {
		got := idlist.Format(list)
		if got != want {
			t.Errorf("%v: got %q, want %q", list, got, want)
		}
		var again []uint32
		for part := range strings.SplitSeq(got, ",") {
			first, last, ok := idlist.ParseRange(part)
			for n := first; ok && n <= last; n++ {
				again = append(again, uint32(n))
			}
		}
		if !slices.Equal(again, list) {
			t.Errorf("%q: got %v, want %v", got, again, list)
		}
	}
}

func TestParseRangeRefuses(t *testing.T) {
	for _, text := range []string{"", "-", "1-", "-1", "2-1", "1-2-3", " 1", "+1", "x", "4294967296"} {
		if first, last, ok := idlist.ParseRange(text); ok {
			t.Errorf("%q: got %d to %d, want a refusal", text, first, last)
		}
	}
}
