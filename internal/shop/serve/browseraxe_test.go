package serve

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/internal/liveweb"
)

// axe is axe-core 4.10.3, which knows the rules of accessible pages; its licence is
// beside it.
var axe = sync.OnceValues(func() (string, error) {
	f, err := os.Open("testdata/axe.min.js.gz")
	if err != nil {
		return "", err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(z)
	return string(text), err
})

// accessible fails the test if axe finds something wrong with the page, in light and
// dark, on a desk and on a telephone.
func (p *tab) accessible(t *testing.T) {
	t.Helper()
	text, err := axe()
	if err != nil {
		t.Fatal(err)
	}
	for _, scheme := range []string{"light", "dark"} {
		params := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}, // colours change at once
		}}
		if _, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, params); err != nil {
			t.Fatal(err)
		}
		for _, width := range []int64{1280, 390} {
			p.do(chromedp.EmulateViewport(width, 844))
			p.wait(fmt.Sprintf(`innerWidth === %d`, width))
			evaluate[any](p, text+`; null`)
			found := evaluate[[]string](p, `axe.run(document, { resultTypes: ["violations"] }).then(r => r.violations.flatMap(v =>
				v.nodes.slice(0, 3).map(n => v.id + ": " + v.help + ": " + n.target.join(" ") + ": " + (n.any[0]?.message ?? ""))))`,
				chromedp.EvalAwaitPromise)
			for _, f := range found {
				t.Errorf("%s, %d pixels: %s", scheme, width, f)
			}
		}
	}
}

// oneResult is a folder with the first table.
func oneResult(t *testing.T) *live.Results {
	t.Helper()
	dir := t.TempDir()
	text, err := os.ReadFile("../../../doc/results/table1.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "table1.json"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	results, err := live.OpenResults(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { results.Close() })
	return results
}

// No page breaks a rule of accessibility that a program can check.
func TestPageAxe(t *testing.T) {
	p := newTab(t)
	show := func(name, ready string, c liveweb.LiveConfig) {
		t.Run(name, func(t *testing.T) {
			s := showing(t, c)
			p.t = t
			p.open(s.URL)
			p.wait(ready)
			p.accessible(t)
		})
	}
	drawn := `wdgnn.last.frame && document.querySelector(".chart .u-over")`
	hub := newHub(t, ringScene(6))
	for at := range 3 {
		f := ringFrame(6, float64(at))
		f.Progress = &live.Progress{Done: float64(at), Of: 9, Left: 3}
		publish(t, hub, f)
	}
	hub.Say(1, "node 2 is down; its neighbours carry on")
	show("live", drawn, liveweb.LiveConfig{Hub: hub, Control: true})
	hub.Close()
	show("after the end", drawn+` && (wdgnn.pin(3), document.body.dataset.state === "ended")`, liveweb.LiveConfig{Hub: hub, Control: true})
	show("replay", drawn, liveweb.LiveConfig{Recording: flightOf(t, 30)})
	show("tables", `document.querySelectorAll("#tables table").length > 0`, liveweb.LiveConfig{Results: oneResult(t)})
	t.Run("ratings", func(t *testing.T) {
		p.t = t
		p.open(start(t, nil, Config{}).URL)
		p.wait(`document.querySelectorAll("#predictions tr").length > 3 && document.querySelectorAll("#rated tr").length > 0`)
		p.accessible(t)
	})
	t.Run("demo", func(t *testing.T) {
		p.t = t
		_, url := demoing(t)
		p.open(url)
		p.wait(`wdgnn.last.frame?.t > 0 && document.querySelector(".chart .u-over")`)
		p.accessible(t)
	})
}
