// Command check runs the commands that README.md and doc/*.md show and compares
// what they print with what is written below them.
//
//	go run ./doc/check                  check all pages
//	go run ./doc/check README.md        check one
//	go run ./doc/check -write           and write what was printed into the pages
//
// A command is a line that begins with "$ " in a block of code; what follows, up
// to the next command, is what it prints, standard error included. A line "..."
// stands for any number of lines, "…" for any text in a line. Times, speeds,
// sizes of memory, dates, versions and commits depend on the machine and are
// compared by their shape alone; other numbers are those of fused kernels.
// All commands of a page run in one shell and one temporary folder, one after the
// other, with wdgnn and wdgnn-agent in the path.
//
// A comment before a block says more:
//
//	<!-- doc-check: skip, REASON -->      the commands are not run
//	<!-- doc-check: loose, REASON -->     all numbers are compared by their shape
//	<!-- doc-check: serves -->            the commands run on to the end of the page
//	<!-- doc-check: needs ml-100k -->     the commands run where these ratings are
//	<!-- doc-check: needs examples/mqtt, mosquitto -->   in a copy of a folder, where a program is
//	<!-- doc-check: file NAME -->         the block is a file that commands read
//	<!-- doc-check: checkout NAMES -->    commands, from there on, see these folders of the checkout
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "doc/check: %v\n", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	c := &checker{out: os.Stdout}
	flag.BoolVar(&c.write, "write", false, "write what was printed into the pages")
	flag.DurationVar(&c.limit, "limit", 2*time.Minute, "time that one command may take")
	flag.StringVar(&c.data, "data", "../shared/data", "`folder` with data sets that are not part of the repository")
	flag.Parse()
	pages := flag.Args()
	if len(pages) == 0 {
		found, err := filepath.Glob("doc/*.md")
		if err != nil {
			return err
		}
		pages = append([]string{"README.md"}, found...)
	}
	scratch, err := os.MkdirTemp("", "doc-check-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	c.bin, c.scratch = filepath.Join(scratch, "bin"), scratch
	build := exec.Command("go", "build", "-o", c.bin+"/", "./cmd/wdgnn", "./cmd/wdgnn-agent")
	build.Stdout, build.Stderr = os.Stdout, os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build: %w", err)
	}
	for _, page := range pages {
		if err := c.check(ctx, page); err != nil {
			return err
		}
	}
	c.report()
	switch {
	case c.wrong > c.changed && c.write:
		return errors.New("some commands fail")
	case c.wrong > c.changed:
		return errors.New("pages and commands differ; go run ./doc/check -write changes the pages")
	}
	return nil
}
