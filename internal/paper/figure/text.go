package figure

import (
	"image/color"
	"strings"
	"sync"
	"unicode"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// family is the typeface's name inside its file.
const family = "Liberation Sans"

// pen is a way to write: a cut of the typeface, a size and a colour.
type pen struct {
	bold  bool
	size  vg.Length
	color color.Color
}

// The pens of all charts.
var (
	titlePen    = pen{true, 13, ink}
	subtitlePen = pen{false, 10, soft}
	labelPen    = pen{false, 9.5, ink}
	tickPen     = pen{false, 9, soft}
	namePen     = pen{false, 9.5, ink}
	notePen     = pen{false, 8, faint}
)

// cuts returns the upright cuts of the typeface, regular and bold.
var cuts = sync.OnceValue(func() (cuts [2]font.Face) {
	for _, face := range liberation.Collection() {
		switch {
		case face.Font.Variant != "Sans" || face.Font.Style != 0:
		case face.Font.Weight == 0:
			cuts[0] = face
		default:
			cuts[1] = face
		}
	}
	return cuts
})

func (p pen) face() *font.Face {
	face := cuts()[0]
	if p.bold {
		face = cuts()[1]
	}
	face.Font.Size = p.size
	return &face
}

// width returns how wide a line of text is.
func (p pen) width(text string) vg.Length { return p.face().Width(clean(text)) }

// line is the distance between the base lines of a paragraph.
func (p pen) line() vg.Length { return 1.25 * p.size }

// write sets one line of text with its base line at y. Align is 0 to begin at
// x, 0.5 to be centred there and 1 to end there.
func (p pen) write(c draw.Canvas, x, y vg.Length, align float64, text string) {
	text = clean(text)
	if strings.TrimSpace(text) == "" {
		return
	}
	face := p.face()
	c.SetColor(p.color)
	c.FillString(*face, vg.Point{X: x - vg.Length(align)*face.Width(text), Y: y}, text)
}

// wrap breaks text into lines of at most the given width, between words where
// that is possible. Empty text has no lines.
func (p pen) wrap(text string, width vg.Length) []string {
	face := p.face()
	var lines []string
	for word := range strings.FieldsSeq(clean(text)) {
		if n := len(lines); n > 0 && face.Width(lines[n-1]+" "+word) <= width {
			lines[n-1] += " " + word
			continue
		}
		for face.Width(word) > width && len([]rune(word)) > 1 {
			cut := p.fit(word, width)
			lines = append(lines, word[:cut])
			word = word[cut:]
		}
		lines = append(lines, word)
	}
	return lines
}

// fit returns the length of the longest beginning of word that is not wider
// than width, at least one character.
func (p pen) fit(word string, width vg.Length) int {
	face := p.face()
	fits := 0
	for i := range word {
		if i == 0 {
			continue
		}
		if fits > 0 && face.Width(word[:i]) > width {
			break
		}
		fits = i
	}
	return fits
}

// clean replaces what neither a font nor an XML file can hold.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r):
			return ' '
		case r == '\ufffe' || r == '\uffff':
			return '\ufffd'
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
}
