package main

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/wdgnn/wdgnn/internal/demo"
	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/mat"
)

// shown is the demo, with little training: seconds instead of minutes. With -full it
// is what wdgnn demo shows.
var shown = demo.Demo{Seed: 12, Signals: 300, Epochs: 2}

var (
	full     = flag.Bool("full", false, "train as wdgnn demo does, which takes some minutes")
	patience = 2 * time.Minute // with everything
)

// built writes the site once for all tests.
var built = sync.OnceValues(func() (string, error) {
	out, err := os.MkdirTemp("", "wdgnn-site-test")
	if err != nil {
		return "", err
	}
	removeSite = func() { os.RemoveAll(out) }
	s := site{out: out, demo: shown, log: io.Discard}
	return out, s.write(context.Background())
})

var removeSite = func() {}

func TestMain(m *testing.M) {
	flag.Parse()
	if *full {
		shown, patience = demo.Demo{Seed: shown.Seed}, 20*time.Minute
	}
	if err := mat.UseKernels(kernels); err != nil {
		panic(err)
	}
	code := m.Run()
	stopBrowser()
	removeSite()
	os.Exit(code)
}

// folder returns the site's.
func folder(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skipf("SKIPPED %s: it compiles the demo for a browser; it runs without -short", t.Name())
	}
	out, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What a browser loads for the demo has at most 6 MB compressed.
func TestSize(t *testing.T) {
	total, out := 0, folder(t)
	err := filepath.WalkDir(out, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		total += compressed(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the demo has %d bytes compressed", total)
	if total > 6e6 {
		t.Errorf("got %d bytes compressed, want at most 6,000,000", total)
	}
}

// serve hands the site out from a folder of a server, as any web server does; change
// may do something to an answer.
func serve(t *testing.T, change func(w http.ResponseWriter, r *http.Request) (done bool)) (url string) {
	t.Helper()
	files := http.StripPrefix("/some/where/", http.FileServer(http.Dir(folder(t))))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if change == nil || !change(w, r) {
			files.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL + "/some/where/"
}

// browser starts the system's once for all tests.
var browser = sync.OnceValues(func() (context.Context, error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.Flag("disable-gpu", true))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	stopBrowser = stop
	ctx, _ := chromedp.NewContext(allocator)
	return ctx, chromedp.Do(ctx) // starts it
})

var stopBrowser = func() {}

// newTab opens a tab of the browser.
func newTab(t *testing.T) context.Context {
	t.Helper()
	folder(t)
	if _, err := exec.LookPath("chromium"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("the site is tested with Debian's chromium: %v; try: apt-get install chromium", err)
		}
		t.Skipf("SKIPPED %s: it needs Debian's chromium: %v", t.Name(), err)
	}
	running, err := browser()
	if err != nil {
		t.Fatalf("chromium does not start: %v", err)
	}
	tab, closeTab := chromedp.NewContext(running)
	t.Cleanup(closeTab)
	if err := chromedp.Do(tab); err != nil { // opens it; its life must not depend on a timeout
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(tab, patience)
	t.Cleanup(cancel)
	return ctx
}

func open(t *testing.T, tab context.Context, url string) {
	t.Helper()
	if err := chromedp.Do(tab, chromedp.Navigate(url)); err != nil {
		t.Fatal(err)
	}
}

// evaluate returns what a script in the page comes to.
func evaluate[T any](t *testing.T, tab context.Context, script string) T {
	t.Helper()
	v, err := chromedp.Run(tab, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%v in\n%s", err, script)
	}
	return v
}

// until returns the value of a script once it is something; it fails with what the
// page says of itself.
func until[T any](t *testing.T, tab context.Context, script string) T {
	t.Helper()
	held := evaluate[bool](t, tab, fmt.Sprintf(`new Promise(done => {
		const end = performance.now() + 60000;
		const look = () => {
			let v; try { v = %s; } catch {}
			if (v || performance.now() > end) done(Boolean(v)); else setTimeout(look, 10);
		};
		look();
	})`, script))
	if !held {
		t.Fatalf("the page does not come to %s; it says %q", script,
			evaluate[string](t, tab, `document.getElementById("status").textContent`))
	}
	return evaluate[T](t, tab, script)
}

// action is a command that is sent while time stands at At.
type action struct {
	At int `json:"at"`
	live.Command
}

// steps is how many signals are compared.
const steps = 80

var actions = []action{
	{20, live.Command{Name: live.ControlDrop, Value: 0.3}},
	{40, live.Command{Name: live.ControlKill, Node: 3}},
	{60, live.Command{Name: live.ControlRestart, Node: 3}},
}

// want returns the frames of a demo that trains and answers in this process, by
// time. It is paused at once and goes on step by step.
func want(t *testing.T) map[int]map[string]any {
	t.Helper()
	l, err := shown.Live()
	if err != nil {
		t.Fatal(err)
	}
	sub, err := l.Hub().Subscribe(1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	ran := make(chan error, 1)
	go func() { ran <- l.Run(ctx, nil) }()
	defer func() {
		cancel()
		if err := <-ran; err != nil {
			t.Error(err)
		}
	}()
	ask := func(c live.Command) {
		if err := l.Hub().Command(c); err != nil {
			t.Fatal(err)
		}
	}
	ask(live.Command{Name: live.ControlPause, Value: 1})
	pause := slices.IndexFunc(l.Hub().Scene().Controls, func(c live.Control) bool { return c.Name == live.ControlPause })
	frames, last := map[int]map[string]any{}, -1
	for last < steps {
		m, err := sub.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if m.Kind != "frame" {
			continue
		}
		at, frame := parse(t, string(m.Text))
		frames[at] = frame
		if paused := frame["settings"].([]any)[pause] == 1.0; !paused || at == last {
			continue
		}
		last = at
		for _, a := range actions {
			if a.At == at {
				ask(a.Command)
			}
		}
		ask(live.Command{Name: live.ControlStep})
	}
	return frames
}

// parse reads a frame, but for the one number that depends on the clock.
func parse(t *testing.T, text string) (at int, frame map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &frame); err != nil {
		t.Fatal(err)
	}
	frame["counters"].([]any)[1] = nil // signals per second
	return int(frame["t"].(float64)), frame
}

// drive does in the browser what want does here, with a worker of its own.
const drive = `new Promise((done, fail) => {
	const frames = {}, actions = %s, steps = %d, worker = new Worker("demo/worker.js");
	let last = -1, id = 0, pause = -1;
	const ask = c => worker.postMessage({ id: ++id, command: JSON.stringify({ value: 0, node: 0, ...c }) });
	worker.onerror = e => fail(new Error(e.message));
	worker.onmessage = ({ data: { kind, text } }) => {
		if (kind === "error" || kind === "answer" && text) fail(new Error(text));
		if (kind === "scene") pause = JSON.parse(text).controls.findIndex(c => c.name === "pause");
		if (kind !== "frame") return;
		worker.postMessage({ drawn: true });
		const { t, settings } = JSON.parse(text);
		frames[t] = text;
		if (settings[pause] !== 1 || t === last) return;
		last = t;
		if (t >= steps) { worker.terminate(); done(frames); return; }
		for (const a of actions) if (a.at === t) ask(a);
		ask({ name: "step" });
	};
	ask({ name: "pause", value: 1 });
})`

// The demo in a browser shows the numbers of the demo with the portable kernels,
// digit for digit: the one was sent a model, the other trained it.
func TestNumbers(t *testing.T) {
	tab := newTab(t)
	open(t, tab, serve(t, nil)+"page.json") // a page of the site that runs nothing itself
	list, err := json.Marshal(actions)
	if err != nil {
		t.Fatal(err)
	}
	got := evaluate[map[int]string](t, tab, fmt.Sprintf(drive, list, steps))
	compared := 0
	for at, frame := range want(t) {
		text, there := got[at]
		asked := slices.ContainsFunc(actions, func(a action) bool { return a.At == at })
		if !there || asked || at == 0 { // of a time when something was asked for there are two frames
			continue
		}
		_, g := parse(t, text)
		if !reflect.DeepEqual(g["settings"], frame["settings"]) { // one of them was not paused yet
			continue
		}
		compared++
		if !reflect.DeepEqual(g, frame) {
			t.Fatalf("signal %d: got\n%v\nwant\n%v", at, g, frame)
		}
	}
	t.Logf("%d frames are the same", compared)
	if compared < steps-20 {
		t.Errorf("got %d frames to compare, want those of nearly all of %d signals", compared, steps)
	}
}

// The page runs from any folder of any server, whatever that calls the files or
// whether it inflates them, and does what is asked of it.
func TestPage(t *testing.T) {
	for name, change := range map[string]func(w http.ResponseWriter, r *http.Request) bool{
		"plain": nil,
		"another type, inflated on the way": func(w http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, ".gz") {
				w.Header().Set("Content-Encoding", "gzip")
				w.Header().Set("Content-Type", "text/plain")
			}
			return false
		},
	} {
		t.Run(name, func(t *testing.T) {
			tab := newTab(t)
			open(t, tab, serve(t, change))
			ms := until[float64](t, tab, `wdgnn.last.frame?.t >= 1 && performance.now()`)
			t.Logf("the first signal was answered %.0f ms after loading began", ms)
			if status := evaluate[string](t, tab, `document.getElementById("status").textContent`); status != "live" {
				t.Errorf("the page says %q, want live", status)
			}
			const setting = `(name => wdgnn.last.frame.settings[wdgnn.scene().controls.findIndex(c => c.name === name)])`
			evaluate[any](t, tab, `(slider => {
				slider.value = slider.max;
				slider.dispatchEvent(new Event("input"));
			})(document.querySelector('[data-control="speed"]'))`)
			until[bool](t, tab, setting+`("speed") === 500`)
			from := evaluate[int](t, tab, `wdgnn.last.frame.t`)
			until[bool](t, tab, fmt.Sprintf(`wdgnn.last.frame.t > %d`, from+20)) // faster than it can, and it still listens
			evaluate[any](t, tab, `document.querySelector('[data-control="pause"]').click()`)
			until[bool](t, tab, setting+`("pause") === 1`)
		})
	}
}

// What goes wrong is said in words.
func TestPageFails(t *testing.T) {
	lost := func(file string) func(w http.ResponseWriter, r *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, file) {
				http.NotFound(w, r)
				return true
			}
			return false
		}
	}
	spoiled := func(file string) func(w http.ResponseWriter, r *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, file) {
				fmt.Fprint(w, "something else")
				return true
			}
			return false
		}
	}
	tab := newTab(t)
	for _, c := range []struct {
		name   string
		change func(w http.ResponseWriter, r *http.Request) bool
		words  string
	}{
		{"no page.json", lost("page.json"), "page.json: "},
		{"no worker", lost("worker.js"), "demo/worker.js cannot be loaded"},
		{"no model", lost(".safetensors"), "model.safetensors cannot be loaded: status 404"},
		{"no program", lost(".wasm.gz"), "demo.wasm.gz cannot be loaded: status 404"},
		{"another model", spoiled(".safetensors"), "the model: "},
		{"another program", spoiled(".wasm.gz"), "demo.wasm.gz cannot be used"},
	} {
		open(t, tab, serve(t, c.change))
		until[bool](t, tab, fmt.Sprintf(`document.getElementById("status").textContent.includes(%q)`, c.words))
	}
	open(t, tab, "file://"+filepath.ToSlash(folder(t))+"/index.html")
	until[bool](t, tab, `document.getElementById("status").textContent.includes("does not run this from a disk")`)
	old := page.AddScriptToEvaluateOnNewDocumentParams{Source: "delete globalThis.WebAssembly"}
	if _, err := chromedp.Call(tab, page.AddScriptToEvaluateOnNewDocument, old); err != nil {
		t.Fatal(err)
	}
	open(t, tab, serve(t, nil))
	until[bool](t, tab, `document.getElementById("status").textContent.includes("has no WebAssembly")`)
}

// axe returns axe-core, which knows the rules of accessible pages.
func axe(t *testing.T) string {
	t.Helper()
	f, err := os.Open("../../internal/shop/serve/testdata/axe.min.js.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The documents are pages beside the demo, whose links lead somewhere, which fit a
// telephone and are for everybody.
func TestDocuments(t *testing.T) {
	tab, out := newTab(t), folder(t)
	render := func(root string) (string, error) {
		text, err := exec.CommandContext(t.Context(), "go", "-C", "../../tools", "run", "./pages", "-root", root, "-out", out).CombinedOutput()
		return string(text), err
	}
	if text, err := render(".."); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for link, words := range map[string]string{"nowhere.md": "README.md links to nowhere.md", "README.md#no": "there is no such heading"} {
		lost := t.TempDir()
		if err := os.WriteFile(filepath.Join(lost, "README.md"), []byte("# A\n\n[b]("+link+")\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if text, err := render(lost); err == nil || !strings.Contains(text, words) {
			t.Errorf("a link to %s: got error %v and %q, want %q", link, err, text, words)
		}
	}
	if err := chromedp.Do(tab, chromedp.EmulateViewport(390, 844)); err != nil {
		t.Fatal(err)
	}
	url := serve(t, nil)
	open(t, tab, url)
	if status := evaluate[int](t, tab, `fetch(document.querySelector("header a").href).then(answer => answer.status)`); status != 200 {
		t.Errorf("the link to the documents: got status %d, want 200", status)
	}
	for _, name := range []string{"readme.html", "doc/results.html", "doc/page.html", "examples/tiny/main.go.html"} {
		open(t, tab, url+name)
		if wide := evaluate[int](t, tab, `document.documentElement.scrollWidth`); wide > 390 {
			t.Errorf("%s: got %d pixels on a telephone of 390", name, wide)
		}
		if ink := evaluate[string](t, tab, `getComputedStyle(document.querySelector("h1")).fontWeight`); ink != "600" {
			t.Errorf("%s: got a heading of weight %s, want that of the page's style, 600", name, ink)
		}
		if name == "doc/results.html" { // it is long, and the others have all that it has
			continue
		}
		evaluate[any](t, tab, axe(t)+";0")
		for _, v := range evaluate[[]string](t, tab, `axe.run().then(found => found.violations.map(v => v.id + ": " + v.nodes[0].html))`) {
			t.Errorf("%s: axe finds %.300s", name, v)
		}
	}
}
