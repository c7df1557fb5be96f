package main

import (
	"bytes"
	_ "embed"
	"html/template"
	"maps"
)

var (
	//go:embed frame.html
	frameText string
	//go:embed doc.css
	style []byte

	frame = template.Must(template.New("frame").Parse(frameText))
)

// files returns all files of the library, by their place on the site.
func (l *library) files() (map[string][]byte, error) {
	files := map[string][]byte{"doc/doc.css": style}
	maps.Copy(files, l.assets)
	for name, d := range l.pages {
		body, err := d.body()
		if err != nil {
			return nil, err
		}
		at := htmlName(name)
		fill := struct {
			Title             string
			Body              template.HTML
			Parts             []heading
			Style, Look, Icon string
			Demo, Readme, Doc string
		}{
			Title: d.title, Body: template.HTML(body), // of the repository itself
			Style: relative(at, "page/style.css"), Icon: relative(at, "page/icon.svg"), Look: relative(at, "doc/doc.css"),
			Demo: relative(at, "index.html"), Readme: relative(at, "readme.html"),
		}
		if len(d.parts) > 3 {
			fill.Parts = d.parts
		}
		if l.pages["doc/README.md"] != nil {
			fill.Doc = relative(at, "doc/index.html")
		}
		var b bytes.Buffer
		if err := frame.Execute(&b, fill); err != nil {
			return nil, err
		}
		files[at] = b.Bytes()
	}
	return files, nil
}
