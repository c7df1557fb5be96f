package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// Sentences are broken between words where a terminal is narrow, also if they come in
// pieces; what is to be copied, and what programs read, is not.
func TestTerminalBreaksSentences(t *testing.T) {
	var b bytes.Buffer
	out := &terminal{out: &b, wide: func() int { return 20 }}
	for _, piece := range []string{"wdgnn: a sentence that ", "is long\nTry: wdgnn train config.yaml\n", "no end"} {
		fmt.Fprint(out, piece)
	}
	want := "wdgnn: a sentence\nthat is long\nTry: wdgnn train config.yaml\n"
	if got := b.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if out.flush(); b.String() != want+"no end" {
		t.Errorf("got %q at the end, want what has no end too", b.String())
	}
	for _, line := range []string{
		"Try: wdgnn train config.yaml --resume", `{"host":1,"time":7,"outputs":[]}`, `  "name": "a b c d e f g h i",`,
		"time=12:00 level=INFO msg=\"a b c\"", "\x1b[1A\r\x1b[Jone two three four",
	} {
		if got := set(line+"\n", 20); got != line+"\n" {
			t.Errorf("got %q, want %q whole", got, line)
		}
	}
	if got, want := set("  wdgnn flock      train and fly it\n", 20), "  wdgnn flock\n      train and fly\n      it\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The help of every command fits 80 and 50 columns, but for commands to copy and what is
// set as in a file; examples come before explanations.
func TestHelpsFitTheTerminal(t *testing.T) {
	for _, wide := range []int{50, 80} {
		for _, name := range []string{"", "train", "online", "certify", "swarm", "swarm up", "serve", "view"} {
			var b bytes.Buffer
			out := &terminal{out: &b, wide: func() int { return wide }}
			if code := run(t.Context(), append(strings.Fields(name), "-h"), out, out); code != exitOK {
				t.Fatalf("wdgnn %s -h: exit code %d", name, code)
			}
			text := b.String()
			usage, examples, flags := strings.Index(text, "Usage:\n"), strings.Index(text, "Examples:\n"), strings.Index(text, "Flags:\n")
			if !slices.IsSorted([]int{0, usage, examples, flags}) {
				t.Errorf("wdgnn %s -h: usage, examples and flags are at %d, %d, %d", name, usage, examples, flags)
			}
			for line := range strings.Lines(text) {
				n := utf8.RuneCountInString(strings.TrimRight(line, "\n "))
				if n > wide && !command.MatchString(strings.TrimRight(line, "\n")) {
					t.Errorf("wdgnn %s -h in %d columns: %q has %d", name, wide, line, n)
				}
			}
		}
	}
}

// No help shows the name of a Go type.
func TestHelpsShowNoTypes(t *testing.T) {
	var look func(c *cobra.Command)
	look = func(c *cobra.Command) {
		for _, word := range []string{"Slice", "stringArray", "StringTo"} {
			if help := c.UsageString(); strings.Contains(help, word) {
				t.Errorf("%s -h says %s", c.CommandPath(), word)
			}
		}
		for _, sub := range c.Commands() {
			look(sub)
		}
	}
	look(newRoot())
}
