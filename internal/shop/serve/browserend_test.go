package serve

import (
	"math"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/internal/liveweb"
)

// The page tells how far work is, what a button would do, and what a node shows
// now; a gap in a curve is one; after the end whoever is there and whoever comes
// sees how it went, and can command nothing.
func TestPageTrueToTime(t *testing.T) {
	p := newTab(t)
	hub := newHub(t, ringScene(6))
	s := showing(t, liveweb.LiveConfig{Hub: hub, Control: true})
	for at := range 30 { // nobody watches yet
		f := ringFrame(6, float64(at))
		if at >= 10 && at < 20 {
			f.Curves[1] = math.NaN() // nothing was heard
		}
		f.Progress = &live.Progress{Done: float64(at), Of: 100, Left: 75}
		publish(t, hub, f)
	}
	p.open(s.URL)
	p.wait(`wdgnn.curves.times().length === 30 && document.querySelector(".chart .u-over")`)
	if got := p.text("#progresswords"); got != "29 of 100 s, 75 s left" {
		t.Errorf("progress is %q", got)
	}
	gap := evaluate[[]int](p, `wdgnn.curves.values(1).map((v, i) => v === null ? i : -1).filter(i => i >= 0)`)
	if len(gap) != 10 || gap[0] != 10 {
		t.Errorf("the gap is at %d, want 10 to 19", gap)
	}

	p.do(chromedp.EmulateViewport(390, 844)) // a telephone shows the curve on its first screen
	p.wait(`innerWidth === 390 && document.querySelector(".chart .u-over").getBoundingClientRect().bottom < 844 &&
		document.querySelector(".chart .u-over").clientWidth > 200`)
	p.do(chromedp.EmulateViewport(1280, 900))

	p.do(chromedp.Focus(chromedp.CSS("#graph")), chromedp.KeyEvent(kb.ArrowRight+kb.ArrowRight))
	p.wait(`!document.getElementById("tip").hidden`)
	before := p.text("#tip")
	f := ringFrame(6, 30)
	for i := range f.Values[0] {
		f.Values[0][i] = 0.125
	}
	f.Settings = make(live.Numbers, len(hub.Scene().Controls))
	f.Settings[0] = 1 // paused
	publish(t, hub, f)
	p.wait(`document.getElementById("tip").textContent.includes("0.125") &&
		document.querySelector("[data-control=pause]").textContent === "Go on"`)
	if before == p.text("#tip") {
		t.Errorf("the numbers of the node stay %q", before)
	}
	if !evaluate[bool](p, `document.getElementById("progress").hidden`) {
		t.Error("work that is over is still on its way")
	}

	hub.Close()
	p.waitEnd()
	p.open("about:blank")
	p.open(s.URL)
	p.waitEnd()
	if got := evaluate[int](p, `wdgnn.curves.times().length`); got != 31 {
		t.Errorf("who comes after the end sees %d points, want 31", got)
	}
	p.clean(s.URL)
}

// waitEnd waits until the page says that the run is over.
func (p *tab) waitEnd() {
	p.t.Helper()
	p.wait(`document.getElementById("status").textContent === "the run has ended" && wdgnn.last.frame`)
	if left := evaluate[int](p, `document.querySelectorAll("[data-control]:enabled").length`); left != 0 {
		p.t.Errorf("%d controls can be used after the end", left)
	}
}
