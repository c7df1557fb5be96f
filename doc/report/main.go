// Command report writes doc/results.md, the figures beside it, and the table of
// results in README.md, from the raw results of `wdgnn reproduce` in doc/results:
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
	"strings"

	"github.com/wdgnn/wdgnn/internal/paper/reproduce"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
	"github.com/wdgnn/wdgnn/internal/section"
	"github.com/wdgnn/wdgnn/modelfile"
)

func main() {
	if err := run("."); err != nil {
		fmt.Fprintf(os.Stderr, "report: %v\n", err)
		os.Exit(1)
	}
}

// run writes the pages and the figures of the repository in dir.
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

// report returns the pages and the figures by name.
func report(dir string) (map[string][]byte, error) {
	files, found := map[string][]byte{}, results{}
	var list []study.Experiment
	var details bytes.Buffer
	for _, e := range reproduce.Experiments() {
		r, err := study.ReadResult(filepath.Join(dir, "doc", "results", e.Name+".json"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found[e.Name], list = r, append(list, e)
		if err := e.WriteMarkdown(&details, r, "results/"); err != nil {
			return nil, err
		}
		details.WriteByte('\n')
		for _, c := range r.Charts {
			var figure bytes.Buffer
			if err := c.WriteSVG(&figure); err != nil {
				return nil, fmt.Errorf("%s: %w", c.Name, err)
			}
			files["doc/results/"+c.Name+".svg"] = figure.Bytes()
		}
	}
	summary, err := found.write("summary.md")
	if err != nil {
		return nil, err
	}
	page := head + summary + "\n" + contents(list) + "\n" + strings.TrimRight(details.String(), "\n") + "\n"
	files["doc/results.md"] = []byte(page)
	files["README.md"], err = readme(dir, found)
	return files, err
}

// readme returns README.md with the table of results.
func readme(dir string, found results) ([]byte, error) {
	page, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		return nil, err
	}
	table, err := found.write("table.md")
	if err != nil {
		return nil, err
	}
	text, err := section.Replace(string(page), "results", "go run ./doc/report", table)
	return []byte(text), err
}
