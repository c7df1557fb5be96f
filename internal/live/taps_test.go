package live

import (
	"math"
	"strings"
	"testing"
)

// Taps come back to within half a step, and what is no number is none.
func TestTapsRound(t *testing.T) {
	values := []float64{0, 2.54, -1.253, math.NaN(), 0.013}
	taps := NewTaps(1, values, 2.54)
	for k, v := range values {
		level := int8(taps.Cells[k])
		switch {
		case math.IsNaN(v) && level != noTap:
			t.Errorf("cell %d is %d, want %d: there is none", k, level, noTap)
		case !math.IsNaN(v) && math.Abs(float64(level)*taps.Step-v) > taps.Step/2:
			t.Errorf("cell %d: got %v, want %v to within %v", k, float64(level)*taps.Step, v, taps.Step/2)
		}
	}
	if cut := NewTaps(0, []float64{3, -3, 1}, 1); int8(cut.Cells[0]) != 127 || int8(cut.Cells[1]) != -127 || cut.Cells[2] != 127 {
		t.Errorf("cells %v, want 127, -127 and 127: larger ones are cut", cut.Cells)
	}
	if zero := NewTaps(0, []float64{0, 0}, 0); zero.Step != 0 || zero.Cells[0] != 0 {
		t.Errorf("taps of 0: step %v, cells %v; want zeros", zero.Step, zero.Cells)
	}
}

// Taps that do not fit the scene are refused, and so is a scene with too many.
func TestTapsChecked(t *testing.T) {
	s := Scene{Layout: LayoutNone, Nodes: []string{"a", "b"}, Learners: []string{"one"}, Taps: []TapColumn{{"x", "hop 0"}, {"y", "hop 0"}}}
	if err := s.validate(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		taps *Taps
		want string
	}{
		{NewTaps(0, make([]float64, 3), 0), "3 taps, the scene has 2 nodes with 2 each"},
		{NewTaps(1, make([]float64, 4), 0), "taps of learner 1, there are 1"},
		{&Taps{Step: math.Inf(1), Cells: make([]byte, 4)}, "in steps of +Inf"},
	} {
		if err := s.check(&Frame{Taps: c.taps}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	if err := s.check(&Frame{Taps: NewTaps(0, make([]float64, 4), 0)}); err != nil {
		t.Error(err)
	}
	s.Taps = make([]TapColumn, maxTaps)
	if err := s.validate(); err == nil || !strings.Contains(err.Error(), "want at most 65536 in all") {
		t.Errorf("%d columns: got %v", len(s.Taps), err)
	}
}

// A choice is one of its options from the first that may be chosen on.
func TestChoice(t *testing.T) {
	s := Scene{Layout: LayoutNone, Controls: []Control{
		{Name: "learner", Kind: KindChoice, Options: []string{"frozen", "paper", "neighbours"}, Low: 1},
	}}
	h, err := NewHub(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []float64{1, 2} {
		if err := h.Command(Command{Name: "learner", Value: v}); err != nil {
			t.Errorf("%v: %v", v, err)
		}
	}
	for _, v := range []float64{0, 3, 1.5, -1, math.NaN(), math.Inf(1)} {
		err := h.Command(Command{Name: "learner", Value: v})
		if want := "want 1 (paper), 2 (neighbours)"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %q", v, err, want)
		}
	}
	for _, c := range []Control{
		{Name: "none", Kind: KindChoice},
		{Name: "late", Kind: KindChoice, Options: []string{"a"}, Low: 1},
		{Name: "half", Kind: KindChoice, Options: []string{"a", "b"}, Low: 0.5},
		{Name: "ends", Kind: KindRange, High: 1, Ends: []string{"a"}},
	} {
		if c.validate() == nil {
			t.Errorf("control %q is taken", c.Name)
		}
	}
}

// Words may have a mark for the axis of time.
func TestMark(t *testing.T) {
	h := ringHub(t, 3)
	s := subscribe(t, h, 1)
	next(t, s) // the scene
	h.Mark(7, "links lost", "%d links are lost", 5)
	if got, want := decode[Words](t, next(t, s).Text), (Words{Time: 7, Text: "5 links are lost", Mark: "links lost"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	h.Say(8, "nothing to mark")
	if text := string(next(t, s).Text); strings.Contains(text, `"mark":`) {
		t.Errorf("words without a mark are %s", text)
	}
}
