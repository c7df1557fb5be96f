package wdgnn

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// room is a part of the repository that has a budget: its folders and what lies below
// them, but for folders of other rooms. "." is this folder alone.
//
// Budgets are what there is today, so that nothing grows unseen, and they only go
// down: a commit that raises one says what it takes out elsewhere.
type room struct {
	name          string
	lines, target int     // of code, which carry a token: at most, and where we are going
	dense         float64 // tokens for each line: at most; 8.0, or what there was when counting began
	comments      float64 // lines of comments for each line of code: at least
	folders       string
}

var rooms = []room{
	{"core", 6247, 6000, 8.5, 0.31, ". mat graph gnn loss optim random internal/kernel"},
	{"train", 1858, 1700, 8.3, 0.25, "train"},
	{"learning", 6202, 5500, 8.3, 0.29, "rule online conformal"},
	{"forecast", 1535, 2000, 8.5, 0.23, "forecast"},
	{"agents", 8521, 6500, 8.0, 0.27, "agent host"},
	{"transport", 3589, 3000, 8.0, 0.20, "transport internal/idlist"},
	{"deployment", 15427, 11500, 8.0, 0.15, "internal/box internal/mqtt internal/keys internal/broker internal/swarm internal/sim " +
		"internal/hostname internal/defect"},
	{"sessions", 10507, 7800, 8.0, 0.17, "internal/lifecycle internal/rundir internal/snapshot internal/data internal/config " +
		"internal/jsonfile internal/duration"},
	{"files", 4054, 3300, 8.0, 0.17, "modelfile internal/onnx internal/journal internal/strictjson"},
	{"certificates", 4156, 2600, 8.4, 0.18, "internal/robust internal/crown internal/vector"},
	{"page", 6483, 4750, 8.0, 0.16, "internal/live internal/livepage internal/liveweb internal/runview internal/demo " +
		"internal/flock internal/grid"},
	{"worlds", 2665, 2400, 8.1, 0.30, "scenario internal/recipe"},
	{"commands", 9832, 6500, 8.0, 0.07, "cmd"},
	{"paper", 14118, 10500, 8.6, 0.15, "internal/paper"},
	{"shop", 6851, 4950, 8.0, 0.20, "internal/shop"},
	{"instruments", 11089, 7000, 8.0, 0.13, "bench doc tools examples internal/perf internal/section internal/alloctest " +
		"internal/clocktest internal/mqtttest internal/twintest internal/script"},
}

// What is not counted, as a program of tools/ writes it. Other files with such a header count.
var generated = []string{
	"internal/kernel/avx2_stub_amd64.go", "internal/kernel/avx512_stub_amd64.go", "internal/kernel/neon_stub_arm64.go",
}

const (
	mostTests  = 76303 // lines of tests
	testTarget = 0.65  // lines of tests for each line of code
	mostOther  = 7500  // lines of .js .css .html .py .tmpl .sh that are not empty
	mostFields = 30    // of a type
	otherKinds = ".js .css .html .py .tmpl .sh"
	ignored    = "bin dist site data reproduce" // folders that git ignores
)

// wideTypes are the types with more fields than a type should have, and how many they may
// have; in rule, online and conformal there are none.
var wideTypes = map[string]int{
	"bench/agents.Figure":      36,
	"cmd/wdgnn.CertifyCommand": 31,
	"host.Machine":             86,
	"host.Stats":               31,
	"host.Report":              36,
	"internal/box.mqttWorld":   35,
	"internal/sim.box":         32,
}

// tally is what was counted in a room.
type tally struct{ lines, comments, tokens int }

func TestBudget(t *testing.T) {
	t.Parallel()
	rows, tests, other := count(t)
	page, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	line := func(name string, a tally, most, target int) {
		fmt.Fprintf(&table, "%-14s%8d%9d%9d%8.2f%10.3f\n", name, a.lines, most, target,
			float64(a.tokens)/float64(a.lines), float64(a.comments)/float64(a.lines))
	}
	fmt.Fprintf(&table, "\n%-14s%8s%9s%9s%8s%10s\n", "room", "lines", "at most", "target", "tokens", "comments")
	all, most, target := tally{}, 0, 0
	for _, r := range rooms {
		if row := "| " + r.name + " | `" + strings.Join(strings.Fields(r.folders), "` `") + "` |"; !strings.Contains(string(page), row) {
			t.Errorf("ARCHITECTURE.md has no row for room %s: want a line with %q", r.name, row)
		}
		a := rows[r.name]
		if a.lines == 0 {
			t.Errorf("no code in room %s: take it out of rooms in budget_test.go, or mend its folders: %s", r.name, r.folders)
			continue
		}
		line(r.name, a, r.lines, r.target)
		all = tally{all.lines + a.lines, all.comments + a.comments, all.tokens + a.tokens}
		most, target = most+r.lines, target+r.target
		if a.lines > r.lines {
			t.Errorf("room %s has %d lines of code, want at most %d: take something out of it first, or lower the budget of another room "+
				"by as much and say so in the commit", r.name, a.lines, r.lines)
		}
		if d := float64(a.tokens) / float64(a.lines); d > r.dense {
			t.Errorf("room %s has %.3f tokens for each line of code, want at most %.2f: break its lines, not its readers", r.name, d, r.dense)
		}
		if c := float64(a.comments) / float64(a.lines); c < r.comments {
			t.Errorf("room %s has %.3f lines of comments for each of code, want at least %.2f: code went and its comments did not come back, "+
				"or code came without", r.name, c, r.comments)
		}
	}
	line("all", all, most, target)
	t.Logf("%s\n%d lines of tests, at most %d; %.2f for each line of code, target %.2f\n%d lines of %s, at most %d",
		table.String(), tests, mostTests, float64(tests)/float64(all.lines), testTarget, other, otherKinds, mostOther)
	if tests > mostTests {
		t.Errorf("tests have %d lines, want at most %d: what do the new ones make superfluous?", tests, mostTests)
	}
	if other > mostOther {
		t.Errorf("%s together have %d lines, want at most %d", otherKinds, other, mostOther)
	}
}

// count counts the repository: rooms by name, lines of tests, lines in other languages.
func count(t *testing.T) (rows map[string]tally, tests, other int) {
	t.Helper()
	rows = map[string]tally{}
	written := 0
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		name, file := d.Name(), filepath.ToSlash(file)
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != "." && (name[0] == '.' || slices.Contains(strings.Fields(ignored), file)):
			return filepath.SkipDir
		case d.IsDir():
			return nil
		}
		kind := path.Ext(name)
		if kind != ".go" && !slices.Contains(strings.Fields(otherKinds), kind) {
			return nil
		}
		source, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		switch {
		case kind != ".go":
			for line := range bytes.Lines(source) {
				other += min(1, len(bytes.TrimSpace(line)))
			}
		case slices.Contains(generated, file):
			written++
		case strings.Contains(file, "testdata/"):
		case strings.HasSuffix(name, "_test.go"):
			tests += measure(source).lines
		default:
			r := roomOf(path.Dir(file))
			if r == "" {
				t.Errorf("%s is in no room: put %s into folders of a room in budget_test.go; its budget stays as it is, so say what leaves",
					file, path.Dir(file))
			}
			a, b := rows[r], measure(source)
			rows[r] = tally{a.lines + b.lines, a.comments + b.comments, a.tokens + b.tokens}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if written != len(generated) {
		t.Errorf("%d of the %d generated files are there: mend the list in budget_test.go", written, len(generated))
	}
	return rows, tests, other
}

// roomOf returns the room of a folder: that of the longest folder which it is or lies below.
func roomOf(dir string) (name string) {
	longest := 0
	for _, r := range rooms {
		for _, f := range strings.Fields(r.folders) {
			if len(f) > longest && covers(f, dir) {
				name, longest = r.name, len(f)
			}
		}
	}
	return name
}

// measure counts the lines of a file that carry a token, those that carry a comment, and
// tokens. Semicolons that nobody wrote are none.
func measure(source []byte) (a tally) {
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(source))
	var s scanner.Scanner
	s.Init(file, source, nil, scanner.ScanComments)
	code, comment := 0, 0 // last lines that were counted
	for {
		pos, tok, text := s.Scan()
		first := file.Line(pos)
		last := first + strings.Count(text, "\n")
		switch {
		case tok == token.EOF:
			return a
		case tok == token.COMMENT:
			a.comments += last - max(first, comment+1) + 1
			comment = last
		case tok != token.SEMICOLON || text == ";":
			a.tokens++
			a.lines += last - max(first, code+1) + 1
			code = last
		}
	}
}

// No type has more than 30 fields, but for those that had more when counting began.
func TestFields(t *testing.T) {
	t.Parallel()
	eachFile(t, func(file string, _ []byte, files *token.FileSet, syntax *ast.File) {
		if strings.HasSuffix(file, "_test.go") {
			return
		}
		ast.Inspect(syntax, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if s, ok := spec.Type.(*ast.StructType); ok {
				name := path.Dir(file) + "." + spec.Name.Name
				most := max(mostFields, wideTypes[name])
				if n := s.Fields.NumFields(); n > most {
					t.Errorf("%s: type %s has %d fields, want at most %d: which of them belong together?", files.Position(spec.Pos()), name, n, most)
				}
			}
			return true
		})
	})
}

// Helpers of tests are no part of any product.
func TestHelpersAreOfTests(t *testing.T) {
	for _, p := range packages(t) {
		for _, i := range p.imports {
			to := strings.TrimPrefix(i.path, module+"/")
			if helper(to) && !helper(p.path) {
				t.Errorf("%s: %s imports %s, which is for tests", i.at, p.path, to)
			}
		}
	}
}

// helper says whether a package is for tests only.
func helper(pkg string) bool {
	return strings.HasSuffix(pkg, "test") || pkg == "internal/script" || pkg == "internal/config/comments"
}
