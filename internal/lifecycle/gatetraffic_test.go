package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/online"
)

// changes is where the changing stream of METR-LA is described.
const changes = "../../../shared/reference/metrla_stream.json"

// newChangingTraffic is newTraffic in a world that changes: 30 % of the links are
// gone from the first step on, and from the middle on 41 of 207 sensors read 0, or
// noise. What they should have said is known. Around is how many steps there are
// before and after that.
func newChangingTraffic(t *testing.T, around int) *onlineCase {
	t.Helper()
	f := newTraffic(t)
	text, err := os.ReadFile(changes)
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		First     int `json:"first_row"`
		Last      int `json:"last_row"`
		Broken    int `json:"broken_from"`
		Mean      float64
		Deviation float64
		Lost      [][2]int
		Zero      []int
		Noise     []int
		Readings  [][]float64 `json:"noise_readings"`
	}
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	c.First, c.Last = max(c.First, c.Broken-around), min(c.Last, c.Broken+around-1)
	speed := f.table("speed.csv")[1:]
	var y []float32
	for at := c.First; at <= c.Last; at++ {
		for _, v := range speed[at+3] {
			y = append(y, float32((v-c.Mean)/c.Deviation))
		}
	}
	for row := c.Broken; row < len(speed); row++ {
		for _, i := range c.Zero {
			speed[row][i] = 0
		}
		for k, i := range c.Noise {
			speed[row][i] = c.Readings[row-c.Broken][k]
		}
	}
	var x []float32
	for at := c.First; at <= c.Last; at++ {
		for i := range speed[at] {
			for lag := range 12 {
				x = append(x, float32((speed[at-11+lag][i]-c.Mean)/c.Deviation))
			}
		}
	}
	steps, nodes := c.Last-c.First+1, len(speed[0])
	f.folder.save("x.npy", []int{steps, nodes, 12}, x)
	f.folder.save("y.npy", []int{steps, nodes, 1}, y)
	gone := map[[2]int]bool{}
	for _, l := range c.Lost {
		gone[[2]int{min(l[0], l[1]), max(l[0], l[1])}] = true
	}
	var edges strings.Builder
	edges.WriteString("src,dst,weight\n")
	near := f.table("adjacency.csv")
	for i := range near {
		for j := range i {
			if w := max(near[i][j], near[j][i]); w > 0 && !gone[[2]int{j, i}] {
				fmt.Fprintf(&edges, "%d,%d,%v\n", j, i, w)
			}
		}
	}
	f.text("g.csv", edges.String())
	return f
}

// On real traffic, with sensors that break, the presets diverge within a few steps
// if what they learn is always answered: their step sizes suit classes. Behind
// gates no preset and no loss does, told at once or late; the answers never cost
// more than the bound, and no run ends in harm.
func TestNothingHarmsOnTraffic(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: thirty streams that learn take a while; it runs without -short", t.Name())
	}
	f, diverged := newChangingTraffic(t, 50), 0
	for _, settings := range []string{"preset: paper", "mode: centralized, preset: paper", "preset: own"} {
		r := f.start(f.model, settings+", gate: off")
		err := r.Play(context.Background(), func() error { return nil }, func(OnlineStep) error { return nil })
		if errors.Is(err, online.ErrDiverged) {
			diverged++
		}
		t.Logf("%s, gate off: step %d, %v", settings, r.State.At, err)
	}
	if diverged == 0 {
		t.Error("no preset diverges without a gate: this test shows nothing")
	}
	presets, losses := []string{"paper", "own", "neighbours", "auto"}, []string{"mse", "smooth-l1", "huber"}
	for _, preset := range presets {
		for _, mode := range []string{"distributed", "centralized"} {
			if preset == "neighbours" && mode == "centralized" { // weights of its own at every node
				continue
			}
			for _, loss := range losses {
				f.unharmed(t, "mode: "+mode+", loss: "+loss+", preset: "+preset, 100)
			}
			f.unharmed(t, "late, mode: "+mode+", preset: "+preset, 100)
		}
	}
}

// The same for the default preset on the whole stream.
func TestNothingHarmsOnAllTraffic(t *testing.T) {
	if testing.Short() {
		t.Skipf("SKIPPED %s: 400 steps of 207 nodes take a while; it runs without -short", t.Name())
	}
	f := newChangingTraffic(t, 200)
	f.unharmed(t, "preset: auto", 400)
	f.unharmed(t, "late, preset: auto", 400)
}

// unharmed plays the stream with the given settings, to its end and within the
// bounds of the gates.
func (f *onlineCase) unharmed(t *testing.T, settings string, steps int) {
	t.Run(settings, func(t *testing.T) {
		r := f.start(f.model, settings)
		f.play(r, -1)
		result := r.Report("test")
		g := result.Gate
		t.Logf("cost %.4f, frozen %.4f; %s", result.Online.Cost, result.Frozen.Cost, g)
		if result.Steps != steps || !(g.Answered <= g.Bound) {
			t.Errorf("after %d steps the answers cost %v, want %d and at most %v", result.Steps, g.Answered, steps, g.Bound)
		}
		if result.Warning != "" || !(result.Online.Cost <= 1.1*result.Frozen.Cost) {
			t.Errorf("the answers cost %v, frozen %v: %s", result.Online.Cost, result.Frozen.Cost, result.Warning)
		}
	})
}
