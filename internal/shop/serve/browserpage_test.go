package serve

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/internal/liveweb"
)

const hostile = `<img src=x onerror="document.title='owned'"><b>bold</b>`

// The page loads without complaints, asks nobody else, shows the numbers of the
// event, draws, and obeys mouse and keyboard. Names are shown, not run.
func TestPageLive(t *testing.T) {
	p := newTab(t)
	scene := ringScene(6)
	scene.Title, scene.Nodes[3], scene.Curves[0].Name, scene.Marks[1].Kind = "Ring "+hostile, hostile, hostile, hostile
	hub := newHub(t, scene)
	s := showing(t, liveweb.LiveConfig{Hub: hub, Control: true})
	publish(t, hub, ringFrame(6, 4))
	hub.Say(4, "%s", hostile)
	p.open(s.URL)
	p.wait(`wdgnn.last.frame && document.querySelector("[data-curve='1']").textContent !== "–"`)

	for selector, want := range map[string]string{
		"#title": "Ring " + hostile, "[data-counter='0']": "1,234", "[data-counter='1']": "4",
		"[data-curve='0']": "70.5 %", "[data-curve='1']": "90.25 %",
		"#words li span": hostile, "#status": "live", ".chart .names span": hostile,
	} {
		if got := p.text(selector); got != want {
			t.Errorf("%s: got %q, want %q", selector, got, want)
		}
	}
	if images := evaluate[int](p, `document.querySelectorAll("img, b b").length`); images != 0 {
		t.Errorf("%d elements came from names", images)
	}
	p.wait(`document.querySelectorAll(".chart canvas").length > 2`) // uPlot has drawn

	t.Run("pixels", func(t *testing.T) { testKill(p, hub) })
	t.Run("keyboard", func(t *testing.T) { testKeyboard(p, hub) })

	paint := evaluate[float64](p, `performance.getEntriesByName("first-contentful-paint")[0].startTime`)
	t.Logf("first paint after %.0f ms", paint) // 300 at most on a machine with nothing else to do
	p.clean(s.URL)
}

// A killed node's pixels take the colour of the legend, and change back.
func testKill(p *tab, hub *live.Hub) {
	p.wait(`wdgnn.stats.drawn > 0`)
	before, stated := p.color(2), p.style("#legend .down i", "background-color")
	if before == stated {
		p.t.Errorf("a node that runs has the colour of one that is down, %s", before)
	}
	f := ringFrame(6, 5)
	f.Down = []int32{2}
	publish(p.t, hub, f)
	hub.Say(5, "node 2 is down; its neighbours carry on")
	p.waitColor(2, stated)
	p.wait(`document.getElementById("latest").textContent.startsWith("node 2 is down")`)
	publish(p.t, hub, ringFrame(6, 6))
	p.waitColor(2, before)
}

// waitColor waits until a node has a colour on the canvas.
func (p *tab) waitColor(node int, want string) {
	p.t.Helper()
	for end := time.Now().Add(patience); ; {
		got := p.color(node)
		if got == want {
			return
		}
		if time.Now().After(end) {
			p.t.Fatalf("node %d is %s, want %s", node, got, want)
		}
	}
}

// Everything can be done with keys: pin a node, see its numbers, stop it, pause.
func testKeyboard(p *tab, hub *live.Hub) {
	p.do(chromedp.Focus(chromedp.CSS("#graph")), chromedp.KeyEvent(kb.ArrowRight+kb.ArrowRight+kb.ArrowLeft+kb.Enter))
	p.wait(`!document.getElementById("node").hidden`)
	evaluate[any](p, `wdgnn.pin(3)`)
	if got := p.text("#nodename"); got != hostile {
		p.t.Errorf("the pinned node is %q, want %q", got, hostile)
	}
	if got := p.text("#numbers"); !strings.Contains(got, "local loss0.5") {
		p.t.Errorf("its numbers are %q, want local loss 0.5", got)
	}
	p.do(chromedp.Focus(chromedp.CSS("#nodecontrols [data-control=kill]")), chromedp.KeyEvent(kb.Enter))
	if got := <-hub.Commands(); got != (live.Command{Name: live.ControlKill, Node: 3}) {
		p.t.Errorf("got %+v, want node 3 killed", got)
	}
	p.do(chromedp.Focus(chromedp.CSS("#graph")), chromedp.KeyEvent(" "))
	if got := <-hub.Commands(); got != (live.Command{Name: live.ControlPause, Value: 1}) {
		p.t.Errorf("got %+v, want a pause", got)
	}
	p.do(chromedp.Focus(chromedp.CSS("[data-control=drop]")), chromedp.KeyEvent(kb.ArrowRight))
	if got := <-hub.Commands(); got.Name != live.ControlDrop || got.Value != 0.3 {
		p.t.Errorf("got %+v, want links lost with probability 0.3", got)
	}
	p.do(chromedp.Focus(chromedp.CSS("#graph")), chromedp.KeyEvent(kb.Escape))
	p.wait(`document.getElementById("node").hidden`)
}

// The page fits from a telephone to a wall, in light and dark.
func TestPageSizes(t *testing.T) {
	p := newTab(t)
	hub := newHub(t, ringScene(60))
	s := showing(t, liveweb.LiveConfig{Hub: hub, Control: true})
	publish(t, hub, ringFrame(60, 1))
	p.open(s.URL)
	p.wait(`wdgnn.last.frame`)
	for _, width := range []int64{360, 768, 1280, 2560} {
		p.do(chromedp.EmulateViewport(width, 900))
		p.wait(fmt.Sprintf(`innerWidth === %d`, width))
		if wide := evaluate[int64](p, `document.documentElement.scrollWidth`); wide > width {
			t.Errorf("at %d pixels the page is %d wide", width, wide)
		}
		if canvas := evaluate[float64](p, `document.getElementById("graph").getBoundingClientRect().width`); canvas < 250 {
			t.Errorf("at %d pixels the picture is %v wide", width, canvas)
		}
	}
	p.emulate("prefers-color-scheme", "light")
	light := p.style("body", "background-color")
	p.emulate("prefers-color-scheme", "dark")
	if dark := p.style("body", "background-color"); dark == light {
		t.Errorf("light and dark are both %s", light)
	}
	p.clean(s.URL)
}

// A picture whose size changes is drawn at once, not blank until the next frame.
func TestPageResizes(t *testing.T) {
	p := newTab(t)
	hub := newHub(t, ringScene(6))
	s := showing(t, liveweb.LiveConfig{Hub: hub})
	publish(t, hub, ringFrame(6, 1))
	p.open(s.URL)
	p.wait(`wdgnn.stats.drawn > 0`)
	evaluate[any](p, `{
		const g = document.getElementById("graph"), c = new OffscreenCanvas(2000, 2000).getContext("2d", { willReadFrequently: true });
		wdgnn.widths = []; wdgnn.blank = 0;
		new ResizeObserver(() => { // is called after the page's own, before anything is shown
			c.clearRect(0, 0, 2000, 2000);
			c.drawImage(g, 0, 0);
			wdgnn.widths.push(g.width);
			if (!c.getImageData(0, 0, 2000, 2000).data.some(v => v > 0)) wdgnn.blank++;
		}).observe(document.getElementById("sky"));
	}`)
	for _, width := range []int64{1000, 1400, 700} {
		seen := evaluate[int](p, `wdgnn.widths.length`)
		p.do(chromedp.EmulateViewport(width, 900))
		p.wait(fmt.Sprintf(`innerWidth === %d && wdgnn.widths.length > %d`, width, seen))
	}
	if blank := evaluate[int](p, `wdgnn.blank`); blank > 0 {
		t.Errorf("the picture was blank at %d of the widths %s", blank, evaluate[string](p, `wdgnn.widths.join()`))
	}
	p.clean(s.URL)
}

// Robots are drawn where they are, and move.
func TestPageFlock(t *testing.T) {
	p := newTab(t)
	hub := newHub(t, live.Scene{Title: "Flock", Task: "flocking", Time: "s", Layout: live.LayoutMoving, Nodes: []string{"a", "b", "c"}})
	s := showing(t, liveweb.LiveConfig{Hub: hub})
	frame := func(at float64, x float32) *live.Frame {
		return &live.Frame{
			Time: at, Positions: live.Floats{x, 0, 1, 1, 2, 0}, Velocities: live.Floats{1, 0, 0, 1, 1, 1},
			Links: [][2]int32{{0, 1}}, Down: []int32{},
		}
	}
	publish(t, hub, frame(0, 0))
	p.open(s.URL)
	p.wait(`wdgnn.stats.drawn > 0 && wdgnn.last.frame.t === 0`)
	x := evaluate[float64](p, `wdgnn.where(0).x`)
	down := frame(1, 0.5)
	down.Down = []int32{2}
	publish(t, hub, down)
	p.wait(`wdgnn.last.frame.t === 1`)
	p.waitColor(2, p.style("#legend .down i", "background-color"))
	if moved := evaluate[float64](p, `wdgnn.where(0).x`); moved <= x {
		t.Errorf("robot a went from %v to %v, want to the right", x, moved)
	}
	p.clean(s.URL) // before the page looks for a run that is over
	hub.Close()
	p.wait(`document.getElementById("status").textContent === "the run has ended"`)
}

// A recorded run is replayed: the slider moves through it.
func TestPageReplay(t *testing.T) {
	p := newTab(t)
	s := showing(t, liveweb.LiveConfig{Recording: recorded(t, 120)})
	p.open(s.URL)
	p.wait(`wdgnn.last.frame?.t === 0`)
	before := p.color(2)
	p.do(chromedp.Focus(chromedp.CSS("#slider")), chromedp.KeyEvent(kb.End))
	p.wait(`wdgnn.last.frame.t === 119`)
	p.waitColor(2, p.style("#legend .down i", "background-color"))
	for selector, want := range map[string]string{
		"#moment": "119 s", "[data-counter='1']": "119", "#words li span": "node 2 is down; its neighbours carry on",
	} {
		if got := p.text(selector); got != want {
			t.Errorf("%s: got %q, want %q", selector, got, want)
		}
	}
	p.do(chromedp.Focus(chromedp.CSS("#slider")), chromedp.KeyEvent(kb.Home))
	p.wait(`wdgnn.last.frame.t === 0`)
	p.waitColor(2, before)
	if words := evaluate[int](p, `document.querySelectorAll("#words li").length`); words != 0 {
		t.Errorf("%d words at the beginning, want 0", words)
	}
	p.do(chromedp.Focus(chromedp.CSS("#graph")), chromedp.KeyEvent(" "))
	p.wait(`wdgnn.last.frame.t > 2`)
	p.clean(s.URL)
}

// flightOf is a flight of three robots, a hundred frames a second.
func flightOf(t testing.TB, frames int) *live.Recording {
	t.Helper()
	scene := live.Scene{
		Title: "Flock", Task: "flocking", Time: "s", Layout: live.LayoutMoving, Nodes: []string{"a", "b", "c"},
		Curves: []live.Curve{{Name: "variation", Chart: "variation", Learner: -1}},
	}
	return recording(t, scene, func(w *live.Writer) error {
		for k := range frames {
			x := float32(k) / 10
			frame := &live.Frame{
				Time: float64(k) / 100, Positions: live.Floats{x, 0, x + 1, 1, x + 2, 0}, Velocities: live.Floats{10, 0, 10, 0, 10, 0},
				Links: [][2]int32{{0, 1}, {0, 2}, {1, 2}}, Down: []int32{}, Curves: live.Numbers{float64(frames - k)},
			}
			if err := w.Frame(frame); err != nil {
				return err
			}
		}
		return nil
	})
}

// painted counts the pixels of the picture that are not empty, once what is new
// has been drawn.
const painted = `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))).then(() => {
	const g = document.getElementById("graph"), c = new OffscreenCanvas(g.width, g.height).getContext("2d", { willReadFrequently: true });
	c.drawImage(g, 0, 0);
	return c.getImageData(0, 0, g.width, g.height).data.filter((v, k) => k % 4 === 3 && v > 0).length;
})`

// A flight is replayed as fast as it was flown, whatever is not wanted of it is
// not drawn, and a click on a curve goes to that moment.
func TestPageReplayFlight(t *testing.T) {
	p := newTab(t)
	s := showing(t, liveweb.LiveConfig{Recording: flightOf(t, 300)})
	p.open(s.URL)
	p.wait(`wdgnn.last.frame?.t === 0 && document.querySelector(".chart .u-over")`)
	p.do(chromedp.Focus(chromedp.CSS("#play")), chromedp.KeyEvent(" "))
	p.wait(`wdgnn.last.frame.t === 2.99`) // at ten frames a second it would take half a minute
	p.wait(`document.getElementById("play").textContent === "Play"`)

	all := evaluate[int](p, painted, chromedp.EvalAwaitPromise)
	for _, what := range []string{"links", "arrows", "trails"} {
		evaluate[any](p, fmt.Sprintf(`document.getElementById(%q).click()`, what))
		left := evaluate[int](p, painted, chromedp.EvalAwaitPromise)
		if left >= all {
			t.Errorf("without %s %d pixels are painted, with them %d", what, left, all)
		}
		all = left
	}
	near := evaluate[float64](p, `wdgnn.where(2).x - wdgnn.where(0).x`)
	evaluate[any](p, `document.getElementById("follow").click()`)
	if far := evaluate[float64](p, `wdgnn.where(2).x - wdgnn.where(0).x`); far > near/2 {
		t.Errorf("robots are %v pixels apart where the whole way is shown, %v where the view follows them", far, near)
	}

	over := evaluate[[]float64](p, `(() => {
		const b = document.querySelector(".chart .u-over").getBoundingClientRect();
		return [b.x + b.width / 2, b.y + 5];
	})()`)
	p.do(chromedp.MouseClickXY(over[0], over[1]))
	p.wait(`Math.abs(wdgnn.last.frame.t - 1.5) < 0.1`)
	at := evaluate[float64](p, `wdgnn.last.frame.t`)
	evaluate[any](p, `document.activeElement.blur()`)
	p.do(chromedp.KeyEvent(kb.ArrowRight))
	p.wait(fmt.Sprintf(`Math.abs(wdgnn.last.frame.t - %v) < 1e-6`, at+0.01))
	p.clean(s.URL)
}

// The page finds its server again after a restart.
func TestPageReconnects(t *testing.T) {
	p := newTab(t)
	hub := newHub(t, ringScene(6))
	serving := func(address string) (string, func()) {
		l, err := liveweb.Listen(t.Context(), address, false)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- liveweb.NewLive(liveweb.LiveConfig{Hub: hub}).Serve(ctx, l) }()
		return l.Addr().String(), func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	address, stop := serving("127.0.0.1:0")
	publish(t, hub, ringFrame(6, 1))
	p.open("http://" + address)
	p.wait(`wdgnn.last.frame?.t === 1`)
	stop()
	p.wait(`document.getElementById("status").dataset.state === "lost"`)
	publish(t, hub, ringFrame(6, 2))
	_, stop = serving(address)
	defer stop()
	p.wait(`wdgnn.last.frame.t === 2 && document.getElementById("status").dataset.state === "live"`)
}

// begun is an answer whose head was sent.
type begun struct{ http.ResponseWriter }

func (begun) WriteHeader(int) {}

func (b begun) Unwrap() http.ResponseWriter { return b.ResponseWriter }

// Events that are malformed, too large or of the wrong shape are counted, and
// the page goes on.
func TestPageHostileEvents(t *testing.T) {
	p := newTab(t)
	hub := newHub(t, ringScene(6))
	inner := liveweb.NewLive(liveweb.LiveConfig{Hub: hub})
	bad := []string{
		"{", "null", "[]", `"frame"`, `{"t":"now"}`, `{"t":1e999}`, `{"__proto__":{"t":1}}`,
		`{"t":1,"values":[[1,2,3]]}`, `{"t":1,"values":"x"}`, `{"t":1,"down":[99]}`, `{"t":1,"down":[-1]}`, `{"t":1,"out":[1e9]}`,
		`{"t":1,"curves":[{},{}]}`, `{"t":1,"links":[[0,1e300]]}`, `{"t":1,"pos":[1]}`, `{"t":1,"settings":[1]}`,
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/events" {
			inner.ServeHTTP(w, r)
			return
		}
		_, _ = io.WriteString(w, "event: scene\ndata: {\"layout\":7}\n\n: not yet\n\n")
		_, _ = io.WriteString(w, "event: nonsense\ndata: 1\n\nevent: frame\ndata: {\"t\":0}\n\n")
		for _, text := range bad {
			_, _ = io.WriteString(w, "event: frame\ndata: "+text+"\n\n")
		}
		_, _ = io.WriteString(w, "event: frame\ndata: ")
		for range 40 { // 40 MB in one event
			_, _ = io.WriteString(w, strings.Repeat("[", 1<<20))
		}
		_, _ = io.WriteString(w, "\n\n")
		inner.ServeHTTP(begun{w}, r)
	}))
	t.Cleanup(func() {
		inner.Close()
		s.Close()
	})
	publish(t, hub, ringFrame(6, 7))
	p.open(s.URL)
	p.wait(`wdgnn.last.frame?.t === 7`)
	p.wait(`document.getElementById("notes").textContent.includes("messages made no sense")`)
	if got := p.text("[data-counter='0']"); got != "1,234" {
		t.Errorf("the counter shows %q, want 1,234", got)
	}
	p.clean(s.URL)
}

// A page behind a token asks for it once.
func TestPageToken(t *testing.T) {
	p := newTab(t)
	hub := newHub(t, ringScene(6))
	publish(t, hub, ringFrame(6, 1))
	s := showing(t, liveweb.LiveConfig{Hub: hub, Config: liveweb.Config{Token: "a-token-of-some-length"}})
	p.open(s.URL)
	p.wait(`!document.getElementById("gate").hidden`)
	p.do(chromedp.SendKeys(chromedp.CSS("#token"), "a-token-of-some-length"+kb.Enter))
	p.wait(`wdgnn.last.frame?.t === 1`)
	evaluate[any](p, `sessionStorage.clear()`)
	p.open("about:blank")
	p.open(s.URL + "/#token=a-token-of-some-length")
	p.wait(`wdgnn.last.frame?.t === 1 && location.hash === ""`)
}

// Tables show our numbers beside the paper's, and figures.
func TestPageTables(t *testing.T) {
	p := newTab(t)
	results, err := live.OpenResults("../../../doc/results")
	if err != nil {
		t.Fatal(err)
	}
	defer results.Close()
	results.Titles = map[string]string{"table1": "Table 1: a title"}
	s := showing(t, liveweb.LiveConfig{Results: results})
	p.open(s.URL)
	p.wait(`document.querySelectorAll("#tables table").length > 3`)
	if title, link := p.text("#result-table1 h2"), p.text(".contents a"); title != "Table 1: a title" || link != title {
		t.Errorf("got the title %q and in the contents %q, want Table 1: a title", title, link)
	}
	evaluate[any](p, `document.querySelector("#tables img").scrollIntoView()`) // figures are loaded when somebody comes near
	p.wait(`document.querySelector("#tables img").naturalWidth > 0`)
	if cell := p.text("#tables tbody td"); !strings.Contains(cell, "±") || !strings.Contains(cell, "paper 41.2 ± 2.1") {
		t.Errorf("the first cell is %q, want our number and paper 41.2 ± 2.1", cell)
	}
	p.clean(s.URL)
}

// ringTrial is a signal that starts somewhere on a ring and spreads five hops.
func ringTrial(n int, at int32) *live.Trial {
	t := &live.Trial{Source: at % int32(n), Truth: at % 5, Answers: [][]int32{make([]int32, n), make([]int32, n)}, Shown: 1}
	for k := range 6 {
		hop := make(live.Floats, n)
		for i := range hop {
			hop[i] = 1 / (1 + float32((i+int(at))%n)/float32(k+1))
		}
		t.Hops = append(t.Hops, hop)
	}
	return t
}

// How fast the page draws while every frame is another: printed. That most
// frames take no longer than 60 a second allow at 200 nodes, and 20 a second at
// 2,000, must hold even where other programs take the processor's time.
func TestPageFrameRates(t *testing.T) {
	for _, c := range []struct {
		nodes       int
		most, least float64 // ms to draw a frame, and frames a second in any case
		name        string
		trials      bool // on two networks
	}{{200, 16, 10, "200", false}, {200, 16, 10, "200 twice", true}, {2000, 50, 5, "2000", false}} {
		t.Run(c.name, func(t *testing.T) {
			p := newTab(t)
			scene := ringScene(c.nodes)
			for i := range c.nodes { // about ten links a node
				for k := 2; k < 6; k++ {
					scene.Edges = append(scene.Edges, [2]int32{int32(i), int32((i + k*k) % c.nodes)})
				}
			}
			if scene.Trials = c.trials; c.trials {
				for i := range c.nodes {
					scene.Groups = append(scene.Groups, i/(c.nodes/5))
				}
			}
			hub := newHub(t, scene)
			s := showing(t, liveweb.LiveConfig{Hub: hub})
			p.open(s.URL)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var frames atomic.Int64
			go func() {
				for tick := time.NewTicker(time.Second / 30); ctx.Err() == nil; <-tick.C {
					at := float64(frames.Add(1))
					f := ringFrame(c.nodes, at)
					for i := range f.Values[0] {
						f.Values[0][i] = float32((int(at)*7+i)%100) / 100
					}
					for e := range int32(100) {
						f.Pulses = append(f.Pulses, e)
					}
					if c.trials {
						f.Trial = ringTrial(c.nodes, int32(at))
					}
					_ = hub.Publish(f)
				}
			}()
			p.wait(`wdgnn.last.frames > 30`)
			p.wait(`(() => {
				wdgnn.since ??= { drawn: wdgnn.stats.drawn, at: performance.now() };
				return performance.now() - wdgnn.since.at > 2500;
			})()`)
			drawn := evaluate[float64](p, `1000 * (wdgnn.stats.drawn - wdgnn.since.drawn) / (performance.now() - wdgnn.since.at)`)
			fps := evaluate[float64](p, `wdgnn.stats.fps`)
			ms := evaluate[float64](p, `wdgnn.stats.recent.toSorted((a, b) => a - b)[Math.floor(wdgnn.stats.recent.length / 2)]`)
			t.Logf("%d nodes, %d links: %.1f animation frames a second, %.1f drawn, half of them in less than %.2f ms; "+
				"%d frames published, %d received",
				c.nodes, len(scene.Edges), fps, drawn, ms, frames.Load(), evaluate[int64](p, `wdgnn.last.frames`))
			if ms > c.most || drawn < c.least {
				t.Errorf("%.2f ms a frame and %.1f a second, want at most %v ms and at least %v", ms, drawn, c.most, c.least)
			}
			p.clean(s.URL)
		})
	}
}
