package figure

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// curve is a series with its look.
type curve struct {
	*Series
	look  look
	dodge vg.Length // how far to the right error bars and markers stand
}

// curves gives every series its look, and moves series apart whose error bars
// would cover each other.
func (f *Figure) curves() []curve {
	out := make([]curve, len(f.Series))
	for i, l := range looks(f.Series) {
		out[i] = curve{Series: &f.Series[i], look: l}
	}
	var barred []*curve
	taken := map[float64]bool{}
	crowded := false
	for i := range out {
		s := &out[i]
		if !s.hasBars() {
			continue
		}
		barred = append(barred, s)
		for _, x := range s.X {
			crowded = crowded || taken[x]
		}
		for _, x := range s.X {
			taken[x] = true
		}
	}
	if crowded {
		apart := min(2*radius-0.5, 24/vg.Length(len(barred)))
		for i, s := range barred {
			s.dodge = apart * (vg.Length(i) - vg.Length(len(barred)-1)/2)
		}
	}
	return out
}

// hasBars says whether the range of s is drawn as error bars; if not, it is a
// band.
func (s *curve) hasBars() bool { return s.Low != nil && s.look.marker != noMarker }

// across says whether s is a line across the whole chart.
func (s *Series) across() bool { return s.Style == Dashed && len(s.X) == 1 }

// runs cuts the points of s into pieces without gaps. On an axis that gives 0
// a place of its own, a piece ends there too.
func (b *box) runs(s *curve) [][]vg.Point {
	var out [][]vg.Point
	var run []vg.Point
	end := func() {
		if len(run) > 0 {
			out = append(out, run)
		}
		run = nil
	}
	for i, y := range s.Y {
		if math.IsNaN(y) {
			end()
			continue
		}
		if i > 0 && (b.x.zero && (s.X[i] == 0) != (s.X[i-1] == 0) || b.y.zero && (y == 0) != (s.Y[i-1] == 0)) {
			end()
		}
		run = append(run, vg.Point{X: b.x.at(s.X[i]) + s.dodge, Y: b.y.at(y)})
	}
	end()
	return out
}

// drawCurve draws lines and markers.
func (b *box) drawCurve(s *curve) {
	if s.across() {
		if y := b.y.at(s.Y[0]); b.ContainsY(y) && !math.IsNaN(s.Y[0]) {
			b.StrokeLine2(s.look.line, b.Min.X, y, b.Max.X, y)
		}
		return
	}
	for _, run := range b.runs(s) {
		if s.look.line.Width > 0 {
			b.StrokeLines(s.look.line, b.ClipLinesXY(run)...)
		}
		if s.look.marker == noMarker && len(run) == 1 && b.Contains(run[0]) {
			circle.draw(b.Canvas, run[0], 1.5, s.look.color) // a point between gaps is not lost
		}
		for _, at := range run {
			if b.Contains(at) {
				s.look.marker.draw(b.Canvas, at, radius, s.look.color)
			}
		}
	}
}

// drawRange draws the band or the error bars.
func (b *box) drawRange(s *curve) {
	switch {
	case s.Low == nil:
	case s.across():
		b.fillBand([]vg.Point{{X: b.Min.X, Y: b.y.at(s.Low[0])}, {X: b.Max.X, Y: b.y.at(s.Low[0])}},
			[]vg.Point{{X: b.Min.X, Y: b.y.at(s.High[0])}, {X: b.Max.X, Y: b.y.at(s.High[0])}}, s.look)
	case s.hasBars():
		for i := range s.Y {
			if !math.IsNaN(s.Y[i]) && b.x.shows(s.X[i]) {
				b.drawErrorBar(b.x.at(s.X[i])+s.dodge, s.Low[i], s.High[i], draw.LineStyle{Color: s.look.color, Width: 1})
			}
		}
	default:
		b.drawBand(s)
	}
}

func (b *box) drawBand(s *curve) {
	var low, high []vg.Point
	end := func() {
		b.fillBand(low, high, s.look)
		low, high = nil, nil
	}
	for i := range s.Y {
		l, h := s.Low[i], s.High[i]
		if math.IsNaN(s.Y[i]) || math.IsNaN(l) || math.IsNaN(h) {
			end()
			continue
		}
		if i > 0 && b.x.zero && (s.X[i] == 0) != (s.X[i-1] == 0) {
			end()
		}
		x := b.x.at(s.X[i])
		low = append(low, vg.Point{X: x, Y: b.y.at(l)})
		high = append(high, vg.Point{X: x, Y: b.y.at(h)})
	}
	end()
}

// fillBand fills what lies between two lines of the same length. The band
// around a lone point is an error bar.
func (b *box) fillBand(low, high []vg.Point, l look) {
	if len(low) == 0 || math.IsNaN(float64(low[0].Y)) || math.IsNaN(float64(high[0].Y)) {
		return
	}
	if len(low) == 1 {
		b.strokeErrorBar(low[0].X, low[0].Y, high[0].Y, draw.LineStyle{Color: l.color, Width: 1})
		return
	}
	outline := append([]vg.Point(nil), low...)
	for i := range high {
		outline = append(outline, high[len(high)-1-i])
	}
	outline = b.ClipPolygonXY(outline)
	if len(outline) < 3 {
		return
	}
	b.SetColor(opacity(l.color, 0.16))
	var p vg.Path
	p.Move(outline[0])
	for _, at := range outline[1:] {
		p.Line(at)
	}
	p.Close()
	b.Fill(p)
}

// drawErrorBar draws a bar from low to high, with caps where it is not cut
// off.
func (b *box) drawErrorBar(x vg.Length, low, high float64, style draw.LineStyle) {
	if math.IsNaN(low) || math.IsNaN(high) {
		return
	}
	b.strokeErrorBar(x, b.y.at(low), b.y.at(high), style)
}

func (b *box) strokeErrorBar(x, low, high vg.Length, style draw.LineStyle) {
	if high < b.Min.Y || low > b.Max.Y || !b.ContainsX(x) {
		return
	}
	b.StrokeLine2(style, x, max(low, b.Min.Y), x, min(high, b.Max.Y))
	for _, y := range []vg.Length{low, high} {
		if b.ContainsY(y) {
			b.StrokeLine2(style, x-2.5, y, x+2.5, y)
		}
	}
}
