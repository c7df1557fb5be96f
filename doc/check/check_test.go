package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Blocks of code are found however they are set off, with what is said about
// them; blocks that are no commands are left alone.
func TestParse(t *testing.T) {
	lines := strings.Split("# Title\n"+
		"```\n$ one\nprinted\n\n$ two \\\n  more\n```\n"+
		"words\n\n    $ three\n    a\n\n    b\n\n"+
		"<!-- doc-check: skip, needs the sea -->\n\n    wdgnn swim  far\n    wdgnn dive\n\n"+
		"- item\n\n      $ four\n\n"+
		"<!-- doc-check: file a.yaml -->\n```yaml\nx: 1\n  y: 2\n```\n"+
		"<!-- doc-check: needs ml-100k -->\n<!-- doc-check: serves -->\n```\n$ five\n```\n"+
		"<!-- doc-check: loose, noise -->\n<!-- doc-check: checkout python doc -->\n```\n$ six\n7\n```\n"+
		"    Ψ(X; S) = α\n\n```go\nx := 1\n```\n", "\n")
	steps, err := parse(lines)
	if err != nil {
		t.Fatal(err)
	}
	want := []step{
		{line: 3, command: "one", want: []string{"printed"}, at: 3},
		{line: 6, command: "two \\\n  more", at: 7},
		{line: 11, command: "three", want: []string{"a", "", "b"}, at: 11, indent: "    "},
		{line: 18, command: "wdgnn swim  far", at: 18, indent: "    ", mode: mode{skip: "needs the sea"}},
		{line: 19, command: "wdgnn dive", at: 19, indent: "    ", mode: mode{skip: "needs the sea"}},
		{line: 23, command: "four", at: 23, indent: "      "},
		{line: 27, content: "x: 1\n  y: 2\n", mode: mode{file: "a.yaml"}},
		{line: 33, command: "five", at: 33, mode: mode{needs: "ml-100k", serves: true}},
		{line: 38, command: "six", want: []string{"7"}, at: 38, mode: mode{loose: true, checkout: "python doc"}},
	}
	if len(steps) != len(want) {
		t.Fatalf("got %d steps %+v, want %d", len(steps), steps, len(want))
	}
	for k, w := range want {
		g := steps[k]
		if strings.Join(g.want, "\n") != strings.Join(w.want, "\n") {
			t.Errorf("step %d: got %q below it, want %q", k, g.want, w.want)
		}
		g.want, w.want = nil, nil
		if g.line != w.line || g.command != w.command || g.at != w.at || g.indent != w.indent || g.mode != w.mode || g.content != w.content {
			t.Errorf("step %d: got %+v, want %+v", k, g, w)
		}
	}
}

// What nobody would notice is an error.
func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ page, want string }{
		{"```\nwdgnn demo\n```", `"wdgnn demo" looks like a command`},
		{"<!-- doc-check: skip -->\n```\n$ a\n```", "wants a reason"},
		{"<!-- doc-check: jump, high -->\n```\n$ a\n```", "no such comment"},
		{"<!-- doc-check: skip, why -->\nwords", "without a block"},
		{"<!-- doc-check: serves -->\n```\nx: 1\n```", "without commands"},
	} {
		if _, err := parse(strings.Split(c.page, "\n")); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %q", c.page, err, c.want)
		}
	}
}

func TestSame(t *testing.T) {
	for _, c := range []struct {
		want, got   string
		loose, same bool
	}{
		{"accuracy 96.9 %", "accuracy 96.9 %", false, true},
		{"accuracy 96.9 %", "accuracy 96.8 %", false, false},
		{"accuracy 96.9 %", "accuracy 96.8 %", true, true},
		{"accuracy 96.9 %", "precision 96.9 %", true, false},
		{"1000 steps in 6.0 s: 167.9 steps/s", "1000 steps in 41.0 s: 9.2 steps/s", false, true},
		{"1000 steps in 6.0 s", "999 steps in 6.0 s", false, false},
		{"left 950ms,  x", "left 1m12.5s, x", false, true},
		{"5 steps", "6 steps", false, false},
		{"radius 2 m", "radius 3 m", false, false},
		{"237.7 kB", "238.4 kB", false, true},
		{"time=… level=INFO", "time=2026-11-15T19:53:23.924Z level=INFO", false, true},
		{"time=… level=INFO", "time=2026-11-15T19:53:23.924Z level=WARN", false, false},
		{"at 2026-11-15T06:12:00Z", "at 2025-01-01T00:00:00.5Z", false, true},
		{"commit 910b5ee5916a, go1.26.8", "commit 18c41fb6af73, go1.27", false, true},
	} {
		if got := same(c.want, c.got, c.loose); got != c.same {
			t.Errorf("%q and %q, loose %v: got %v, want %v", c.want, c.got, c.loose, got, c.same)
		}
	}
}

func TestMatchAndRewrite(t *testing.T) {
	split := func(s string) []string { return strings.Split(s, "|") }
	for _, c := range []struct {
		name, want, got string
		ok              bool
		after           string // what -write leaves
	}{
		{"the same", "a|b 1", "a|b 1", true, "a|b 1"},
		{"one line more", "a|b 1", "a|b 1|c", false, "a|b 1|c"},
		{"another number", "a|b 1", "a|b 2", false, "a|b 2"},
		{"lines left out", "a|...|z 1", "a|b|c|z 1", true, "a|...|z 1"},
		{"a number after them", "a|...|z 1", "a|b|c|z 2", false, "a|...|z 2"},
		{"none left out", "a|...|z", "a|z", true, "a|...|z"},
		{"at the end", "a|...", "a|b|c", true, "a|..."},
		{"at both ends", "...|b|...", "a|b|c", true, "...|b|..."},
		{"in the middle", "a|...|m 1|...|z", "a|b|m 2|y|z", false, "a|...|m 2|...|z"},
		{"the wrong order", "...|b|...|a|...", "a|b", false, "a|b"},
		{"other words", "a|...|z", "a|b|y", false, "a|b|y"},
		{"a time stays", "took 5 s|n 1", "took 9 s|n 2", false, "took 5 s|n 2"},
		{"nothing printed", "a", "", false, ""},
	} {
		want, got := split(c.want), split(c.got)
		if _, ok := match(want, got, false); ok != c.ok {
			t.Errorf("%s: match is %v, want %v", c.name, ok, c.ok)
		}
		if after := strings.Join(rewrite(want, got, false), "|"); after != c.after {
			t.Errorf("%s: got %q written, want %q", c.name, after, c.after)
		}
	}
}

// Every digit of what pages say that commands print is watched over, but for
// times, speeds and what is marked: a copy with another digit does not match.
func TestAlteredNumberIsFound(t *testing.T) {
	found, passed := 0, 0
	for _, page := range []string{"../../README.md", "../sensors.md", "../own-data.md", "../recommender.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		steps, err := parse(strings.Split(string(text), "\n"))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range steps {
			if s.skip != "" || s.loose {
				continue
			}
			if _, ok := match(s.want, s.want, false); !ok {
				t.Errorf("%s:%d: what is written does not match itself", page, s.line)
			}
			a, b := altered(s.want)
			found, passed = found+a, passed+b
		}
	}
	if found < 300 || passed > found/5 {
		t.Errorf("got %d altered digits found and %d not, want more than 300 and few", found, passed)
	}
}

// altered counts the digits of a text of which another one is found, and of which it
// is not.
func altered(text []string) (found, passed int) {
	for k, line := range text {
		for at := range len(line) {
			if line[at] < '0' || line[at] > '9' {
				continue
			}
			other := slices.Clone(text)
			other[k] = line[:at] + string('0'+(line[at]-'0'+1)%10) + line[at+1:]
			if _, ok := match(other, text, false); ok {
				passed++
			} else {
				found++
			}
		}
	}
	return found, passed
}

// checked checks a page in a folder of its own and returns what was reported and
// what the page is after that.
func checked(t *testing.T, page string, c *checker) (report, after string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	c.out, c.scratch, c.bin = &out, t.TempDir(), t.TempDir()
	if c.limit == 0 {
		c.limit = time.Minute
	}
	if err := c.check(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	c.report()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), string(text)
}

// Commands of a page share a shell and a folder, read files of the page, and
// what runs on is there for those that follow.
func TestCheck(t *testing.T) {
	page := "<!-- doc-check: file a.txt -->\n```\nhello 7\n```\n" +
		"```\n$ greet() { cat a.txt; echo to standard error >&2; }\n$ greet # a comment\nhello 7\nto standard error\n" +
		"$ printf 'no newline'\nno newline\n$ mkdir sub && cd sub\n$ cat ../a.txt\nhello 7\n```\n" +
		"<!-- doc-check: serves -->\n```\n$ sh -c 'cat a.txt; sleep 60'\n...\nhello 7\n```\n" +
		"<!-- doc-check: skip, there is no bird -->\n```\n$ fly\n```\n" +
		"<!-- doc-check: needs no-such-data -->\n```\n$ fly\n```\n" +
		"<!-- doc-check: checkout check_test.go -->\n```\n$ head -1 ../check_test.go\npackage main\n```\n"
	c := new(checker)
	report, _ := checked(t, page, c)
	if c.ran != 7 || c.wrong != 0 || len(c.skipped) != 2 {
		t.Errorf("got %d commands run, %d wrong, %d skipped, want 7, 0 and 2:\n%s", c.ran, c.wrong, len(c.skipped), report)
	}
	for _, want := range []string{"fly: there is no bird", "there is no no-such-data", "7 commands ran, 2 are skipped"} {
		if !strings.Contains(report, want) {
			t.Errorf("got no %q in\n%s", want, report)
		}
	}
}

// A page that is not true any more fails, with what was printed, and -write
// changes it and nothing else.
func TestUntruePage(t *testing.T) {
	page := "words\n\n    $ echo 5 of 8 in 3 s; echo more; echo the end\n    4 of 8 in 2 s\n    ...\n    the end\n\n" +
		"```\n$ echo right\nright\n```\nend\n"
	c := new(checker)
	report, after := checked(t, page, c)
	if c.wrong != 1 || !strings.Contains(report, "- 4 of 8 in 2 s") || !strings.Contains(report, "> 5 of 8 in 3 s") || after != page {
		t.Errorf("got %d wrong, page changed: %v, want one and no change:\n%s", c.wrong, after != page, report)
	}
	_, after = checked(t, page, &checker{write: true})
	want := strings.Replace(page, "4 of 8 in 2 s", "5 of 8 in 3 s", 1)
	if after != want {
		t.Errorf("got page\n%s\nwant\n%s", after, want)
	}
}

// Commands that fail or do not end are told, and nothing waits for ever.
func TestCommandsThatFail(t *testing.T) {
	const short = 200 * time.Millisecond
	for _, c := range []struct {
		page  string
		limit time.Duration
		want  string
	}{
		{"```\n$ (exit 3)\n```\n", 0, "exit code 3"},
		{"```\n$ exit 4\n```\n", 0, "the shell is gone"},
		{"```\n$ sleep 60\n```\n", short, "it did not end within 200ms"},
		{"```\n$ sleep 60\n$ echo next\nnext\n```\n", short, "the shell is gone"},
		{"<!-- doc-check: serves -->\n```\n$ sleep 60\nready\n```\n", short, "- ready"},
		{"<!-- doc-check: serves -->\n```\n$ echo gone\nready\n```\n", 0, "> gone"},
	} {
		report, _ := checked(t, c.page, &checker{limit: c.limit})
		if !strings.Contains(report, c.want) || !strings.Contains(report, "do not do what is written") {
			t.Errorf("%q: got no %q in\n%s", c.page, c.want, report)
		}
	}
}
