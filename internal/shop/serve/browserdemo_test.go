package serve

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/wdgnn/wdgnn/internal/demo"
	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/internal/liveweb"
)

// demoing runs a small demo whose page is served, until the test ends.
func demoing(t *testing.T) (hub *live.Hub, url string) {
	t.Helper()
	l, err := demo.Demo{Seed: 12, Signals: 2000, Epochs: 8}.Live()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- l.Run(ctx, nil) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return l.Hub(), showing(t, liveweb.LiveConfig{Hub: l.Hub(), Control: true, Results: oneResult(t)}).URL
}

// command asks for something as the page does.
func command(t *testing.T, hub *live.Hub, name string, value float64) {
	t.Helper()
	if err := hub.Command(live.Command{Name: name, Value: value}); err != nil {
		t.Fatal(err)
	}
}

// The demo on its page: acts that keys go through, which show what happened in the
// run; then both numbers of the event in large type.
func TestPageDemo(t *testing.T) {
	p := newTab(t)
	hub, url := demoing(t)
	p.open(url)
	p.wait(`wdgnn.story.act() === 0 && wdgnn.right.shot?.hop > 0.2`) // it begins by itself
	command(t, hub, live.ControlSpeed, 300)
	t.Run("keys", func(t *testing.T) { testActs(p) })
	t.Run("node", func(t *testing.T) { testOpened(p) })
	t.Run("moment", func(t *testing.T) { testMoment(p) })
	t.Run("hero", func(t *testing.T) { testHero(p, hub) })
	t.Run("sizes", func(t *testing.T) { testDemoSizes(p) })
	p.clean(url)
	t.Run("still", func(t *testing.T) { testStill(newTab(t), url) })
}

// testActs goes through the acts by keys, skips them and plays them again.
func testActs(p *tab) {
	p.do(chromedp.KeyEvent(kb.ArrowRight))
	p.wait(`wdgnn.story.act() === 1 && wdgnn.right.shot.answers === 1`)
	p.do(chromedp.KeyEvent(kb.ArrowLeft))
	p.wait(`wdgnn.story.act() === 0 && wdgnn.right.shot.answers === 0`)
	p.wait(`wdgnn.story.story().opened`)
	p.do(chromedp.KeyEvent(kb.ArrowRight + kb.ArrowRight))
	p.wait(`wdgnn.story.act() === 2 && wdgnn.right.shot.flash?.edges.length === wdgnn.story.story().after.out.length`)
	p.wait(`/^\d+ of \d+ links snap, /.test(document.getElementById("caption").textContent)`)
	p.do(chromedp.KeyEvent(kb.Escape))
	p.wait(`wdgnn.story.act() === 4 && document.getElementById("caption").textContent.startsWith("Your turn")`)
	p.do(chromedp.Focus(chromedp.CSS("#again")), chromedp.KeyEvent(kb.Enter))
	p.wait(`wdgnn.story.act() === 0`)
	p.do(chromedp.Focus(chromedp.CSS("#hold")), chromedp.KeyEvent(kb.Enter))
	p.wait(`document.getElementById("hold").textContent === "Go on"`)
	at := evaluate[float64](p, `wdgnn.story.time()`)
	evaluate[any](p, `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done))))`,
		chromedp.EvalAwaitPromise)
	if now := evaluate[float64](p, `wdgnn.story.time()`); now != at {
		p.t.Errorf("the act went on from %v s to %v s while it was held", at, now)
	}
	p.do(chromedp.Focus(chromedp.CSS("#skip")), chromedp.KeyEvent(kb.Enter))
	p.wait(`wdgnn.story.act() === 4`)
}

// testOpened looks at the node that opens: its bars move while those of the frozen
// model stay, and its ✗ turns ✓ where the frozen model's does not.
func testOpened(p *tab) {
	p.do(chromedp.Focus(chromedp.CSS("[data-act='3']")), chromedp.KeyEvent(kb.Enter))
	p.wait(`wdgnn.right.shot?.open && wdgnn.right.shot.answers === 1`)
	const (
		bars  = `wdgnn.%s.shot.open.taps.map(v => v.toFixed(6)).join()`
		right = `(wdgnn.%[1]s.shot.trial.answers[wdgnn.%[1]s.learner][wdgnn.%[1]s.shot.open.node] === wdgnn.%[1]s.shot.trial.truth)`
	)
	look := func(side string) (taps string, hit bool) {
		return evaluate[string](p, fmt.Sprintf(bars, side)), evaluate[bool](p, fmt.Sprintf(right, side))
	}
	frozen, hit0 := look("left")
	learning, hit1 := look("right")
	if hit0 || hit1 {
		p.t.Errorf("at first the node is right: frozen %v, learning %v; want neither", hit0, hit1)
	}
	seen := evaluate[string](p, card, chromedp.EvalAwaitPromise)
	p.wait(caption(`/^Signal \d+ started in community [A-E]: frozen says [A-E] ✗ .*, learning says [A-E] ✗ .*\.$/`))
	testUpdates(p)
	evaluate[any](p, `wdgnn.story.seek(9 + 4 * (wdgnn.story.story().opened.updates.length - 2) + 2)`)
	p.wait(caption(`/again: frozen says [A-E] ✗ \(error [\d.]+\), learning says [A-E] ✓ \(error [\d.]+\)\.$/`))
	stayed, hit0 := look("left")
	moved, hit1 := look("right")
	if hit0 || !hit1 {
		p.t.Errorf("at last the node is right: frozen %v, learning %v; want the second alone", hit0, hit1)
	}
	if stayed != frozen || moved == learning {
		p.t.Errorf("taps that are as they were: frozen %v, learning %v; want the first alone", stayed == frozen, moved == learning)
	}
	if now := evaluate[string](p, card, chromedp.EvalAwaitPromise); now == seen {
		p.t.Error("the card of the node looks as it did")
	}
	p.do(chromedp.KeyEvent(kb.Escape))
	p.wait(`wdgnn.story.act() === 4 && !wdgnn.right.shot?.open`)
}

// caption says whether the words of an act are of a form.
func caption(pattern string) string {
	return pattern + `.test(document.getElementById("caption").textContent)`
}

// testUpdates: of every update it is said what was answered, right or wrong, and how
// large the error was; where the one that learns errs alone, that too.
func testUpdates(p *tab) {
	type answer struct {
		Signal         float64
		Said, Error    string
		Frozen, Learns bool
	}
	list := evaluate[[]answer](p, `(() => { const o = wdgnn.story.story().opened; return o.updates.map(u => {
		const said = [0, u.trial.shown].map(l => u.trial.answers[l][o.node]), hit = said.map(a => a === u.trial.truth);
		return { signal: u.t, frozen: hit[0], learns: hit[1], error: u.error[1].toFixed(2), said: String.fromCharCode(65 + said[1]) };
	}); })()`)
	signs := map[bool]string{true: "✓", false: "✗"}
	for k, a := range list[:len(list)-1] {
		said := evaluate[string](p, fmt.Sprintf(`wdgnn.story.says(%d)`, k))
		answer := fmt.Sprintf("learning says %s %s (error %s)", a.Said, signs[a.Learns], a.Error)
		for _, want := range []string{fmt.Sprintf("Signal %v ", a.Signal), answer} {
			if !strings.Contains(said, want) {
				p.t.Errorf("update %d: got %q, want %q in it", k, said, want)
			}
		}
		if alone := a.Frozen && !a.Learns; strings.Contains(said, "learning errs and frozen does not") != alone {
			p.t.Errorf("update %d: frozen %v, learning %v: %q", k, a.Frozen, a.Learns, said)
		}
	}
}

// card is what stands in the right half of the network that learns.
const card = `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))).then(() => {
	const g = document.getElementById("graph2"), c = new OffscreenCanvas(g.width, g.height).getContext("2d", { willReadFrequently: true });
	c.drawImage(g, 0, 0);
	return c.getImageData(g.width * 0.6, 0, g.width * 0.3, g.height * 0.5).data.reduce((h, v) => (31 * h + v) | 0, 7).toString();
})`

// testMoment: while an act tells of a moment, the numbers in large type, those of the
// charts and what is said of a node are of that moment.
func testMoment(p *tab) {
	p.do(chromedp.Focus(chromedp.CSS("[data-act='2']")), chromedp.KeyEvent(kb.Enter))
	p.wait(`wdgnn.story.act() === 2 && wdgnn.right.shot.out.length === 0`)
	p.do(chromedp.Focus(chromedp.CSS("#hold")), chromedp.KeyEvent(kb.Enter))
	const detector = `wdgnn.right.mark.indexOf("detector")`
	hover := `(() => { const i = wdgnn.right.mark.indexOf("detector"), c = document.getElementById("graph2"), b = c.getBoundingClientRect();
		c.dispatchEvent(new PointerEvent("pointermove", { clientX: b.left + wdgnn.right.at(i), clientY: b.top + wdgnn.right.ys[i] })); })()`
	evaluate[any](p, hover)
	for _, m := range []struct {
		at     float64
		moment string
	}{{0.5, "before"}, {10, "after"}} {
		evaluate[any](p, fmt.Sprintf(`wdgnn.story.seek(%v)`, m.at))
		p.wait(fmt.Sprintf(`wdgnn.right.shot.trial === wdgnn.story.story().%s.trial && wdgnn.right.shot.answers === 1`, m.moment))
		for _, side := range []string{"0", "wdgnn.right.learner"} {
			share := fmt.Sprintf(`wdgnn.story.story().%s.shares[%s]`, m.moment, side)
			got := evaluate[string](p, fmt.Sprintf(`document.querySelector("[data-curve='" + %s + "']").textContent`, side))
			if want := evaluate[string](p, fmt.Sprintf(`Number(%s.toPrecision(4)) + " %%"`, share)); got != want {
				p.t.Errorf("%s: learner %s has %s beside its curve, %s in the story", m.moment, side, got, want)
			}
		}
		want := evaluate[string](p, fmt.Sprintf(`(i => {
			const t = wdgnn.story.story().%s.trial, a = t.answers[t.shown][i], l = v => String.fromCharCode(65 + v);
			return "says " + l(a) + ", which is " + (a === t.truth ? "right" : "wrong: it was " + l(t.truth)); })(%s)`, m.moment, detector))
		if got := p.text("#tip2"); !strings.HasSuffix(got, want) {
			p.t.Errorf("%s: of a detector it says %q, want %q at its end", m.moment, got, want)
		}
	}
	p.wait(`/, at signal \d+$/.test(document.querySelector("#charts h2").textContent)`)
	p.wait(`/at signal \d+; the run is at [\d,]+ now$/.test(document.getElementById("told").textContent)`)
	p.do(chromedp.KeyEvent("c")) // values are of now
	p.wait(`wdgnn.story.act() === 4 && document.querySelector("#charts h2 > span:last-child").textContent === ""`)
	evaluate[any](p, `document.getElementById("graph2").dispatchEvent(new PointerEvent("pointerleave"))`)
}

// testHero compares the numbers in large type with those of the event.
func testHero(p *tab, hub *live.Hub) {
	p.wait(`wdgnn.last.frame.t > 300`)
	command(p.t, hub, live.ControlPause, 1)
	p.wait(`wdgnn.last.frame.settings[0] === 1`)
	shown := evaluate[int](p, `wdgnn.last.frame.trial.shown`)
	for side, learner := range []int{0, shown} {
		want := evaluate[string](p, fmt.Sprintf(`Math.round(wdgnn.last.frame.curves[%d]) + " %%"`, learner))
		if got := p.text(fmt.Sprintf("#share%d", side)); got != want {
			p.t.Errorf("learner %d: %s in large type, %s in the event", learner, got, want)
		}
	}
	if got, want := p.text("#name1"), "learning: "+hub.Scene().Learners[shown]; got != want {
		p.t.Errorf("the learner on show is %q, want %q", got, want)
	}
	out := evaluate[int](p, `wdgnn.last.frame.out.length`)
	if got, want := p.text("#told"), fmt.Sprintf("%d of %d links lost", out, len(hub.Scene().Edges)); !strings.Contains(got, want) {
		p.t.Errorf("got %q, want %q in it", got, want)
	}
	command(p.t, hub, live.ControlPause, 0)
	p.wait(`wdgnn.last.frame.settings[0] === 0`)
}

// testDemoSizes: nothing is wider than the window, networks are beside each other
// where there is room, and a telephone has the curve on its first screen.
func testDemoSizes(p *tab) {
	for _, c := range []struct {
		width, height int64
		beside        bool
	}{{360, 800, false}, {390, 844, false}, {1280, 800, true}, {2560, 1200, true}} {
		p.do(chromedp.EmulateViewport(c.width, c.height))
		p.wait(fmt.Sprintf(`innerWidth === %d`, c.width))
		if wide := evaluate[int64](p, `document.documentElement.scrollWidth`); wide > c.width {
			p.t.Errorf("at %d pixels the page is %d wide", c.width, wide)
		}
		tops := evaluate[[]float64](p, `["sky", "sky2"].map(id => document.getElementById(id).getBoundingClientRect().top)`)
		beside := tops[0] == tops[1]
		if beside != c.beside {
			p.t.Errorf("at %d pixels the networks are beside each other: %v, want %v", c.width, beside, c.beside)
		}
		if top := evaluate[float64](p, `document.querySelector("#curve .plot").getBoundingClientRect().top`); top > float64(c.height)-80 {
			p.t.Errorf("at %d×%d pixels the curve begins at %v", c.width, c.height, top)
		}
	}
}

// testStill: whoever wants no motion sees the end of each act, and goes on by hand.
func testStill(p *tab, url string) {
	p.emulate("prefers-reduced-motion", "reduce")
	p.open(url)
	p.wait(`wdgnn.story.act() === 0 && wdgnn.right.shot.hop === wdgnn.right.shot.trial.hops.length - 1`)
	p.wait(`document.getElementById("hold").hidden`)
	for act := 1; act < 4; act++ {
		p.do(chromedp.Focus(chromedp.CSS("#next")), chromedp.KeyEvent(kb.Enter))
		p.wait(fmt.Sprintf(`wdgnn.story.act() === %d && wdgnn.right.shot.answers === 1`, act))
	}
	p.wait(`wdgnn.right.shot.trial === wdgnn.story.story().opened.updates.at(-1).trial`)
	if act := evaluate[int](p, `wdgnn.story.act()`); act != 3 {
		p.t.Errorf("act %d, want the fourth to stay", act+1)
	}
	p.clean(url)
}
