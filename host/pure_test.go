package host_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// outer are the files that touch the world: the loop, what writes checkpoints
// beside it, and a world that speaks text. All others belong to the machine.
var outer = []string{"loop.go", "saver.go", "world.go"}

// The machine is told what time it is and what happened: none of its files reads a
// clock, sets a timer, starts a goroutine, uses a channel or a lock, or can reach
// files and networks.
func TestMachineIsPure(t *testing.T) {
	entries, err := os.ReadDir(".")
	check(t, err)
	looked := 0
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || slices.Contains(outer, name) {
			continue
		}
		looked++
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, nil, 0)
		check(t, err)
		for at, what := range impure(file) {
			t.Errorf("%v: %s: what touches the world belongs to %s", files.Position(at), what, strings.Join(outer, ", "))
		}
	}
	if looked < 10 {
		t.Errorf("%d files of the machine, want all", looked)
	}
}

// The loop is impure, and found to be: the test above looks at something.
func TestImpureIsFound(t *testing.T) {
	for _, name := range outer {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		check(t, err)
		if len(impure(file)) == 0 {
			t.Errorf("%s: nothing impure was found, want some", name)
		}
	}
}

// clocks are the functions of package time that depend on when they are called.
var clocks = []string{"Now", "Since", "Until", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick", "Sleep"}

// worldly are packages, with all below them, that no pure machine needs.
var worldly = []string{"sync", "context", "os", "net", "io", "syscall", "math/rand", "crypto/rand"}

// impure returns what a file does beside computing, by place.
func impure(file *ast.File) map[token.Pos]string {
	found := map[token.Pos]string{}
	for _, i := range file.Imports {
		name, err := strconv.Unquote(i.Path.Value)
		for p := name; err == nil && p != "."; p = path.Dir(p) {
			if slices.Contains(worldly, p) {
				found[i.Pos()] = "import of " + name
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(clocks, n.Sel.Name) {
				found[n.Pos()] = "time." + n.Sel.Name
			}
		case *ast.GoStmt:
			found[n.Pos()] = "a go statement"
		case *ast.ChanType, *ast.SendStmt, *ast.SelectStmt:
			found[n.Pos()] = "a channel"
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				found[n.Pos()] = "a channel"
			}
		}
		return true
	})
	return found
}
