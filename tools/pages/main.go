// Command pages writes README.md and doc/*.md as HTML beside the demo, with all
// that they link to: other pages, pictures, sources.
//
//	go -C tools run ./pages -root .. -out ../site
//
// A link that leads nowhere is an error.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	root := flag.String("root", "..", "folder of the repository")
	out := flag.String("out", "../site", "folder to write; files in it are replaced")
	flag.Parse()
	if err := run(*root, *out); err != nil {
		fmt.Fprintln(os.Stderr, "pages:", err)
		os.Exit(1)
	}
}

// run writes everything that can be reached from the documents.
func run(root, out string) error {
	l, err := newLibrary(os.DirFS(root))
	if err != nil {
		return err
	}
	files, err := l.files()
	if err != nil {
		return err
	}
	for name, text := range files {
		to := filepath.Join(out, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, text, 0o644); err != nil {
			return err
		}
	}
	fmt.Printf("%s: %d documents and what they show, in %d files\n", out, len(l.pages), len(files))
	return nil
}
