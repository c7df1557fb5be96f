package figure

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
)

// ringed returns a network of n nodes in a ring, with values that grow.
func ringed(n int) *Network {
	f := &Network{Title: "Ring", Key: "flips", Note: "a note", Marked: []int{0, n / 2}}
	for i := range n {
		f.Links = append(f.Links, Link{i, (i + 1) % n, float64(i)})
	}
	f.X, f.Y = Arrange(n, f.Links)
	return f
}

// The same graph gives the same picture, with a line for every link and the numbers
// of marked nodes.
func TestNetwork(t *testing.T) {
	var first, second bytes.Buffer
	if err := ringed(12).WriteSVG(&first); err != nil {
		t.Fatal(err)
	}
	if err := ringed(12).WriteSVG(&second); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("drawn twice, bytes differ")
	}
	for _, want := range []string{"Ring", "flips", "a note", ">6<"} {
		if !strings.Contains(first.String(), want) {
			t.Errorf("%q is not in the picture", want)
		}
	}
}

// Nodes that are linked lie nearer than others, no two together, parts without links
// between them not far away.
func TestArrange(t *testing.T) {
	var links []Link
	for part := range 2 { // two complete graphs of eight nodes
		for i := range 8 {
			for j := range i {
				links = append(links, Link{From: 8*part + i, To: 8*part + j})
			}
		}
	}
	x, y := Arrange(17, links)
	distance := func(i, j int) float64 { return math.Hypot(x[i]-x[j], y[i]-y[j]) }
	inside, between, least := 0.0, math.Inf(1), math.Inf(1)
	for i := range 16 {
		for j := range i {
			least = min(least, distance(i, j))
			if i/8 == j/8 {
				inside = max(inside, distance(i, j))
			} else {
				between = min(between, distance(i, j))
			}
		}
	}
	if !(inside < 2*between) || least < 0.05 || between > 20 {
		t.Errorf("nodes of a part are up to %.3g from each other, of two parts at least %.3g, any two at least %.3g", inside, between, least)
	}
	again, _ := Arrange(17, links)
	if !slices.Equal(again, x) {
		t.Error("arranged twice, places differ")
	}
}

// What cannot be drawn is refused, what is odd is drawn.
func TestNetworkRefused(t *testing.T) {
	for _, f := range []*Network{
		{},
		{X: []float64{1}, Y: []float64{1, 2}},
		{X: []float64{math.NaN()}, Y: []float64{1}},
		{X: []float64{1}, Y: []float64{1}, Links: []Link{{0, 1, 0}}},
		{X: []float64{1, 2}, Y: []float64{1, 2}, Links: []Link{{0, 1, -1}}},
		{X: []float64{1}, Y: []float64{1}, Marked: []int{1}},
	} {
		if err := f.WriteSVG(new(bytes.Buffer)); err == nil {
			t.Errorf("%+v was drawn, want an error", f)
		}
	}
	if err := (&Network{X: []float64{3}, Y: []float64{3}}).WriteSVG(new(bytes.Buffer)); err != nil {
		t.Errorf("one node: %v", err)
	}
}

// The key of links that count things has whole numbers, each once.
func TestKeyOfCounts(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   []float64
	}{
		{[]float64{0, 3, 15}, []float64{0, 4, 8, 11, 15}},
		{[]float64{0, 2}, []float64{0, 1, 2}},
		{[]float64{0, 0}, []float64{0}},
		{[]float64{0.5, 2}, []float64{0, 0.5, 1, 1.5, 2}},
	} {
		f := new(Network)
		for _, v := range c.values {
			f.Links = append(f.Links, Link{0, 1, v})
		}
		if got := f.keyValues(slices.Max(c.values)); !slices.Equal(got, c.want) {
			t.Errorf("links of %v: got %v, want %v", c.values, got, c.want)
		}
	}
}

// An axis that counts things has no mark between two whole numbers.
func TestWholeTicks(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   []string
	}{
		{[]float64{0, 1}, []string{"0", "1"}},
		{[]float64{0, 1, 2}, []string{"0", "1", "2"}},
		{[]float64{0, 30}, []string{"0", "5", "10", "15", "20", "25", "30"}},
	} {
		var got []string
		for _, tick := range newScale(Axis{Whole: true}, c.values, scaleLook{ticks: 6}).ticks {
			got = append(got, tick.label)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: got marks %q, want %q", c.values, got, c.want)
		}
	}
}
