package reproduce

import (
	"context"
	"fmt"
	"strings"

	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/internal/reproduce/study"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

var table3 = Experiment{
	Name:  "table3",
	Title: "Table 3: filter order and number of features",
	About: "The WD-GNN of Table 2 with filters of order K = 2, 3, 4 and F = 16, 32, 48 features, offline and learning in flight. " +
		"Velocity variation, m²/s², mean over flights, mean ± standard deviation over realizations. All nine architectures see the same flights.",
	Do: in(runTable3),
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

func table3Rows(s *recipe.Flocking) (rows []flockingRow) {
	for k, order := range table3Orders {
		for f, features := range table3Features {
			m := s.Spec(recipe.WideDeep, recipe.ClipClosest)
			m.Order, m.Features = order, features
			for mode := range table3Modes {
				rows = append(rows, flockingRow{
					ID: table3ID(k, f, mode), Model: m, Cost: table3Modes[mode].Cost, Gamma: s.Gamma,
					Total: &table3Total[k][mode][f], Final: &table3Final[k][mode][f],
				})
			}
		}
	}
	return rows
}

func runTable3(ctx context.Context, r *runner) (*Result, error) {
	s := flockingFrom(r.Options)
	s.Depth, s.DaggerFlights = 4, 0
	repeats := or(r.Repeats, 5)
	if r.Quick {
		repeats = or(r.Repeats, 1)
	}
	all, err := flockingUnits(ctx, r, s, repeats, table3Rows(&s))
	if err != nil {
		return nil, err
	}
	result := &Result{Models: flockingFiles(all), Notes: []string{table3Verdict(all), table3Online(all), selectionNote(all)}}
	result.Tables = []study.Table{
		table3Table("Total velocity variation", all, meanTotal, &table3Total, 1),
		table3Table("Final velocity variation", all, meanFinal, &table3Final, 4),
		table3Table("Final velocity variation of the median flight", all, medianFinal, nil, 4),
	}
	result.Tables[0].Note = fmt.Sprintf("%d realizations of %d flights for training and %d for testing; %d epochs, gradients clipped to %v, γ = %v.", len(all), s.Train, s.Test, s.Epochs, recipe.ClipClosest, s.Gamma)
	result.Charts = []study.Chart{table3Chart(&s, all)}
	return result, nil
}

func table3Table(title string, all []*flockingUnit, of func(f *flown) float64, paper *[3][3][3]study.Value, decimals int) study.Table {
	t := study.Table{Title: title}
	for _, f := range table3Features {
		t.Columns = append(t.Columns, fmt.Sprintf("F = %d", f))
	}
	for k, order := range table3Orders {
		for mode := range table3Modes {
			row := study.Row{Name: fmt.Sprintf("K = %d, %s", order, table3Modes[mode].Name)}
			for f := range table3Features {
				cell := study.Cell{Value: overFlights(all, table3ID(k, f, mode), of), Decimals: decimals}
				if paper != nil {
					cell.Paper = &paper[k][mode][f]
				}
				row.Cells = append(row.Cells, cell)
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// table3Verdict says whether the paper's claim holds in the numbers: mean and
// spread fall with F, and not necessarily with K.
func table3Verdict(all []*flockingUnit) string {
	var parts []string
	for _, measure := range []struct {
		name string
		of   func(f *flown) float64
	}{{"total", meanTotal}, {"final", meanFinal}} {
		var byF, byK [2][3]float64 // mean, spread
		for k := range table3Orders {
			for f := range table3Features {
				for mode := range table3Modes {
					v := overFlights(all, table3ID(k, f, mode), measure.of)
					byF[0][f] += v.Mean / 9
					byF[1][f] += v.Spread / 9
					byK[0][k] += v.Mean / 9
					byK[1][k] += v.Spread / 9
				}
			}
		}
		for m, what := range []string{"mean", "spread"} {
			if m == 1 && len(all) < 2 {
				continue
			}
			parts = append(parts, fmt.Sprintf("%s of the %s variation over F = 16, 32, 48: %s; over K = 2, 3, 4: %s", what, measure.name, trend(byF[m]), trend(byK[m])))
		}
	}
	return "Verdict on the claim that mean and spread fall with the number of features F but not necessarily with the order K (averages over the other two of order, features and mode): " + strings.Join(parts, ". ") + "."
}

// trend writes three numbers and which way they go.
func trend(v [3]float64) string {
	way := "neither falls nor rises throughout"
	switch {
	case v[0] > v[1] && v[1] > v[2]:
		way = "falls"
	case v[0] < v[1] && v[1] < v[2]:
		way = "rises"
	}
	return fmt.Sprintf("%.4g, %.4g, %.4g (%s)", v[0], v[1], v[2], way)
}

// table3Online says whether online learning helps every architecture.
func table3Online(all []*flockingUnit) string {
	better, order := [2]int{}, [2]int{}
	for k := range table3Orders {
		for f := range table3Features {
			for m, of := range []func(f *flown) float64{meanTotal, meanFinal} {
				v := func(mode int) float64 { return overFlights(all, table3ID(k, f, mode), of).Mean }
				if v(1) < v(0) && v(2) < v(0) {
					better[m]++
				}
				if v(1) < v(2) {
					order[m]++
				}
			}
		}
	}
	return fmt.Sprintf("Online learning, both modes, lowers the total in %d of 9 architectures and the final variation in %d; centralized learning is ahead of distributed in %d and %d. In the paper all of these are 9.",
		better[0], better[1], order[0], order[1])
}

func table3Chart(s *recipe.Flocking, all []*flockingUnit) study.Chart {
	c := study.Chart{
		Name: "table3", Title: "More features fly better", X: "features F", Y: "total velocity variation, m²/s²",
		Note: fmt.Sprintf("WD-GNN offline, %d realizations, seed %d; bars: standard deviation over realizations", len(all), s.Seed),
	}
	for k, order := range table3Orders {
		curve := study.Curve{Name: fmt.Sprintf("K = %d", order), Points: true}
		for f, features := range table3Features {
			v := overFlights(all, table3ID(k, f, 0), meanTotal)
			curve.X, curve.Y, curve.Spread = append(curve.X, float64(features)), append(curve.Y, v.Mean), append(curve.Spread, v.Spread)
		}
		c.Curves = append(c.Curves, curve)
	}
	return c
}
