package main

import (
	"bytes"
	"fmt"
	"html"
	"path"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	rendered "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

// document is one page of Markdown, or one source.
type document struct {
	name    string
	source  []byte
	tree    ast.Node // nil for a source
	title   string
	parts   []heading       // of the second level
	anchors map[string]bool // of all headings
	links   []target        // to other documents
}

type (
	heading struct{ Anchor, Text string }
	target  struct{ name, anchor string }
)

// markdown is that of the repository: tables, links, headings with names.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.Linkify, extension.Strikethrough,
		extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))), // the policy allows no styles inside
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
	goldmark.WithRendererOptions(rendered.WithUnsafe()), // comments, and what authors of the repository write
)

func newDocument(name string, source []byte) *document {
	d := &document{name: name, source: source, title: path.Base(name), anchors: map[string]bool{}}
	if path.Ext(name) != ".md" {
		return d
	}
	ids := &anchors{d.anchors}
	d.tree = markdown.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(ids))))
	d.walk(func(n ast.Node) {
		h, ok := n.(*ast.Heading)
		if !ok {
			return
		}
		words := plain(h, source)
		if h.Level == 1 {
			d.title = words
		}
		if id, ok := h.AttributeString("id"); ok && h.Level == 2 {
			d.parts = append(d.parts, heading{string(id.([]byte)), words})
		}
	})
	return d
}

// plain returns the words of a node without signs.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // what is called returns no error
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(source))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// walk visits all nodes, parents first.
func (d *document) walk(visit func(ast.Node)) {
	if d.tree == nil {
		return
	}
	_ = ast.Walk(d.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // what is called returns no error
		if entering {
			visit(n)
		}
		return ast.WalkContinue, nil
	})
}

// raw returns the text of HTML in a document.
func (d *document) raw(n ast.Node) string {
	segments := n.Lines
	if inline, ok := n.(*ast.RawHTML); ok {
		segments = func() *text.Segments { return inline.Segments }
	}
	return string(segments().Value(d.source))
}

// unlink leaves the words of a link and takes the link away.
func unlink(n *ast.Link) {
	parent := n.Parent()
	for child := n.FirstChild(); child != nil; child = n.FirstChild() {
		parent.InsertBefore(parent, n, child)
	}
	parent.RemoveChild(parent, n)
}

// reachable lets keys scroll what is wider than a screen, and takes cells for heads
// only where they say something.
var reachable = strings.NewReplacer("<pre>", `<pre tabindex="0">`, "<table>", `<table tabindex="0">`, "<th></th>", "<td></td>")

// body returns the page as HTML, without what stands around it.
func (d *document) body() (string, error) {
	var b bytes.Buffer
	if d.tree == nil {
		fmt.Fprintf(&b, "<h1>%s</h1>\n<pre><code>%s</code></pre>\n", html.EscapeString(d.name), html.EscapeString(string(d.source)))
	} else if err := markdown.Renderer().Render(&b, d.source, d.tree); err != nil {
		return "", err
	}
	return reachable.Replace(b.String()), nil
}

// anchors names headings as forges do: lower case, spaces as dashes, letters, digits,
// - and _ alone; a second one of the same name has a number.
type anchors struct{ taken map[string]bool }

// Generate implements [parser.IDs].
func (a *anchors) Generate(value []byte, _ ast.NodeKind) []byte {
	name := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(string(value)))
	free := name
	for k := 1; a.taken[free]; k++ {
		free = fmt.Sprintf("%s-%d", name, k)
	}
	a.taken[free] = true
	return []byte(free)
}

// Put implements [parser.IDs].
func (a *anchors) Put(value []byte) { a.taken[string(value)] = true }
