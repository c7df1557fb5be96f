package sourceloc

import (
	"context"
	"slices"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
	"github.com/wdgnn/wdgnn/internal/recipe"
)

// Gains fixes the ratio of wide and deep part before training.
var Gains = study.Experiment{
	Name:  "gains",
	Title: "Wide against deep: the gains α_W and α_D",
	About: texts.Say("gains about", nil),
	Do:    runGains,
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
var gainsLearners = []recipe.LearnerSpec{WideDeepFrozen, WideDeepCentral, WideDeepPaper, WideDeepOwn, WideDeepNeighbours}

func runGains(ctx context.Context, r *study.Run) (*study.Result, error) {
	s := From(r.Options)
	repeats := Repeats(r.Options)
	work := float64(s.Epochs) + StreamCost*float64(len(gainsLearners)*s.Subgraphs+1)
	all, err := Sweep(ctx, r, s, "ratio", len(ratios), work,
		func(s *recipe.Sourceloc, k int) { s.Gains = &ratios[k].Gains }, lossUnits(gainsLearners))
	if err != nil {
		return nil, err
	}
	return gainsResult(s, repeats, all), nil
}

// gainsNames are the learners, as columns of gains.
var gainsNames = []string{"paper, centralized", "paper, distributed", "own", "neighbours"}

// observeGains returns what units saw by ratio: accuracies, and gains of learners.
// Units are networks.
func observeGains(repeats int, all []*lossUnit) *study.Frame {
	f := new(study.Frame)
	for k, u := range all {
		ratio, network := ratios[k/repeats].Name, k%repeats
		f.Add(ratio, "same, offline", network, u.Same)
		f.Add(ratio, "different, offline", network, u.Differ[WideDeepFrozen.ID]...)
		for l, spec := range gainsLearners[1:] {
			f.Add(ratio, gainsNames[l], network, study.Mean(u.Differ[spec.ID])-study.Mean(u.Differ[WideDeepFrozen.ID]))
		}
	}
	return f
}

func gainsResult(s recipe.Sourceloc, repeats int, all []*lossUnit) *study.Result {
	f := observeGains(repeats, all)
	said := map[string]any{
		"Repeats": repeats, "Epochs": s.Epochs, "Subgraphs": s.Subgraphs, "Seed": s.Seed, "OutageProb": s.OutageProb,
	}
	l := study.Layout{
		Title: "Offline accuracy and online gain by ratio α_W : α_D", Note: texts.Say("gains table", said),
		Columns: []study.Column{{Name: "same, offline", Decimals: 1, Error: true}, {Name: "different, offline", Decimals: 1, Error: true}},
	}
	c := study.Chart{
		Name: "gains", Title: "Wide against deep", X: "α_W / (α_W + α_D)", Y: "points gained online where links are lost",
		Note: texts.Say("gains chart", said),
	}
	for _, name := range gainsNames {
		l.Columns = append(l.Columns, study.Column{Name: name, Decimals: 1, Signed: true, Error: true})
		curve := study.Curve{Name: name, Points: true}
		for _, ratio := range ratios {
			curve.Add(float64(ratio.Gains.Wide/2), f.Error(ratio.Name, name))
		}
		c.Curves = append(c.Curves, curve)
	}
	for _, ratio := range ratios {
		l.Lines = append(l.Lines, study.Line{Name: ratio.Name})
	}
	r := &study.Result{Tables: []study.Table{f.Table(l)}, Charts: []study.Chart{c}, Notes: texts.Notes("gains notes", gainsVerdict(f))}
	for _, u := range all {
		r.Models = append(r.Models, u.Model.File)
	}
	slices.Sort(r.Models)
	return r
}

// gainsVerdict compares the outermost ratios, network by network.
func gainsVerdict(f *study.Frame) map[string]any {
	first, last := ratios[0].Name, ratios[len(ratios)-1].Name
	f.Compare("change", last, first, study.Less, "same, offline", gainsNames[1], gainsNames[2])
	return map[string]any{
		"First": first, "Last": last, "Offline": f.Error("change", "same, offline"),
		"Paper": f.Error("change", gainsNames[1]), "Own": f.Error("change", gainsNames[2]),
	}
}
