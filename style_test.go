package wdgnn

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// What fits a screen: limits that apply to every Go file but generated ones.
const (
	longestLine = 140 // characters; a tab is one
	mostLines   = 80  // of a function, but for tests and for what generates assembly
)

// No line is longer than 140 characters.
func TestLines(t *testing.T) {
	eachFile(t, func(path string, source []byte, _ *token.FileSet, _ *ast.File) {
		number := 0
		for line := range strings.Lines(string(source)) {
			number++
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\r\n")); n > longestLine {
				t.Errorf("%s:%d: %d characters, want at most %d", path, number, n, longestLine)
			}
		}
	})
}

// No function is longer than 80 lines, apart from tests, which are often tables,
// and generators, which write one routine from top to bottom.
func TestFunctions(t *testing.T) {
	eachFile(t, func(path string, _ []byte, files *token.FileSet, syntax *ast.File) {
		if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "tools/") {
			return
		}
		for _, d := range syntax.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			first := files.Position(f.Pos()).Line
			if n := files.Position(f.End()).Line - first + 1; n > mostLines {
				t.Errorf("%s:%d: %s has %d lines, want at most %d: give its parts names", path, first, f.Name.Name, n, mostLines)
			}
		}
	})
}

// eachFile visits the Go files of the repository, those of other modules in it
// too, except generated ones.
func eachFile(t *testing.T, visit func(path string, source []byte, files *token.FileSet, syntax *ast.File)) {
	t.Helper()
	seen := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (d.Name()[0] == '.' || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files := token.NewFileSet()
		syntax, err := parser.ParseFile(files, path, source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if ast.IsGenerated(syntax) {
			return nil
		}
		seen++
		visit(filepath.ToSlash(path), source, files, syntax)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 100 {
		t.Errorf("%d files were looked at, want those of the whole repository", seen)
	}
}

// A test that is skipped says so by its name, and what it would need.
func TestSkipsAreLoud(t *testing.T) {
	eachFile(t, func(path string, _ []byte, files *token.FileSet, syntax *ast.File) {
		ast.Inspect(syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !strings.HasPrefix(method.Sel.Name, "Skip") || len(method.Sel.Name) > len("SkipNow") {
				return true
			}
			if who, ok := method.X.(*ast.Ident); !ok || who.Name != "t" && who.Name != "b" && who.Name != "f" {
				return true
			}
			if method.Sel.Name == "Skipf" && len(call.Args) > 1 {
				if text, ok := call.Args[0].(*ast.BasicLit); ok && strings.HasPrefix(text.Value, `"SKIPPED %s`) {
					return true
				}
			}
			t.Errorf("%s: want t.Skipf(%q, t.Name(), …) that says what the test needs", files.Position(call.Pos()), "SKIPPED %s: …")
			return true
		})
	})
}
