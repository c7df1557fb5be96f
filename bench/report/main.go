// Command report writes bench/results.md, and the table of speed in README.md, from
// the raw lines in bench/results.
//
//	go run ./bench/report              write the page
//	go run ./bench/report -print RUN   and print the table of one run
//	go run ./bench/report -tasks       print the names of the tasks to compare
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/wdgnn/wdgnn/internal/perf"
	"github.com/wdgnn/wdgnn/internal/section"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "report: %v\n", err)
		os.Exit(1)
	}
}

func run() error {
	dir := flag.String("dir", "bench", "folder that holds results/ and results.md")
	show := flag.String("print", "", "print the table of the `run` that began at this time")
	tasks := flag.Bool("tasks", false, "print the names of the tasks to compare, separated by commas, and stop")
	flag.Parse()
	if *tasks {
		fmt.Println(strings.Join(runnable(), ","))
		return nil
	}
	lines, err := readAll(*dir)
	if err != nil {
		return err
	}
	agents, err := readAgents(*dir)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(*dir, "results.md"), []byte(page(lines, agents)), 0o644); err != nil {
		return err
	}
	if err := writeReadme(filepath.Join(*dir, "..", "README.md"), lines); err != nil {
		return err
	}
	if *show != "" {
		fmt.Print(summary(lines, *show))
	}
	return nil
}

// writeReadme puts the table of speed into README.md.
func writeReadme(path string, lines []line) error {
	_, after, err := readme(path, lines)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(after), 0o644)
}

// readme returns README.md as it is, and as the lines say.
func readme(path string, lines []line) (before, after string, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", "", err
	}
	table, err := speed(lines)
	if err != nil {
		return "", "", err
	}
	after, err = section.Replace(string(text), "speed", "go run ./bench/report", table)
	return string(text), after, err
}

// runnable returns the names of the tasks that both sides can run.
func runnable() []string {
	var names []string
	for _, t := range perf.Tasks() {
		if t.Missing == "" {
			names = append(names, t.Name)
		}
	}
	return names
}
