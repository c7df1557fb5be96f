package serve

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// chromium starts the system's browser once for all tests.
var chromium = sync.OnceValues(func() (context.Context, error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.Flag("disable-gpu", true))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocator, _ := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	stopBrowser = cancel
	return ctx, chromedp.Do(ctx) // starts it
})

var stopBrowser func()

// closeBrowser ends it, if a test started it.
func closeBrowser() {
	if stopBrowser != nil {
		stopBrowser()
	}
}

// tab is a tab of the browser.
type tab struct {
	t   *testing.T
	ctx context.Context

	mutex    sync.Mutex
	errors   []string // that the page caused
	requests []string // that it made
}

// newTab opens a tab that watches for errors and requests.
func newTab(t *testing.T) *tab {
	t.Helper()
	starts(t)
	if _, err := exec.LookPath("chromium"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("the page is tested with Debian's chromium: %v; try: apt-get install chromium", err)
		}
		t.Skipf("SKIPPED %s: it needs Debian's chromium: %v", t.Name(), err)
	}
	browser, err := chromium()
	if err != nil {
		t.Fatalf("chromium does not start: %v", err)
	}
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil { // opens the tab; its life must not depend on a timeout
		t.Fatal(err)
	}
	p := &tab{t: t, ctx: ctx}
	watch(p, chromedp.Events(ctx, runtime.ExceptionThrown), func(e runtime.EventExceptionThrown) {
		p.errors = append(p.errors, "exception: "+e.ExceptionDetails.Text)
	})
	watch(p, chromedp.Events(ctx, runtime.ConsoleAPICalled), func(e runtime.EventConsoleAPICalled) {
		p.errors = append(p.errors, fmt.Sprintf("console: %s", e.Type))
	})
	watch(p, chromedp.Events(ctx, log.EntryAdded), func(e log.EventEntryAdded) {
		p.errors = append(p.errors, fmt.Sprintf("log: %s %s", e.Entry.Text, e.Entry.URL))
	})
	watch(p, chromedp.Events(ctx, network.RequestWillBeSent), func(e network.EventRequestWillBeSent) {
		p.requests = append(p.requests, e.Request.URL)
	})
	_, err1 := chromedp.Call(ctx, log.Enable, cdp.Empty{})
	_, err2 := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	p.do(chromedp.EmulateViewport(1280, 900))
	return p
}

// watch hands events to see until the tab is closed.
func watch[E any](p *tab, events iter.Seq2[E, error], see func(E)) {
	go func() {
		for e, err := range events {
			if err != nil {
				return
			}
			p.mutex.Lock()
			see(e)
			p.mutex.Unlock()
		}
	}()
}

// patience is how long a page may take for anything.
const patience = 90 * time.Second

func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.t.Fatal(err)
	}
}

// open loads a page.
func (p *tab) open(url string) {
	p.t.Helper()
	p.do(chromedp.Navigate(url))
}

// evaluate returns the value of a script in the page.
func evaluate[T any](p *tab, script string, options ...chromedp.EvaluateOption) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](script, options...))
	if err != nil {
		p.t.Fatalf("%s: %v", script, err)
	}
	return v
}

// wait waits until a condition of the page holds.
func (p *tab) wait(condition string) {
	p.t.Helper()
	held := evaluate[bool](p, fmt.Sprintf(`new Promise(done => {
		const end = performance.now() + %d;
		const look = () => {
			let v = false;
			try { v = %s; } catch {}
			if (v || performance.now() > end) done(Boolean(v)); else setTimeout(look, 10);
		};
		look();
	})`, 60_000, condition), chromedp.EvalAwaitPromise)
	if !held {
		p.mutex.Lock()
		defer p.mutex.Unlock()
		p.t.Fatalf("the page does not come to %s; errors %q", condition, p.errors)
	}
}

// text returns the text of an element.
func (p *tab) text(selector string) string {
	p.t.Helper()
	return evaluate[string](p, fmt.Sprintf(`document.querySelector(%q).textContent`, selector))
}

// color returns the colour of a node on the canvas, beside its middle, once what
// is new has been drawn.
func (p *tab) color(node int) string {
	p.t.Helper()
	return evaluate[string](p, fmt.Sprintf(`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))).then(() => {
		const w = wdgnn.where(%d), c = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
		c.drawImage(document.getElementById("graph"), -Math.floor((w.x + 0.65 * w.r) * w.ratio), -Math.floor(w.y * w.ratio));
		return "rgb(" + [...c.getImageData(0, 0, 1, 1).data.slice(0, 3)].join(", ") + ")";
	})`, node), chromedp.EvalAwaitPromise)
}

// style returns a computed property of an element.
func (p *tab) style(selector, property string) string {
	p.t.Helper()
	return evaluate[string](p, fmt.Sprintf(`getComputedStyle(document.querySelector(%q)).getPropertyValue(%q)`, selector, property))
}

// slide moves a slider.
func (p *tab) slide(selector string, to any) {
	p.t.Helper()
	evaluate[any](p, fmt.Sprintf(`(() => {
		const s = document.querySelector(%q);
		s.value = %v;
		s.dispatchEvent(new Event("input"));
	})()`, selector, to))
}

// emulate sets a feature of the browser's media, such as the colour scheme.
func (p *tab) emulate(name, value string) {
	p.t.Helper()
	params := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: name, Value: value}}}
	if _, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, params); err != nil {
		p.t.Fatal(err)
	}
}

// clean fails the test if the page complained or asked anybody but its server.
func (p *tab) clean(server string) {
	p.t.Helper()
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if len(p.errors) > 0 {
		p.t.Errorf("the page complains: %q", p.errors)
	}
	for _, url := range p.requests {
		if !strings.HasPrefix(url, server+"/") && !strings.HasPrefix(url, "blob:"+server+"/") {
			p.t.Errorf("the page asks %s", url)
		}
	}
	if !slices.ContainsFunc(p.requests, func(url string) bool { return strings.HasSuffix(url, "/page/main.js") }) {
		p.t.Errorf("requests %q: the page's own are not seen", p.requests)
	}
}
