package reproduce

import (
	"context"
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/internal/reproduce/study"
	"github.com/wdgnn/wdgnn/mat"
)

var localshift = Experiment{
	Name:  "localshift",
	Title: "What a shift that nodes can compute costs or gains",
	About: "The paper's shift A/λmax needs a number of the whole network, which no node knows. Agents can use shifts whose row a node computes from its links: row-stochastic, D⁻¹A, or symmetric, D^-½AD^-½ with degrees exchanged. Here the WD-GNN of Table 1 is trained with each, on the same signals (which spread by A/λmax whatever the model does), and runs where links are lost. After a loss every shift is made anew from the links that remain, as agents would; for A/λmax that means measuring λmax again, so it is also run with λmax of the intact network, what agents with a scale set once would have.",
	Do:    in(runLocalShift),
}

// localShifts are the shifts of the models.
var localShifts = []graph.Shift{graph.ShiftSpectral, graph.ShiftRowStochastic, graph.ShiftSymmetric}

// localShiftEpochs suffice to tell the shifts apart.
const localShiftEpochs = 40

// localShiftLearners are what is run where links are lost.
var localShiftLearners = []recipe.LearnerSpec{wideDeepFrozen, wideDeepLiteral, mixed(50, 0.003)}

// localShiftUnit is one realization with one shift. Accuracies are in %.
type localShiftUnit struct {
	Model  recipe.SourceInfo  `json:"model"`
	Same   float64            `json:"same"`            // of the frozen model
	Differ map[string]float64 `json:"differ"`          // by learner, mean over subgraphs
	Fixed  map[string]float64 `json:"fixed,omitempty"` // likewise, with λmax of the intact network
}

func runLocalShift(ctx context.Context, r *runner) (*Result, error) {
	s := sourcelocFrom(r.Options)
	s.Epochs = or(r.Epochs, localShiftEpochs)
	if r.Quick {
		s.Subgraphs = or(r.Options.Subgraphs, 5)
	}
	passes := 1 + len(localShiftLearners)*s.Subgraphs
	extra := float64(len(localShiftLearners)*s.Subgraphs) / float64(len(localShifts)) // fixed scales, of one shift only
	work := float64(s.Epochs) + streamCost*(float64(passes)+extra)
	all, err := sweep(ctx, r, s, "shift", len(localShifts), work,
		func(s *recipe.Sourceloc, k int) {
			if localShifts[k] != graph.ShiftSpectral {
				s.Shift = &localShifts[k]
			}
		}, (*realization).localShift)
	if err != nil {
		return nil, err
	}
	return localShiftResult(s, figureRepeats(r.Options), all), nil
}

func (z *realization) localShift(ctx context.Context) (*localShiftUnit, error) {
	if err := z.train(ctx, recipe.WideDeep); err != nil {
		return nil, err
	}
	stream, err := z.TestStream(-1, 0)
	if err != nil {
		return nil, err
	}
	out, err := z.play(ctx, wideDeepFrozen, stream, false)
	if err != nil {
		return nil, err
	}
	u := &localShiftUnit{Model: z.Models[recipe.WideDeep].Info, Same: out.Accuracy}
	if u.Differ, err = z.overSubgraphs(ctx, z.Operator().Of); err != nil {
		return nil, err
	}
	if z.Operator() == graph.ShiftSpectral {
		u.Fixed, err = z.overSubgraphs(ctx, scaledBy(graph.LargestEigenvalue(z.Net.Graph.Adjacency())))
	}
	return u, err
}

// scaledBy returns the shift A/λ with the same λ for all graphs.
func scaledBy(lambda float64) func(*graph.Graph) (*mat.CSR, error) {
	return func(g *graph.Graph) (*mat.CSR, error) {
		s := *g.Adjacency()
		s.Val = slices.Clone(s.Val)
		for e, v := range s.Val {
			s.Val[e] = float32(float64(v) / lambda)
		}
		return &s, nil
	}
}

// overSubgraphs returns the accuracy of each learner, a mean over subgraphs.
func (z *realization) overSubgraphs(ctx context.Context, shift func(*graph.Graph) (*mat.CSR, error)) (map[string]float64, error) {
	sum := map[string]float64{}
	for sub := range z.Subgraphs {
		stream, err := z.TestOver(shift, sub, z.OutageProb)
		if err != nil {
			return nil, err
		}
		runs, err := z.playAll(ctx, localShiftLearners, stream, false)
		if err != nil {
			return nil, err
		}
		for k, spec := range localShiftLearners {
			sum[spec.ID] += runs[k].Accuracy / float64(z.Subgraphs)
		}
	}
	return sum, nil
}

func localShiftResult(s recipe.Sourceloc, repeats int, all []*localShiftUnit) *Result {
	t := study.Table{
		Title:   "Accuracy, %, by shift",
		Columns: []string{"all links, offline", "links lost, frozen", "links lost, literal distributed", "links lost, personal (m = 50)"},
		Note: fmt.Sprintf("WD-GNN, %d epochs; mean ± standard error over %d networks, %d subgraphs each, links lost with probability %v. The step size of the literal update is the one that suits A/λmax; the personal update is whitened and needs no such choice.",
			s.Epochs, repeats, s.Subgraphs, s.OutageProb),
	}
	type row struct {
		name   string
		units  []*localShiftUnit
		differ func(u *localShiftUnit) map[string]float64
	}
	anew := func(u *localShiftUnit) map[string]float64 { return u.Differ }
	part := func(k int) []*localShiftUnit { return all[k*repeats : (k+1)*repeats] }
	rows := []row{
		{"A/λmax, λmax measured again after the loss", part(0), anew},
		{"A/λmax, λmax of the intact network", part(0), func(u *localShiftUnit) map[string]float64 { return u.Fixed }},
		{"row-stochastic", part(1), anew},
		{"symmetric", part(2), anew},
	}
	columns := func(r row) (list [][]float64) {
		list = make([][]float64, 1+len(localShiftLearners))
		for _, u := range r.units {
			list[0] = append(list[0], u.Same)
			for l, spec := range localShiftLearners {
				list[l+1] = append(list[l+1], r.differ(u)[spec.ID])
			}
		}
		return list
	}
	base := columns(rows[0])
	var verdict string
	for k, r := range rows {
		list := columns(r)
		out := study.Row{Name: r.name, Ours: k > 0}
		var change []any
		for c := range list {
			out.Cells = append(out.Cells, study.Cell{Value: study.StandardError(list[c]), Decimals: 1})
			d := slices.Clone(list[c])
			for e := range d {
				d[e] -= base[c][e]
			}
			v := study.StandardError(d)
			change = append(change, v.Mean, v.Spread)
		}
		t.Rows = append(t.Rows, out)
		if k > 0 {
			verdict += fmt.Sprintf(" %s: %+.1f ± %.1f with all links; %+.1f ± %.1f frozen, %+.1f ± %.1f literal, %+.1f ± %.1f personal where links are lost.", append([]any{r.name}, change...)...)
		}
	}
	result := &Result{Tables: []study.Table{t}, Notes: []string{"Points against A/λmax measured again, paired by network." + verdict}}
	for _, u := range all {
		result.Models = append(result.Models, u.Model.File)
	}
	slices.Sort(result.Models)
	return result
}
