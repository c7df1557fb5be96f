// Package comments reads the comments of types and fields from Go source, for
// pages that document the keys of a configuration in the words of its types.
// Tests use it; no program does.
package comments

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// Of returns the comments in the given files, on one line each, by
// "package.Type" and "package.Type.Field".
func Of(files ...string) (map[string]string, error) {
	docs := map[string]string{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		add(docs, file)
	}
	return docs, nil
}

func add(docs map[string]string, file *ast.File) {
	for _, d := range file.Decls {
		decl, ok := d.(*ast.GenDecl)
		if !ok || decl.Tok != token.TYPE {
			continue
		}
		for _, s := range decl.Specs {
			spec := s.(*ast.TypeSpec)
			name := file.Name.Name + "." + spec.Name.Name
			docs[name] = line(decl.Doc)
			st, ok := spec.Type.(*ast.StructType)
			if !ok {
				continue
			}
			for _, f := range st.Fields.List {
				for _, n := range f.Names {
					docs[name+"."+n.Name] = line(f.Doc)
				}
			}
		}
	}
}

func line(g *ast.CommentGroup) string {
	return strings.Join(strings.Fields(g.Text()), " ")
}

// Losses puts names where a comment says that a key is "one that package loss
// names", so that a loss is entered in that package alone.
func Losses(comment string, names []string) string {
	return strings.ReplaceAll(comment, "one that package loss names", "`"+strings.Join(names, "`, `")+"`")
}
