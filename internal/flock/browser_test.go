package flock

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/internal/livepage"
)

// browserTab opens a tab of the system's browser.
func browserTab(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skipf("SKIPPED %s: it opens a browser; it runs without -short", t.Name())
	}
	if _, err := exec.LookPath("chromium"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("the playback is tested with Debian's chromium: %v; try: apt-get install chromium", err)
		}
		t.Skipf("SKIPPED %s: it needs Debian's chromium: %v", t.Name(), err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.Flag("disable-gpu", true))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	tab, closeTab := chromedp.NewContext(allocator)
	t.Cleanup(closeTab)
	if err := chromedp.Do(tab); err != nil { // starts it; its life must not depend on a timeout
		t.Fatalf("chromium does not start: %v", err)
	}
	ctx, cancel := context.WithTimeout(tab, 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// look waits until something is painted and the playback has moved on by
// itself, then goes back to the start and waits for another picture.
const look = `new Promise(done => {
	const sky = document.getElementById("graph"), slider = document.getElementById("slider"), end = performance.now() + 20000;
	const seen = { painted: 0, frame: 0, changed: false };
	let picture = null;
	const see = () => {
		const pixels = sky.getContext("2d").getImageData(0, 0, sky.width, sky.height).data;
		if (picture === null && Number(slider.value) > 0) {
			seen.painted = pixels.filter((v, k) => k % 4 === 3 && v > 0).length;
			seen.frame = Number(slider.value);
			if (seen.painted > 0) { picture = pixels; slider.value = 0; slider.dispatchEvent(new Event("input")); }
		} else if (picture !== null) seen.changed = pixels.some((v, k) => v !== picture[k]);
		if (seen.changed || performance.now() > end) done(seen); else requestAnimationFrame(see);
	};
	requestAnimationFrame(see);
})`

// seen is what is to be seen of a page that plays.
type seen struct {
	Painted int  `json:"painted"` // pixels of the sky
	Frame   int  `json:"frame"`
	Changed bool `json:"changed"` // another frame is another picture
}

// Whenever the exported flight is opened it plays: the time of the first frame
// of an animation is often before the time at which the page asked for it.
func TestPagePlays(t *testing.T) {
	ctx := browserTab(t)
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, live.EventsName), fly(t, somePlan()).Recording.WriteEvents)
	recording, err := live.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer recording.Close()
	path := filepath.Join(dir, "flight.html")
	writeFile(t, path, func(w io.Writer) error { return livepage.Export(w, recording) })
	const loads = 20
	blank := 0
	for range loads {
		if err := chromedp.Do(ctx, chromedp.Navigate("file://"+path)); err != nil {
			t.Fatal(err)
		}
		got, err := chromedp.Run(ctx, chromedp.Evaluate[seen](look, chromedp.EvalAwaitPromise))
		if err != nil {
			t.Fatal(err)
		}
		if got.Painted < 100 || got.Frame == 0 || !got.Changed {
			blank++
			t.Logf("got %+v, want many pixels painted, a later frame, and another picture at the start", got)
		}
	}
	if blank > 0 {
		t.Errorf("the flight does not play in %d of %d loads", blank, loads)
	}
}

func writeFile(t *testing.T, path string, write func(io.Writer) error) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		t.Fatal(err)
	}
}
