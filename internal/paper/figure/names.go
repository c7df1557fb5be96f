package figure

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
)

// name is what stands at the end of a curve, or in the row above the chart.
type name struct {
	text  string
	look  look
	end   float64 // y where the curve ends
	at    vg.Length
	place vg.Length
}

// names are those at the ends of curves, and the room they need.
type names struct {
	ends  []name
	right vg.Length
}

// leader is the length of the line from the end of a curve to its name.
const leader vg.Length = 16

// place decides where names go: to the ends of their curves, if all of these
// end at the right and there is room, or else in rows above the chart, which
// it draws.
func (p *page) place(curves []curve, x *scale) names {
	var all []name
	direct := true
	var widest vg.Length
	for i := range curves {
		s := &curves[i]
		if s.Name == "" {
			continue
		}
		end, atRight := s.end(x)
		all = append(all, name{text: s.Name, look: s.look, end: end})
		direct = direct && atRight
		widest = max(widest, namePen.width(s.Name))
	}
	room := p.room.Max.Y - p.room.Min.Y - 60
	if !direct || widest > 0.3*p.width() || vg.Length(len(all))*namePen.line() > room {
		p.rows(all)
		return names{}
	}
	if len(all) == 0 {
		return names{}
	}
	return names{all, widest + leader + 8}
}

// end returns the y of the last point along x, and whether that point is near
// the right end of the chart.
func (s *curve) end(x *scale) (y float64, atRight bool) {
	if s.across() {
		return s.Y[0], !math.IsNaN(s.Y[0])
	}
	last := -1
	for i, v := range s.Y {
		if !math.IsNaN(v) && x.shows(s.X[i]) && (last < 0 || s.X[i] >= s.X[last]) {
			last = i
		}
	}
	if last < 0 {
		return 0, false
	}
	return s.Y[last], x.at(s.X[last]) > 0.94
}

// drawNames writes names at the ends of curves, moved apart where curves end
// close to each other.
func (b *box) drawNames(n names) {
	if len(n.ends) == 0 {
		return
	}
	ends := slices.Clone(n.ends)
	for i := range ends {
		ends[i].at = min(max(b.y.at(ends[i].end), b.Min.Y), b.Max.Y)
	}
	slices.SortStableFunc(ends, func(a, b name) int { return cmp.Compare(a.at, b.at) })
	spread(ends, namePen.line()+0.5, b.Min.Y+2, b.Max.Y)
	for _, e := range ends {
		line := e.look.line
		line.Color = e.look.color
		line.Width = 0.9
		x := b.Max.X + 3
		b.StrokeLines(line, []vg.Point{{X: x, Y: e.at}, {X: x + leader - 8, Y: e.place}, {X: x + leader - 2, Y: e.place}})
		pen := namePen
		pen.color = mix(e.look.color, ink, 0.35)
		pen.write(b.Canvas, x+leader+1, e.place-0.35*pen.size, 0, e.text)
	}
}

// spread moves names, sorted by the place they want, as little as possible so
// that neighbours are at least gap apart and all are between low and high.
// Names that would collide form a block around the mean of what they want.
func spread(ends []name, gap, low, high vg.Length) {
	type block struct {
		first, n int
		from     vg.Length // place of the first
	}
	var blocks []block
	settle := func(k *block) {
		var sum vg.Length
		for i := range k.n {
			sum += ends[k.first+i].at - vg.Length(i)*gap
		}
		k.from = max(min(sum/vg.Length(k.n), high-vg.Length(k.n-1)*gap), low)
	}
	for i := range ends {
		k := block{first: i, n: 1}
		settle(&k)
		for len(blocks) > 0 {
			before := blocks[len(blocks)-1]
			if before.from+vg.Length(before.n)*gap <= k.from {
				break
			}
			k.first, k.n = before.first, before.n+k.n
			settle(&k)
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, k)
	}
	for _, k := range blocks {
		for i := range k.n {
			ends[k.first+i].place = k.from + vg.Length(i)*gap
		}
	}
}

// rows draws names with samples of their look above the chart.
func (p *page) rows(all []name) {
	if len(all) == 0 {
		return
	}
	const between = vg.Length(18)
	x := p.room.Min.X
	p.room.Max.Y -= namePen.size
	for _, n := range all {
		sample := n.sampleWidth()
		w := sample + 5 + namePen.width(n.text)
		if x > p.room.Min.X && x+w > p.room.Max.X {
			x = p.room.Min.X
			p.room.Max.Y -= namePen.line() + 2
		}
		y := p.room.Max.Y + 0.35*namePen.size
		if n.look.line.Width > 0 {
			p.StrokeLines(n.look.line, []vg.Point{{X: x, Y: y}, {X: x + sample, Y: y}})
		}
		n.look.marker.draw(p.Canvas, vg.Point{X: x + sample/2, Y: y}, radius, n.look.color)
		namePen.write(p.Canvas, x+sample+5, p.room.Max.Y, 0, n.text)
		x += w + between
	}
	p.room.Max.Y -= 8
}

// sampleWidth is the room for the sample before a name.
func (n *name) sampleWidth() vg.Length {
	if n.look.line.Width == 0 && n.look.marker != arrow {
		return 2.4 * radius
	}
	return 22
}
