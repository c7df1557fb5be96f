package serve

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/internal/livepage"
	"github.com/wdgnn/wdgnn/internal/liveweb"
)

// exported writes a recording as one file and returns its address.
func exported(t *testing.T, r *live.Recording) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.html")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := livepage.Export(f, r); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return "file://" + path
}

// alone fails the test if the page complained or asked for anything but itself.
func (p *tab) alone(url string) {
	p.t.Helper()
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if len(p.errors) > 0 {
		p.t.Errorf("the page complains: %q", p.errors)
	}
	own := 0
	for _, asked := range p.requests {
		switch {
		case asked == url:
			own++
		case !strings.HasPrefix(asked, "data:image/svg+xml;base64,"): // its icon
			p.t.Errorf("the page asks %s", asked)
		}
	}
	if own == 0 {
		p.t.Errorf("requests %q: the page's own is not seen", p.requests)
	}
}

// An exported run plays from a disk, shows what a server would show, and asks
// nobody for anything.
func TestPageExported(t *testing.T) {
	p := newTab(t)
	url := exported(t, recorded(t, 120))
	p.open(url)
	p.wait(`wdgnn.last.frame?.t > 0`) // it plays by itself
	before := p.color(2)
	p.do(chromedp.Focus(chromedp.CSS("#slider")), chromedp.KeyEvent(kb.End))
	p.wait(`wdgnn.last.frame.t === 119`)
	p.waitColor(2, p.style("#legend .down i", "background-color"))
	for selector, want := range map[string]string{
		"#title": "A ring", "#moment": "119 s", "[data-counter='1']": "119", "#words li span": "node 2 is down; its neighbours carry on",
		"#status": "replay · 120 frames",
	} {
		if got := p.text(selector); got != want {
			t.Errorf("%s: got %q, want %q", selector, got, want)
		}
	}
	p.wait(`document.querySelectorAll(".chart canvas").length > 2`) // uPlot has drawn
	p.do(chromedp.Focus(chromedp.CSS("#slider")), chromedp.KeyEvent(kb.Home))
	p.wait(`wdgnn.last.frame.t === 0`)
	p.waitColor(2, before)
	p.alone(url)
}

// Every frame of an exported flight is the recorded one, to within half a unit.
func TestPageExportedFrames(t *testing.T) {
	p := newTab(t)
	p.emulate("prefers-reduced-motion", "reduce") // it does not play by itself
	r := flightOf(t, 230)
	url := exported(t, r)
	p.open(url)
	p.wait(`wdgnn.last.frame?.t === 0`)
	for _, k := range []int{229, 0, 99, 100, 157} {
		p.slide("#slider", k)
		p.wait(fmt.Sprintf(`Math.abs(wdgnn.last.frame.t - %v) < 1e-9`, float64(k)/100))
		texts, err := r.Read(k, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		var got, want live.Frame
		if err := json.Unmarshal(texts[0], &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(evaluate[string](p, `JSON.stringify(wdgnn.last.frame)`)), &got); err != nil {
			t.Fatal(err)
		}
		for i := range want.Positions {
			if math.Abs(float64(got.Positions[i]-want.Positions[i])) > 0.5e-3+1e-6 || got.Velocities[i] != want.Velocities[i] {
				t.Errorf("frame %d, coordinate %d: got %v at %v, want %v at %v",
					k, i, got.Positions[i], got.Velocities[i], want.Positions[i], want.Velocities[i])
			}
		}
		if len(got.Links) != 3 || got.Curves[0] != want.Curves[0] {
			t.Errorf("frame %d: got links %v and curves %v, want %v and %v", k, got.Links, got.Curves, want.Links, want.Curves)
		}
	}
	p.alone(url)
}

// A flight that is loaded twenty times, from a server and from a disk in turn, shows its
// picture each time.
func TestPageFlightLoaded(t *testing.T) {
	p := newTab(t)
	s := showing(t, liveweb.LiveConfig{Recording: flightOf(t, 30)})
	file := exported(t, flightOf(t, 30))
	for k := range 20 {
		p.open([]string{s.URL, file}[k%2])
		p.wait(`wdgnn.last.frame && wdgnn.stats.drawn > 0 && document.querySelector(".chart .u-over")`)
		if n := evaluate[int](p, painted, chromedp.EvalAwaitPromise); n < 200 {
			t.Errorf("load %d: %d pixels of the picture are painted", k+1, n)
		}
	}
}
