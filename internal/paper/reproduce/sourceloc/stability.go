package sourceloc

import (
	"context"
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
	"github.com/wdgnn/wdgnn/internal/recipe"
)

// Fig2a is the accuracy against the share of links that are lost.
var Fig2a = study.Experiment{
	Name:  "fig2a",
	Title: "Figure 2 (a): stability",
	About: texts.Say("fig2a about", nil),
	Do:    runFig2a,
}

// outageProbs are the points of the first figure.
var outageProbs = []float64{0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5}

// stabilityUnit is a realization of the first figure.
type stabilityUnit struct {
	Graph    int               `json:"graph"`
	Data     int               `json:"data"`
	Model    recipe.SourceInfo `json:"model"`
	Accuracy [][]float64       `json:"accuracy"` // by probability and subgraph, %
}

func runFig2a(ctx context.Context, r *study.Run) (*study.Result, error) {
	s := From(r.Options)
	all, err := wideDeepUnits(ctx, r, s, len(outageProbs)*s.Subgraphs, (*Realization).stability)
	if err != nil {
		return nil, err
	}
	return stabilityFigure(s, all), nil
}

// stability computes a unit.
func (z *Realization) stability(ctx context.Context) (*stabilityUnit, error) {
	u := &stabilityUnit{Graph: z.Graph, Data: z.Data, Model: z.Models[recipe.WideDeep].Info}
	for _, p := range outageProbs {
		var row []float64
		for sub := range z.Subgraphs {
			stream, err := z.TestStream(sub, p)
			if err != nil {
				return nil, err
			}
			out, err := z.PlayOne(ctx, WideDeepFrozen, stream, false)
			if err != nil {
				return nil, err
			}
			row = append(row, out.Accuracy)
			if p == 0 {
				z.Run.Advance(StreamCost*float64(z.Subgraphs-1), "graph %d, data %d: the whole network", z.Graph, z.Data)
				break
			}
		}
		u.Accuracy = append(u.Accuracy, row)
	}
	return u, nil
}

// outageName names a column.
func outageName(p float64) string { return fmt.Sprintf("p = %v", p) }

// stabilityFigure makes a table and a figure of the units.
func stabilityFigure(s recipe.Sourceloc, all []*stabilityUnit) *study.Result {
	const one, several = "one network", "several networks"
	f, r := new(study.Frame), new(study.Result)
	for k, u := range all {
		for e, p := range outageProbs {
			if u.Graph == 0 {
				f.Add(one, outageName(p), k, u.Accuracy[e]...)
			}
			if u.Data == 0 {
				f.Add(several, outageName(p), k, u.Accuracy[e]...)
			}
		}
		r.Models = append(r.Models, u.Model.File)
	}
	l := study.Layout{Title: "Accuracy, %, by probability of losing a link"}
	c := study.Chart{
		Name: "fig2a", Title: "A WD-GNN where links are lost", X: "probability of losing a link", Y: "accuracy, %",
		Note: texts.Say("fig2a chart", s),
	}
	falls := 0
	for k, p := range outageProbs {
		l.Columns = append(l.Columns, study.Column{Name: outageName(p), Decimals: 1})
		if k > 0 && f.Mean(one, outageName(p)) < f.Mean(one, outageName(outageProbs[k-1])) {
			falls++
		}
	}
	for _, row := range []string{one, several} {
		l.Lines = append(l.Lines, study.Line{Name: fmt.Sprintf("%s (%d)", row, len(f.Values(row, outageName(0)))), Of: row})
		curve := study.Curve{Name: row}
		for _, p := range outageProbs {
			curve.Add(p, f.Deviation(row, outageName(p)))
		}
		c.Curves = append(c.Curves, curve)
	}
	l.Note = texts.Say("fig2a table", map[string]any{
		"Epochs": s.Epochs, "Subgraphs": s.Subgraphs, "Falls": falls, "Steps": len(outageProbs) - 1,
	})
	r.Tables, r.Charts = []study.Table{f.Table(l)}, []study.Chart{c}
	slices.Sort(r.Models)
	return r
}
