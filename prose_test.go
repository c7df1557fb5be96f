package wdgnn

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// described are the files that describe in sentences what a page shows or a
// measurement does; nothing in them depends on a result.
var described = []string{
	"bench/agents/large.go", "internal/demo/scene.go", "internal/flock/live.go", "internal/runview/about.go", "internal/shop/serve/ratings.go",
	"internal/swarm/scene.go",
}

// sentences is one that ends, and another that begins or nothing.
var sentences = regexp.MustCompile(`[\pL\d)%]\.( \p{Lu}|$)`)

// Texts of results stand in templates, which are given numbers: a sentence in Go
// would say of every run what one of them gave. A literal of more than a hundred
// characters that ends a sentence is one, if it is on one line: helps and pages have
// several.
func TestNoResultsInGo(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != "."):
			return filepath.SkipDir
		case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || slices.Contains(described, filepath.ToSlash(path)):
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, at := range prose(t, path, src) {
			t.Errorf("%s: sentences in Go: put them into a template and pass the numbers", at)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// prose returns the places of literals that are prose.
func prose(t *testing.T, path string, src []byte) (places []string) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, src, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		text, ok := joined(n)
		if !ok {
			return true
		}
		if len([]rune(text)) > 100 && !strings.Contains(text, "\n") && sentences.MatchString(text) {
			places = append(places, set.Position(n.Pos()).String())
		}
		return false
	})
	return places
}

// joined returns the text of a literal, or of several that are added up.
func joined(n ast.Node) (string, bool) {
	switch e := n.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		a, left := joined(e.X)
		b, right := joined(e.Y)
		return a + b, left && right && e.Op == token.ADD
	}
	return "", false
}

func TestProse(t *testing.T) {
	const head = "package p\n\nvar x = "
	for text, want := range map[string][]string{
		`"On some data set it is the other way round. " + "That was typed whatever the run gave, and is two sentences long."`: {"p.go:3:9"},
		`"a title of a table, however long it may be, with units and what not in it, m²/s², by so many messages lost, in %"`:  nil,
		`"Short. Two."`: nil,
	} {
		if got := prose(t, "p.go", []byte(head+text)); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}
