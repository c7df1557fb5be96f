package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// library is the documents, and the files that they show or link to. Paths are
// those in the repository.
type library struct {
	root   fs.FS
	pages  map[string]*document
	assets map[string][]byte // copied as they are
	queue  []string          // documents to read
}

// newLibrary reads README.md, doc/*.md and all that can be reached from them.
func newLibrary(root fs.FS) (*library, error) {
	l := &library{root: root, pages: map[string]*document{}, assets: map[string][]byte{}, queue: []string{"README.md"}}
	more, err := fs.Glob(root, "doc/*.md")
	if err != nil {
		return nil, err
	}
	l.queue = append(l.queue, more...)
	for len(l.queue) > 0 {
		name := l.queue[0]
		l.queue = l.queue[1:]
		if l.pages[name] != nil {
			continue
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return nil, err
		}
		l.pages[name] = newDocument(name, text)
		if err := l.follow(l.pages[name]); err != nil {
			return nil, err
		}
	}
	return l, l.checkAnchors()
}

// htmlName returns where a document goes: README.md becomes a folder's index, but
// the demo is the first page of all.
func htmlName(name string) string {
	switch {
	case name == "README.md":
		return "readme.html"
	case path.Base(name) == "README.md":
		return path.Join(path.Dir(name), "index.html")
	case path.Ext(name) == ".md":
		return strings.TrimSuffix(name, ".md") + ".html"
	}
	return name + ".html"
}

// sources are shown as pages: servers do not know what they are.
var sources = []string{".go", ".py", ".yaml", ".sh", ".txt", ".csv"}

// attributes are the links of HTML inside a document.
var attributes = regexp.MustCompile(`\b(?:src|href|srcset)="([^"]+)"`)

// follow turns a document's links into those of the site.
func (l *library) follow(d *document) error {
	var dead []*ast.Link
	var errs []error
	note := func(err error) { errs = append(errs, err) }
	d.walk(func(n ast.Node) {
		switch n := n.(type) {
		case *ast.Image:
			_, err := l.reach(d, string(n.Destination))
			note(err)
		case *ast.Link:
			to, err := l.reach(d, string(n.Destination))
			note(err)
			n.Destination = []byte(to)
			if to == "" {
				dead = append(dead, n)
			}
		case *ast.HTMLBlock, *ast.RawHTML:
			for _, m := range attributes.FindAllStringSubmatch(d.raw(n), -1) {
				to, err := l.reach(d, m[1])
				note(err)
				if err == nil && to != m[1] {
					note(fmt.Errorf("%s: HTML that links to %s: want a link in Markdown", d.name, m[1]))
				}
			}
		}
	})
	for _, n := range dead {
		unlink(n)
	}
	return errors.Join(errs...)
}

// reach returns where a link leads on the site, and sees to it that something is
// there. It is empty for folders, of which the site has none.
func (l *library) reach(d *document, link string) (string, error) {
	u, err := url.Parse(link)
	if err != nil || u.Scheme != "" || u.Host != "" || u.Path == "" {
		return link, err
	}
	name := path.Join(path.Dir(d.name), u.Path)
	info, err := fs.Stat(l.root, name)
	if err != nil {
		return "", fmt.Errorf("%s links to %s: %w", d.name, link, err)
	}
	if info.IsDir() {
		if _, err := fs.Stat(l.root, path.Join(name, "README.md")); err != nil {
			return "", nil
		}
		name = path.Join(name, "README.md")
	}
	switch {
	case path.Ext(name) == ".md", slices.Contains(sources, path.Ext(name)):
		l.queue = append(l.queue, name)
		d.links = append(d.links, target{name, u.Fragment})
		name = htmlName(name)
	default:
		if l.assets[name], err = fs.ReadFile(l.root, name); err != nil {
			return "", err
		}
	}
	to := url.URL{Path: relative(htmlName(d.name), name), Fragment: u.Fragment}
	return to.String(), nil
}

// relative returns the way from one page to another file.
func relative(from, to string) string {
	up := strings.Repeat("../", strings.Count(from, "/"))
	if dir := path.Dir(from) + "/"; strings.HasPrefix(to, dir) {
		return strings.TrimPrefix(to, dir)
	}
	return up + to
}

// checkAnchors reports links to headings that are not there.
func (l *library) checkAnchors() error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(l.pages)) {
		for _, to := range l.pages[name].links {
			if to.anchor != "" && !l.pages[to.name].anchors[to.anchor] {
				errs = append(errs, fmt.Errorf("%s links to %s#%s, and there is no such heading", name, to.name, to.anchor))
			}
		}
	}
	return errors.Join(errs...)
}
