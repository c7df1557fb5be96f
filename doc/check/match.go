package main

import (
	"regexp"
	"strings"
)

// masks hide what depends on the machine: what stands for it names the kind, so
// that a time is still a time.
var masks = []struct {
	figure *regexp.Regexp
	kind   string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)`), "DATE"},
	{regexp.MustCompile(`\b\d[\d.,]* ?(steps/s|kB|MB|GB|GHz)(\W|$)`), "# $1$2"},
	{regexp.MustCompile(`\b(\d+h)?(\d+m)?\d+(\.\d+)? ?(s|ms|µs|ns)\b`), "TIME"},
	{regexp.MustCompile(`\bgo1\.\d+(\.\d+)?\b`), "VERSION"},
	{regexp.MustCompile(`\bv\d+\.\d+\.\d+[-+.\w]*`), "VERSION"},
	{regexp.MustCompile(`\b[0-9a-f]{12}\b`), "COMMIT"},
}

var (
	spaces = regexp.MustCompile(`\s+`)
	number = regexp.MustCompile(`\d[\d.,]*(e[+-]?\d+)?`)
)

// masked returns a line as it is compared: without what depends on the machine,
// and, if loose, without any number.
func masked(line string, loose bool) string {
	for _, m := range masks {
		line = m.figure.ReplaceAllString(line, m.kind)
	}
	if loose {
		line = number.ReplaceAllString(line, "#")
	}
	return strings.TrimSpace(spaces.ReplaceAllString(line, " "))
}

const (
	anyLines = "..."
	anyText  = "…"
)

// same says whether a line that was printed is the one that is written.
func same(want, got string, loose bool) bool {
	want, got = masked(want, loose), masked(got, loose)
	if want == got || !strings.Contains(want, anyText) {
		return want == got
	}
	parts := strings.Split(want, anyText)
	for k := range parts {
		parts[k] = regexp.QuoteMeta(parts[k])
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$").MatchString(got)
}

// piece is written lines that follow each other.
type piece struct {
	lines []string
	at    int // index of the first in what is written

	first, last bool // they begin, and end, what is printed
}

// pieces cuts what is written at the lines that stand for any others.
func pieces(want []string) (list []piece) {
	p := piece{first: true}
	for k, line := range want {
		if strings.TrimSpace(line) == anyLines {
			if len(p.lines) > 0 {
				list = append(list, p)
			}
			p = piece{at: k + 1}
			continue
		}
		p.lines = append(p.lines, line)
	}
	if len(p.lines) > 0 {
		p.last = true
		list = append(list, p)
	}
	return list
}

// find returns where a piece is in what was printed, from a line on; -1 if it is
// nowhere.
func (p piece) find(got []string, from int, loose bool) int {
	least, most := from, len(got)-len(p.lines)
	if p.first {
		most = min(most, 0)
	}
	if p.last {
		least = max(least, len(got)-len(p.lines))
	}
	for k := least; k <= most; k++ {
		if p.matches(got[k:], loose) {
			return k
		}
	}
	return -1
}

func (p piece) matches(got []string, loose bool) bool {
	for k, line := range p.lines {
		if !same(line, got[k], loose) {
			return false
		}
	}
	return true
}

// match says whether what was printed is what is written. If not, it returns the
// piece that was not found.
func match(want, got []string, loose bool) (missing piece, ok bool) {
	at := 0
	for _, p := range pieces(want) {
		k := p.find(got, at, loose)
		if k < 0 {
			return p, false
		}
		at = k + len(p.lines)
	}
	return piece{}, true
}

// rewrite returns what is written with what was printed in its place. Lines that
// are right stay as they are; "..." stays where it is as far as its neighbours
// are found by their shape, and what was printed stands whole where they are not.
func rewrite(want, got []string, loose bool) []string {
	list := pieces(want)
	out := append([]string(nil), want...)
	at := 0
	for _, p := range list {
		k := p.find(got, at, true)
		if k < 0 {
			return append([]string(nil), got...)
		}
		for i, line := range p.lines {
			if !same(line, got[k+i], loose) {
				out[p.at+i] = strings.TrimRight(got[k+i], " ")
			}
		}
		at = k + len(p.lines)
	}
	return out
}
