package sourceloc

import (
	"cmp"
	"context"
	"slices"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/mat"
)

// LocalShift compares shifts that nodes can compute with the paper's.
var LocalShift = study.Experiment{
	Name:  "localshift",
	Title: "What a shift that nodes can compute costs or gains",
	About: texts.Say("localshift about", nil),
	Do:    runLocalShift,
}

// localShifts are the shifts of the models.
var localShifts = []graph.Shift{graph.ShiftSpectral, graph.ShiftRowStochastic, graph.ShiftSymmetric}

// ShiftEpochs suffice to tell the shifts apart.
const ShiftEpochs = 40

// localShiftLearners are what is run where links are lost.
var localShiftLearners = []recipe.LearnerSpec{WideDeepFrozen, WideDeepPaper, WideDeepOwn}

// localShiftUnit is one realization with one shift. Accuracies are in %.
type localShiftUnit struct {
	Model  recipe.SourceInfo  `json:"model"`
	Same   float64            `json:"same"`            // of the frozen model
	Differ map[string]float64 `json:"differ"`          // by learner, mean over subgraphs
	Fixed  map[string]float64 `json:"fixed,omitempty"` // likewise, with λmax of the intact network
}

func runLocalShift(ctx context.Context, r *study.Run) (*study.Result, error) {
	s := From(r.Options)
	s.Epochs = cmp.Or(r.Epochs, ShiftEpochs)
	if r.Quick {
		s.Subgraphs = cmp.Or(r.Options.Subgraphs, 5)
	}
	passes := 1 + len(localShiftLearners)*s.Subgraphs
	extra := float64(len(localShiftLearners)*s.Subgraphs) / float64(len(localShifts)) // fixed scales, of one shift only
	work := float64(s.Epochs) + StreamCost*(float64(passes)+extra)
	all, err := Sweep(ctx, r, s, "shift", len(localShifts), work,
		func(s *recipe.Sourceloc, k int) {
			if localShifts[k] != graph.ShiftSpectral {
				s.Shift = &localShifts[k]
			}
		}, (*Realization).localShift)
	if err != nil {
		return nil, err
	}
	return localShiftResult(s, Repeats(r.Options), all), nil
}

func (z *Realization) localShift(ctx context.Context) (*localShiftUnit, error) {
	if err := z.Prepare(ctx, recipe.WideDeep); err != nil {
		return nil, err
	}
	stream, err := z.TestStream(-1, 0)
	if err != nil {
		return nil, err
	}
	out, err := z.PlayOne(ctx, WideDeepFrozen, stream, false)
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
func (z *Realization) overSubgraphs(ctx context.Context, shift func(*graph.Graph) (*mat.CSR, error)) (map[string]float64, error) {
	sum := map[string]float64{}
	for sub := range z.Subgraphs {
		stream, err := z.TestOver(shift, sub, z.OutageProb)
		if err != nil {
			return nil, err
		}
		runs, err := z.PlayAll(ctx, localShiftLearners, stream, false)
		if err != nil {
			return nil, err
		}
		for k, spec := range localShiftLearners {
			sum[spec.ID] += runs[k].Accuracy / float64(z.Subgraphs)
		}
	}
	return sum, nil
}

// localShiftRows are what the table compares, the paper's shift first.
var localShiftRows = []string{
	"A/λmax, λmax measured again after the loss", "A/λmax, λmax of the intact network", "row-stochastic", "symmetric",
}

// localShiftColumns are what each is measured by: all links, then learners where
// links are lost.
var localShiftColumns = []string{
	"all links, offline", "links lost, frozen", "links lost, paper distributed", "links lost, own",
}

// observeShifts returns what units saw. Units are networks.
func observeShifts(repeats int, all []*localShiftUnit) *study.Frame {
	f := new(study.Frame)
	add := func(row string, network int, same float64, differ map[string]float64) {
		f.Add(row, localShiftColumns[0], network, same)
		for l, spec := range localShiftLearners {
			f.Add(row, localShiftColumns[l+1], network, differ[spec.ID])
		}
	}
	for k, u := range all {
		network := k % repeats
		switch shift := k / repeats; shift {
		case 0:
			add(localShiftRows[0], network, u.Same, u.Differ)
			add(localShiftRows[1], network, u.Same, u.Fixed)
		default:
			add(localShiftRows[shift+1], network, u.Same, u.Differ)
		}
	}
	return f
}

func localShiftResult(s recipe.Sourceloc, repeats int, all []*localShiftUnit) *study.Result {
	f, r := observeShifts(repeats, all), new(study.Result)
	l := study.Layout{
		Title: "Accuracy, %, by shift", Note: texts.Say("localshift table", map[string]any{"S": s, "Repeats": repeats}),
	}
	for _, name := range localShiftColumns {
		l.Columns = append(l.Columns, study.Column{Name: name, Decimals: 1, Error: true})
	}
	var changes []localShiftChange
	for k, row := range localShiftRows {
		l.Lines = append(l.Lines, study.Line{Name: row, Ours: k > 0})
		if k == 0 {
			continue
		}
		name := row + " against the first"
		f.Compare(name, row, localShiftRows[0], study.Less, localShiftColumns...)
		at := func(column int) *study.Value { return f.Error(name, localShiftColumns[column]) }
		changes = append(changes, localShiftChange{row, at(0), at(1), at(2), at(3)})
	}
	r.Tables, r.Notes = []study.Table{f.Table(l)}, texts.Notes("localshift notes", changes)
	for _, u := range all {
		r.Models = append(r.Models, u.Model.File)
	}
	slices.Sort(r.Models)
	return r
}

// localShiftChange is a row less the first.
type localShiftChange struct {
	Name                     string
	Same, Frozen, Paper, Own *study.Value
}
