package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/wdgnn/wdgnn/internal/demo"
	"github.com/wdgnn/wdgnn/train"
)

// Lines of a narrow terminal are drawn over and do not wrap: what is less important
// is left out.
func TestProgressFitsTheTerminal(t *testing.T) {
	for _, wide := range []int{50, 80} {
		var b bytes.Buffer
		p := newProgress(&b, 100, "accuracy")
		p.wide = wide
		for k := 1; k <= 100; k++ {
			p.epoch(train.Epoch{Index: k, Loss: 0.125, Scored: true, Score: 0.1, Best: 0.05})
		}
		p.end()
		text := b.String()
		for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
			line = strings.TrimPrefix(line, "\x1b[1A\r\x1b[J")
			if n := utf8.RuneCountInString(line); n >= wide || strings.Contains(line, "\x1b") {
				t.Errorf("%d columns: %q has %d", wide, line, n)
			}
			if !strings.Contains(line, " left") {
				t.Errorf("%d columns: %q does not say how long it takes", wide, line)
			}
		}
		if !strings.Contains(text, "epoch 100/100  0s left  loss 0.1250") {
			t.Errorf("%d columns: no end in %q", wide, text)
		}
		if has := strings.Contains(text, "best  95.0 %"); has != (wide == 80) {
			t.Errorf("%d columns: validation shown is %v: %q", wide, has, text)
		}
	}
}

// What stays is printed above what changes.
func TestScreenSays(t *testing.T) {
	var b bytes.Buffer
	s := screen{out: &b, wide: 20}
	s.draw("one", strings.Repeat("x", 30))
	s.say("news")
	s.draw("two")
	s.clear()
	want := "one\n" + strings.Repeat("x", 18) + "…\n" + "\x1b[2A\r\x1b[Jnews\n" + "two\n" + "\x1b[1A\r\x1b[J"
	if got := b.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A terminal that is narrower than the words has no bars, and nothing breaks.
func TestRaceInANarrowTerminal(t *testing.T) {
	for _, wide := range []int{1, 10, 31, 32, 200} {
		var b bytes.Buffer
		r := &race{screen{out: &b, wide: wide}}
		if err := r.show(t.Context(), demo.Frame{Signal: 2, Signals: 2, Names: []string{"frozen"}, Accuracy: []float64{0.5}}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(strings.TrimSuffix(b.String(), "\n"), "\n") {
			if n := utf8.RuneCountInString(line); n > wide {
				t.Errorf("%d columns: %q has %d", wide, line, n)
			}
		}
	}
}

// Training of a flight's controller is told in plain words, with how much is done and
// how long the rest takes, and fits narrow terminals.
func TestFlockTrainingInPlainWords(t *testing.T) {
	var b bytes.Buffer
	if _, err := imitate(t.Context(), &b, 1, 8, 4, -1); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if strings.Contains(text, "realization") || strings.Contains(text, "clip1") {
		t.Errorf("names of ours are shown: %s", text)
	}
	last := text[strings.LastIndex(strings.TrimSpace(text), "\n")+1:]
	if !strings.HasPrefix(last, "training 100 %  ") || !strings.Contains(last, "  epoch 3 of 3, loss ") {
		t.Errorf("got %q at the end, want all of it", last)
	}
	for _, wide := range []int{50, 80} {
		b.Reset()
		s := newShare(&b, "training")
		s.wide, s.began = wide, s.began.Add(-time.Minute)
		s.report(0.5, "epoch 14 of 28, loss 4.19")
		if got, want := b.String(), "training  50 %  1m0s left  epoch 14 of 28, loss "; !strings.HasPrefix(got, want[:47]) ||
			utf8.RuneCountInString(got) > wide {
			t.Errorf("%d columns: got %q, want %q", wide, got, want)
		}
	}
}

// What takes long elsewhere than on a terminal has a line once it does, and one for
// every tenth.
func TestCountsOfWhatTakesLong(t *testing.T) {
	var b bytes.Buffer
	p := newCountProgress(&b)
	for done := range 101 {
		p.at("replay", done, 100)
		if done == 1 {
			p.began = p.began.Add(-time.Minute)
		}
	}
	const first = "replay, 2 of 100, 49m0s left\nreplay, 10 of 100, "
	if lines := strings.Count(b.String(), "\n"); lines != 10 || !strings.HasPrefix(b.String(), first) {
		t.Errorf("got %q, want a line at 2 and at every tenth", b.String())
	}
}
