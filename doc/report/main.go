// Command report writes doc/results.md, and the figures beside it, from the raw
// results of `wdgnn reproduce` in doc/results:
//
//	wdgnn reproduce table1 && cp reproduce/table1/result.json doc/results/table1.json
//	go run ./doc/report
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wdgnn/wdgnn/internal/reproduce"
	"github.com/wdgnn/wdgnn/internal/reproduce/study"
	"github.com/wdgnn/wdgnn/modelfile"
)

func main() {
	if err := run("doc"); err != nil {
		fmt.Fprintf(os.Stderr, "report: %v\n", err)
		os.Exit(1)
	}
}

// run writes the page and the figures below dir.
func run(dir string) error {
	files, err := report(dir)
	if err != nil {
		return err
	}
	for name, content := range files {
		write := func(w io.Writer) error {
			_, err := w.Write(content)
			return err
		}
		if err := modelfile.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), write); err != nil {
			return err
		}
	}
	return nil
}

const head = `# Results

Written by ` + "`go run ./doc/report`" + ` from the raw results in [doc/results](results), which ` +
	"`wdgnn reproduce`" + ` left; do not edit.
Columns called *paper* hold the numbers of *Wide and Deep Graph Neural Network with Distributed Online Learning*.
Notes are those that the run itself wrote, by the version named below them; they are kept with its numbers.

`

// report returns the page and the figures by name.
func report(dir string) (map[string][]byte, error) {
	files := map[string][]byte{}
	page := bytes.NewBufferString(head)
	for _, e := range reproduce.Experiments() {
		r, err := study.ReadResult(filepath.Join(dir, "results", e.Name+".json"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := e.WriteMarkdown(page, r, "results/"); err != nil {
			return nil, err
		}
		page.WriteByte('\n')
		for _, c := range r.Charts {
			var figure bytes.Buffer
			if err := c.WriteSVG(&figure); err != nil {
				return nil, fmt.Errorf("%s: %w", c.Name, err)
			}
			files["results/"+c.Name+".svg"] = figure.Bytes()
		}
	}
	files["results.md"] = bytes.TrimRight(page.Bytes(), "\n")
	files["results.md"] = append(files["results.md"], '\n')
	return files, nil
}
