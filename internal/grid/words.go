package grid

import (
	"fmt"
	"strings"
)

// Count writes a number of things: 1 host, 3 hosts.
func Count[T int | uint64](n T, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprint(n, " ", thing)
}

// Wrap breaks a line at spaces into lines of at most wide characters; a word that is
// longer stays whole, and 0 means any width. What follows is as far to the right as the
// text of the first: behind a label, if there is one.
//
//	late     0.1 % of the
//	         rows
func Wrap(line string, wide int) (lines []string) {
	if wide <= 0 || length(line) <= wide {
		return []string{line}
	}
	indent := strings.Repeat(" ", hang(line, wide))
	for length(line) > wide {
		runes := []rune(line)
		at := breakAt(runes, length(indent), wide)
		if at < 0 {
			break
		}
		lines = append(lines, strings.TrimRight(string(runes[:at]), " "))
		line = indent + strings.TrimLeft(string(runes[at:]), " ")
	}
	return append(lines, line)
}

// breakAt returns the last space by which a line fits, else the first behind it; -1 if
// there is none behind from.
func breakAt(line []rune, from, wide int) (at int) {
	at = -1
	for k := from + 1; k < len(line); k++ {
		if line[k] == ' ' && line[k-1] != ' ' {
			if k > wide && at > 0 {
				return at
			}
			if at = k; k > wide {
				return at
			}
		}
	}
	return at
}

// hang returns where the text of a line begins: behind its first gap of two spaces or
// more, if that leaves half of the width, otherwise where the line does.
func hang(line string, wide int) int {
	body := strings.TrimLeft(line, " ")
	start := len(line) - len(body)
	if label, _, found := strings.Cut(body, "  "); found {
		at := start + length(label)
		runes := []rune(line)
		for at < len(runes) && runes[at] == ' ' {
			at++
		}
		if at <= wide/2 {
			return at
		}
	}
	return min(start, wide/2)
}
