package theory

import (
	"context"
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/paper/certify"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/sourceloc"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/modelfile"
)

// Lipschitz trains for stability.
var Lipschitz = study.Experiment{
	Name:  "lipschitz",
	Title: "Stability by training",
	About: texts.Say("lipschitz about", nil),
	Do:    runLipschitz,
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

func runLipschitz(ctx context.Context, r *study.Run) (*study.Result, error) {
	s := sourceloc.From(r.Options)
	repeats := sourceloc.Repeats(r.Options)
	work := float64(s.Epochs) + sourceloc.StreamCost*float64(2*s.Subgraphs+1)
	all, err := sourceloc.Sweep(ctx, r, s, "strength", len(penalties), work,
		func(s *recipe.Sourceloc, k int) { s.Lipschitz = penalties[k] },
		func(z *sourceloc.Realization, ctx context.Context) (*lipschitzUnit, error) {
			return (&realization{z}).lipschitz(ctx)
		})
	if err != nil {
		return nil, err
	}
	return lipschitzResult(s, repeats, all), nil
}

func (z *realization) lipschitz(ctx context.Context) (*lipschitzUnit, error) {
	if err := z.Prepare(ctx, recipe.WideDeep); err != nil {
		return nil, err
	}
	u := &lipschitzUnit{Model: z.Models[recipe.WideDeep].Info, Differ: map[string]float64{}}
	stream, err := z.TestStream(-1, 0)
	if err != nil {
		return nil, err
	}
	out, err := z.PlayOne(ctx, sourceloc.WideDeepFrozen, stream, false)
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
		specs := []recipe.LearnerSpec{sourceloc.WideDeepFrozen, sourceloc.WideDeepOwn}
		runs, err := z.PlayAll(ctx, specs, stream, false)
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

// Columns of what a network shows at one strength.
const (
	same       = "same" // with all links
	lostFrozen = "different, frozen"
	lostOwn    = "different, own"
)

// strengthName names a row.
func strengthName(strength float64) string { return fmt.Sprintf("s = %v", strength) }

func lipschitzResult(s recipe.Sourceloc, repeats int, all []*lipschitzUnit) *study.Result {
	f, r := new(study.Frame), new(study.Result)
	for k, u := range all {
		row, network := strengthName(penalties[k/repeats]), k%repeats
		f.Add(row, same, network, u.Same)
		f.Add(row, lostFrozen, network, u.Differ[sourceloc.WideDeepFrozen.ID])
		f.Add(row, lostOwn, network, u.Differ[sourceloc.WideDeepOwn.ID])
		f.Add(row, "C_L", network, u.Constant)
		f.Add(row, "certificate", network, u.Certificate)
		f.Add(row, "measured change", network, u.Measured)
		f.Add(row, "certificate / measured", network, u.Certificate/u.Measured)
		r.Models = append(r.Models, u.Model.File)
	}
	l := study.Layout{
		Title: "What a penalty on C_L costs and buys",
		Columns: []study.Column{
			{Name: same, Decimals: 1, Error: true},
			{Name: lostFrozen, Decimals: 1, Error: true},
			{Name: lostOwn, Decimals: 1, Error: true},
			{Name: "C_L", Decimals: 1, Error: true},
			{Name: "certificate", Error: true},
			{Name: "measured change", Error: true},
			{Name: "certificate / measured", Decimals: 1, Error: true},
		},
		Note: texts.Say("lipschitz table", map[string]any{
			"S": s, "Repeats": repeats, "Certified": min(certifiedSubgraphs, s.Subgraphs),
		}),
	}
	for _, strength := range penalties {
		l.Lines = append(l.Lines, study.Line{Name: strengthName(strength), Ours: true})
	}
	r.Tables, r.Notes = []study.Table{f.Table(l)}, texts.Notes("lipschitz notes", lipschitzChanges(f))
	slices.Sort(r.Models)
	return r
}

// lipschitzChange is what a penalty changes against none.
type lipschitzChange struct {
	Strength     float64
	Same, Differ *study.Value
}

func lipschitzChanges(f *study.Frame) (list []lipschitzChange) {
	for _, strength := range penalties[1:] {
		name := strengthName(strength) + " against none"
		f.Compare(name, strengthName(strength), strengthName(penalties[0]), study.Less, same, lostFrozen)
		list = append(list, lipschitzChange{strength, f.Error(name, same), f.Error(name, lostFrozen)})
	}
	return list
}
