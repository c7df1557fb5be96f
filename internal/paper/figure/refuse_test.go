package figure

import (
	"io"
	"math"
	"strings"
	"testing"
)

// What has no sense is an error that says so, not a panic.
func TestRefused(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	with := func(change func(f *Figure)) *Figure {
		f := &Figure{Series: []Series{{Name: "a", X: []float64{1, 2}, Y: []float64{3, 4}}}}
		change(f)
		return f
	}
	for want, f := range map[string]chart{
		"no series":                &Figure{},
		"2 values of x, 1 of y":    with(func(f *Figure) { f.Series[0].Y = []float64{1} }),
		"no points":                with(func(f *Figure) { f.Series[0] = Series{} }),
		"nothing to draw":          with(func(f *Figure) { f.Series[0].Y = []float64{nan, nan} }),
		"y of point 2: +Inf":       with(func(f *Figure) { f.Series[0].Y[1] = inf }),
		"x of point 1: NaN":        with(func(f *Figure) { f.Series[0].X[0] = nan }),
		"y of point 1: 1e+301":     with(func(f *Figure) { f.Series[0].Y[0] = 1e301 }),
		"set Zero":                 with(func(f *Figure) { f.X.Log, f.Series[0].X[0] = true, 0 }),
		"x of point 1: -1":         with(func(f *Figure) { f.X.Log, f.X.Zero, f.Series[0].X[0] = true, true, -1 }),
		"Zero is for logarithmic":  with(func(f *Figure) { f.X.Zero = true }),
		"1 values of Low":          with(func(f *Figure) { f.Series[0].Low = []float64{1} }),
		"above High":               with(func(f *Figure) { f.Series[0].Low, f.Series[0].High = []float64{1, 5}, []float64{2, 4} }),
		"range of point 1 is -Inf": with(func(f *Figure) { f.Series[0].Low, f.Series[0].High = []float64{-inf, 1}, []float64{2, 4} }),
		"unknown style 9":          with(func(f *Figure) { f.Series[0].Style = 9 }),
		"color 99, want 0":         with(func(f *Figure) { f.Series[0].Color = 99 }),
		"no paths":                 &Paths{},
		"no positions":             &Paths{Paths: []Path{{X: []float64{nan}, Y: []float64{1}}}},
		"1 values of x, 0 of y":    &Paths{Paths: []Path{{X: []float64{1}}}},
		"position 1 is +Inf":       &Paths{Paths: []Path{{X: []float64{inf}, Y: []float64{1}}}},
		"velocity NaN":             &Paths{Paths: []Path{{X: []float64{1}, Y: []float64{1}, Velocity: &[2]float64{nan, 0}}}},
	} {
		for _, err := range []error{f.validate(), writeSVG(io.Discard, f), writePNG(io.Discard, f)} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got error %v, want one with %q", err, want)
			}
		}
	}
}

// All complaints come at once.
func TestValidateReportsEverything(t *testing.T) {
	f := &Figure{X: Axis{Zero: true}, Series: []Series{{Name: "a", X: []float64{1}}, {Name: "b"}}}
	err := f.validate()
	if err == nil {
		t.Fatal("got no error")
	}
	for _, want := range []string{"x axis", `series 1 "a"`, `series 2 "b"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %q, want a complaint about %q too", err, want)
		}
	}
}

// Paths at the edge of sense are drawn.
func TestOddPathsAreDrawn(t *testing.T) {
	nan := math.NaN()
	for name, f := range map[string]chart{
		"still":         &Paths{Paths: []Path{{X: []float64{1}, Y: []float64{1}, Velocity: &[2]float64{}}}},
		"at the origin": &Paths{Paths: []Path{{X: []float64{0, 0}, Y: []float64{0, 0}}}},
		"far away":      &Paths{Paths: []Path{{X: []float64{1e9, 1e9 + 1}, Y: []float64{0, 0}}}},
		"huge":          &Paths{Paths: []Path{{X: []float64{-9e299, 9e299}, Y: []float64{0, 1}}}},
		"gap":           &Paths{Paths: []Path{{X: []float64{0, nan, 2, 3}, Y: []float64{0, 1, 2, nan}}, {}}},
		"fast": &Paths{Paths: []Path{
			{X: []float64{0, 1}, Y: []float64{0, 1}, Velocity: &[2]float64{1e300, 1e300}}, {X: []float64{1, 0}, Y: []float64{0, 1}},
		}},
	} {
		if err := f.validate(); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		texts(t, f)
		paint(f)
	}
}
