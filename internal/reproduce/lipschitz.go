package reproduce

import (
	"context"
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/certify"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/internal/reproduce/study"
	"github.com/wdgnn/wdgnn/modelfile"
)

var lipschitz = Experiment{
	Name:  "lipschitz",
	Title: "Stability by training",
	About: "Theorem 1 says that filters which bend little change little when links are lost. A penalty on their integral Lipschitz constants, (s/2) Σ C_fg², is added to the loss of the WD-GNN of Table 1: what does it cost where nothing is lost, what does it buy where links are, and what does it do to the certificate?",
	Do:    in(runLipschitz),
}

// penalties are the strengths s.
var penalties = []float64{0, 1e-5, 1e-4, 1e-3, 1e-2}

// certifiedSubgraphs is how many subgraphs the certificate is averaged over.
const certifiedSubgraphs = 3

// lipschitzUnit is one realization at one strength.
type lipschitzUnit struct {
	Model       recipe.SourceInfo  `json:"model"`
	Same        float64            `json:"same"`   // accuracy, %
	Differ      map[string]float64 `json:"differ"` // by learner, mean over subgraphs
	Constant    float64            `json:"constant"`
	Certificate float64            `json:"certificate"` // mean over subgraphs
	Measured    float64            `json:"measured"`    // the largest change that was seen, mean over subgraphs
}

func runLipschitz(ctx context.Context, r *runner) (*Result, error) {
	s := sourcelocFrom(r.Options)
	repeats := figureRepeats(r.Options)
	work := float64(s.Epochs) + streamCost*float64(2*s.Subgraphs+1)
	all, err := sweep(ctx, r, s, "strength", len(penalties), work,
		func(s *recipe.Sourceloc, k int) { s.Lipschitz = penalties[k] }, (*realization).lipschitz)
	if err != nil {
		return nil, err
	}
	return lipschitzResult(s, repeats, all), nil
}

func (z *realization) lipschitz(ctx context.Context) (*lipschitzUnit, error) {
	if err := z.train(ctx, recipe.WideDeep); err != nil {
		return nil, err
	}
	u := &lipschitzUnit{Model: z.Models[recipe.WideDeep].Info, Differ: map[string]float64{}}
	stream, err := z.TestStream(-1, 0)
	if err != nil {
		return nil, err
	}
	out, err := z.play(ctx, wideDeepFrozen, stream, false)
	if err != nil {
		return nil, err
	}
	u.Same = out.Accuracy
	file := &modelfile.Model{Network: z.Models[recipe.WideDeep].Network, Meta: modelfile.Meta{Shift: graph.ShiftSpectral}}
	certified := min(certifiedSubgraphs, z.Subgraphs)
	for sub := range z.Subgraphs {
		if stream, err = z.TestStream(sub, z.OutageProb); err != nil {
			return nil, err
		}
		specs := []recipe.LearnerSpec{wideDeepFrozen, mixed(50, 0.003)}
		runs, err := z.playAll(ctx, specs, stream, false)
		if err != nil {
			return nil, err
		}
		for k, spec := range specs {
			u.Differ[spec.ID] += runs[k].Accuracy / float64(z.Subgraphs)
		}
		if sub >= certified {
			continue
		}
		g, err := z.Subgraph(sub, z.OutageProb)
		if err != nil {
			return nil, err
		}
		report, err := certify.Graphs(ctx, file, z.Net.Graph, g, certify.Options{Seed: z.Seed})
		if err != nil {
			return nil, err
		}
		c := certifiedOf(report)
		u.Constant = float64(report.IntegralLipschitz)
		u.Certificate += c.Certificate / float64(certified)
		u.Measured += c.Measured / float64(certified)
	}
	return u, nil
}

func lipschitzResult(s recipe.Sourceloc, repeats int, all []*lipschitzUnit) *Result {
	t := study.Table{
		Title:   "What a penalty on C_L costs and buys",
		Columns: []string{"same", "different, frozen", "different, personal (m = 50)", "C_L", "certificate", "measured change", "certificate / measured"},
		Note: fmt.Sprintf("Accuracies in %%, mean ± standard error over %d networks, %d epochs, %d subgraphs each, links lost with probability %v. Certificate and measured change are of 64 random signals of length 1, %d subgraphs.",
			repeats, s.Epochs, s.Subgraphs, s.OutageProb, min(certifiedSubgraphs, s.Subgraphs)),
	}
	column := func(k int, of func(u *lipschitzUnit) float64) []float64 {
		var v []float64
		for _, u := range all[k*repeats : (k+1)*repeats] {
			v = append(v, of(u))
		}
		return v
	}
	same := func(u *lipschitzUnit) float64 { return u.Same }
	differ := func(u *lipschitzUnit) float64 { return u.Differ[wideDeepFrozen.ID] }
	certificate := func(u *lipschitzUnit) float64 { return u.Certificate }
	verdict := "Against no penalty, paired by network:"
	for k, strength := range penalties {
		row := study.Row{Name: fmt.Sprintf("s = %v", strength), Ours: true}
		for c, of := range []func(u *lipschitzUnit) float64{
			same, differ, func(u *lipschitzUnit) float64 { return u.Differ[mixed(50, 0.003).ID] },
			func(u *lipschitzUnit) float64 { return u.Constant }, certificate, func(u *lipschitzUnit) float64 { return u.Measured },
			func(u *lipschitzUnit) float64 { return u.Certificate / u.Measured },
		} {
			decimals := 1
			if c == 4 || c == 5 {
				decimals = 0
			}
			row.Cells = append(row.Cells, study.Cell{Value: study.StandardError(column(k, of)), Decimals: decimals})
		}
		t.Rows = append(t.Rows, row)
		if k == 0 {
			continue
		}
		paired := func(of func(u *lipschitzUnit) float64) *study.Value {
			v, base := column(k, of), column(0, of)
			for e := range v {
				v[e] -= base[e]
			}
			return study.StandardError(v)
		}
		a, b := paired(same), paired(differ)
		verdict += fmt.Sprintf(" s = %v changes accuracy by %+.1f ± %.1f on the same network and %+.1f ± %.1f where links are lost;", strength, a.Mean, a.Spread, b.Mean, b.Spread)
	}
	result := &Result{Tables: []study.Table{t}, Notes: []string{verdict[:len(verdict)-1] + "."}}
	for _, u := range all {
		result.Models = append(result.Models, u.Model.File)
	}
	slices.Sort(result.Models)
	return result
}
