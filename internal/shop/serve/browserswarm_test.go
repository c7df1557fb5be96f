package serve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/host"
	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/internal/liveweb"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/internal/swarm"
	"github.com/wdgnn/wdgnn/rule"
)

// pulsesTask is source localization after hardly any training.
func pulsesTask(t testing.TB, signals int) *swarm.Task {
	t.Helper()
	l, err := recipe.Localize(t.Context(), recipe.Localization{Seed: 3, Signals: 200, Epochs: 1, Shift: graph.ShiftRowStochastic})
	if err != nil {
		t.Fatal(err)
	}
	task, err := swarm.NewSourceTask(l, rule.Own().Ungated(), signals, 0, 0.3)
	if err != nil {
		t.Fatal(err)
	}
	return task
}

// agents returns the command that runs an agent as a process.
func agents(t testing.TB) []string {
	t.Helper()
	starts(t)
	built = true
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return []string{path, "agent"}
}

// swarming runs a swarm whose page is served, until the test ends.
func swarming(t testing.TB, o swarm.Options) (url string) {
	t.Helper()
	return showing(t, liveweb.LiveConfig{Hub: swarmHub(t, o), Control: true}).URL
}

// swarmHub runs a swarm until the test ends and returns where it shows itself.
func swarmHub(t testing.TB, o swarm.Options) *live.Hub {
	t.Helper()
	hub := newHub(t, swarm.Scene(&o))
	o.Hub = hub
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := swarm.Up(ctx, o)
		hub.Close()
		ended <- err
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	return hub
}

var busURL = regexp.MustCompile(`url: "?(nats://[^\s"]+)`)

// A deployment of real processes is looked at from its keys: the boxes, what learning
// brings, one that is killed, and its end. Nothing can be commanded.
func TestPageAttached(t *testing.T) {
	p := newTab(t)
	dir := t.TempDir()
	hub := swarmHub(t, swarm.Options{
		Task: pulsesTask(t, 100_000), Run: "yard", Hosts: 3, Program: agents(t), Dir: dir, Keep: true,
		Pace: host.Pace{Deadline: 300 * time.Millisecond}, Period: 20 * time.Millisecond,
	})
	for end := time.Now().Add(patience); hub.Stats().Frames < 2; time.Sleep(50 * time.Millisecond) { // it runs
		if time.Now().After(end) {
			t.Fatal("the swarm does not start")
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "host-0.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	bus := busURL.FindSubmatch(text)
	if bus == nil {
		t.Fatalf("no server in %s", text)
	}
	view := launchUntil(t, shownAt, "view", "--keys", filepath.Join(dir, "keys"), "--nats", string(bus[1]), "--addr", "127.0.0.1:0")
	p.visit(t, view)
	p.wait(`wdgnn.last.frame?.counters[0] === 3 && wdgnn.last.frame.curves[1] !== null && wdgnn.last.frame.down.length === 0`)
	if got := evaluate[int](p, `document.querySelectorAll("#controls [data-control]").length`); got != 0 {
		t.Errorf("%d controls of a deployment that is only looked at", got)
	}
	if err := hub.Command(live.Command{Name: live.ControlKill, Node: 7}); err != nil {
		t.Fatal(err)
	}
	p.wait(`wdgnn.last.frame.down.length === 1 &&
		[...document.querySelectorAll("#words li")].some(w => /Host \d is gone since [\d:]+: it is down/.test(w.textContent))`)
	p.clean(view.url)
	if code := view.interrupt(t); code != 0 {
		t.Errorf("Ctrl-C: exit code %d, want 0", code)
	}
	p.waitEnd()
}

// Processes on a page: what is shown is what the event says, a killed one is
// seen and told to be down and comes back, and frames are lost as the slider
// says.
func TestPageSwarm(t *testing.T) {
	p := newTab(t)
	url := swarming(t, swarm.Options{
		Task: pulsesTask(t, 20_000), Run: "page", Hosts: 5, Program: agents(t), Dir: t.TempDir(), Keep: true,
		Pace: host.Pace{Deadline: 300 * time.Millisecond},
	})
	p.open(url)
	p.wait(`wdgnn.last.frame?.t > 20`)
	p.do(chromedp.Focus(chromedp.CSS("#graph")), chromedp.KeyEvent(" "))
	p.wait(`wdgnn.last.frame.settings[0] === 1`)
	for k := range 2 { // right answers of the model as trained, and of the agents
		shown := fmt.Sprintf(`document.querySelector("[data-curve='%d']").textContent`, k)
		p.wait(fmt.Sprintf(`%s === Number(wdgnn.last.frame.curves[%d].toPrecision(4)) + " %%"`, shown, k))
	}
	p.do(chromedp.Focus(chromedp.CSS("#graph")), chromedp.KeyEvent(" "))
	p.wait(`wdgnn.last.frame.settings[0] === 0`)

	node := 7
	down := p.style("#legend .down i", "background-color")
	before := p.color(node)
	if before == down {
		t.Errorf("a node that runs has the colour of one that is down, %s", before)
	}
	evaluate[any](p, fmt.Sprintf(`wdgnn.pin(%d)`, node))
	p.do(chromedp.Focus(chromedp.CSS("#nodecontrols [data-control=kill]")), chromedp.KeyEvent(kb.Enter))
	latest := `document.getElementById("latest").textContent`
	p.wait(fmt.Sprintf(`/^host \d+, with nodes .*, is down; its neighbours carry on$/.test(%s)`, latest))
	p.wait(fmt.Sprintf(`wdgnn.last.frame.down.includes(%d)`, node))
	p.waitColor(node, down)
	if got := p.text("[data-counter='0']"); got != "4" {
		t.Errorf("got %s hosts up, want 4", got)
	}
	p.do(chromedp.Focus(chromedp.CSS("#nodecontrols [data-control=restart]")), chromedp.KeyEvent(kb.Enter))
	p.wait(latest + `.endsWith(" is back; its neighbours hear it again") && wdgnn.last.frame.down.length === 0`)
	if p.color(node) == down {
		t.Errorf("node %d has the colour of one that is down after its return", node)
	}

	slide := func(share float64) { p.slide("[data-control="+live.ControlLoss+"]", share) }
	lost := `Number(document.querySelector("[data-counter='4']").textContent.replaceAll(",", ""))`
	p.wait(lost + ` === 0`)
	slide(0.3)
	p.wait(lost + ` > 0 && wdgnn.last.frame.curves[4] > 0`)
	slide(0)
	p.wait(lost + ` === 0`)
	p.clean(url)
}
