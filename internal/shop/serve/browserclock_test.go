package serve

import (
	"strings"
	"testing"
	"time"

	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/internal/liveweb"
)

// A run whose steps have times shows dates below its charts and in large type how far
// both ways to answer are off, in the task's own unit; what learns has the colour and
// the line that it has everywhere.
func TestPageClock(t *testing.T) {
	const chart = "mean absolute error, last 20 steps"
	start := time.Date(2012, 3, 5, 8, 0, 0, 0, time.UTC)
	hub, err := live.NewHub(live.Scene{
		Title: "Sensors", Task: "online", Time: "step", Layout: live.LayoutNone,
		Learners: []string{"frozen", "online"}, Looks: []int{live.LookFrozen, live.LookLearning},
		Hero:  &live.Hero{Chart: chart, Learner: 1},
		Clock: &live.Clock{Start: float64(start.Unix()), Every: 300},
		Curves: []live.Curve{
			{Name: "frozen", Chart: chart, Unit: "mph", Note: "How far forecasts were off."},
			{Name: "online", Chart: chart, Learner: 1, Unit: "mph"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for k := range 200 {
		if err := hub.Publish(&live.Frame{Time: float64(k), Curves: live.Numbers{4 + float64(k)/1000, 3.4567}}); err != nil {
			t.Fatal(err)
		}
	}
	hub.Mark(180, "north joined", "Sensor north joined.")
	p := newTab(t)
	url := showing(t, liveweb.LiveConfig{Hub: hub}).URL
	p.open(url)
	p.wait(`wdgnn.curves.axis()?.length > 1`)
	for selector, want := range map[string]string{
		"#share0": "4.2 mph", "#name0": "frozen", "#share1": "3.46 mph", "#name1": "learning: online",
		"#told":        chart + " (less is better) · at 6 Mar 2012, 00:35",
		"#words time":  "5 Mar 2012, 23:00",
		".chart .note": "How far forecasts were off.",
	} {
		if got := p.text(selector); got != want {
			t.Errorf("%s: got %q, want %q", selector, got, want)
		}
	}
	labels := evaluate[[]string](p, `wdgnn.curves.axis()`)
	for _, want := range []string{"12:00", "\n6 Mar"} {
		if !strings.Contains(strings.Join(labels, "|"), want) {
			t.Errorf("below the axis stands %q, want %q among it", labels, want)
		}
	}
	if got, want := p.style("#hero", "--learning"), p.style(":root", "--l2"); got != want {
		t.Errorf("what learns is %s, want %s as in the demo", got, want)
	}
	const line = `[...document.querySelector(".names li + li canvas").getContext("2d").getImageData(22, 8, 1, 1).data.slice(0, 3)].join()`
	p.wait(line + ` === "0,121,90"`)
	p.clean(url)
}
