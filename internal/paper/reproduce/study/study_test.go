package study

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

func TestStatistics(t *testing.T) {
	v := summary([]float64{1, 2, 3, 4})
	if v.Mean != 2.5 || math.Abs(v.Spread-math.Sqrt(5.0/3)) > 1e-15 || v.Count != 4 {
		t.Errorf("summary is %+v, want 2.5 ± %v of 4", v, math.Sqrt(5.0/3))
	}
	if e := standardError([]float64{1, 2, 3, 4}); math.Abs(e.Spread-math.Sqrt(5.0/12)) > 1e-15 {
		t.Errorf("standard error is %v, want %v", e.Spread, math.Sqrt(5.0/12))
	}
	if v := summary([]float64{7}); v.Mean != 7 || v.Spread != 0 {
		t.Errorf("summary of one value is %+v", v)
	}
}

func TestRender(t *testing.T) {
	r := &Result{
		Manifest: Manifest{Experiment: "fig2a"},
		Tables: []Table{{Title: "T", Columns: []string{"a", "b"}, Note: "note", Rows: []Row{
			{Name: "both", Cells: []Cell{{Value: &Value{1.25, 0.5, 3}, Paper: &Value{2, 1, 0}, Decimals: 1}, {Text: "x"}}},
			{Name: "ours", Ours: true, Cells: []Cell{{Value: &Value{-3, 0, 1}, Decimals: 2, Signed: true}, {Text: "–"}}},
		}}},
		Notes: []string{"A sentence."},
	}
	var b bytes.Buffer
	if err := r.WriteText(&b, 0); err != nil {
		t.Fatal(err)
	}
	want := `
T
                 a       paper   b
──────────────────────────────────
both     1.2 ± 0.5   2.0 ± 1.0   x
ours *       -3.00               –
* not in the paper
note

A sentence.
`
	if b.String() != want {
		t.Errorf("text is\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	e := Experiment{Name: "fig2a", Title: "Figure", About: "What is done."}
	if err := e.WriteMarkdown(&b, r, "results/"); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "| ours \\* | -3.00 |  | – |") {
		t.Errorf("page is\n%s", b.String())
	}
}
