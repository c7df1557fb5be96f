// Command report writes bench/results.md from the raw lines in bench/results.
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
	if *show != "" {
		fmt.Print(summary(lines, *show))
	}
	return nil
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
