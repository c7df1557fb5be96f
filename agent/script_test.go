package agent_test

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the traces in testdata/*.txt again")

// The scripts in testdata say what happens to a small network, and what its
// agents then do, number by number. A script is a sequence of blocks:
//
//	# what this shows
//	command
//	----
//	the trace that is expected
//
// with an empty line behind each. "nodes" comes first and describes network and
// model; scriptNet.commands lists the rest. A trace holds, in order,
//
//	0->all row t=0 e=0 links=1 degree=1 (1; 0 0)   what was sent: row; parameters
//	1 waits for 2, e=0                             neighbours whose rows are missing
//	1 ahead 7                                      others are at step 7
//	1 predicts (12)
//	1 done (-4.8 -2.4)                             the update is in place: parameters
//	1 refuses: …                                   the event changed nothing
//
// Predictions are easy to read: tap k of the filter is 10ᵏ, so a prediction is
// x_i + 10 (Sx)_i + 100 (S²x)_i … before the node has learned.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scripts, want some: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var net scriptNet
			var out bytes.Buffer
			for _, b := range blocks(t, text) {
				got := ""
				for _, line := range b.commands {
					if got += net.run(t, line.text); t.Failed() {
						t.Fatalf("%s:%d: %s", file, line.number, line.text)
					}
				}
				if got != b.want && !*update {
					t.Errorf("%s:%d: got\n%s\nwant\n%s\nTry: go test ./agent -run TestScripts -update, and read the difference",
						file, b.number, got, b.want)
				}
				fmt.Fprintf(&out, "%s----\n%s\n", b.head, got)
			}
			if *update {
				if err := os.WriteFile(file, bytes.TrimSuffix(out.Bytes(), []byte("\n")), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
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

// blocks cuts a script.
func blocks(t *testing.T, text []byte) []block {
	t.Helper()
	var list []block
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
		list = append(list, b)
	} else if b.head != "" {
		t.Fatalf("the last block of the script has no ----")
	}
	return list
}
