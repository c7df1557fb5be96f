// Package idlist writes numbers of hosts and nodes as people do, such as
// 0-9,12, and reads them.
package idlist

import (
	"strconv"
	"strings"
)

// Format writes ascending numbers, each named once, as single ones and ranges.
func Format[T ~uint32](list []T) string {
	var parts []string
	for k := 0; k < len(list); {
		last := k
		for last+1 < len(list) && list[last+1] == list[last]+1 {
			last++
		}
		part := strconv.FormatUint(uint64(list[k]), 10)
		if last > k {
			part += "-" + strconv.FormatUint(uint64(list[last]), 10)
		}
		parts, k = append(parts, part), last+1
	}
	return strings.Join(parts, ",")
}

// ParseRange reads what stands between two commas: a number of 32 bits, or two
// with a dash between them, the first not above the last. Callers bound how many
// numbers they take.
func ParseRange(text string) (first, last uint64, ok bool) {
	from, to, ranged := strings.Cut(text, "-")
	if !ranged {
		to = from
	}
	first, err1 := strconv.ParseUint(from, 10, 32)
	last, err2 := strconv.ParseUint(to, 10, 32)
	return first, last, err1 == nil && err2 == nil && first <= last
}
