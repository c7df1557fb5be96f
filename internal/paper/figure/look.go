package figure

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Greys of text and lines.
var (
	paper = gray(0xff)
	ink   = gray(0x22)
	soft  = gray(0x55)
	faint = gray(0x77)
	axis  = gray(0x88)
	grid  = gray(0xe4)
	weak  = gray(0xf1) // grid lines of minor importance
)

// palette holds colours of Okabe and Ito (2008), neighbours far apart in
// lightness. Their yellow is left out: it is too pale for thin lines on white.
var palette = [...]color.NRGBA{
	{0x00, 0x72, 0xb2, 0xff}, // blue
	{0xd5, 0x5e, 0x00, 0xff}, // vermilion
	{0x56, 0xb4, 0xe9, 0xff}, // sky blue
	{0xcc, 0x79, 0xa7, 0xff}, // reddish purple
	{0xe6, 0x9f, 0x00, 0xff}, // orange
	{0x00, 0x9e, 0x73, 0xff}, // bluish green
	{0x33, 0x33, 0x33, 0xff}, // near black
}

// dashes tell curves apart without colours. They are long and their gaps
// short, so that a curve stays one to the eye.
var dashes = [...][]vg.Length{
	nil,
	{8, 1.6},
	{3.2, 1.4},
	{8, 1.6, 1.6, 1.6},
	{5, 1.6, 1.6, 1.6, 1.6, 1.6},
	{1.8, 1.2},
	{12, 2.5},
}

// references are the dashes of Dashed series.
var references = [...][]vg.Length{{5, 3}, {1.5, 2}, {8, 2.5, 1.5, 2.5}, {2.5, 4}}

// look is what a series looks like.
type look struct {
	color  color.NRGBA
	line   draw.LineStyle // width 0 means none
	marker marker
}

// looks chooses the look of each series.
func looks(series []Series) []look {
	out := make([]look, len(series))
	next, reference := 0, 0
	for i, s := range series {
		nth := next
		if s.Color > 0 {
			nth = s.Color - 1
		}
		l := look{color: palette[nth%len(palette)], marker: noMarker}
		switch s.Style {
		case Line:
			l.line = draw.LineStyle{Width: 1.5, Dashes: dashes[nth%len(dashes)]}
		case LinePoints:
			l.marker = marker(nth % int(noMarker))
			l.line = draw.LineStyle{Width: 1.25}
		case Dashed:
			if s.Color == 0 {
				l.color = soft
			}
			l.line = draw.LineStyle{Width: 1.25, Dashes: references[reference%len(references)]}
			reference++
		}
		if s.Style != Dashed && s.Color == 0 {
			next++
		}
		l.line.Color = l.color
		out[i] = l
	}
	return out
}

// marker is the shape of a point.
type marker int

const (
	circle marker = iota
	square
	triangle
	diamond
	turned // a triangle on its tip
	noMarker
)

// radius is the size of a marker.
const radius vg.Length = 3

// draw sets a marker with a thin white rim, which keeps it apart from lines
// and other markers.
func (m marker) draw(c draw.Canvas, at vg.Point, r vg.Length, fill color.Color) {
	switch m {
	case noMarker:
		return
	case ring, arrow:
		m.mark(c, at, fill)
		return
	}
	c.SetColor(paper)
	c.Fill(m.path(at, r+1))
	c.SetColor(fill)
	c.Fill(m.path(at, r))
}

// path returns the outline of a marker; shapes of the same r look equally
// large.
func (m marker) path(at vg.Point, r vg.Length) vg.Path {
	var p vg.Path
	corners, turn := 0, 0.0
	switch m {
	case square:
		corners, turn, r = 4, math.Pi/4, 1.2*r
	case triangle:
		corners, turn, r = 3, math.Pi/2, 1.3*r
	case diamond:
		corners, turn, r = 4, 0, 1.25*r
	case turned:
		corners, turn, r = 3, -math.Pi/2, 1.3*r
	default:
		p.Move(vg.Point{X: at.X + r, Y: at.Y})
		p.Arc(at, r, 0, 2*math.Pi)
	}
	for i := range corners {
		sin, cos := math.Sincos(turn + 2*math.Pi*float64(i)/float64(corners))
		corner := vg.Point{X: at.X + r*vg.Length(cos), Y: at.Y + r*vg.Length(sin)}
		if i == 0 {
			p.Move(corner)
		} else {
			p.Line(corner)
		}
	}
	p.Close()
	return p
}

func gray(v uint8) color.NRGBA { return color.NRGBA{v, v, v, 0xff} }

// mix returns the colour a part u of the way from a to b.
func mix(a, b color.NRGBA, u float64) color.NRGBA {
	part := func(x, y uint8) uint8 { return uint8(math.Round(float64(x) + u*(float64(y)-float64(x)))) }
	return color.NRGBA{part(a.R, b.R), part(a.G, b.G), part(a.B, b.B), part(a.A, b.A)}
}

// opacity returns the colour with the given opacity, above 0.
func opacity(c color.NRGBA, a float64) color.NRGBA {
	c.A = uint8(math.Round(255 * a))
	return c
}
