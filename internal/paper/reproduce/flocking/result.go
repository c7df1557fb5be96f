package flocking

import (
	"fmt"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
	"github.com/wdgnn/wdgnn/internal/recipe"
)

// Columns of what a realization of flights sees, by row.
const (
	total       = "total" // by flight
	final       = "final"
	medianTotal = "total, median flight"
	medianFinal = "final, median flight"
	crashed     = "steps with a collision"
	lastFlights = "total of the last ten flights"
)

// observe returns what realizations saw.
func observe(all []*unit) *study.Frame {
	f := new(study.Frame)
	for k, u := range all {
		for id, row := range u.Rows {
			f.Add(id, total, k, row.Total...)
			f.Add(id, final, k, row.Final...)
			f.Add(id, medianTotal, k, median(row.Total))
			f.Add(id, medianFinal, k, median(row.Final))
			f.Add(id, crashed, k, row.Crashed)
			f.Add(id, lastFlights, k, row.Total[max(len(row.Total)-10, 0):]...)
		}
	}
	return f
}

// median returns the middle of the values.
func median(values []float64) float64 {
	v := slices.Sorted(slices.Values(values))
	if n := len(v); n%2 == 1 {
		return v[n/2]
	} else if n > 0 {
		return (v[n/2-1] + v[n/2]) / 2
	}
	return math.NaN()
}

// table2Result makes tables and figures of the units.
func table2Result(s *recipe.Flocking, rows []tableRow, all []*unit) *study.Result {
	f := observe(all)
	r := &study.Result{Tables: []study.Table{variations(s, rows, f, len(all)), differences(rows, f)}, Models: modelFiles(all)}
	r.Charts = append(r.Charts, variationChart(s, rows, all))
	for _, pair := range []struct{ id, name, title string }{
		{Expert, "table2-paths-optimal", "Robots flown by the optimal controller"},
		{"wd-gnn central", "table2-paths-wdgnn", "The same start, flown by a WD-GNN that learns centrally"},
	} {
		if tracks := all[0].Tracks[pair.id]; len(tracks) > 0 {
			r.Charts = append(r.Charts, study.Chart{
				Name: pair.name, Title: pair.title, X: "x, m", Y: "y, m", Tracks: tracks, Note: texts.Say("table2 paths", s),
			})
		}
	}
	r.Notes = append(texts.Notes("table2 notes", table2Numbers(s, rows, all)), table2Warnings(rows, f)...)
	return r
}

func modelFiles(all []*unit) (files []string) {
	for _, u := range all {
		for _, m := range u.Models {
			files = append(files, m.File)
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// variations is the table of the paper.
func variations(s *recipe.Flocking, rows []tableRow, f *study.Frame, count int) study.Table {
	few := 0
	if slices.ContainsFunc(rows, func(row tableRow) bool { return row.Few }) {
		few = fewRealizations
	}
	l := study.Layout{
		Title: "Velocity variation: total and final",
		Columns: []study.Column{
			{Name: total, Decimals: 1},
			{Name: final, Decimals: 4},
			{Name: medianTotal, Decimals: 1},
			{Name: medianFinal, Decimals: 4},
			{Name: crashed, Decimals: 1},
		},
		Note: texts.Say("table2 flights", map[string]any{
			"S": s, "Count": count, "Few": few, "Closest": recipe.ClipClosest, "Stable": recipe.ClipStable,
		}),
	}
	for _, row := range rows {
		l.Lines = append(l.Lines, study.Line{
			Name: row.Name, Of: row.ID, Ours: row.Total == nil, Paper: []*study.Value{row.Total, row.Final},
		})
	}
	return f.Table(l)
}

// differences compares rows pair by pair, flight by flight.
func differences(rows []tableRow, f *study.Frame) study.Table {
	at := map[string]tableRow{}
	for _, row := range rows {
		at[row.ID] = row
	}
	pairs := map[string]tableRow{} // by name in this table
	l := study.Layout{
		Title: "Paired differences, % (standard errors over realizations)",
		Columns: []study.Column{
			{Name: total, Decimals: 1, Signed: true, Error: true},
			{Name: final, Decimals: 1, Signed: true, Error: true},
			{Name: medianFinal, Decimals: 1, Signed: true, Error: true},
			{Name: "flights with a lower total", Cell: func(name string) study.Cell {
				lower, flights := f.Above(pairs[name].Before, pairs[name].ID, total)
				return study.Cell{Text: fmt.Sprintf("%d of %d", lower, flights)}
			}},
		},
		Note: texts.Say("table2 differences", nil),
	}
	for _, row := range rows {
		before, ok := at[row.Before]
		if !ok {
			continue
		}
		line := study.Line{Name: row.Name + " / " + before.Name, Ours: row.Total == nil}
		if row.Total != nil && before.Total != nil {
			line.Paper = []*study.Value{
				{Mean: study.Percent(row.Total.Mean, before.Total.Mean)}, {Mean: study.Percent(row.Final.Mean, before.Final.Mean)},
			}
		}
		pairs[line.Name] = row
		f.Compare(line.Name, row.ID, before.ID, study.Percent, total, final, medianFinal)
		l.Lines = append(l.Lines, line)
	}
	return f.Table(l)
}

// variationChart shows how velocities come together.
func variationChart(s *recipe.Flocking, rows []tableRow, all []*unit) study.Chart {
	c := study.Chart{
		Name: "table2", Title: "How velocities come together", X: "time, s", Y: "velocity variation, m²/s²", LogY: true,
		Note: texts.Say("table2 curves", map[string]any{"Flights": s.Test, "Count": len(all), "Seed": s.Seed}),
	}
	for _, row := range rows {
		if row.Total == nil {
			continue
		}
		curve := study.Curve{Name: row.Name, Reference: row.ID == Expert}
		for t := range all[0].Rows[row.ID].Curve {
			sum := 0.0
			for _, u := range all {
				sum += u.Rows[row.ID].Curve[t] / float64(len(all))
			}
			if sum > 0 {
				curve.X, curve.Y = append(curve.X, float64(t)*s.World.SampleSeconds), append(curve.Y, sum)
			}
		}
		if len(curve.X) > 0 {
			c.Curves = append(c.Curves, curve)
		}
	}
	return c
}
