package theory

import (
	"context"
	"slices"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/sourceloc"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/internal/robust"
	"github.com/wdgnn/wdgnn/train"
)

// Certified compares trainings by the answers that cannot flip.
var Certified = study.Experiment{
	Name:  "certified",
	Title: "What makes answers hold",
	About: texts.Say("certified about", nil),
	Do:    runCertified,
}

// hardenings are the trainings that are compared, the paper's first.
var hardenings = []struct {
	Name   string
	Change func(s *recipe.Sourceloc)
}{
	{"as the paper", func(*recipe.Sourceloc) {}},
	{"as the paper's SGNN: links lost with p = 0.3", func(s *recipe.Sourceloc) {
		s.Outage = &train.Outage{From: s.OutageProb, To: s.OutageProb}
	}},
	{"penalty on C_L, s = 0.001", func(s *recipe.Sourceloc) { s.Lipschitz = 1e-3 }},
	{"without links that flip answers", func(s *recipe.Sourceloc) { s.Weak = weakEvery }},
	{"links lost with p from 0 to 0.4", func(s *recipe.Sourceloc) { s.Outage = anyLoss() }},
	{"the last two", func(s *recipe.Sourceloc) { s.Outage, s.Weak = anyLoss(), weakEvery }},
	{"our own: inputs whitened, links lost with p from 0 to 0.4", func(s *recipe.Sourceloc) { *s = s.Robust() }},
}

// weakEvery is after how many epochs weak links are looked for anew.
const weakEvery = 5

func anyLoss() *train.Outage { return &train.Outage{To: 0.4} }

// certifiedSignals is how many signals are asked at most.
const certifiedSignals = 100

// certifiedDraws is how many outages are drawn at most, certifiedDrop with what probability.
const (
	certifiedDraws = 1000
	certifiedDrop  = 0.05
)

// outages returns how many to draw: fewer where a test is small.
func outages(s *recipe.Sourceloc) int { return min(certifiedDraws, s.Test) }

// questions returns how many signals to ask, likewise.
func questions(s *recipe.Sourceloc) int { return min(certifiedSignals, s.Test/4+1) }

// certifiedUnit is one realization of one training. All are shares in %.
type certifiedUnit struct {
	Model  recipe.SourceInfo `json:"model"`
	Same   float64           `json:"same"`   // right answers with all links
	Differ float64           `json:"differ"` // where links are lost, mean over subgraphs
	Links  float64           `json:"links"`  // answers that no lost link flips
	Nodes  float64           `json:"nodes"`  // that no lost node flips
	Drop   float64           `json:"drop"`   // that hold under random loss
}

func runCertified(ctx context.Context, r *study.Run) (*study.Result, error) {
	s, repeats := sourceloc.From(r.Options), sourceloc.Repeats(r.Options)
	work := float64(s.Epochs) + sourceloc.StreamCost*float64(s.Subgraphs+1)
	all, err := sourceloc.Sweep(ctx, r, s, "hardening", len(hardenings), work,
		func(s *recipe.Sourceloc, k int) { hardenings[k].Change(s) },
		func(z *sourceloc.Realization, ctx context.Context) (*certifiedUnit, error) {
			return (&realization{z}).certified(ctx)
		})
	if err != nil {
		return nil, err
	}
	return certifiedResult(s, repeats, all), nil
}

// certified computes a unit.
func (z *realization) certified(ctx context.Context) (*certifiedUnit, error) {
	if err := z.Prepare(ctx, recipe.WideDeep); err != nil {
		return nil, err
	}
	t := z.Models[recipe.WideDeep]
	u := &certifiedUnit{Model: t.Info}
	for sub := -1; sub < z.Subgraphs; sub++ { // -1 is the network as it is
		stream, err := z.TestStream(sub, z.OutageProb)
		if err != nil {
			return nil, err
		}
		out, err := z.PlayOne(ctx, sourceloc.WideDeepFrozen, stream, false)
		switch {
		case err != nil:
			return nil, err
		case sub < 0:
			u.Same = out.Accuracy
		default:
			u.Differ += out.Accuracy / float64(z.Subgraphs)
		}
	}
	count := questions(&z.Sourceloc)
	signals, _ := z.Net.Draw(count, z.Stream("certified"))
	q := &robust.Question{
		Network: t.Network, Operator: z.Operator(), Graphs: []*graph.Graph{z.Net.Graph}, Signals: signals, Samples: count,
		Read: z.Read(), Classify: true,
	}
	answers := float64(count * len(q.Read))
	for of, share := range map[robust.Kind]*float64{robust.Links: &u.Links, robust.Nodes: &u.Nodes} {
		lost, err := q.Lost(ctx, robust.LostConfig{Of: of})
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		*share = 100 * float64(lost.Levels[0].Held) / answers
	}
	drop, err := q.Drop(ctx, robust.DropConfig{
		Probabilities: []float64{certifiedDrop}, Draws: outages(&z.Sourceloc), Confidence: 0.999, Seed: z.Seed,
	})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	u.Drop = 100 * float64(drop[0].Held) / answers
	return u, nil
}

// Columns of what a training gives.
const (
	heldLinks = "no lost link flips"
	heldNodes = "no lost node flips"
	heldDrop  = "hold under 5 % random loss"
)

func certifiedResult(s recipe.Sourceloc, repeats int, all []*certifiedUnit) *study.Result {
	f, r := new(study.Frame), new(study.Result)
	for k, u := range all {
		row, network := hardenings[k/repeats].Name, k%repeats
		f.Add(row, heldLinks, network, u.Links)
		f.Add(row, heldNodes, network, u.Nodes)
		f.Add(row, heldDrop, network, u.Drop)
		f.Add(row, same, network, u.Same)
		f.Add(row, lostFrozen, network, u.Differ)
		r.Models = append(r.Models, u.Model.File)
	}
	l := study.Layout{
		Title: "Answers that hold, and right answers, %, by training",
		Note: texts.Say("certified table", map[string]any{
			"S": s, "Repeats": repeats, "Signals": questions(&s), "Draws": outages(&s),
		}),
	}
	for _, name := range []string{heldLinks, heldNodes, heldDrop, same, lostFrozen} {
		l.Columns = append(l.Columns, study.Column{Name: name, Decimals: 1, Error: true})
	}
	var list []hardeningChange
	for k, h := range hardenings {
		l.Lines = append(l.Lines, study.Line{Name: h.Name, Ours: k > 1})
		if k > 0 {
			name := h.Name + " against the paper"
			f.Compare(name, h.Name, hardenings[0].Name, study.Less, heldLinks, same)
			list = append(list, hardeningChange{h.Name, f.Error(name, heldLinks), f.Error(name, same)})
		}
	}
	r.Tables, r.Notes = []study.Table{f.Table(l)}, texts.Notes("certified notes", list)
	slices.Sort(r.Models)
	return r
}

// hardeningChange is what a training changes against the paper's.
type hardeningChange struct {
	Name        string
	Links, Same *study.Value
}
