package demo

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/internal/recipe"
)

// small is a demo whose training takes about a second.
var small = Demo{Seed: 12, Signals: 2000, Epochs: 12}

// fitted is its model, trained once for all tests.
var fitted = sync.OnceValues(func() (*recipe.SourceModel, error) {
	z, err := recipe.NewSource(small.settings(), 0, 0)
	if err != nil {
		return nil, err
	}
	return z.Fit(context.Background(), recipe.WideDeep, nil)
})

// begun returns a small demo that is trained already, and turned by hand: nobody runs
// it.
func begun(t testing.TB) *Live {
	t.Helper()
	if testing.Short() {
		t.Skipf("SKIPPED %s: it trains a model; it runs without -short", t.Name())
	}
	l, err := small.Live()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Hub().Close)
	if l.world.Models[recipe.WideDeep], err = fitted(); err != nil {
		t.Fatal(err)
	}
	if err := l.enter(); err != nil {
		t.Fatal(err)
	}
	return l
}

// ask has a command checked as those of the page are, and carried out.
func ask(t testing.TB, l *Live, name string, value float64) {
	t.Helper()
	c := live.Command{Name: name, Value: value}
	if err := l.Hub().Command(c); err != nil {
		t.Fatal(err)
	}
	<-l.Hub().Commands()
	l.obey(c)
}

// play answers so many signals.
func play(t testing.TB, l *Live, signals int) {
	t.Helper()
	for range signals {
		if err := l.step(); err != nil {
			t.Fatal(err)
		}
	}
}

// look returns what the demo shows, as text, but for its pace.
func look(t testing.TB, l *Live) string {
	t.Helper()
	l.rate = rate{}
	text, err := json.Marshal(l.frame())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// named returns a learner of the demo.
func named(t testing.TB, l *Live, name string) *racer {
	t.Helper()
	for _, k := range l.learners {
		if k.name == name {
			return k
		}
	}
	t.Fatalf("nobody is called %q", name)
	return nil
}

// Knobs have the ranges they say they have, and what is outside is refused in words.
func TestKnobsAreChecked(t *testing.T) {
	l, err := small.Live()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Hub().Close()
	for _, c := range []struct {
		name  string
		value float64
		want  string // empty if it is carried out
	}{
		{knobLearner, 1, ""},
		{knobLearner, 3, ""},
		{knobLearner, 0, "learner is 0, want 1 (paper (eq. 9)), 2 (neighbours), 3 (own)"},
		{knobLearner, 1.5, "want 1 (paper (eq. 9))"},
		{knobTold, math.NaN(), "told is NaN, want 0 to 1"},
		{live.ControlDrop, 0.6, ""},
		{live.ControlDrop, 0.61, "drop is 0.61, want 0 to 0.6"},
		{knobTold, 0, ""},
		{knobTold, -0.1, "told is -0.1, want 0 to 1"},
		{knobLiar, 2, ""},
		{knobLiar, 3, "liar is 3, want 0 (nobody), 1 (about its signal), 2 (about its taps)"},
		{live.ControlReset, 0, ""},
		{"mixing", 0, `nothing is called "mixing" here`},
	} {
		err := l.Hub().Command(live.Command{Name: c.name, Value: c.value})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s %v: got %v, want %q", c.name, c.value, err, c.want)
		}
	}
}

// One seed and the same knobs at the same signals give the same bits, and a reset gives
// those of the beginning.
func TestKnobsAreDeterministic(t *testing.T) {
	script := []struct {
		name  string
		value float64
	}{
		{live.ControlDrop, 0.4},
		{knobTold, 0.5},
		{knobLiar, 2},
		{knobLearner, 1},
		{knobLiar, 1},
	}
	run := func(l *Live) (list []string) {
		for _, c := range script {
			ask(t, l, c.name, c.value)
			play(t, l, 5)
			list = append(list, look(t, l))
		}
		return list
	}
	a, b := begun(t), begun(t)
	play(t, a, 20)
	first := look(t, a)
	play(t, b, 20)
	again := run(b)
	for k, text := range run(a) {
		if text != again[k] {
			t.Fatalf("after %s %v: got %s, then %s", script[k].name, script[k].value, text, again[k])
		}
	}
	ask(t, a, live.ControlReset, 0)
	play(t, a, 20)
	a.time = 20 // time goes on, and nothing else
	if got := look(t, a); got != first {
		t.Errorf("after a reset: got %s, want %s", got, first)
	}
}

// With links lost the frozen model answers worse, and a node that learns does not.
func TestKnobLinks(t *testing.T) {
	l := begun(t)
	play(t, l, 100)
	before := named(t, l, "frozen").accuracy()
	ask(t, l, live.ControlDrop, 0.6)
	play(t, l, 400)
	frozen, neighbours := named(t, l, "frozen").accuracy(), named(t, l, "neighbours").accuracy()
	t.Logf("frozen %.1f %% with all links, %.1f %% with %d lost; neighbours %.1f %%", before, frozen, len(l.world.out), neighbours)
	if frozen > before-10 || neighbours < frozen+10 {
		t.Errorf("frozen falls from %.1f to %.1f, neighbours has %.1f; want a fall and a gain of 10 points", before, frozen, neighbours)
	}
}

// Who hears no answer learns nothing; who hears some learns less than who hears all.
func TestKnobAnswers(t *testing.T) {
	after := func(share float64) float64 {
		l := begun(t)
		ask(t, l, live.ControlDrop, 0.6)
		ask(t, l, knobTold, share)
		play(t, l, 250)
		return named(t, l, "neighbours").accuracy() - named(t, l, "frozen").accuracy()
	}
	none, some, all := after(0), after(0.1), after(1)
	t.Logf("neighbours is ahead of frozen by %.1f, %.1f and %.1f points", none, some, all)
	if none != 0 || !(some > 0) || !(all > some) {
		t.Errorf("ahead by %.1f, %.1f and %.1f points with no, a tenth and all of the answers; want 0 and more each time", none, some, all)
	}
}

// A liar about taps hurts nodes that mix, and nobody else; when it stops, they begin
// again.
func TestKnobLiarAboutTaps(t *testing.T) {
	l := begun(t)
	ask(t, l, knobLearner, 1)
	play(t, l, 120)
	paper, own := named(t, l, "paper (eq. 9)"), named(t, l, "own")
	before := paper.accuracy()
	ask(t, l, knobLiar, 2)
	play(t, l, 120)
	if fooled := paper.accuracy(); fooled > before-20 {
		t.Errorf("paper answers %.1f %% right, and %.1f %% when fooled; want 20 points less", before, fooled)
	}
	ask(t, l, knobLiar, 0)
	if d := paper.learner.Drift(); d.Moved != 0 || own.learner.Drift().Moved == 0 {
		t.Errorf("nobody lies: paper is %v from its trained taps, and own %v; want 0, and not 0", d.Moved, own.learner.Drift().Moved)
	}
	play(t, l, 120)
	if healed := paper.accuracy(); healed < before-5 {
		t.Errorf("paper answers %.1f %% right when nobody lies any more, want about %.1f", healed, before)
	}
}

// All hear a node that lies about its signal. Who learns, learns to hear past it.
func TestKnobLiarAboutSignal(t *testing.T) {
	l := begun(t)
	play(t, l, 100)
	before := named(t, l, "frozen").accuracy()
	ask(t, l, knobLiar, 1)
	play(t, l, 400)
	frozen, own, neighbours := named(t, l, "frozen").accuracy(), named(t, l, "own").accuracy(), named(t, l, "neighbours").accuracy()
	t.Logf("frozen %.1f %%, then %.1f %%; own %.1f %%, neighbours %.1f %%", before, frozen, own, neighbours)
	if frozen > before-30 || own < frozen+30 || neighbours < frozen+30 {
		t.Errorf("frozen %.1f, then %.1f; own %.1f, neighbours %.1f; want a fall of 30 points, and 30 more of those who learn",
			before, frozen, own, neighbours)
	}
	ask(t, l, knobLiar, 0)
	play(t, l, 100)
	if end := named(t, l, "frozen").accuracy(); end < before-5 {
		t.Errorf("nobody lies any more, and frozen answers %.1f %%, want about %.1f", end, before)
	}
}

// The map of the taps has one colour per column in consensus, and a row of its own for
// each node that learns alone.
func TestTapsOnShow(t *testing.T) {
	l := begun(t)
	ask(t, l, live.ControlDrop, 0.5)
	ask(t, l, knobLearner, 3)
	play(t, l, 60)
	columns, detectors := len(l.Hub().Scene().Taps), l.world.Net.Detectors
	own := l.frame().Taps
	for i := range l.world.all.Nodes() {
		learned := false
		for _, c := range own.Cells[i*columns : (i+1)*columns] {
			learned = learned || c != 0
		}
		if told := slices.Contains(detectors, i); told != learned {
			t.Errorf("own taps: node %d learned: %v, want %v: detectors are told answers, and nobody else", i, learned, told)
		}
	}
	ask(t, l, knobLearner, 1)
	play(t, l, 200)
	if spread, most := spreads(l.frame().Taps, columns); spread > 25 || most < 60 {
		t.Errorf("consensus: nodes differ by up to %d steps of 127 in a column, and columns by %d; want little and much", spread, most)
	}
}

// spreads returns by how much nodes differ in a column at most, and columns do at node 0.
func spreads(taps *live.Taps, columns int) (nodes, across int) {
	lo, hi := 127, -127
	for c := range columns {
		low, high := 127, -127
		for at := c; at < len(taps.Cells); at += columns {
			v := int(int8(taps.Cells[at]))
			low, high = min(low, v), max(high, v)
		}
		nodes = max(nodes, high-low)
		v := int(int8(taps.Cells[c]))
		lo, hi = min(lo, v), max(hi, v)
	}
	return nodes, hi - lo
}
