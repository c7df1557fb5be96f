package flocking

import (
	"cmp"
	"context"
	"fmt"

	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// Table3 compares orders of filters and numbers of features.
var Table3 = study.Experiment{
	Name:  "table3",
	Title: "Table 3: filter order and number of features",
	About: texts.Say("table3 about", nil),
	Do:    runTable3,
}

// The paper's numbers, by order, mode and number of features.
var (
	table3Orders   = []int{2, 3, 4}
	table3Features = []int{16, 32, 48}
	table3Modes    = []struct {
		Name string
		Cost flocking.Cost
	}{{"WD-GNN", ""}, {"centralized online", flocking.CostVariation}, {"distributed online", flocking.CostNeighborhood}}

	table3Total = [3][3][3]study.Value{
		{
			{{Mean: 115, Spread: 9}, {Mean: 90, Spread: 8}, {Mean: 85, Spread: 5}},
			{{Mean: 108, Spread: 9}, {Mean: 86, Spread: 7}, {Mean: 80, Spread: 5}},
			{{Mean: 111, Spread: 8}, {Mean: 88, Spread: 8}, {Mean: 83, Spread: 5}},
		},
		{
			{{Mean: 112, Spread: 11}, {Mean: 84, Spread: 5}, {Mean: 86, Spread: 3}},
			{{Mean: 107, Spread: 9}, {Mean: 79, Spread: 4}, {Mean: 81, Spread: 3}},
			{{Mean: 109, Spread: 10}, {Mean: 82, Spread: 4}, {Mean: 84, Spread: 3}},
		},
		{
			{{Mean: 116, Spread: 10}, {Mean: 88, Spread: 6}, {Mean: 83, Spread: 3}},
			{{Mean: 107, Spread: 10}, {Mean: 83, Spread: 6}, {Mean: 79, Spread: 2}},
			{{Mean: 112, Spread: 9}, {Mean: 85, Spread: 6}, {Mean: 81, Spread: 2}},
		},
	}
	table3Final = [3][3][3]study.Value{
		{
			{{Mean: 0.0549, Spread: 0.0233}, {Mean: 0.0206, Spread: 0.0090}, {Mean: 0.0132, Spread: 0.0031}},
			{{Mean: 0.0270, Spread: 0.0193}, {Mean: 0.0063, Spread: 0.0030}, {Mean: 0.0036, Spread: 0.0022}},
			{{Mean: 0.0329, Spread: 0.0177}, {Mean: 0.0121, Spread: 0.0065}, {Mean: 0.0088, Spread: 0.0026}},
		},
		{
			{{Mean: 0.0395, Spread: 0.0251}, {Mean: 0.0119, Spread: 0.0032}, {Mean: 0.0109, Spread: 0.0049}},
			{{Mean: 0.0229, Spread: 0.0179}, {Mean: 0.0065, Spread: 0.0028}, {Mean: 0.0059, Spread: 0.0025}},
			{{Mean: 0.0313, Spread: 0.0225}, {Mean: 0.0069, Spread: 0.0023}, {Mean: 0.0077, Spread: 0.0041}},
		},
		{
			{{Mean: 0.0494, Spread: 0.0156}, {Mean: 0.0132, Spread: 0.0035}, {Mean: 0.0108, Spread: 0.0028}},
			{{Mean: 0.0176, Spread: 0.0118}, {Mean: 0.0058, Spread: 0.0022}, {Mean: 0.0027, Spread: 0.0017}},
			{{Mean: 0.0299, Spread: 0.0116}, {Mean: 0.0065, Spread: 0.0023}, {Mean: 0.0056, Spread: 0.0021}},
		},
	}
)

// table3ID names a row by the places of its order, features and mode.
func table3ID(k, f, mode int) string {
	return fmt.Sprintf("k%d f%d %s", table3Orders[k], table3Features[f], table3Modes[mode].Name)
}

func table3Rows(s *recipe.Flocking) (rows []tableRow) {
	for k, order := range table3Orders {
		for f, features := range table3Features {
			m := s.Spec(recipe.WideDeep, recipe.ClipClosest)
			m.Order, m.Features = order, features
			for mode := range table3Modes {
				rows = append(rows, tableRow{
					ID: table3ID(k, f, mode), Model: m, Cost: table3Modes[mode].Cost, Gamma: s.Gamma,
					Total: &table3Total[k][mode][f], Final: &table3Final[k][mode][f],
				})
			}
		}
	}
	return rows
}

func runTable3(ctx context.Context, r *study.Run) (*study.Result, error) {
	s := From(r.Options)
	s.Depth, s.DaggerFlights = 4, 0
	repeats := cmp.Or(r.Repeats, 5)
	if r.Quick {
		repeats = cmp.Or(r.Repeats, 1)
	}
	all, err := unitsOf(ctx, r, s, repeats, table3Rows(&s))
	if err != nil {
		return nil, err
	}
	return table3Result(&s, all), nil
}

// byFeatures names the column of a number of features.
func byFeatures(column string, f int) string {
	return fmt.Sprintf("%s, F = %d", column, table3Features[f])
}

// byOrder names the row of an order and a mode.
func byOrder(k, mode int) string {
	return fmt.Sprintf("K = %d, %s", table3Orders[k], table3Modes[mode].Name)
}

// observe3 returns what realizations saw, by order and mode, and by features.
func observe3(all []*unit) *study.Frame {
	f := new(study.Frame)
	for unit, u := range all {
		table3Each(func(k, features, mode int) {
			row, flown := byOrder(k, mode), u.Rows[table3ID(k, features, mode)]
			f.Add(row, byFeatures(total, features), unit, flown.Total...)
			f.Add(row, byFeatures(final, features), unit, flown.Final...)
			f.Add(row, byFeatures(medianFinal, features), unit, median(flown.Final))
		})
	}
	return f
}

// table3Each calls do for the places of every order, number of features and mode.
func table3Each(do func(k, f, mode int)) {
	for k := range table3Orders {
		for f := range table3Features {
			for mode := range table3Modes {
				do(k, f, mode)
			}
		}
	}
}

// table3Result makes tables and figures of the units.
func table3Result(s *recipe.Flocking, all []*unit) *study.Result {
	f := observe3(all)
	r := &study.Result{Models: modelFiles(all), Tables: []study.Table{
		table3Table(f, "Total velocity variation", total, &table3Total, 1),
		table3Table(f, "Final velocity variation", final, &table3Final, 4),
		table3Table(f, "Final velocity variation of the median flight", medianFinal, nil, 4),
	}}
	r.Tables[0].Note = texts.Say("table3 flights", map[string]any{"S": s, "Count": len(all), "Clip": recipe.ClipClosest})
	r.Charts = []study.Chart{table3Chart(s, f, len(all))}
	r.Notes = texts.Notes("table3 notes", map[string]any{
		"Trends": table3Trends(f, len(all) > 1), "All": len(table3Orders) * len(table3Features),
		"Ours": onlineIn(func(k, features, mode int) (float64, float64) {
			return f.Mean(byOrder(k, mode), byFeatures(total, features)), f.Mean(byOrder(k, mode), byFeatures(final, features))
		}),
		"Paper": onlineIn(func(k, features, mode int) (float64, float64) {
			return table3Total[k][mode][features].Mean, table3Final[k][mode][features].Mean
		}),
		"Selection": selectionOf(all),
	})
	return r
}

func table3Table(f *study.Frame, title, column string, paper *[3][3][3]study.Value, decimals int) study.Table {
	l := study.Layout{Title: title}
	for features, count := range table3Features {
		l.Columns = append(l.Columns, study.Column{
			Name: fmt.Sprintf("F = %d", count), Of: byFeatures(column, features), Decimals: decimals,
		})
	}
	for k := range table3Orders {
		for mode := range table3Modes {
			line := study.Line{Name: byOrder(k, mode)}
			if paper != nil {
				for features := range table3Features {
					line.Paper = append(line.Paper, &paper[k][mode][features])
				}
			}
			l.Lines = append(l.Lines, line)
		}
	}
	return f.Table(l)
}

// table3Trend is whether the paper's claim holds in the numbers: mean and spread
// fall with F, and not necessarily with K.
type table3Trend struct {
	What, Measure string
	ByF, ByK      trend
}

// trend is three numbers.
type trend []float64

// Falls says whether each number is below the one before.
func (t trend) Falls() bool { return t[0] > t[1] && t[1] > t[2] }

// Rises says whether each number is above the one before.
func (t trend) Rises() bool { return t[0] < t[1] && t[1] < t[2] }

// table3Trends returns the trends of means, and of spreads if there are some.
func table3Trends(f *study.Frame, spreads bool) (list []table3Trend) {
	for _, measure := range []string{total, final} {
		means := table3Trend{"mean", measure, make(trend, 3), make(trend, 3)}
		spread := table3Trend{"spread", measure, make(trend, 3), make(trend, 3)}
		table3Each(func(k, features, mode int) {
			v := f.Deviation(byOrder(k, mode), byFeatures(measure, features))
			means.ByF[features] += v.Mean / 9
			means.ByK[k] += v.Mean / 9
			spread.ByF[features] += v.Spread / 9
			spread.ByK[k] += v.Spread / 9
		})
		list = append(list, means)
		if spreads {
			list = append(list, spread)
		}
	}
	return list
}

// onlineCounts is in how many architectures online learning helps.
type onlineCounts struct {
	BetterTotal, BetterFinal int // both modes are ahead of the frozen model
	AheadTotal, AheadFinal   int // centralized learning is ahead of distributed
}

// onlineIn counts in a table of totals and final variations.
func onlineIn(at func(k, features, mode int) (total, final float64)) (c onlineCounts) {
	for k := range table3Orders {
		for f := range table3Features {
			var total, final [3]float64
			for mode := range table3Modes {
				total[mode], final[mode] = at(k, f, mode)
			}
			for _, m := range []struct {
				v             [3]float64
				better, ahead *int
			}{{total, &c.BetterTotal, &c.AheadTotal}, {final, &c.BetterFinal, &c.AheadFinal}} {
				if m.v[1] < m.v[0] && m.v[2] < m.v[0] {
					*m.better++
				}
				if m.v[1] < m.v[2] {
					*m.ahead++
				}
			}
		}
	}
	return c
}

func table3Chart(s *recipe.Flocking, f *study.Frame, count int) study.Chart {
	c := study.Chart{
		Name: "table3", Title: "Velocity variation by features", X: "features F", Y: "total velocity variation, m²/s²",
		Note: texts.Say("table3 chart", map[string]any{"Count": count, "Seed": s.Seed}),
	}
	for k, order := range table3Orders {
		curve := study.Curve{Name: fmt.Sprintf("K = %d", order), Points: true}
		for features, n := range table3Features {
			curve.Add(float64(n), f.Deviation(byOrder(k, 0), byFeatures(total, features)))
		}
		c.Curves = append(c.Curves, curve)
	}
	return c
}
