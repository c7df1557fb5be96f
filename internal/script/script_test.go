package script

import (
	"slices"
	"testing"
)

// A script is cut into blocks, and a block knows where its lines stand.
func TestCut(t *testing.T) {
	list, err := cut([]byte("# two\none a=1\ntwo\n----\ntrace\n\nthree\n----\n"))
	if err != nil || len(list) != 2 {
		t.Fatalf("got %d blocks, %v, want 2", len(list), err)
	}
	if got, want := list[0].commands, []command{{"one a=1", 2}, {"two", 3}}; !slices.Equal(got, want) {
		t.Errorf("commands %v, want %v", got, want)
	}
	if b := list[0]; b.want != "trace\n" || b.number != 5 || b.head != "# two\none a=1\ntwo\n" {
		t.Errorf("got %+v, want the trace at line 5", b)
	}
	if list[1].want != "" {
		t.Errorf("the trace of the last block is %q, want none", list[1].want)
	}
	if _, err := cut([]byte("one\n")); err == nil {
		t.Error("a block without ---- is cut, want an error")
	}
}

// Spaces inside of parentheses do not end a word.
func TestSplit(t *testing.T) {
	w := Split("0->1 all x=(1 -2.5 z) t=7")
	if want := []string{"0->1", "all"}; !slices.Equal(w.Plain, want) {
		t.Errorf("plain words %q, want %q", w.Plain, want)
	}
	if got := Numbers(w.List("x")); got != "1 -2.5 NaN" {
		t.Errorf("x is %s, want 1 -2.5 NaN", got)
	}
	if w.Number("t", 0) != 7 || w.Number("e", 3) != 3 {
		t.Errorf("t=%v e=%v, want 7 and the default 3", w.Number("t", 0), w.Number("e", 3))
	}
}
