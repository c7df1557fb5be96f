package reproduce

import (
	"fmt"
	"strings"

	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/internal/reproduce/study"
)

// movieColumn returns one number per split.
func movieColumn(all []*movieUnit, of func(u *movieUnit) float64) (v []float64) {
	for _, u := range all {
		v = append(v, of(u))
	}
	return v
}

// table4Result makes tables and figures of the units.
func table4Result(edition moviesEdition, s *moviesSettings, l *recipe.Library, all []*movieUnit) *Result {
	r := &Result{}
	r.Tables = append(
		r.Tables,
		errorTable(edition, libvarSetting, append(append([]movieRow{}, paperRows...), networkRows...), all,
			"Similarity libvar, which the paper's table fits",
			"libvar is (var_u + var_v) / (2 sd_u sd_v), variances over the users who rated both movies: no correlation. The paper says Pearson."),
		differenceTable(edition, libvarSetting, all, "Paired differences, similarity libvar"),
		errorTable(edition, huangSetting, append(append([]movieRow{}, paperRows...), networkRows...), all,
			"Similarity huang, the correlation that the paper's text and its reference describe", ""),
		differenceTable(edition, huangSetting, all, "Paired differences, similarity huang"),
		baselineTable(all),
		streamTable(all),
		unseenTable(all),
	)
	users := all[0].Readings[libvarSetting.ID].Users
	r.Tables[0].Note = fmt.Sprintf("%d splits. Test users: %d, %d and %d; %d movies, %d ratings. %s",
		len(all), users[0], users[1], users[2], l.Movies(), l.Count(), r.Tables[0].Note)
	name := map[bool]string{true: "table4", false: "table4-1m"}[edition.Paper]
	for c := 1; c < len(movieColumns); c++ {
		r.Charts = append(r.Charts, curveChart(name, c, s, all))
	}
	for _, u := range all {
		r.Models = append(r.Models, u.Models...)
	}
	r.Notes = table4Notes(edition, all)
	return r
}

// errorTable is the table of the paper under one reading.
func errorTable(edition moviesEdition, m movieSetting, rows []movieRow, all []*movieUnit, title, note string) study.Table {
	t := study.Table{Title: title, Columns: movieColumns, Note: note}
	for _, row := range rows {
		out := study.Row{Name: row.Name, Ours: row.ours()}
		for c := range movieColumns {
			cell := study.Cell{Value: study.Summary(movieColumn(all, func(u *movieUnit) float64 { return u.Readings[m.ID].Test[row.ID][c] })), Decimals: 4}
			if edition.Paper && !row.ours() {
				cell.Paper = &row.Paper[c]
			}
			out.Cells = append(out.Cells, cell)
		}
		t.Rows = append(t.Rows, out)
	}
	return t
}

// moviePairs are the differences worth a look: first less second.
var moviePairs = []struct {
	Name          string
	First, Second movieRow
}{
	{"GNN − graph filter", gnnRow, filterRow},
	{"WD-GNN − graph filter", wideDeepRow, filterRow},
	{"WD-GNN − GNN", wideDeepRow, gnnRow},
	{"Graph filter: online − offline", filterOnlineRow, filterRow},
	{"WD-GNN: online − offline", wideDeepOnlineRow, wideDeepRow},
	{"Online: WD-GNN − graph filter", wideDeepOnlineRow, filterOnlineRow},
	{"Graph filter: distributed online − offline", filterNetworkRow, filterRow},
	{"WD-GNN: distributed online − offline", wideDeepNetworkRow, wideDeepRow},
	{"Graph filter: distributed online, γ = 0.02 − offline", filterLargeRow, filterRow},
	{"WD-GNN: distributed online, γ = 0.02 − offline", wideDeepLargeRow, wideDeepRow},
}

// differenceTable compares rows split by split.
func differenceTable(edition moviesEdition, m movieSetting, all []*movieUnit, title string) study.Table {
	t := study.Table{Title: title, Columns: movieColumns, Note: "Mean over splits ± standard error of that mean; less than 0 means that the first is better. The paper gives no errors of differences."}
	for _, p := range moviePairs {
		row := study.Row{Name: p.Name, Ours: p.First.ours()}
		for c := range movieColumns {
			cell := study.Cell{Value: study.StandardError(pairedDifference(all, m, p.First.ID, p.Second.ID, c)), Decimals: 4, Signed: true}
			if edition.Paper && !p.First.ours() {
				cell.Paper = &study.Value{Mean: p.First.Paper[c].Mean - p.Second.Paper[c].Mean}
			}
			row.Cells = append(row.Cells, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func pairedDifference(all []*movieUnit, m movieSetting, first, second string, c int) []float64 {
	return movieColumn(all, func(u *movieUnit) float64 {
		return u.Readings[m.ID].Test[first][c] - u.Readings[m.ID].Test[second][c]
	})
}

// baselineTable puts the models beside simpler ones, on the same users.
func baselineTable(all []*movieUnit) study.Table {
	t := study.Table{
		Title: "The same users: baselines and our setting", Columns: movieColumns,
		Note: "Baselines see all ratings but those of the movie by its test users; on Contact and Return of the Jedi graph models see none of the movie's ratings before they go online, and then 400. " +
			"Ours: a signal is what a rating differs from the user's mean, Pearson's correlation over co-raters, D^-½ A D^-½. The penalty of the biases was picked among five on ten of these splits; those of the factorisation are not tuned.",
	}
	add := func(name string, of func(u *movieUnit, c int) float64) {
		row := study.Row{Name: name, Ours: true}
		for c := range movieColumns {
			row.Cells = append(row.Cells, study.Cell{Value: study.Summary(movieColumn(all, func(u *movieUnit) float64 { return of(u, c) })), Decimals: 4})
		}
		t.Rows = append(t.Rows, row)
	}
	for _, name := range baselineNames {
		add(name, func(u *movieUnit, c int) float64 { return u.Baselines[name][c] })
	}
	for _, row := range paperRows {
		add("Ours: "+row.Name, func(u *movieUnit, c int) float64 { return u.Readings[centeredSetting.ID].Test[row.ID][c] })
	}
	return t
}

// streamTable is about the ratings that are heard on the way.
func streamTable(all []*movieUnit) study.Table {
	t := study.Table{
		Title: "Along the stream: predict, then learn", Columns: []string{"Contact, libvar", "Jedi, libvar", "Contact, huang", "Jedi, huang"},
		Note: "RMSE over the users of the stream. Distributed: Metropolis weights on the graph of movies, every movie keeps taps of its own, only the movie in question hears a rating.",
	}
	for _, row := range []movieRow{
		filterRow, filterOnlineRow, filterNetworkRow, filterLargeRow, wideDeepRow, wideDeepOnlineRow, wideDeepNetworkRow, wideDeepLargeRow,
		{ID: heardMean, Name: "Mean of the ratings heard so far"},
	} {
		out := study.Row{Name: row.Name, Ours: true}
		for _, m := range []movieSetting{libvarSetting, huangSetting} {
			for c := 1; c < len(movieColumns); c++ {
				out.Cells = append(out.Cells, study.Cell{Value: study.Summary(movieColumn(all, func(u *movieUnit) float64 { return u.Readings[m.ID].Stream[row.ID][c] })), Decimals: 4})
			}
		}
		t.Rows = append(t.Rows, out)
	}
	return t
}

// unseenTable is the protocol without a leak.
func unseenTable(all []*movieUnit) study.Table {
	t := study.Table{
		Title: "Test users whom nothing has seen", Columns: movieColumns,
		Note: "One tenth of all users is held out of training, of the graph and of the streams, and tests on every movie. In the tables above, as in the paper as we read it, test users of the other movies may have trained on Star Wars and are in the graph.",
	}
	for _, m := range []struct {
		prefix string
		movieSetting
	}{{"libvar: ", libvarByUser}, {"Ours: ", centeredByUser}} {
		for _, row := range paperRows {
			out := study.Row{Name: m.prefix + row.Name, Ours: true}
			for c := range movieColumns {
				out.Cells = append(out.Cells, study.Cell{Value: study.Summary(movieColumn(all, func(u *movieUnit) float64 { return u.Readings[m.ID].Test[row.ID][c] })), Decimals: 4})
			}
			t.Rows = append(t.Rows, out)
		}
	}
	return t
}

// curveChart shows how test users fare while a stream passes.
func curveChart(name string, c int, s *moviesSettings, all []*movieUnit) study.Chart {
	chart := study.Chart{
		Name: fmt.Sprintf("%s-%s", name, []string{"", "contact", "jedi"}[c]), Title: "Learning a new movie: " + movieColumns[c],
		X: "ratings heard", Y: "RMSE of the test users",
		Note: fmt.Sprintf("trained on Star Wars, similarity libvar, %d splits; bars: standard error", len(all)),
	}
	scores := func(u *movieUnit) *movieScores { return u.Readings[libvarSetting.ID] }
	for _, row := range []movieRow{filterOnlineRow, wideDeepOnlineRow, wideDeepLargeRow} {
		curve := study.Curve{Name: strings.ReplaceAll(row.Name, ", online", ", centralized online"), Points: true}
		for k, at := range curveAt {
			if at > s.Split.Stream || k >= len(scores(all[0]).Curve[row.ID][c]) {
				break
			}
			v := study.StandardError(movieColumn(all, func(u *movieUnit) float64 { return scores(u).Curve[row.ID][c][k] }))
			curve.X, curve.Y, curve.Spread = append(curve.X, float64(at)), append(curve.Y, v.Mean), append(curve.Spread, v.Spread)
		}
		chart.Curves = append(chart.Curves, curve)
	}
	for _, name := range []string{"Mean of the ratings heard online", factorsTight} {
		level := mean(movieColumn(all, func(u *movieUnit) float64 { return u.Baselines[name][c] }))
		chart.Curves = append(chart.Curves, study.Curve{Name: strings.ToLower(name[:1]) + name[1:], X: []float64{0}, Y: []float64{level}, Reference: true})
	}
	return chart
}
