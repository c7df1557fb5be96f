// Package script runs tests that read as documents. A script says what happens to
// a state machine and what it then does, in blocks:
//
//	# what this shows
//	command
//	----
//	the trace that is expected
//
// with an empty line behind each. The trace is what the commands of the block
// wrote; with the flag -update it is written again, to be read as a difference.
// Only tests import this package.
package script

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the traces in testdata/*.txt again")

// Command carries out a line of a script and returns its trace: whole lines, none
// of them empty.
type Command func(line string) (trace string, err error)

// Run plays every script that matches pattern, each as a test of its own: start
// returns the commands of a machine to which nothing has happened yet.
func Run(t *testing.T, pattern string, start func() Command) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scripts match %s, want some: %v", len(files), pattern, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			played := play(t, file, text, start())
			if !*update || t.Failed() {
				return
			}
			if err := os.WriteFile(file, played, 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// play runs the blocks of a script, compares their traces, and returns the script
// with those that came.
func play(t *testing.T, file string, text []byte, do Command) []byte {
	t.Helper()
	list, err := cut(text)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	var out bytes.Buffer
	for _, b := range list {
		got := ""
		for _, c := range b.commands {
			trace, err := do(c.text)
			if err != nil {
				t.Fatalf("%s:%d: %s: %v", file, c.number, c.text, err)
			}
			got += trace
		}
		if got != b.want && !*update {
			test, _, _ := strings.Cut(t.Name(), "/")
			t.Errorf("%s:%d: got\n%s\nwant\n%s\nTry: go test -run %s -update in this folder, and read the difference",
				file, b.number, got, b.want, test)
		}
		fmt.Fprintf(&out, "%s----\n%s\n", b.head, got)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// block is a part of a script.
type block struct {
	head     string // as written, with comments
	commands []command
	want     string
	number   int // of the line where want begins
}

type command struct {
	text   string
	number int // of its line
}

// cut returns the blocks of a script.
func cut(text []byte) (list []block, err error) {
	var b block
	wanted, number := false, 0
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		number++
		switch line := lines.Text(); {
		case wanted && line != "":
			b.want += line + "\n"
		case wanted:
			list, b, wanted = append(list, b), block{}, false
		case line == "----":
			wanted, b.number = true, number+1
		default:
			b.head += line + "\n"
			if line != "" && !strings.HasPrefix(line, "#") {
				b.commands = append(b.commands, command{line, number})
			}
		}
	}
	if wanted {
		return append(list, b), lines.Err()
	}
	if b.head != "" {
		err = errors.New("the last block of the script has no ----")
	}
	return list, errors.Join(err, lines.Err())
}
