package sourceloc

import (
	"cmp"
	"context"
	"fmt"

	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
	"github.com/wdgnn/wdgnn/internal/recipe"
)

// Table1 is the accuracy of models and learners with all links and without some.
var Table1 = study.Experiment{
	Name:  "table1",
	Title: "Table 1: source localization",
	About: texts.Say("table1 about", nil),
	Do:    runTable1,
}

// table1Row is one row with the paper's numbers.
type table1Row struct {
	Name   string
	Spec   recipe.LearnerSpec
	Same   *study.Value // the paper's
	Differ *study.Value
	Before *recipe.LearnerSpec // the model before online learning
}

// table1Rows are those of the paper, then ours.
func table1Rows() []table1Row {
	paper := func(mean, spread float64) *study.Value { return &study.Value{Mean: mean, Spread: spread} }
	return []table1Row{
		{"Graph filter", filterFrozen, paper(41.1618, 2.0924), paper(25.1600, 1.3132), nil},
		{"GNN", gnnFrozen, paper(93.9673, 1.0987), paper(76.7873, 2.8290), nil},
		{"WD-GNN", WideDeepFrozen, paper(97.6745, 1.1595), paper(77.4727, 4.3011), nil},
		{"Graph filter, centralized online", filterCentral, paper(38.3897, 2.0665), paper(30.2920, 2.6178), &filterFrozen},
		{"Graph filter, distributed online", filterPaper, paper(39.9552, 1.5272), paper(28.0400, 2.2866), &filterFrozen},
		{"WD-GNN, centralized online", WideDeepCentral, paper(98.0440, 0.6298), paper(92.7017, 1.6745), &WideDeepFrozen},
		{"WD-GNN, distributed online", WideDeepPaper, paper(98.1840, 0.4945), paper(86.5100, 3.6056), &WideDeepFrozen},
		{"SGNN", sgnnFrozen, paper(93.9673, 1.0987), paper(84.1133, 2.7872), nil},

		{"Graph filter, own", filterOwn, nil, nil, &filterFrozen},
		{"WD-GNN, own", WideDeepOwn, nil, nil, &WideDeepFrozen},
		{"WD-GNN, neighbours", WideDeepNeighbours, nil, nil, &WideDeepFrozen},
		{"WD-GNN, neighbours behind gates, as users have it", WideDeepNeighbours.Gated(), nil, nil, &WideDeepFrozen},
		{"No model trained offline: own from nothing", blankOwn, nil, nil, &WideDeepFrozen},
		{"No model trained offline: neighbours from nothing", blankNeighbours, nil, nil, &WideDeepFrozen},

		{"Leakage, scored after the update: graph filter, centralized, γ = 0.1", leakFilterCentral, nil, nil, &filterFrozen},
		{"Leakage, scored after the update: graph filter, distributed, γ = 0.1", leakFilterDistributed, nil, nil, &filterFrozen},
		{"Leakage, scored after the update: WD-GNN, centralized, γ = 30", leakCentral, nil, nil, &WideDeepFrozen},
		{"Leakage, scored after the update: WD-GNN, distributed, γ = 30", leakDistributed, nil, nil, &WideDeepFrozen},
		{"The same WD-GNN, centralized, γ = 30, scored before the update", honest(leakCentral), nil, nil, &WideDeepFrozen},
		{"The same WD-GNN, distributed, γ = 30, scored before the update", honest(leakDistributed), nil, nil, &WideDeepFrozen},
	}
}

// doubleSubgraphs of the first realization are run again in float64.
const doubleSubgraphs = 3

// unit is what a realization leaves.
type unit struct {
	Graph  int                 `json:"graph"`
	Data   int                 `json:"data"`
	Edges  int                 `json:"edges"`
	Models []recipe.SourceInfo `json:"models"`

	Same   map[string]float64   `json:"same"`   // accuracy by learner, %
	Differ map[string][]float64 `json:"differ"` // by learner and subgraph
	Last   map[string][]float64 `json:"last"`   // of the last 30 % of the signals

	Double map[string]differing `json:"double,omitempty"`
}

// differing counts answers that differ from those of an all-float64 run.
type differing struct {
	Answers int `json:"answers"`
	Differ  int `json:"differ"`
}

func runTable1(ctx context.Context, r *study.Run) (*study.Result, error) {
	s := From(r.Options)
	repeats := cmp.Or(r.Repeats, 10)
	if r.Quick {
		repeats = cmp.Or(r.Repeats, 3)
	}
	list := pairs(repeats)
	passes := len(table1Rows()) * (s.Subgraphs + 1)
	work := StreamCost * float64(passes)
	for _, cost := range EpochCost {
		work += cost * float64(s.Epochs)
	}
	all, err := study.Units(ctx, r, len(list), work,
		func(k int) string { return fmt.Sprintf("graph%d-data%d", list[k][0], list[k][1]) },
		s, func(ctx context.Context, k int) (*unit, error) {
			z, err := New(r, s, list[k][0], list[k][1])
			if err != nil {
				return nil, err
			}
			return z.table1(ctx)
		})
	if err != nil {
		return nil, err
	}
	return table1Result(s, all), nil
}

// table1 computes a unit.
func (z *Realization) table1(ctx context.Context) (*unit, error) {
	for _, k := range []recipe.Kind{recipe.Filter, recipe.GNN, recipe.WideDeep, recipe.SGNN} {
		if err := z.Prepare(ctx, k); err != nil {
			return nil, err
		}
	}
	if err := z.Blank(); err != nil {
		return nil, err
	}
	u := &unit{
		Graph: z.Graph, Data: z.Data, Edges: z.Net.Graph.Edges(),
		Same: map[string]float64{}, Differ: map[string][]float64{}, Last: map[string][]float64{},
	}
	for _, k := range []recipe.Kind{recipe.Filter, recipe.GNN, recipe.WideDeep, recipe.SGNN} {
		u.Models = append(u.Models, z.Models[k].Info)
	}
	for sub := -1; sub < z.Subgraphs; sub++ {
		p := z.OutageProb
		if sub < 0 {
			p = 0
		}
		stream, err := z.TestStream(sub, p)
		if err != nil {
			return nil, err
		}
		var specs []recipe.LearnerSpec
		for _, row := range table1Rows() {
			specs = append(specs, row.Spec)
		}
		runs, err := z.PlayAll(ctx, specs, stream, false)
		if err != nil {
			return nil, err
		}
		for k, out := range runs {
			if id := specs[k].ID; sub < 0 {
				u.Same[id] = out.Accuracy
			} else {
				u.Differ[id], u.Last[id] = append(u.Differ[id], out.Accuracy), append(u.Last[id], out.Last)
			}
		}
	}
	if z.Graph == 0 && z.Data == 0 {
		return u, z.compareDouble(ctx, u)
	}
	return u, nil
}
