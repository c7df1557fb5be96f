package reproduce

import (
	"context"
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/internal/reproduce/study"
)

var gains = Experiment{
	Name:  "gains",
	Title: "Wide against deep: the gains α_W and α_D",
	About: "Section 3 ends with a claim: a larger α_D learns better representations offline, a larger α_W adapts faster online. Here the ratio α_W : α_D is fixed before training, at five values with α_W + α_D = 2, and both are measured.",
	Do:    in(runGains),
}

// ratios are α_W : α_D.
var ratios = []struct {
	Name  string
	Gains gnn.Gains
}{
	{"1 : 9", gnn.Gains{Wide: 0.2, Deep: 1.8}},
	{"1 : 3", gnn.Gains{Wide: 0.5, Deep: 1.5}},
	{"1 : 1", gnn.Gains{Wide: 1, Deep: 1}},
	{"3 : 1", gnn.Gains{Wide: 1.5, Deep: 0.5}},
	{"9 : 1", gnn.Gains{Wide: 1.8, Deep: 0.2}},
}

// gainsLearners are what is run at each ratio.
var gainsLearners = []recipe.LearnerSpec{wideDeepFrozen, wideDeepCentral, wideDeepLiteral, mixed(1, 0.003), mixed(50, 0.003)}

// gainsUnit is one realization at one ratio.
type gainsUnit struct {
	Model  recipe.SourceInfo    `json:"model"`
	Same   float64              `json:"same"`   // accuracy of the frozen model, %
	Differ map[string][]float64 `json:"differ"` // by learner and subgraph
}

func runGains(ctx context.Context, r *runner) (*Result, error) {
	s := sourcelocFrom(r.Options)
	repeats := figureRepeats(r.Options)
	work := float64(s.Epochs) + streamCost*float64(len(gainsLearners)*s.Subgraphs+1)
	all, err := sweep(ctx, r, s, "ratio", len(ratios), work,
		func(s *recipe.Sourceloc, k int) { s.Gains = &ratios[k].Gains }, (*realization).gains)
	if err != nil {
		return nil, err
	}
	return gainsResult(s, repeats, all), nil
}

func (z *realization) gains(ctx context.Context) (*gainsUnit, error) {
	if err := z.train(ctx, recipe.WideDeep); err != nil {
		return nil, err
	}
	u := &gainsUnit{Model: z.Models[recipe.WideDeep].Info, Differ: map[string][]float64{}}
	stream, err := z.TestStream(-1, 0)
	if err != nil {
		return nil, err
	}
	out, err := z.play(ctx, wideDeepFrozen, stream, false)
	if err != nil {
		return nil, err
	}
	u.Same = out.Accuracy
	for sub := range z.Subgraphs {
		if stream, err = z.TestStream(sub, z.OutageProb); err != nil {
			return nil, err
		}
		runs, err := z.playAll(ctx, gainsLearners, stream, false)
		if err != nil {
			return nil, err
		}
		for k, spec := range gainsLearners {
			u.Differ[spec.ID] = append(u.Differ[spec.ID], runs[k].Accuracy)
		}
	}
	return u, nil
}

func gainsResult(s recipe.Sourceloc, repeats int, all []*gainsUnit) *Result {
	t := study.Table{
		Title:   "Offline accuracy and online gain by ratio α_W : α_D",
		Columns: []string{"same, offline", "different, offline", "literal centralized", "literal distributed", "personal, m = 1", "personal, m = 50"},
		Note: fmt.Sprintf("%% and points; mean ± standard error over %d networks, %d epochs, %d subgraphs each. The last four columns are gains over the frozen model on the same signals.",
			repeats, s.Epochs, s.Subgraphs),
	}
	c := study.Chart{
		Name: "gains", Title: "Wide against deep", X: "α_W / (α_W + α_D)", Y: "points gained online where links are lost",
		Note: fmt.Sprintf("WD-GNN, p = 0.3, seed %d, %d networks; bars: standard error", s.Seed, repeats),
	}
	names := []string{"literal centralized", "literal distributed", "personal, m = 1", "personal, m = 50"}
	for _, n := range names {
		c.Curves = append(c.Curves, study.Curve{Name: n, Points: true})
	}
	for k, ratio := range ratios {
		list := all[k*repeats : (k+1)*repeats]
		of := func(f func(u *gainsUnit) float64) *study.Value {
			var v []float64
			for _, u := range list {
				v = append(v, f(u))
			}
			return study.StandardError(v)
		}
		row := study.Row{Name: ratio.Name, Cells: []study.Cell{
			{Value: of(func(u *gainsUnit) float64 { return u.Same }), Decimals: 1},
			{Value: of(func(u *gainsUnit) float64 { return mean(u.Differ[wideDeepFrozen.ID]) }), Decimals: 1},
		}}
		for l, spec := range gainsLearners[1:] {
			v := of(func(u *gainsUnit) float64 { return mean(u.Differ[spec.ID]) - mean(u.Differ[wideDeepFrozen.ID]) })
			row.Cells = append(row.Cells, study.Cell{Value: v, Decimals: 1, Signed: true})
			curve := &c.Curves[l]
			curve.X, curve.Y, curve.Spread = append(curve.X, float64(ratio.Gains.Wide/2)), append(curve.Y, v.Mean), append(curve.Spread, v.Spread)
		}
		t.Rows = append(t.Rows, row)
	}
	result := &Result{Tables: []study.Table{t}, Charts: []study.Chart{c}, Notes: []string{gainsVerdict(repeats, all)}}
	for _, u := range all {
		result.Models = append(result.Models, u.Model.File)
	}
	slices.Sort(result.Models)
	return result
}

// gainsVerdict says whether the claim holds: it compares the outermost ratios,
// network by network.
func gainsVerdict(repeats int, all []*gainsUnit) string {
	first, last := all[:repeats], all[len(all)-repeats:]
	compare := func(what string, of func(u *gainsUnit) float64) string {
		var d []float64
		for k := range first {
			d = append(d, of(last[k])-of(first[k]))
		}
		v := study.StandardError(d)
		verb := "does not change significantly"
		switch {
		case v.Mean > 2*v.Spread:
			verb = "rises"
		case v.Mean < -2*v.Spread:
			verb = "falls"
		}
		return fmt.Sprintf("%s %s (%+.1f ± %.1f)", what, verb, v.Mean, v.Spread)
	}
	gain := func(spec recipe.LearnerSpec) func(u *gainsUnit) float64 {
		return func(u *gainsUnit) float64 { return mean(u.Differ[spec.ID]) - mean(u.Differ[wideDeepFrozen.ID]) }
	}
	return fmt.Sprintf("Verdict on the claim, paired by network, from %s to %s: ", ratios[0].Name, ratios[len(ratios)-1].Name) +
		compare("offline accuracy on the same network", func(u *gainsUnit) float64 { return u.Same }) + "; " +
		compare("the online gain of the literal distributed update", gain(wideDeepLiteral)) + "; " +
		compare("that of the personal preset with m = 50", gain(mixed(50, 0.003))) + "."
}
