package sourceloc

import (
	"context"
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
	"github.com/wdgnn/wdgnn/internal/recipe"
)

// Learners compares ways to learn online where more than links goes wrong.
var Learners = study.Experiment{
	Name:  "learners",
	Title: "Ways to learn online, and what may go wrong",
	About: texts.Say("learners about", nil),
	Do:    runLearners,
}

// contestants are the learners, what they are compared with first.
func contestants() []struct {
	Name string
	Spec recipe.LearnerSpec
} {
	return []struct {
		Name string
		Spec recipe.LearnerSpec
	}{
		{"as trained", WideDeepFrozen},
		{"paper", WideDeepPaper},
		{"own", WideDeepOwn},
		{"neighbours", WideDeepNeighbours},
	}
}

// sweep is one trouble that grows.
type sweep struct {
	Name, Title, X string // of the chart
	Row            string // of the table, with a place for the value
	Percent        bool   // values are shares
	Log            bool
	Values         []float64
	Set            func(t *trouble, v float64)
}

// sweeps are the figures. What a sweep begins with is no trouble at all.
func sweeps() []sweep {
	return []sweep{
		{
			"wrong", "Answers that are wrong", "answers that are wrong, %", "%v %% of the answers wrong", true, false,
			[]float64{0.05, 0.1, 0.2, 0.3},
			func(t *trouble, v float64) { t.wrong = v },
		},
		{
			"lost", "Messages that are lost", "links that are silent for a signal, %",
			"%v %% of the links silent, others at every signal", true, false,
			[]float64{0.05, 0.1, 0.2, 0.3},
			func(t *trouble, v float64) { t.silent = v },
		},
		{
			"liar", "One neighbour that lies", "size of every number that it sends for its taps",
			"a neighbour of a detector that sends ±%v for its taps", false, true,
			[]float64{1, 10, 100},
			func(t *trouble, v float64) { t.lie = v },
		},
		{
			"told", "Answers that are not heard", "answers that are not heard, %", "%v %% of the answers not heard", true, false,
			[]float64{0.7, 0.9, 0.97, 0.99},
			func(t *trouble, v float64) { t.untold = v },
		},
	}
}

// Rows of the table that are about time.
const (
	untroubled  = "nothing else goes wrong"
	driftAll    = "two outages: all signals"
	driftSecond = "two outages: the first 50 signals after the second"
	driftEnd    = "two outages: the last 100 signals"
)

// rowOf names a row of the table.
func (s *sweep) rowOf(v float64) string {
	if s.Percent {
		v *= 100
	}
	return fmt.Sprintf(s.Row, fmt.Sprintf("%.4g", v))
}

// learnersUnit is what one network leaves.
type learnersUnit struct {
	Model recipe.SourceInfo               `json:"model"`
	Rows  map[string]map[string][]float64 `json:"rows"`  // accuracy by row, learner and subgraph, %
	Drift map[string][]float64            `json:"drift"` // by learner and block of signals, mean over subgraphs, %
}

func runLearners(ctx context.Context, r *study.Run) (*study.Result, error) {
	s := From(r.Options)
	if r.Options.Subgraphs == 0 {
		s.Subgraphs = 5
		if r.Quick {
			s.Subgraphs = 1
		}
	}
	passes := 2
	for _, w := range sweeps() {
		passes += len(w.Values)
	}
	work := float64(s.Epochs) + StreamCost*float64(passes*len(contestants())*s.Subgraphs)
	all, err := Sweep(ctx, r, s, "net", 1, work, func(*recipe.Sourceloc, int) {}, (*Realization).learners)
	if err != nil {
		return nil, err
	}
	return learnersResult(s, all), nil
}

// learners computes a unit.
func (z *Realization) learners(ctx context.Context) (*learnersUnit, error) {
	if err := z.Prepare(ctx, recipe.WideDeep); err != nil {
		return nil, err
	}
	u := &learnersUnit{Model: z.Models[recipe.WideDeep].Info, Rows: map[string]map[string][]float64{}, Drift: map[string][]float64{}}
	add := func(row, name string, v float64) {
		if u.Rows[row] == nil {
			u.Rows[row] = map[string][]float64{}
		}
		u.Rows[row][name] = append(u.Rows[row][name], v)
	}
	for sub := range z.Subgraphs {
		quiet := trouble{sub: sub}
		for _, c := range contestants() {
			right, err := z.endure(ctx, c.Spec, &trouble{sub: sub, outages: true})
			if err != nil {
				return nil, err
			}
			z.addDrift(u, c.Name, right, add)
			base, err := z.endure(ctx, c.Spec, &quiet)
			if err != nil {
				return nil, err
			}
			add(untroubled, c.Name, accuracy(base, z))
			for _, w := range sweeps() {
				for _, v := range w.Values {
					t := quiet
					w.Set(&t, v)
					if right, err = z.endure(ctx, c.Spec, &t); err != nil {
						return nil, err
					}
					add(w.rowOf(v), c.Name, accuracy(right, z))
				}
			}
		}
	}
	return u, nil
}

// accuracy returns the share of right answers, %.
func accuracy(right []int, z *Realization) float64 {
	sum := 0
	for _, n := range right {
		sum += n
	}
	return 100 * float64(sum) / float64(len(right)*len(z.Net.Detectors))
}

// driftBlock returns how many signals a point of the curve over time covers.
func driftBlock(signals int) int { return max(signals/40, 1) }

// addDrift adds what a learner did in two outages.
func (z *Realization) addDrift(u *learnersUnit, name string, right []int, add func(row, name string, v float64)) {
	second := second(len(right))
	add(driftAll, name, accuracy(right, z))
	add(driftSecond, name, accuracy(right[second:min(second+50, len(right))], z))
	add(driftEnd, name, accuracy(right[max(len(right)-100, 0):], z))
	block := driftBlock(len(right))
	if u.Drift[name] == nil {
		u.Drift[name] = make([]float64, len(right)/block)
	}
	for k := range u.Drift[name] {
		u.Drift[name][k] += accuracy(right[k*block:(k+1)*block], z) / float64(z.Subgraphs)
	}
}

// learnersResult makes tables and figures of the units.
func learnersResult(s recipe.Sourceloc, all []*learnersUnit) *study.Result {
	f, r := new(study.Frame), new(study.Result)
	for k, u := range all {
		for row, learners := range u.Rows {
			for name, values := range learners {
				f.Add(row, name, k, values...)
			}
		}
		r.Models = append(r.Models, u.Model.File)
	}
	slices.Sort(r.Models)
	said := map[string]any{
		"Count": len(all), "Subgraphs": s.Subgraphs, "OutageProb": s.OutageProb, "Seed": s.Seed, "Epochs": s.Epochs, "Block": driftBlock(s.Test),
	}
	l := study.Layout{Title: "Right answers, %", Note: texts.Say("learners table", said)}
	for _, c := range contestants() {
		l.Columns = append(l.Columns, study.Column{Name: c.Name, Decimals: 1})
	}
	rows := []string{untroubled, driftAll, driftSecond, driftEnd}
	for _, w := range sweeps() {
		for _, v := range w.Values {
			rows = append(rows, w.rowOf(v))
		}
	}
	for _, row := range rows {
		l.Lines = append(l.Lines, study.Line{Name: row, Ours: true})
	}
	r.Tables = append(r.Tables, f.Table(l))
	r.Charts = append(r.Charts, driftChart(all, said, s.Test))
	for _, w := range sweeps() {
		r.Charts = append(r.Charts, w.chart(f, said))
	}
	r.Notes = texts.Notes("learners notes", learnersNumbers(f))
	return r
}

// driftChart is accuracy over time.
func driftChart(all []*learnersUnit, said map[string]any, signals int) study.Chart {
	c := study.Chart{
		Name: "learners-outages", Title: "Two outages", X: "signals", Y: "right answers, %", Note: texts.Say("learners drift", said),
	}
	block := driftBlock(signals)
	for _, one := range contestants() {
		curve := study.Curve{Name: one.Name, Reference: one.Spec.Mode == recipe.Frozen}
		for k := range all[0].Drift[one.Name] {
			sum := 0.0
			for _, u := range all {
				sum += u.Drift[one.Name][k] / float64(len(all))
			}
			curve.X, curve.Y = append(curve.X, float64((k+1)*block)), append(curve.Y, sum)
		}
		c.Curves = append(c.Curves, curve)
	}
	return c
}

// chart draws a sweep.
func (s *sweep) chart(f *study.Frame, said map[string]any) study.Chart {
	c := study.Chart{
		Name: "learners-" + s.Name, Title: s.Title, X: s.X, Y: "right answers, %", Log: s.Log, Note: texts.Say("learners chart", said),
	}
	for _, one := range contestants() {
		curve := study.Curve{Name: one.Name, Points: true}
		curve.Add(0, f.Error(untroubled, one.Name))
		for _, v := range s.Values {
			at := v
			if s.Percent {
				at *= 100
			}
			curve.Add(at, f.Error(s.rowOf(v), one.Name))
		}
		c.Curves = append(c.Curves, curve)
	}
	return c
}

// learnersNumbers are the numbers of the notes: how far learners are above the
// model as trained, in points, and where one is below.
func learnersNumbers(f *study.Frame) map[string]any {
	type fall struct {
		Name  string
		Quiet float64
		Worst []map[string]any
	}
	list := contestants()
	trained := list[0].Name
	var falls []fall
	for _, c := range list[1:] {
		x := fall{Name: c.Name, Quiet: f.Mean(untroubled, c.Name) - f.Mean(untroubled, trained)}
		for _, w := range sweeps() {
			row := w.rowOf(w.Values[len(w.Values)-1])
			x.Worst = append(x.Worst, map[string]any{"Row": row, "Above": f.Mean(row, c.Name) - f.Mean(row, trained)})
		}
		falls = append(falls, x)
	}
	return map[string]any{"Falls": falls, "Trained": f.Mean(untroubled, trained)}
}
