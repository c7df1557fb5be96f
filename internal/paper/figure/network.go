package figure

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Network is a picture of a graph whose links have a value each: the larger, the
// stronger and darker a link is drawn.
type Network struct {
	Title    string
	Subtitle string
	X, Y     []float64 // places of nodes, as from Arrange
	Links    []Link
	Marked   []int  // nodes that are drawn larger, with their numbers
	Key      string // what the values are, above the picture; empty for no key
	Note     string // under the picture
}

// Link is a link of a Network.
type Link struct {
	From, To int
	Value    float64 // 0 or more
}

// validate returns all that keeps f from being drawn, or nil.
func (f *Network) validate() error {
	var errs []error
	if len(f.X) == 0 || len(f.X) != len(f.Y) {
		errs = append(errs, fmt.Errorf("%d values of x, %d of y", len(f.X), len(f.Y)))
	}
	for i := range min(len(f.X), len(f.Y)) {
		if !drawable(f.X[i]) || !drawable(f.Y[i]) {
			errs = append(errs, fmt.Errorf("node %d is at %g, %g", i, f.X[i], f.Y[i]))
			break
		}
	}
	known := func(i int) bool { return i >= 0 && i < len(f.X) }
	for k, l := range f.Links {
		if !known(l.From) || !known(l.To) || !(l.Value >= 0) || !drawable(l.Value) {
			errs = append(errs, fmt.Errorf("link %d is %d–%d with the value %g", k, l.From, l.To, l.Value))
			break
		}
	}
	for _, i := range f.Marked {
		if !known(i) {
			errs = append(errs, errors.New("a node is marked that there is not"))
			break
		}
	}
	return complain("picture of a network", errs)
}

// WriteSVG writes f as an SVG image of 7 by 5.75 inches.
func (f *Network) WriteSVG(w io.Writer) error { return writeSVG(w, f) }

// Save writes base.svg and base.png, of 1344 by 1104 pixels, as Figure.Save does.
func (f *Network) Save(base string) error { return save(base, f) }

func (f *Network) size() (w, h vg.Length) { return pageWidth, pathsHeight }

func (f *Network) draw(c draw.Canvas) {
	p := newPage(c, f.Title, f.Subtitle, f.Note)
	most := 0.0
	for _, l := range f.Links {
		most = max(most, l.Value)
	}
	if f.Key != "" {
		f.drawKey(p, most)
	}
	places := f.places(p.room)
	for _, strong := range []bool{false, true} { // strong ones lie above
		for _, l := range f.Links {
			if share := shareOf(l.Value, most); (share > 0.5) == strong {
				p.StrokeLine2(linkLook(share), places[l.From].X, places[l.From].Y, places[l.To].X, places[l.To].Y)
			}
		}
	}
	small := vg.Length(math.Max(0.8, math.Min(2.5, 60/math.Sqrt(float64(len(places))*12))))
	for _, at := range places {
		circle.draw(p.Canvas, at, small, soft)
	}
	for _, i := range f.Marked {
		circle.draw(p.Canvas, places[i], radius, palette[0])
		if len(f.Marked) <= 40 {
			tickPen.write(p.Canvas, places[i].X+5, places[i].Y+3, 0, fmt.Sprint(i))
		}
	}
}

func shareOf(v, most float64) float64 {
	if most == 0 {
		return 0
	}
	return v / most
}

// linkLook returns how a link is drawn whose value is such a share of the largest:
// from a thin grey to a strong vermilion.
func linkLook(share float64) draw.LineStyle {
	if share == 0 {
		return draw.LineStyle{Color: grid, Width: 0.6}
	}
	return draw.LineStyle{Color: mix(gray(0xd0), palette[1], math.Sqrt(share)), Width: vg.Length(0.6 + 3*share)}
}

// keyValues returns five values from 0 to most for the key; of links that count things
// whole numbers, and fewer if there are no five.
func (f *Network) keyValues(most float64) []float64 {
	whole := !slices.ContainsFunc(f.Links, func(l Link) bool { return l.Value != math.Trunc(l.Value) })
	var values []float64
	for k := range 5 {
		v := float64(k) / 4 * most
		if whole {
			v = math.Round(v)
		}
		values = append(values, v)
	}
	return slices.Compact(values)
}

// drawKey shows links with their values above the picture.
func (f *Network) drawKey(p *page, most float64) {
	y := p.room.Max.Y - labelPen.size
	labelPen.write(p.Canvas, p.room.Min.X, y, 0, f.Key)
	x := p.room.Min.X + labelPen.width(f.Key) + 10
	for _, v := range f.keyValues(most) {
		text := fmt.Sprintf("%.3g", v)
		p.StrokeLine2(linkLook(v/max(most, math.SmallestNonzeroFloat64)), x, y+0.35*labelPen.size, x+16, y+0.35*labelPen.size)
		tickPen.write(p.Canvas, x+20, y, 0, text)
		x += 28 + tickPen.width(text)
	}
	p.room.Max.Y -= labelPen.line() + 6
}

// places returns where nodes are on the page, with the same scale in both directions.
func (f *Network) places(room vg.Rectangle) []vg.Point {
	low, high := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	for i := range f.X {
		for d, v := range [2]float64{f.X[i], f.Y[i]} {
			low[d], high[d] = min(low[d], v), max(high[d], v)
		}
	}
	const edge = 10 // room for marks
	size := room.Size()
	unit := max((high[0]-low[0])/float64(size.X-2*edge), (high[1]-low[1])/float64(size.Y-2*edge))
	if unit == 0 {
		unit = 1
	}
	middle := vg.Point{X: (room.Min.X + room.Max.X) / 2, Y: (room.Min.Y + room.Max.Y) / 2}
	out := make([]vg.Point, len(f.X))
	for i := range out {
		out[i] = vg.Point{
			X: middle.X + vg.Length((f.X[i]-low[0]/2-high[0]/2)/unit),
			Y: middle.Y + vg.Length((f.Y[i]-low[1]/2-high[1]/2)/unit),
		}
	}
	return out
}

// Arrange returns places in the plane for n nodes, such that linked ones lie near each
// other and no two lie together: springs along links and a force between all nodes
// that pushes them apart, let go from a spiral until they rest (Fruchterman and
// Reingold, 1991). The same graph gives the same places.
func Arrange(n int, links []Link) (x, y []float64) {
	x, y = make([]float64, n), make([]float64, n)
	for i := range n { // Vogel's spiral: even, and no two alike
		angle, r := float64(i)*math.Pi*(3-math.Sqrt(5)), math.Sqrt(float64(i)+0.5)
		x[i], y[i] = r*math.Cos(angle), r*math.Sin(angle)
	}
	steps := 300
	if n > 500 {
		steps = 100
	}
	dx, dy := make([]float64, n), make([]float64, n)
	for step := range steps {
		clear(dx)
		clear(dy)
		for i := range n {
			for j := range i {
				u, v := x[i]-x[j], y[i]-y[j]
				push := 1 / max(u*u+v*v, 1e-6)
				dx[i], dy[i] = dx[i]+float64(push*u), dy[i]+float64(push*v)
				dx[j], dy[j] = dx[j]-float64(push*u), dy[j]-float64(push*v)
			}
			dx[i] -= float64(0.02 * x[i]) // parts that are not linked do not fly away
			dy[i] -= float64(0.02 * y[i])
		}
		for _, l := range links {
			u, v := x[l.From]-x[l.To], y[l.From]-y[l.To]
			pull := math.Hypot(u, v)
			dx[l.From], dy[l.From] = dx[l.From]-float64(pull*u), dy[l.From]-float64(pull*v)
			dx[l.To], dy[l.To] = dx[l.To]+float64(pull*u), dy[l.To]+float64(pull*v)
		}
		most := math.Sqrt(float64(n)) / 5 * (1 - float64(step)/float64(steps))
		for i := range n {
			if d := math.Hypot(dx[i], dy[i]); d > 0 {
				x[i] += float64(dx[i] / d * min(d, most))
				y[i] += float64(dy[i] / d * min(d, most))
			}
		}
	}
	return x, y
}
