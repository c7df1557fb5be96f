package sourceloc

import (
	"context"
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
	"github.com/wdgnn/wdgnn/internal/recipe"
)

// Fig2b is the accuracy as learners adapt.
var Fig2b = study.Experiment{
	Name:  "fig2b",
	Title: "Figure 2 (b): convergence",
	About: texts.Say("fig2b about", nil),
	Do:    runFig2b,
}

// curveStep is the number of signals between two points of a running accuracy.
const curveStep = 10

// convergenceUnit is a realization of the second figure.
type convergenceUnit struct {
	Graph int                  `json:"graph"`
	Data  int                  `json:"data"`
	Model recipe.SourceInfo    `json:"model"`
	Curve map[string][]float64 `json:"curve"` // running accuracy by learner, mean over subgraphs, %
}

// convergenceLearners are the curves of the second figure.
func convergenceLearners() []struct {
	Name string
	Spec recipe.LearnerSpec
} {
	return []struct {
		Name string
		Spec recipe.LearnerSpec
	}{
		{"frozen", WideDeepFrozen},
		{"paper, centralized", WideDeepCentral},
		{"paper, distributed", WideDeepPaper},
		{"own", WideDeepOwn},
		{"neighbours", WideDeepNeighbours},
	}
}

func runFig2b(ctx context.Context, r *study.Run) (*study.Result, error) {
	s := From(r.Options)
	passes := len(convergenceLearners()) * s.Subgraphs
	all, err := wideDeepUnits(ctx, r, s, passes, (*Realization).convergence)
	if err != nil {
		return nil, err
	}
	return convergenceFigure(s, all), nil
}

// convergence computes a unit.
func (z *Realization) convergence(ctx context.Context) (*convergenceUnit, error) {
	u := &convergenceUnit{Graph: z.Graph, Data: z.Data, Model: z.Models[recipe.WideDeep].Info, Curve: map[string][]float64{}}
	var specs []recipe.LearnerSpec
	for _, l := range convergenceLearners() {
		specs = append(specs, l.Spec)
	}
	for sub := range z.Subgraphs {
		stream, err := z.TestStream(sub, z.OutageProb)
		if err != nil {
			return nil, err
		}
		runs, err := z.PlayAll(ctx, specs, stream, false)
		if err != nil {
			return nil, err
		}
		for n, out := range runs {
			curve := u.Curve[specs[n].ID]
			if curve == nil {
				curve = make([]float64, len(out.Right)/curveStep)
			}
			for k := range curve {
				seen := (k + 1) * curveStep
				curve[k] += 100 * float64(out.Right[seen-1]) / float64(seen*len(z.Net.Detectors)) / float64(z.Subgraphs)
			}
			u.Curve[specs[n].ID] = curve
		}
	}
	return u, nil
}

// afterSignals names a column.
func afterSignals(count int) string { return fmt.Sprint(count) }

// convergenceFigure makes a table and a figure of the units.
func convergenceFigure(s recipe.Sourceloc, all []*convergenceUnit) *study.Result {
	f, r := new(study.Frame), new(study.Result)
	for k, u := range all {
		for _, l := range convergenceLearners() {
			for e, v := range u.Curve[l.Spec.ID] {
				f.Add(l.Name, afterSignals((e+1)*curveStep), k, v)
			}
		}
		r.Models = append(r.Models, u.Model.File)
	}
	said := map[string]any{"Count": len(all), "Subgraphs": s.Subgraphs, "OutageProb": s.OutageProb, "Seed": s.Seed}
	t := study.Table{Title: "Running accuracy, %, after so many signals", Note: texts.Say("fig2b table", said)}
	marks := []int{10, 20, 50, 100, 200, 400, 600, 800, 1000}
	for _, m := range marks {
		t.Columns = append(t.Columns, afterSignals(m))
	}
	c := study.Chart{
		Name: "fig2b", Title: "Learning online after links were lost", X: "test signals", Y: "running accuracy, %",
		Note: texts.Say("fig2b chart", said),
	}
	for _, l := range convergenceLearners() {
		curve := study.Curve{Name: l.Name, Reference: l.Spec.Mode == recipe.Frozen}
		for k := range all[0].Curve[l.Spec.ID] {
			signals := (k + 1) * curveStep
			curve.X, curve.Y = append(curve.X, float64(signals)), append(curve.Y, f.Mean(l.Name, afterSignals(signals)))
		}
		row := study.Row{Name: l.Name, Ours: l.Spec.Config.Newton != nil}
		for _, m := range marks {
			cell := study.Cell{Text: "–"}
			if k := m/curveStep - 1; k < len(curve.Y) {
				cell = study.Cell{Value: &study.Value{Mean: curve.Y[k]}, Decimals: 1}
			}
			row.Cells = append(row.Cells, cell)
		}
		t.Rows, c.Curves = append(t.Rows, row), append(c.Curves, curve)
	}
	r.Tables, r.Charts = []study.Table{t}, []study.Chart{c}
	r.Notes = texts.Notes("fig2b notes", convergenceGains(f, len(all[0].Curve[WideDeepFrozen.ID])))
	slices.Sort(r.Models)
	return r
}

// convergenceGain is what a learner is above the frozen model, in points.
type convergenceGain struct {
	Name       string
	Early, End *study.Value // after a fifth of the signals, and after all
}

// convergenceGains compares learners with the frozen model on curves of so many
// points.
func convergenceGains(f *study.Frame, points int) map[string]any {
	early, end := max(points/5, 1)*curveStep, points*curveStep
	learners, paper := convergenceLearners(), table1Paper()
	var gains []convergenceGain
	for _, l := range learners[1:] {
		name := l.Name + " less frozen"
		f.Compare(name, l.Name, learners[0].Name, study.Less, afterSignals(early), afterSignals(end))
		gains = append(gains, convergenceGain{l.Name, f.Error(name, afterSignals(early)), f.Error(name, afterSignals(end))})
	}
	return map[string]any{
		"Early": early, "All": end, "Gains": gains, "PaperFrozen": paper[WideDeepFrozen.ID].Differ.Mean,
		"PaperCentral": paper[WideDeepCentral.ID].Differ.Mean, "PaperDistributed": paper[WideDeepPaper.ID].Differ.Mean,
	}
}
