package main

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/png"
	"maps"
	"slices"
)

// shrink returns a PNG with 256 colours: the most frequent ones. A page has few,
// and mixtures of them at the edges of letters and lines, so that nobody sees
// the difference; the file has less than half the size.
func shrink(text []byte) ([]byte, error) {
	from, err := png.Decode(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	box := from.Bounds()
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(from.At(x, y)).(color.RGBA) }
	counts := map[color.RGBA]int{}
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			counts[at(x, y)]++
		}
	}
	palette := frequent(counts)
	to := image.NewPaletted(box, palette)
	known := map[color.RGBA]uint8{}
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			c := at(x, y)
			index, ok := known[c]
			if !ok {
				index = uint8(palette.Index(c))
				known[c] = index
			}
			to.SetColorIndex(x, y, index)
		}
	}
	var b bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, to)
	return b.Bytes(), err
}

// frequent returns the 256 most frequent colours, of neighbours the most frequent
// one alone.
func frequent(counts map[color.RGBA]int) (palette color.Palette) {
	colors := slices.SortedFunc(maps.Keys(counts), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(number(a), number(b)))
	})
	taken := map[int]bool{}
	for _, c := range colors {
		if cell := number(c) & 0xf8f8f8; !taken[cell] && len(palette) < 256 {
			taken[cell] = true
			palette = append(palette, c)
		}
	}
	return palette
}

func number(c color.RGBA) int { return int(c.R)<<16 | int(c.G)<<8 | int(c.B) }
