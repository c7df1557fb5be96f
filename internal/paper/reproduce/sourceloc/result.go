package sourceloc

import (
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
	"github.com/wdgnn/wdgnn/internal/recipe"
)

// Columns of what a realization of Table 1 sees, by learner.
const (
	same   = "same"      // with all links
	differ = "different" // where links are lost, by subgraph
	last   = "last 30 % of the signals"
	shown  = "same, as the table has it"
)

// observe returns what units of Table 1 saw.
func observe(all []*unit) *study.Frame {
	f := new(study.Frame)
	for k, u := range all {
		for id, v := range u.Same {
			f.Add(id, same, k, v)
			f.Add(id, differ, k, u.Differ[id]...)
			f.Add(id, last, k, u.Last[id]...)
			f.Add(id, shown, k, u.Same[trainedAs(id)])
		}
	}
	return f
}

// trainedAs returns the learner that is the same where no link is lost: an SGNN
// is then trained as a GNN is.
func trainedAs(id string) string {
	if id == sgnnFrozen.ID {
		return gnnFrozen.ID
	}
	return id
}

// oneNetwork returns the realizations that share a network, severalNetworks one
// of every network.
func oneNetwork(all []*unit) (list []*unit) {
	return slices.DeleteFunc(slices.Clone(all), func(u *unit) bool { return u.Graph != 0 })
}

func severalNetworks(all []*unit) (list []*unit) {
	return slices.DeleteFunc(slices.Clone(all), func(u *unit) bool { return u.Data != 0 })
}

// table1Result makes tables and figures of the units.
func table1Result(s recipe.Sourceloc, all []*unit) *study.Result {
	r := &study.Result{}
	r.Tables = append(r.Tables, accuracies(s, "Accuracy, %: one network", oneNetwork(all), true))
	if len(all) > 1 { // else it is the same realization again
		r.Tables = append(r.Tables, accuracies(s, "Accuracy, %: several networks", severalNetworks(all), false))
	}
	f := observe(all)
	r.Tables = append(r.Tables, differences(f))
	for _, u := range all {
		for _, m := range u.Models {
			r.Models = append(r.Models, m.File)
		}
	}
	slices.Sort(r.Models)
	r.Notes = append(texts.Notes("table1 notes", table1Numbers(s, all)), table1Warnings(f)...)
	return r
}

// accuracies is the table of the paper.
func accuracies(s recipe.Sourceloc, title string, list []*unit, one bool) study.Table {
	l := study.Layout{
		Title: title,
		Columns: []study.Column{
			{Name: same, Of: shown, Decimals: 1}, {Name: differ, Decimals: 1}, {Name: last, Decimals: 1},
		},
		Note: texts.Say("table1 realizations", map[string]any{
			"Count": len(list), "OneNetwork": one, "Epochs": s.Epochs, "Subgraphs": s.Subgraphs,
		}),
	}
	for _, row := range table1Rows() {
		l.Lines = append(l.Lines, study.Line{
			Name: row.Name, Of: row.Spec.ID, Ours: row.Differ == nil, Paper: []*study.Value{row.Same, row.Differ},
		})
	}
	return observe(list).Table(l)
}

// differences compares learners with what they learned from, pair by pair.
func differences(f *study.Frame) study.Table {
	const adaptation = "adaptation: different - same"
	others := map[string][2]string{} // what a row compares
	l := study.Layout{
		Title: "Paired differences, points (standard errors over realizations)",
		Columns: []study.Column{
			{Name: same, Decimals: 1, Signed: true, Error: true},
			{Name: differ, Decimals: 1, Signed: true, Error: true},
			{Name: adaptation, Decimals: 1, Signed: true, Error: true},
			{Name: "better on subgraphs", Cell: func(row string) study.Cell {
				above, all := f.Above(others[row][0], others[row][1], differ)
				return study.Cell{Text: fmt.Sprintf("%d of %d", above, all)}
			}},
		},
		Note: texts.Say("table1 differences", nil),
	}
	for _, d := range table1Differences() {
		others[d.Name] = [2]string{d.ID, d.Before}
		f.Compare(d.Name, d.ID, d.Before, study.Less, same, differ)
		less := f.Values(d.Name, same)
		for k, v := range f.Values(d.Name, differ) {
			f.Add(d.Name, adaptation, k, v-less[k])
		}
		l.Lines = append(l.Lines, study.Line{Name: d.Name, Ours: d.Paper == nil, Paper: []*study.Value{nil, d.Paper}})
	}
	return f.Table(l)
}

// table1Difference is a learner against another, with the paper's difference where
// links are lost.
type table1Difference struct {
	Name, ID, Before string
	Paper            *study.Value
}

func table1Differences() (list []table1Difference) {
	paper := map[string]float64{}
	for _, row := range table1Rows() {
		if row.Differ != nil {
			paper[row.Spec.ID] = row.Differ.Mean
		}
	}
	add := func(name, id, before string) {
		d := table1Difference{Name: name, ID: id, Before: before}
		if v, ok := paper[id]; ok {
			d.Paper = &study.Value{Mean: v - paper[before]}
		}
		list = append(list, d)
	}
	for _, row := range table1Rows() {
		if row.Before != nil && !row.Spec.After { // leakage is no gain
			add(row.Name, row.Spec.ID, row.Before.ID)
		}
	}
	add("WD-GNN - GNN", WideDeepFrozen.ID, gnnFrozen.ID)
	add("SGNN - GNN", sgnnFrozen.ID, gnnFrozen.ID)
	return list
}

// table1Warnings names the learners that did harm where links are lost.
func table1Warnings(f *study.Frame) (notes []string) {
	for _, row := range table1Rows() {
		if row.Before == nil {
			continue
		}
		id, before := row.Spec.ID, row.Before.ID
		if text := recipe.Harm(row.Name, f.Mean(id, last), f.Mean(before, last), f.Mean(before, differ)); text != "" {
			notes = append(notes, text)
		}
	}
	return notes
}
