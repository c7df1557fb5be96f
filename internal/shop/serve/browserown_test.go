package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

var shownAt = regexp.MustCompile(`The page is at (http://\S+)/`)

// wdgnn runs the program to its end.
func wdgnn(t *testing.T, args ...string) {
	t.Helper()
	starts(t)
	built = true
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(path, args...).CombinedOutput(); err != nil {
		t.Fatalf("wdgnn %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// interrupt ends the program as Ctrl-C does and returns its exit code.
func (p *process) interrupt(t *testing.T) int {
	t.Helper()
	if err := p.command.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	<-p.ended // the code says it
	return p.command.ProcessState.ExitCode()
}

// An online run of the example of wdgnn init is watched: by somebody who comes late
// and sees all of it, pauses it and lets it go on; after its end, when nothing can be
// commanded any more; and by somebody who is there when Ctrl-C ends it. wdgnn view
// shows the same afterwards, and training shows how far it is.
func TestPageOfOwnRuns(t *testing.T) {
	p := newTab(t)
	dir := filepath.Join(t.TempDir(), "first")
	config, model := filepath.Join(dir, "config.yaml"), filepath.Join(dir, "run", "model.safetensors")
	wdgnn(t, "init", dir)

	training := launchUntil(t, shownAt, "train", config, "--epochs", "40", "--page=127.0.0.1:0", "-q")
	p.open(training.url)
	p.waitEnd()
	if got := evaluate[int](p, `wdgnn.curves.times().length`); got != 40 {
		t.Errorf("training shows %d epochs, want 40", got)
	}
	if charts := p.charts(); !strings.Contains(charts, "loss by epoch: training|right answers in validation: validation, best so far|") {
		t.Errorf("training shows %s", charts)
	}
	p.clean(training.url)
	if code := training.interrupt(t); code != 0 {
		t.Errorf("Ctrl-C after the end of training: exit code %d, want 0", code)
	}

	online := func(out string, more ...string) *process {
		args := []string{"online", model, config, "--out", filepath.Join(dir, out), "--page=127.0.0.1:0", "-q"}
		return launchUntil(t, shownAt, append(args, more...)...)
	}
	t.Run("late, then its end", func(t *testing.T) {
		testOwnLate(t, p, online("late", "--speed", "100"))
		var result struct{ Online, Frozen struct{ Accuracy float64 } }
		text, err := os.ReadFile(filepath.Join(dir, "late", "result.json"))
		if err := errors.Join(err, json.Unmarshal(text, &result)); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("Right answers: online %.1f %%, frozen %.1f %%.", 100*result.Online.Accuracy, 100*result.Frozen.Accuracy)
		if got := p.text("#latest"); got != want {
			t.Errorf("in the end the page says %q, want %q", got, want)
		}
	})
	t.Run("Ctrl-C", func(t *testing.T) { testOwnInterrupted(t, p, online("stopped", "--speed", "20")) })
	t.Run("view", func(t *testing.T) {
		view := launchUntil(t, shownAt, "view", filepath.Join(dir, "late"), "--addr", "127.0.0.1:0")
		p.visit(t, view)
		p.wait(`wdgnn.last.frame?.t === 399`)
		if want := "right answers, last 20 steps: frozen, online|"; !strings.HasPrefix(p.charts(), want) {
			t.Errorf("charts %s, want %s first", p.charts(), want)
		}
		for side, learner := range []string{"frozen", "online"} { // in large type as beside the curves
			want := evaluate[string](p, fmt.Sprintf(`Math.round(wdgnn.last.frame.curves[%d]) + " %%"`, side))
			got, name := p.text(fmt.Sprintf("#share%d", side)), p.text(fmt.Sprintf("#name%d", side))
			if got != want || !strings.HasSuffix(name, learner) {
				t.Errorf("%q %q in large type, want %s of %s", got, name, want, learner)
			}
		}
		if got := p.text("#counters"); !strings.Contains(got, "frozen") || strings.Contains(got, "_") {
			t.Errorf("counters are %q", got)
		}
		p.clean(view.url)
		view.interrupt(t)
	})
}

// visit opens the page of a process and forgets what was before.
func (p *tab) visit(t *testing.T, run *process) {
	t.Helper()
	p.t = t
	p.open("about:blank")
	p.mutex.Lock()
	p.errors, p.requests = nil, nil
	p.mutex.Unlock()
	p.open(run.url)
}

// charts lists the charts of the page and the names of their curves.
func (p *tab) charts() string {
	p.t.Helper()
	return evaluate[string](p, `[...document.querySelectorAll(".chart")].map(c => c.querySelector("h2").textContent + ": " +
		[...c.querySelectorAll(".names span")].map(s => s.textContent).join(", ") + "|").join("")`)
}

func testOwnLate(t *testing.T, p *tab, run *process) {
	p.visit(t, run)
	p.wait(`wdgnn.last.frame?.t > 60`)
	p.do(chromedp.Click(chromedp.CSS("[data-control=pause]")))
	p.wait(`document.querySelector("[data-control=pause]").textContent === "Go on"`)
	p.open("about:blank")
	p.open(run.url) // somebody else, late
	p.wait(`wdgnn.curves.times().length > 60 && document.querySelector("[data-control=pause]").textContent === "Go on"`)
	if first := evaluate[[]float64](p, `wdgnn.curves.times().slice(0, 3)`); first[0] != 0 || first[2] != 2 {
		t.Errorf("who comes late sees steps %v first, want 0, 1, 2", first)
	}
	if want := "right answers, last 20 steps: frozen, online|"; !strings.HasPrefix(p.charts(), want) {
		t.Errorf("charts %s, want %s first", p.charts(), want)
	}
	if words := p.text("#progresswords"); !strings.Contains(words, "of 400") {
		t.Errorf("progress is %q", words)
	}
	p.do(chromedp.Click(chromedp.CSS("[data-control=pause]")))
	p.slide("[data-control=speed]", 1000)
	p.waitEnd()
	p.clean(run.url)
	if code := run.interrupt(t); code != 0 {
		t.Errorf("Ctrl-C after the end: exit code %d, want 0", code)
	}
}

func testOwnInterrupted(t *testing.T, p *tab, run *process) {
	p.visit(t, run)
	p.wait(`wdgnn.last.frame?.t > 2`)
	if code := run.interrupt(t); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
	p.waitEnd()
	if got := p.text("#latest"); !strings.HasPrefix(got, "Stopped after ") || !strings.Contains(got, "Ctrl-C") {
		t.Errorf("the page says %q", got)
	}
}
