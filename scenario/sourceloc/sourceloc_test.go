package sourceloc_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
	"github.com/wdgnn/wdgnn/scenario/sourceloc"
)

func newWorld(t testing.TB, c sourceloc.Config) *sourceloc.World {
	t.Helper()
	w, err := sourceloc.New(c, random.Stream(1, "world"))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Each community has a source and another node as detector, and the network is
// connected.
func TestWorld(t *testing.T) {
	for seed := range uint64(20) {
		w, err := sourceloc.New(sourceloc.Default(), random.Stream(seed, "world"))
		if err != nil {
			t.Fatal(err)
		}
		if w.Graph.Nodes() != 50 || !w.Graph.Connected() {
			t.Fatalf("seed %d: %v", seed, w.Graph)
		}
		for c := range 5 {
			s, d := w.Sources[c], w.Detectors[c]
			if s/10 != c || d/10 != c || s == d {
				t.Errorf("seed %d, community %d: source %d, detector %d", seed, c, s, d)
			}
		}
	}
}

// Without noise a signal is a diffused pulse of its community.
// Reference: Section 6.1.
func TestSignalsAreDiffusedPulses(t *testing.T) {
	c := sourceloc.Default()
	c.Noise = 0
	w := newWorld(t, c)
	signals, labels := w.Draw(200, random.Stream(2, "signals"))
	seen := map[int]bool{}
	for k, label := range labels {
		got := signals.View(k*50, 0, 50, 1)
		x := mat.NewDense(50, 1, nil)
		x.Set(w.Sources[label], 0, 1)
		found := false
		for time := 0; time < c.MaxTime && !found; time++ {
			if slices.EqualFunc(got.Data, x.Data, func(a, b float32) bool { return math.Abs(float64(a-b)) < 1e-7 }) {
				found = true
				seen[time] = true
			}
			next := mat.NewDense(50, 1, nil)
			mat.Serial.SpMM(next, w.Shift, x)
			x = next
		}
		if !found {
			t.Fatalf("sample %d is no diffused pulse of community %d", k, label)
		}
	}
	if len(seen) != c.MaxTime {
		t.Errorf("diffusion times %v were drawn, want all of 0 to %d", seen, c.MaxTime-1)
	}
}

func TestNoiseLevel(t *testing.T) {
	c := sourceloc.Default()
	clean := c
	clean.Noise = 0
	a, _ := newWorld(t, c).Draw(400, random.Stream(3, "signals"))
	variance := 0.0
	world := newWorld(t, clean)
	b, _ := world.Draw(400, random.Stream(3, "signals")) // the same draws, times zero
	for i := range a.Data {
		d := float64(a.Data[i] - b.Data[i])
		variance += d * d / float64(len(a.Data))
	}
	if sd := math.Sqrt(variance); math.Abs(sd-c.Noise) > 0.02*c.Noise {
		t.Errorf("noise has standard deviation %v, want %v", sd, c.Noise)
	}
}

func TestBadConfigIsAnError(t *testing.T) {
	_, err := sourceloc.New(sourceloc.Config{Noise: -1}, random.Stream(1, "world"))
	for _, want := range []string{"communities is 0", "members is 0", "max_time is 0", "noise is -1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want one about %q", err, want)
		}
	}
	c := sourceloc.Default()
	c.Intra, c.Inter = 0, 0
	if _, err := sourceloc.New(c, random.Stream(1, "world")); err == nil {
		t.Error("a network that cannot be connected is accepted")
	}
}

func ExampleWorld_Draw() {
	world, err := sourceloc.New(sourceloc.Default(), random.Stream(1, "world"))
	if err != nil {
		fmt.Println(err)
		return
	}
	signals, labels := world.Draw(3, random.Stream(1, "signals"))
	fmt.Println(signals.Rows, "values of", len(labels), "signals on", world.Graph.Nodes(), "nodes")
	// Output: 150 values of 3 signals on 50 nodes
}
