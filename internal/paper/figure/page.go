package figure

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The size of charts. Paths, which need equal scales in both directions, are
// as wide and taller.
const (
	pageWidth   = 7 * vg.Inch
	pageHeight  = 4.5 * vg.Inch
	pathsHeight = 5.75 * vg.Inch
	margin      = vg.Length(14)
)

// page is a sheet with title and note set, and the room that is left.
type page struct {
	draw.Canvas
	room vg.Rectangle
}

func newPage(c draw.Canvas, title, subtitle, note string) *page {
	c.SetColor(paper)
	c.Fill(c.Rectangle.Path())
	p := &page{c, vg.Rectangle{
		Min: c.Min.Add(vg.Point{X: margin, Y: margin - 2}),
		Max: c.Max.Sub(vg.Point{X: margin, Y: margin - 2}),
	}}
	p.paragraph(titlePen, title)
	p.paragraph(subtitlePen, subtitle)
	if title != "" || subtitle != "" {
		p.room.Max.Y -= 8
	}
	lines := notePen.wrap(note, p.width())
	for i := range lines {
		p.room.Min.Y += 2
		notePen.write(p.Canvas, p.room.Min.X, p.room.Min.Y, 0, lines[len(lines)-1-i])
		p.room.Min.Y += notePen.size
	}
	if len(lines) > 0 {
		p.room.Min.Y += 5
	}
	return p
}

func (p *page) width() vg.Length { return p.room.Max.X - p.room.Min.X }

// paragraph sets text at the top of the room and takes that room away.
func (p *page) paragraph(pen pen, text string) {
	for _, line := range pen.wrap(text, p.width()) {
		p.room.Max.Y -= pen.size
		pen.write(p.Canvas, p.room.Min.X, p.room.Max.Y, 0, line)
		p.room.Max.Y -= pen.line() - pen.size + 1
	}
}

// box is the rectangle between the axes.
type box struct {
	draw.Canvas // its rectangle is the box
	x, y        *scale

	xLabel, yLabel []string    // lines
	sheet          draw.Canvas // the whole page
	room           vg.Rectangle
}

// layout finds the box that is left beside the labels of the axes and beside
// room of width right for names, and tells the scales where it is. It draws
// nothing.
func (p *page) layout(x, y *scale, xLabel, yLabel string, right vg.Length) *box {
	b := &box{x: x, y: y, sheet: p.Canvas, room: p.room}
	r := p.room
	r.Min.X += p.tickWidth(y) + 7
	if right > 0 {
		r.Max.X -= right
	} else if n := len(x.ticks); n > 0 {
		r.Max.X -= tickPen.width(x.ticks[n-1].label) / 2
	}
	b.yLabel = labelPen.wrap(yLabel, p.width())
	r.Max.Y -= labelPen.line()*vg.Length(len(b.yLabel)) + 9
	b.xLabel = labelPen.wrap(xLabel, r.Max.X-r.Min.X)
	if n := len(b.xLabel); n > 0 {
		r.Min.Y += labelPen.line()*vg.Length(n) + 3
	}
	r.Min.Y += tickPen.line() + 4
	r.Max.Y = max(r.Max.Y, r.Min.Y+40) // texts of any length leave something to see
	b.Canvas = draw.Canvas{Canvas: p.Canvas.Canvas, Rectangle: r}
	x.from, x.to = r.Min.X, r.Max.X
	y.from, y.to = r.Min.Y, r.Max.Y
	return b
}

// drawLabels writes the labels of the axes: that of y above it, from the left
// end of the page.
func (b *box) drawLabels() {
	for i, line := range b.yLabel {
		labelPen.write(b.sheet, b.room.Min.X, b.room.Max.Y-labelPen.size-vg.Length(i)*labelPen.line(), 0, line)
	}
	for i, line := range b.xLabel {
		y := b.room.Min.Y + 2 + vg.Length(len(b.xLabel)-1-i)*labelPen.line()
		labelPen.write(b.sheet, (b.Min.X+b.Max.X)/2, y, 0.5, line)
	}
}

func (p *page) tickWidth(s *scale) (w vg.Length) {
	for _, t := range s.ticks {
		w = max(w, tickPen.width(t.label))
	}
	return min(w, p.width()/3)
}

// drawAxes draws grid, axes, ticks and their labels.
func (b *box) drawAxes() {
	thin := draw.LineStyle{Color: grid, Width: pixel}
	minor := draw.LineStyle{Color: weak, Width: pixel}
	for _, v := range b.y.minor {
		at := snap(b.y.at(v))
		b.StrokeLine2(minor, b.Min.X, at, b.Max.X, at)
	}
	for _, t := range b.y.ticks {
		at := snap(b.y.at(t.at))
		b.StrokeLine2(thin, b.Min.X, at, b.Max.X, at)
		tickPen.write(b.Canvas, b.Min.X-6, b.y.at(t.at)-0.36*tickPen.size, 1, t.label)
	}
	for _, v := range b.x.minor {
		at := snap(b.x.at(v))
		b.StrokeLine2(minor, at, b.Min.Y, at, b.Max.Y)
	}
	for _, t := range b.x.ticks {
		at := snap(b.x.at(t.at))
		b.StrokeLine2(thin, at, b.Min.Y, at, b.Max.Y)
	}
	b.drawBase()
	b.drawXLabels()
	b.drawLabels()
}

// drawBase draws the line of the x axis with its marks, broken after the
// place of 0 if that has one.
func (b *box) drawBase() {
	line := draw.LineStyle{Color: axis, Width: 2 * pixel}
	y := snap(b.Min.Y)
	from := b.Min.X
	if b.x.zero {
		length := b.Max.X - b.Min.X
		gap := b.Min.X + zeroBreak*length
		b.StrokeLine2(line, b.Min.X, y, gap-2, y)
		for _, x := range []vg.Length{gap - 2, gap + 2} {
			b.StrokeLine2(line, x-1.5, y-3.5, x+1.5, y+3.5)
		}
		from = gap + 2
	}
	b.StrokeLine2(line, from, y, b.Max.X, y)
	for _, v := range b.x.minor {
		b.StrokeLine2(line, snap(b.x.at(v)), y, snap(b.x.at(v)), y-2)
	}
	for _, t := range b.x.ticks {
		b.StrokeLine2(line, snap(b.x.at(t.at)), y, snap(b.x.at(t.at)), y-4)
	}
}

// drawXLabels writes the labels below the axis, except those that would touch
// one that is already there.
func (b *box) drawXLabels() {
	type span struct{ from, to vg.Length }
	var taken []span
	for _, t := range b.x.ticks {
		w, at := tickPen.width(t.label), b.x.at(t.at)
		mine := span{at - w/2 - 2, at + w/2 + 2}
		free := true
		for _, s := range taken {
			free = free && (mine.to <= s.from || mine.from >= s.to)
		}
		if !free {
			continue
		}
		taken = append(taken, mine)
		tickPen.write(b.Canvas, at, b.Min.Y-5-tickPen.size, 0.5, t.label)
	}
}

// pixel is a pixel of the PNG.
const pixel = vg.Inch / dpi

// snap moves a coordinate to the middle of a pixel, so that thin lines are
// sharp.
func snap(v vg.Length) vg.Length {
	return vg.Length(math.Floor(float64(v/pixel))+0.5) * pixel
}
