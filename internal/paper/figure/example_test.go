package figure_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/wdgnn/wdgnn/internal/paper/figure"
)

// Accuracy against the mixing strength, with a place for "no mixing" and the
// accuracy of a model that does not learn as a line across.
func ExampleFigure() {
	f := &figure.Figure{
		Title: "A little mixing is enough",
		X:     figure.Axis{Label: "Mixing strength η", Log: true, Zero: true},
		Y:     figure.Axis{Label: "Accuracy"},
		Series: []figure.Series{
			{
				Name: "consensus", Style: figure.LinePoints,
				X: []float64{0, 0.01, 0.1, 1}, Y: []float64{0.78, 0.84, 0.89, 0.87},
				Low: []float64{0.76, 0.83, 0.88, 0.85}, High: []float64{0.80, 0.85, 0.90, 0.89},
			},
			{Name: "frozen", Style: figure.Dashed, X: []float64{1}, Y: []float64{0.74}},
		},
		Note: "Mean and standard deviation of 10 networks; seed 1.",
	}
	var svg bytes.Buffer
	if err := f.WriteSVG(&svg); err != nil { // f.Save("mixing") writes mixing.svg and mixing.png
		fmt.Println(err)
	}
	fmt.Println(strings.Count(svg.String(), ">frozen<"))

	f.X.Zero = false
	fmt.Println(f.WriteSVG(io.Discard))
	// Output:
	// 1
	// figure cannot be drawn: series 1 "consensus": x of point 1: 0 has no place on a logarithmic axis; set Zero to give it one
}
