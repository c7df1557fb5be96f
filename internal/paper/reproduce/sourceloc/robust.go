package sourceloc

import (
	"context"
	"slices"

	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
	"github.com/wdgnn/wdgnn/internal/recipe"
)

// Robust compares models that are trained as the paper trains them with models
// of our own.
var Robust = study.Experiment{
	Name:  "robust",
	Title: "A better model to begin with: inputs at scale, links lost in training",
	About: texts.Say("robust about", nil),
	Do:    runRobust,
}

// trainings are the settings that are compared, the paper's first.
var trainings = []struct {
	Name   string
	Change func(s *recipe.Sourceloc)
}{
	{"as the paper", func(*recipe.Sourceloc) {}},
	{"our own: inputs whitened, links lost with p from 0 to 0.4", func(s *recipe.Sourceloc) { *s = s.Robust() }},
}

// robustLearners are what is run where links are lost.
var robustLearners = []recipe.LearnerSpec{
	WideDeepFrozen, wideDeepCurved, WideDeepOwn, WideDeepNeighbours, WideDeepNeighbours.Gated(), blankOwn, blankNeighbours,
}

// robustColumns are what each setting is measured by: all links, then learners
// where links are lost, then the units of the deep part that are alive.
var robustColumns = []string{
	"all links, offline", "links lost, frozen", "links lost, paper, γ = 1/C_s", "links lost, own", "links lost, neighbours",
	"links lost, neighbours behind gates", "links lost, own from nothing", "links lost, neighbours from nothing", "live units",
}

func runRobust(ctx context.Context, r *study.Run) (*study.Result, error) {
	s := From(r.Options)
	if r.Quick && r.Options.Subgraphs == 0 {
		s.Subgraphs = 5
	}
	work := float64(s.Epochs) + StreamCost*float64(len(robustLearners)*s.Subgraphs+1)
	all, err := Sweep(ctx, r, s, "training", len(trainings), work,
		func(s *recipe.Sourceloc, k int) { trainings[k].Change(s) },
		func(z *Realization, ctx context.Context) (*lossUnit, error) {
			if err := z.Blank(); err != nil {
				return nil, err
			}
			return lossUnits(robustLearners)(z, ctx)
		})
	if err != nil {
		return nil, err
	}
	return robustResult(s, Repeats(r.Options), all), nil
}

// observeTrainings returns what units saw by setting. Units are networks.
func observeTrainings(repeats int, all []*lossUnit) *study.Frame {
	f := new(study.Frame)
	for k, u := range all {
		row, network := trainings[k/repeats].Name, k%repeats
		f.Add(row, robustColumns[0], network, u.Same)
		for l, spec := range robustLearners {
			f.Add(row, robustColumns[l+1], network, study.Mean(u.Differ[spec.ID]))
		}
		f.Add(row, robustColumns[len(robustColumns)-1], network, float64(u.Model.Live))
	}
	return f
}

func robustResult(s recipe.Sourceloc, repeats int, all []*lossUnit) *study.Result {
	f := observeTrainings(repeats, all)
	l := study.Layout{
		Title: "Accuracy, %, by training", Note: texts.Say("robust table", map[string]any{"S": s, "Repeats": repeats}),
	}
	for _, name := range robustColumns {
		l.Columns = append(l.Columns, study.Column{Name: name, Decimals: 1})
	}
	for k, t := range trainings {
		l.Lines = append(l.Lines, study.Line{Name: t.Name, Ours: k > 0})
	}
	const change = "our own against the paper's"
	f.Compare(change, trainings[1].Name, trainings[0].Name, study.Less, robustColumns[:len(robustColumns)-1]...)
	said := map[string]any{
		"Same": f.Error(change, robustColumns[0]), "Frozen": f.Error(change, robustColumns[1]),
		"Neighbours": f.Mean(trainings[1].Name, "links lost, neighbours"),
		"Gated":      f.Mean(trainings[1].Name, "links lost, neighbours behind gates"),
	}
	r := &study.Result{Tables: []study.Table{f.Table(l)}, Notes: texts.Notes("robust notes", said)}
	for _, u := range all {
		r.Models = append(r.Models, u.Model.File)
	}
	slices.Sort(r.Models)
	return r
}
