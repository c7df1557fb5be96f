package figure

import (
	"errors"
	"fmt"
	"io"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Figure is a chart: curves with an optional band, or points with error bars,
// over one x axis.
type Figure struct {
	Title    string // what the chart shows, in bold; may be empty
	Subtitle string // one line more; may be empty
	X, Y     Axis
	Series   []Series
	Note     string // under the chart: what was measured, seed, number of runs
}

// Axis says how one direction of a chart is drawn. The zero value is a linear
// axis without label. Its range and ticks follow from the data.
type Axis struct {
	Label string // with the unit
	Log   bool   // logarithmic; values must be positive
	Zero  bool   // with Log: the value 0 gets a place of its own before the axis
	Whole bool   // of a linear axis: it counts things, with marks at whole numbers only
}

// Series is one curve.
type Series struct {
	Name string // empty means that it is not named in the chart

	// X and Y are the points, drawn in this order. A NaN in Y is a gap.
	//
	// A Dashed series with one point is a line across the whole chart.
	X, Y []float64

	// Low and High are the ends of the band around a Line or Dashed, or of the
	// error bars of LinePoints; both nil for none. A NaN is a gap.
	// Error bars of several series at the same x stand side by side.
	Low, High []float64

	Style Style

	// Color picks a colour of the palette, from 1, so that one learner has one
	// colour in all figures; 0 means the next one. Dashed series are grey
	// unless a colour is picked.
	Color int
}

// Style is how a series is drawn.
type Style int

// Styles of a series.
const (
	Line       Style = iota // a curve
	LinePoints              // markers joined by a thin curve
	Dashed                  // a reference: "frozen", the paper's value
)

// String returns the name of the style.
func (s Style) String() string {
	names := [...]string{"line", "line and points", "dashed"}
	if s < 0 || int(s) >= len(names) {
		return fmt.Sprintf("style %d", int(s))
	}
	return names[s]
}

// limit bounds what can be drawn: spans of larger values overflow.
const limit = 1e300

// validate returns all that keeps f from being drawn, or nil.
func (f *Figure) validate() error {
	errs := []error{f.X.validate("x"), f.Y.validate("y")}
	if len(f.Series) == 0 {
		errs = append(errs, errors.New("no series"))
	}
	drawn := 0
	for i := range f.Series {
		s := &f.Series[i]
		n, complaints := s.validate(f.X, f.Y)
		drawn += n
		for _, err := range complaints {
			errs = append(errs, fmt.Errorf("series %d %q: %w", i+1, s.Name, err))
		}
	}
	if err := complain("figure", errs); err != nil || drawn > 0 {
		return err
	}
	return errors.New("figure cannot be drawn: every y is NaN: nothing to draw")
}

// WriteSVG writes f as an SVG image of 7 by 4.5 inches.
func (f *Figure) WriteSVG(w io.Writer) error { return writeSVG(w, f) }

// Save writes base.svg and base.png, of 1344 by 864 pixels. Each replaces an older file whole or not
// at all.
func (f *Figure) Save(base string) error { return save(base, f) }

func (f *Figure) size() (w, h vg.Length) { return pageWidth, pageHeight }

func (f *Figure) draw(c draw.Canvas) {
	p := newPage(c, f.Title, f.Subtitle, f.Note)
	curves := f.curves()
	xs, ys := f.scales(curves)
	names := p.place(curves, xs)
	b := p.layout(xs, ys, f.X.Label, f.Y.Label, names.right)
	b.drawAxes()
	for i := range curves {
		b.drawRange(&curves[i])
	}
	for _, reference := range []bool{true, false} { // references lie below
		for i := range curves {
			if (curves[i].Style == Dashed) == reference {
				b.drawCurve(&curves[i])
			}
		}
	}
	b.drawNames(names)
}

// scales returns the axes, wide enough for all that is drawn.
func (f *Figure) scales(curves []curve) (xs, ys *scale) {
	var x, y []float64
	marks := false
	for i := range curves {
		s := &curves[i]
		marks = marks || s.look.marker != noMarker
		if s.across() { // whatever its x is, the axis need not show it
			y = append(y, s.Y...)
			continue
		}
		for j, v := range s.Y {
			if math.IsNaN(v) {
				continue
			}
			x, y = append(x, s.X[j]), append(y, v)
			if s.Low != nil {
				y = append(y, s.Low[j], s.High[j])
			}
		}
	}
	pad := 0.0
	if marks || f.X.Zero {
		pad = 0.03
	}
	return newScale(f.X, x, scaleLook{ticks: 6, pad: pad}), newScale(f.Y, y, scaleLook{ticks: 5, pad: 0.02, round: true})
}
