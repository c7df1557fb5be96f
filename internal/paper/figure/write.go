package figure

import (
	"bytes"
	"errors"
	"io"

	"github.com/wdgnn/wdgnn/modelfile"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// dpi is the resolution of PNG images: twice that of an ordinary screen.
const dpi = 192

// chart is what all kinds have in common.
type chart interface {
	validate() error
	size() (w, h vg.Length)
	draw(draw.Canvas)
}

func writeSVG(w io.Writer, f chart) error {
	if err := f.validate(); err != nil {
		return err
	}
	c := vgsvg.New(f.size())
	f.draw(draw.New(c))
	var buf bytes.Buffer
	if _, err := c.WriteTo(&buf); err != nil {
		return err
	}
	_, err := w.Write(finish(buf.Bytes()))
	return err
}

// finish says in an SVG file what the canvas cannot: which fonts of the same
// widths may stand in for ours, and that corners of noisy curves have no
// spikes. Neither string can come from a text of the chart: quotes and angle
// brackets are escaped there.
func finish(svg []byte) []byte {
	svg = bytes.ReplaceAll(svg,
		[]byte(`style="font-family:`+family+`;font-variant:normal;`),
		[]byte(`style="font-family:'`+family+`',Arial,Helvetica,sans-serif;`))
	return bytes.Replace(svg, []byte(`<g transform=`), []byte(`<g stroke-linejoin="round" transform=`), 1)
}

func writePNG(w io.Writer, f chart) error {
	if err := f.validate(); err != nil {
		return err
	}
	width, height := f.size()
	c := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi))
	f.draw(draw.New(c))
	_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
	return err
}

func save(base string, f chart) error {
	if base == "" {
		return errors.New("save a figure: no file name")
	}
	if err := f.validate(); err != nil {
		return err
	}
	if err := modelfile.WriteFile(base+".svg", func(w io.Writer) error { return writeSVG(w, f) }); err != nil {
		return err
	}
	return modelfile.WriteFile(base+".png", func(w io.Writer) error { return writePNG(w, f) })
}
