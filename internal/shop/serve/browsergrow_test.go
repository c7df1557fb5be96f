package serve

import (
	"math"
	"testing"

	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/internal/liveweb"
)

// boxes is a scene of so many hosts in a row.
func boxes(n int) live.Scene {
	s := live.Scene{
		Title: "Deployment yard", Task: "deployment", Time: "s", Layout: live.LayoutForce, Down: "not heard",
		Curves: []live.Curve{
			{Name: "hosts", Chart: "hosts heard", Learner: -1},
			{Name: "agents", Chart: "right sets", Learner: -1, Blank: "No box gives sets."},
		},
	}
	for i := range n {
		s.Nodes = append(s.Nodes, string(rune('A'+i)))
		if i > 0 {
			s.Edges = append(s.Edges, [2]int32{int32(i - 1), int32(i)})
		}
	}
	return s
}

// A host that joins is drawn, with the curves as they were; of one that is not heard it
// is said since when, of one that is what is wrong with it, and a chart without numbers
// says why it has none. Few nodes have their names beside them.
func TestPageGrows(t *testing.T) {
	p := newTab(t)
	hub, err := live.NewHub(boxes(2))
	if err != nil {
		t.Fatal(err)
	}
	url := showing(t, liveweb.LiveConfig{Hub: hub}).URL
	publish := func(at float64, said map[int32]string, down ...int32) {
		t.Helper()
		f := &live.Frame{Time: at, Down: append([]int32{}, down...), Said: said, Curves: live.Numbers{at, math.NaN()}}
		if err := hub.Publish(f); err != nil {
			t.Fatal(err)
		}
	}
	named := func(want string) {
		t.Helper()
		p.wait(`wdgnn.left.named.length === wdgnn.scene().nodes.length`)
		if got := evaluate[string](p, `wdgnn.left.named.join()`); got != want {
			t.Errorf("names beside nodes: got %s, want %s", got, want)
		}
	}
	publish(1, map[int32]string{1: "not heard yet"}, 1)
	p.open(url)
	p.wait(`wdgnn.last.frame?.t === 1 && document.querySelector(".chart .blank").hidden`)
	p.wait(`[...document.querySelectorAll(".chart .blank")].filter(e => !e.hidden).map(e => e.textContent).join() === "No box gives sets."`)
	state := `wdgnn.pin(1), document.getElementById("numbers").textContent`
	if got := evaluate[string](p, state); got != "statenot heard yet" {
		t.Errorf("of B it says %q, want that it is not heard yet", got)
	}
	named("A,B")
	hub.Say(1, "B is not heard yet.")
	if err := hub.Show(boxes(3)); err != nil {
		t.Fatal(err)
	}
	publish(2, map[int32]string{1: "gone since 15:04:05"}, 1)
	p.wait(`wdgnn.scene().nodes.length === 3 && wdgnn.last.frame.t === 2 && wdgnn.where(2).x > 0`)
	p.wait(`wdgnn.curves.times().join() === "1,2" && document.getElementById("words").textContent.includes("B is not heard yet.")`)
	if got := evaluate[string](p, state); got != "stategone since 15:04:05" {
		t.Errorf("of B it says %q, want since when it is gone", got)
	}
	named("A,B,C")
	publish(3, map[int32]string{1: "not well: it is 12 steps behind"})
	p.wait(`wdgnn.last.frame.t === 3`)
	if got := evaluate[string](p, state); got != "statenot well: it is 12 steps behind" {
		t.Errorf("of B, which is heard again, it says %q, want what is wrong with it", got)
	}
	p.clean(url)
}
