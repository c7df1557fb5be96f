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

// Paths is a picture of motion in the plane, with the same scale in both
// directions. Each path fades in from a ring at its start to a dot at its end.
type Paths struct {
	Title          string
	XLabel, YLabel string // with the unit
	Paths          []Path
	Note           string // under the chart
}

// Path is the way of one robot.
type Path struct {
	X, Y     []float64   // positions in order of time; a NaN is a gap
	Velocity *[2]float64 // at the end, drawn as an arrow; nil for none
}

// validate returns all that keeps f from being drawn, or nil.
func (f *Paths) validate() error {
	var errs []error
	if len(f.Paths) == 0 {
		errs = append(errs, errors.New("no paths"))
	}
	drawn := 0
	for i, path := range f.Paths {
		say := func(format string, args ...any) {
			errs = append(errs, fmt.Errorf("path %d: "+format, append([]any{i + 1}, args...)...))
		}
		if v := path.Velocity; v != nil && !(drawable(v[0]) && drawable(v[1])) {
			say("velocity %g, %g", v[0], v[1])
		}
		if len(path.X) != len(path.Y) {
			say("%d values of x, %d of y", len(path.X), len(path.Y))
			continue
		}
		for j := range path.X {
			x, y := path.X[j], path.Y[j]
			if math.IsNaN(x) || math.IsNaN(y) {
				continue
			}
			drawn++
			if !drawable(x) || !drawable(y) {
				say("position %d is %g, %g", j+1, x, y)
				break
			}
		}
	}
	if len(errs) == 0 && drawn == 0 {
		errs = append(errs, errors.New("no positions"))
	}
	return complain("picture of paths", errs)
}

// WriteSVG writes f as an SVG image of 7 by 5.75 inches.
func (f *Paths) WriteSVG(w io.Writer) error { return writeSVG(w, f) }

// Save writes base.svg and base.png, of 1344 by 1104 pixels, as Figure.Save does.
func (f *Paths) Save(base string) error { return save(base, f) }

func (f *Paths) size() (w, h vg.Length) { return pageWidth, pathsHeight }

func (f *Paths) draw(c draw.Canvas) {
	p := newPage(c, f.Title, "", f.Note)
	f.drawKey(p)
	x, y := f.scales(1, 1)
	b := p.layout(x, y, f.XLabel, f.YLabel, 0)
	size := b.Rectangle.Size()
	x, y = f.scales(size.X, size.Y)
	b = p.layout(x, y, f.XLabel, f.YLabel, 0)
	b.drawAxes()
	b.drawPaths(f.Paths)
}

// scales returns axes on which a unit has the same length, for a box of the
// given size.
func (f *Paths) scales(width, height vg.Length) (xs, ys *scale) {
	x, y := [2]float64{math.Inf(1), math.Inf(-1)}, [2]float64{math.Inf(1), math.Inf(-1)}
	for _, path := range f.Paths {
		for j := range path.X {
			if u, v := path.X[j], path.Y[j]; !math.IsNaN(u) && !math.IsNaN(v) {
				x[0], x[1] = min(x[0], u), max(x[1], u)
				y[0], y[1] = min(y[0], v), max(y[1], v)
			}
		}
	}
	const pad = 1.16 // room for arrows
	w, h := float64(width), float64(height)
	unit := pad * max((x[1]-x[0])/w, (y[1]-y[0])/h) // of the data per length of the page
	if least := 1e-9 * max(math.Abs(x[0]), math.Abs(x[1]), math.Abs(y[0]), math.Abs(y[1]), 1e-280); unit*min(w, h) < least {
		unit = max(1, least/1e-9) / min(w, h)
	}
	around := func(ends [2]float64, length float64, ticks int) *scale {
		middle := ends[0]/2 + ends[1]/2
		return fixedScale(middle-unit*length/2, middle+unit*length/2, ticks)
	}
	return around(x, w, 7), around(y, h, 6)
}

// drawKey says above the chart what the marks mean.
func (f *Paths) drawKey(p *page) {
	row := []name{
		{text: "start", look: look{color: soft, marker: ring}},
		{text: "end", look: look{color: soft, marker: circle}},
	}
	if slices.ContainsFunc(f.Paths, func(p Path) bool { return p.Velocity != nil }) {
		row = append(row, name{text: "velocity at the end", look: look{color: soft, marker: arrow}})
	}
	p.rows(row)
}
