// Package grid sets text for a terminal: tables in columns where they fit, otherwise turned
// by a quarter, or with a block of lines for every row; sentences broken between words.
package grid

import (
	"strings"
	"unicode/utf8"
)

// Lines returns a table as lines of at most wide characters where that can be; 0 means
// any. The first column is to the left, the others to the right, with gap spaces
// between. Cells may be missing at the end of a row.
//
//	robots   total   final
//	    25   63.56   0.016
//
// Where it does not fit, rows become columns; if that does not help, blocks:
//
//	robots
//	25
//	  total  63.56
//	  final  0.016
//
// inBlocks says that it came to that: the first line is then no header.
func Lines(header []string, rows [][]string, gap, wide int) (lines []string, inBlocks bool) {
	all := append([][]string{header}, rows...)
	for _, way := range [][][]string{all, turned(all)} {
		if lines, long := set(way, gap); wide == 0 || long <= wide {
			return lines, false
		}
	}
	return blocks(header, rows), true
}

// set returns rows in columns, and how long the longest is.
func set(rows [][]string, gap int) (lines []string, longest int) {
	var width []int
	for _, row := range rows {
		for c, cell := range row {
			if c == len(width) {
				width = append(width, 0)
			}
			width[c] = max(width[c], length(cell))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for c, cell := range row {
			pad := strings.Repeat(" ", width[c]-length(cell))
			if c == 0 {
				b.WriteString(cell + pad)
			} else {
				b.WriteString(strings.Repeat(" ", gap) + pad + cell)
			}
		}
		line := strings.TrimRight(b.String(), " ")
		lines, longest = append(lines, line), max(longest, length(line))
	}
	return lines, longest
}

// turned returns columns as rows.
func turned(rows [][]string) [][]string {
	out := make([][]string, len(rows[0]))
	for _, row := range rows {
		for c := range out {
			cell := ""
			if c < len(row) {
				cell = strings.TrimSpace(row[c])
			}
			out[c] = append(out[c], cell)
		}
	}
	return out
}

// blocks returns every row as a line with its name and one for each of its cells. The
// name of the first column is told once, before them.
func blocks(header []string, rows [][]string) (lines []string) {
	if header[0] != "" {
		lines = append(lines, header[0])
	}
	width := 0
	for _, name := range header[1:] {
		width = max(width, length(name))
	}
	for _, row := range rows {
		lines = append(lines, strings.TrimSpace(row[0]))
		for c, cell := range row[1:] {
			if cell = strings.TrimSpace(cell); cell != "" {
				name := header[1+c]
				lines = append(lines, "  "+name+strings.Repeat(" ", width-length(name))+"  "+cell)
			}
		}
	}
	return lines
}

func length(s string) int { return utf8.RuneCountInString(s) }
