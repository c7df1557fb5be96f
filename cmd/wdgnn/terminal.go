package main

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/wdgnn/wdgnn/internal/grid"
)

// terminal is an output that people read as it comes: lines that are longer than it is
// wide are broken between words. Commands to copy, JSON and logs stay whole.
type terminal struct {
	mu   sync.Mutex
	out  io.Writer
	wide func() int
	rest []byte // a line without its end
}

// onTerminal returns f, with long lines broken if it is a terminal.
func onTerminal(f *os.File) io.Writer {
	if !term.IsTerminal(int(f.Fd())) {
		return f
	}
	return &terminal{out: f, wide: func() int {
		if wide, _, err := term.GetSize(int(f.Fd())); err == nil && wide > 0 {
			return wide
		}
		return 80
	}}
}

func (t *terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rest = append(t.rest, p...)
	end := bytes.LastIndexByte(t.rest, '\n') + 1
	if end == 0 {
		return len(p), nil
	}
	text := set(string(t.rest[:end]), t.wide())
	t.rest = append(t.rest[:0], t.rest[end:]...)
	_, err := io.WriteString(t.out, text)
	return len(p), err
}

// flush writes what has no end yet.
func (t *terminal) flush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = t.out.Write(t.rest) // nobody is left to hear of it
	t.rest = nil
}

// set breaks those lines of a text that are too long.
func set(text string, wide int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line, ended := strings.CutSuffix(line, "\n")
		b.WriteString(strings.Join(broken(line, wide), "\n"))
		if ended {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// broken breaks a line that is too long. What is said of a command goes below it.
func broken(line string, wide int) []string {
	if whole.MatchString(line) || utf8.RuneCountInString(line) <= wide {
		return []string{line}
	}
	if !command.MatchString(line) {
		return grid.Wrap(line, wide)
	}
	parts := command.FindStringSubmatch(line)
	if parts[2] == "" {
		return []string{line}
	}
	return append([]string{parts[1]}, grid.Wrap("      "+parts[2], wide)...)
}

var (
	whole   = regexp.MustCompile("\x1b|^ *[]\\[{}\"]|^time=")                                                     // control codes, JSON, logs
	command = regexp.MustCompile(`^((?:  +|Try: |Next: )(?:wdgnn|wdgnn-agent|curl|scp|go|\$) .*?)(?:   +(.*))?$`) // to copy
)
