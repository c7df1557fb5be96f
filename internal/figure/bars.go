package figure

import (
	"errors"
	"fmt"
	"io"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Bars is a chart of grouped bars: in each category one bar of each series.
type Bars struct {
	Title      string
	Subtitle   string
	XLabel     string // what the categories are; may be empty
	Y          Axis   // bars grow from 0 if the axis shows it; not logarithmic
	Categories []string
	Series     []BarSeries
	Note       string // under the chart
}

// BarSeries is one bar per category.
type BarSeries struct {
	Name      string
	Y         []float64 // NaN leaves a bar out
	Low, High []float64 // error bars; both nil for none, NaN for none on one bar
	Color     int       // as in Series
}

// Validate returns all that keeps f from being drawn, or nil.
func (f *Bars) Validate() error {
	errs := f.Y.validate("y")
	if f.Y.Log {
		errs = append(errs, errors.New("y axis: bars have no logarithm: their length would mean nothing"))
	}
	if len(f.Categories) == 0 {
		errs = append(errs, errors.New("no categories"))
	}
	if len(f.Series) == 0 {
		errs = append(errs, errors.New("no series"))
	}
	drawn := 0
	for i, s := range f.Series {
		complaints := append(checkColor(s.Color), checkRange(s.Low, s.High, len(s.Y))...)
		if len(s.Y) != len(f.Categories) {
			complaints = append(complaints, fmt.Errorf("%d values for %d categories", len(s.Y), len(f.Categories)))
		}
		for j, v := range s.Y {
			if math.IsNaN(v) {
				continue
			}
			drawn++
			if err := f.Y.check(v); err != nil {
				complaints = append(complaints, fmt.Errorf("value %d: %w", j+1, err))
				break
			}
		}
		for _, err := range complaints {
			errs = append(errs, fmt.Errorf("series %d %q: %w", i+1, s.Name, err))
		}
	}
	if len(errs) == 0 && drawn == 0 {
		errs = append(errs, errors.New("every value is NaN: nothing to draw"))
	}
	return complain("bar chart", errs)
}

// WriteSVG writes f as an SVG image of 7 by 4.5 inches.
func (f *Bars) WriteSVG(w io.Writer) error { return writeSVG(w, f) }

// WritePNG writes f as a PNG image of 1344 by 864 pixels.
func (f *Bars) WritePNG(w io.Writer) error { return writePNG(w, f) }

// Save writes base.svg and base.png, as Figure.Save does.
func (f *Bars) Save(base string) error { return save(base, f) }

func (f *Bars) size() (w, h vg.Length) { return pageWidth, pageHeight }

func (f *Bars) draw(c draw.Canvas) {
	p := newPage(c, f.Title, f.Subtitle, f.Note)
	colors := make([]Series, len(f.Series))
	values := []float64{0}
	for i, s := range f.Series {
		colors[i].Color = s.Color
		for j, v := range s.Y {
			values = append(values, v)
			if s.Low != nil && !math.IsNaN(v) {
				values = append(values, s.Low[j], s.High[j])
			}
		}
	}
	shown := looks(colors)
	var row []name
	for i, s := range f.Series {
		if s.Name != "" {
			row = append(row, name{text: s.Name, look: look{color: shown[i].color, marker: square}, block: true})
		}
	}
	p.rows(row)
	x := &scale{min: -0.5, max: float64(len(f.Categories)) - 0.5}
	for i, label := range f.Categories {
		x.ticks = append(x.ticks, Tick{float64(i), label})
	}
	b := p.layout(x, newScale(f.Y, values, scaleLook{ticks: 5, round: true}), f.XLabel, f.Y.Label, 1)
	b.bars = true
	b.drawAxes()
	b.drawBars(f.Series, shown)
	b.drawZero()
}

// drawBars draws the bars of all categories and their error bars.
func (b *box) drawBars(series []BarSeries, shown []look) {
	n := vg.Length(len(series))
	group := (b.x.at(1) - b.x.at(0)) * 0.72
	width := min(group/n, 46)
	base := min(max(b.y.at(0), b.Min.Y), b.Max.Y)
	for i, s := range series {
		for j, v := range s.Y {
			if math.IsNaN(v) {
				continue
			}
			left := b.x.at(float64(j)) + width*(vg.Length(i)-n/2)
			top := min(max(b.y.at(v), b.Min.Y), b.Max.Y)
			gap := min(1, width/8)
			b.SetColor(shown[i].color)
			b.Fill(vg.Rectangle{
				Min: vg.Point{X: left + gap, Y: min(base, top)},
				Max: vg.Point{X: left + width - gap, Y: max(base, top)},
			}.Path())
			if s.Low != nil {
				b.drawErrorBar(left+width/2, s.Low[j], s.High[j], draw.LineStyle{Color: ink, Width: 0.9})
			}
		}
	}
}

// drawZero draws the line that bars grow from where it is not the axis.
func (b *box) drawZero() {
	if y := b.y.at(0); y > b.Min.Y+1 && y <= b.Max.Y {
		b.StrokeLine2(draw.LineStyle{Color: axis, Width: 2 * pixel}, b.Min.X, snap(y), b.Max.X, snap(y))
	}
}
