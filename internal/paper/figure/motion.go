package figure

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Marks of motion, beside the markers of points.
const (
	ring marker = iota + noMarker + 1
	arrow
)

const (
	shades     = 24            // colours along a path
	longest    = vg.Length(22) // the arrow of the fastest
	arrowWidth = vg.Length(1.1)
)

// drawPaths draws lines first, then what stands on them.
func (b *box) drawPaths(paths []Path) {
	fastest := 0.0
	for _, p := range paths {
		if p.Velocity != nil {
			fastest = max(fastest, math.Hypot(p.Velocity[0], p.Velocity[1]))
		}
	}
	for _, p := range paths {
		b.drawTrail(p)
	}
	for _, p := range paths {
		if points := b.positions(p); len(points) > 0 {
			ring.mark(b.Canvas, points[0], mix(paper, palette[0], 0.6))
		}
	}
	for _, p := range paths {
		points := b.positions(p)
		if len(points) == 0 {
			continue
		}
		end, c := points[len(points)-1], palette[0]
		if p.Velocity != nil && fastest > 0 {
			tip := vg.Point{
				X: end.X + longest*vg.Length(p.Velocity[0]/fastest),
				Y: end.Y + longest*vg.Length(p.Velocity[1]/fastest),
			}
			drawArrow(b.Canvas, end, tip, mix(c, ink, 0.5))
		}
		circle.draw(b.Canvas, end, 2.2, mix(c, ink, 0.2))
	}
}

// positions returns the places of a path on the page, without gaps.
func (b *box) positions(p Path) []vg.Point {
	out := make([]vg.Point, 0, len(p.X))
	for i := range p.X {
		if !math.IsNaN(p.X[i]) && !math.IsNaN(p.Y[i]) {
			out = append(out, vg.Point{X: b.x.at(p.X[i]), Y: b.y.at(p.Y[i])})
		}
	}
	return out
}

// drawTrail draws a path as lines whose colour deepens with time.
func (b *box) drawTrail(p Path) {
	n := len(p.X)
	full := palette[0]
	pieces := min(shades, n-1)
	for k := range pieces {
		from, to := k*(n-1)/pieces, (k+1)*(n-1)/pieces
		style := draw.LineStyle{Color: mix(paper, full, 0.22+0.68*float64(k+1)/float64(pieces)), Width: 1}
		var run []vg.Point
		for i := from; i <= to; i++ {
			if math.IsNaN(p.X[i]) || math.IsNaN(p.Y[i]) {
				b.StrokeLines(style, run)
				run = nil
				continue
			}
			run = append(run, vg.Point{X: b.x.at(p.X[i]), Y: b.y.at(p.Y[i])})
		}
		b.StrokeLines(style, run)
	}
}

// mark draws a ring or a level arrow.
func (m marker) mark(c draw.Canvas, at vg.Point, ink color.Color) {
	if m == arrow {
		drawArrow(c, vg.Point{X: at.X - 9, Y: at.Y}, vg.Point{X: at.X + 9, Y: at.Y}, ink)
		return
	}
	c.SetColor(paper)
	c.Fill(circle.path(at, 2.2))
	c.SetLineStyle(draw.LineStyle{Color: ink, Width: 0.9})
	c.Stroke(circle.path(at, 2.2))
}

// drawArrow draws an arrow; a very short one is all head.
func drawArrow(c draw.Canvas, from, to vg.Point, ink color.Color) {
	length := vg.Length(math.Hypot(float64(to.X-from.X), float64(to.Y-from.Y)))
	if length < 0.5 {
		return
	}
	along := to.Sub(from).Scale(1 / length)
	side := vg.Point{X: -along.Y, Y: along.X}
	head := min(5, length)
	neck := to.Sub(along.Scale(head))
	c.StrokeLine2(draw.LineStyle{Color: ink, Width: arrowWidth}, from.X, from.Y, neck.X, neck.Y)
	var p vg.Path
	p.Move(to)
	p.Line(neck.Add(side.Scale(0.42 * head)))
	p.Line(neck.Sub(side.Scale(0.42 * head)))
	p.Close()
	c.SetColor(ink)
	c.Fill(p)
}
