package figure

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Several goroutines may draw one chart.
func TestConcurrentDrawing(t *testing.T) {
	f := outageSample()
	var out [4]bytes.Buffer
	var wg sync.WaitGroup
	for i := range out {
		wg.Go(func() {
			if err := f.WriteSVG(&out[i]); err != nil {
				t.Error(err)
			}
			paint(f)
		})
	}
	wg.Wait()
	for i := range out {
		if !bytes.Equal(out[i].Bytes(), out[0].Bytes()) {
			t.Errorf("drawing %d has other bytes than the first", i)
		}
	}
}

// paint draws f in few pixels, which is quick.
func paint(f chart) {
	w, h := f.size()
	f.draw(draw.New(vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(24))))
}

func TestSVGHoldsAllWords(t *testing.T) {
	words := map[string][]string{}
	for name, f := range samples() {
		switch f := f.(type) {
		case *Figure:
			words[name] = []string{f.Title, f.Subtitle, f.Note, f.X.Label, f.Y.Label}
			for _, s := range f.Series {
				words[name] = append(words[name], s.Name)
			}
		case *Paths:
			words[name] = []string{f.Title, f.Note, f.XLabel, f.YLabel}
		}
		got := texts(t, f)
		for _, want := range words[name] {
			if want != "" && !slices.Contains(got, want) {
				t.Errorf("%s: no text %q among %q", name, want, got)
			}
		}
	}
}

// texts returns the texts of the SVG image of f, which must be XML.
func texts(t *testing.T, f chart) (out []string) {
	t.Helper()
	var buf bytes.Buffer
	if err := writeSVG(&buf, f); err != nil {
		t.Fatal(err)
	}
	if s := buf.String(); strings.Contains(s, "NaN") || strings.Contains(s, "Inf") {
		t.Errorf("SVG with NaN or Inf in it")
	}
	dec := xml.NewDecoder(&buf)
	inside := false
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("SVG is not XML: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			inside = token.Name.Local == "text"
		case xml.EndElement:
			inside = false
		case xml.CharData:
			if inside {
				out = append(out, string(token))
			}
		}
	}
}

// Save replaces both files, and leaves nothing of a chart that cannot be
// drawn.
func TestSave(t *testing.T) {
	dir := t.TempDir()
	if err := (&Figure{}).Save(filepath.Join(dir, "bad")); err == nil {
		t.Error("an empty figure was saved")
	}
	f := outageSample()
	if err := os.WriteFile(filepath.Join(dir, "good.svg"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Save(filepath.Join(dir, "good")); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if want := []string{"good.png", "good.svg"}; !slices.Equal(got, want) {
		t.Errorf("got files %q, want %q", got, want)
	}
	if err := f.Save(filepath.Join(dir, "no", "folder")); err == nil {
		t.Error("saved to a folder that does not exist")
	}
	if err := f.Save(""); err == nil {
		t.Error("saved without a name")
	}
}

// Values and words at the edge of sense are drawn.
func TestOddFiguresAreDrawn(t *testing.T) {
	nan := math.NaN()
	one := func(x, y float64) Series { return Series{Name: "a", X: []float64{x}, Y: []float64{y}} }
	line := func(y ...float64) Series {
		s := Series{Name: "a", Y: y}
		for i := range y {
			s.X = append(s.X, float64(i+1))
		}
		return s
	}
	band := line(1, 2, 3, 4)
	band.Low, band.High = []float64{-1, nan, 2, 3}, []float64{2, 3, 4, 5}
	bars := band
	bars.Style = LinePoints
	log := Axis{Log: true}
	for name, f := range map[string]*Figure{
		"one point":          {Series: []Series{one(1, 1)}},
		"one point at 0":     {Series: []Series{one(0, 0)}},
		"one point on log":   {X: log, Y: log, Series: []Series{one(3, 1e-9)}},
		"only 0 on log":      {X: Axis{Log: true, Zero: true}, Series: []Series{one(0, 1)}},
		"gaps":               {Series: []Series{line(nan, 1, nan, 2, 3, nan)}},
		"one series of gaps": {Series: []Series{line(nan, nan), line(1, 2)}},
		"band":               {Series: []Series{band}},
		"band below log":     {Y: log, Series: []Series{band}},
		"error bars":         {Series: []Series{bars, bars}},
		"same values":        {Series: []Series{line(5, 5, 5)}},
		"close values":       {Series: []Series{line(1e9, 1e9+1e-6)}},
		"huge":               {Series: []Series{line(-1e300, 1e300)}},
		"tiny":               {Series: []Series{line(0, 5e-324)}},
		"many decades":       {Y: log, Series: []Series{line(5e-324, 1e300)}},
		"negative":           {Series: []Series{line(-5, -3, -4)}},
		"dashed across":      {Series: []Series{{Name: "a", Style: Dashed, X: []float64{0}, Y: []float64{1}}}},
		"odd words":          {Title: "a<b & \"c\" \x00\xff\n", Note: strings.Repeat("word ", 200), Series: []Series{line(1, 2)}},
		"long word":          {Title: strings.Repeat("x", 500), X: Axis{Label: strings.Repeat("y", 300)}, Series: []Series{line(1, 2)}},
		"many series":        {Series: slices.Repeat([]Series{line(1, 2, 1)}, 30)},
	} {
		if err := f.validate(); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := texts(t, f); f.Series[0].Name != "" && !slices.Contains(got, "a") {
			t.Errorf("%s: the series' name is missing in %q", name, got)
		}
		paint(f)
	}
}
