package wdgnn

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"
)

// The journeys of ARCHITECTURE.md name a file and functions at each hand-over,
// and so does the step that the package comment of agent walks through. A reader
// who looks there finds them.
func TestJourneys(t *testing.T) {
	page, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, journeys, found := strings.Cut(string(page), "## Three journeys of the data")
	if !found {
		t.Fatal("ARCHITECTURE.md has no journeys")
	}
	walked := 0
	for line := range strings.Lines(journeys) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || !strings.HasSuffix(strings.TrimSpace(cells[1]), ".go`") {
			continue
		}
		walked++
		for _, name := range strings.Split(cells[2], ",") {
			look(t, "ARCHITECTURE.md", unquote(cells[1]), unquote(name))
		}
	}
	if walked < 30 {
		t.Errorf("%d hand-overs in ARCHITECTURE.md, want 30 or more: has the form of the tables changed?", walked)
	}
	text, err := os.ReadFile("agent/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	flat := strings.Join(strings.Fields(strings.ReplaceAll(string(text), "//", " ")), " ")
	hits := regexp.MustCompile(`([\w.]+) \(([\w/]+\.go)\)`).FindAllStringSubmatch(flat, -1)
	for _, hit := range hits {
		look(t, "agent/doc.go", hit[2], hit[1])
	}
	if len(hits) < 20 {
		t.Errorf("%d hand-overs in agent/doc.go, want 20 or more: has the form of the text changed?", len(hits))
	}
}

func unquote(cell string) string { return strings.Trim(strings.TrimSpace(cell), "`") }

// look reports a name that a page puts into a file which does not declare it.
func look(t *testing.T, page, file, name string) {
	t.Helper()
	syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Errorf("%s: %v", page, err)
		return
	}
	for _, d := range syntax.Decls {
		if declares(d, name) {
			return
		}
	}
	t.Errorf("%s names %s in %s, which does not declare it: walk the journey again", page, name, file)
}

// declares says whether d is the function, method or type of that name; a method
// is called Type.Method.
func declares(d ast.Decl, name string) bool {
	switch d := d.(type) {
	case *ast.FuncDecl:
		full := d.Name.Name
		if d.Recv != nil {
			receiver := d.Recv.List[0].Type
			if star, ok := receiver.(*ast.StarExpr); ok {
				receiver = star.X
			}
			if of, ok := receiver.(*ast.Ident); ok {
				full = of.Name + "." + full
			}
		}
		return full == name
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if of, ok := spec.(*ast.TypeSpec); ok && of.Name.Name == name {
				return true
			}
		}
	}
	return false
}
