package movies

import (
	"fmt"
	"strings"

	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
	"github.com/wdgnn/wdgnn/internal/shop/movierecipe"
)

// Columns of what a split sees, by row: errors of test users of a movie, along its
// stream, and after so many ratings of it. Those of baselines are named by the
// movie alone.
func testIn(m movieSetting, c int) string { return movieColumns[c] + ", " + m.ID }

func streamIn(m movieSetting, c int) string {
	return []string{"", "Contact", "Jedi"}[c] + ", " + m.ID + ", stream"
}

func heardIn(c, ratings int) string {
	return fmt.Sprintf("%s after %d ratings", movieColumns[c], ratings)
}

// observe returns what splits saw.
func observe(s *moviesSettings, all []*unit) *study.Frame {
	f := new(study.Frame)
	for k, u := range all {
		for _, m := range s.Settings {
			scores := u.Readings[m.ID]
			for c := range movieColumns {
				for id, v := range scores.Test {
					f.Add(id, testIn(m, c), k, v[c])
				}
				if c == 0 {
					continue // there is no stream
				}
				for id, v := range scores.Stream {
					f.Add(id, streamIn(m, c), k, v[c])
				}
			}
		}
		for c, movie := range movieColumns {
			for name, v := range u.Baselines {
				f.Add(name, movie, k, v[c])
			}
			for id, v := range u.Readings[libvarSetting.ID].Curve {
				for e, at := range curveAt[:len(v[c])] {
					f.Add(id, heardIn(c, at), k, v[c][e])
				}
			}
		}
	}
	return f
}

// table4Result makes tables and figures of the units.
func table4Result(edition moviesEdition, s *moviesSettings, l *movierecipe.Library, all []*unit) *study.Result {
	f := observe(s, all)
	r := &study.Result{Tables: []study.Table{
		errorTable(f, edition, libvarSetting, "Similarity libvar"),
		differenceTable(f, edition, libvarSetting, "Paired differences, similarity libvar"),
		errorTable(f, edition, huangSetting, "Similarity huang, the correlation that the paper's text and its reference describe"),
		differenceTable(f, edition, huangSetting, "Paired differences, similarity huang"),
		baselineTable(f), streamTable(f), unseenTable(f),
	}}
	r.Tables[0].Note = texts.Say("table4 libvar", map[string]any{
		"Splits": len(all), "Users": all[0].Readings[libvarSetting.ID].Users, "Movies": l.Movies(), "Ratings": l.Count(),
	})
	name := map[bool]string{true: "table4", false: "table4-1m"}[edition.Paper]
	for c := 1; c < len(movieColumns); c++ {
		r.Charts = append(r.Charts, curveChart(f, name, c, s, len(all)))
	}
	for _, u := range all {
		r.Models = append(r.Models, u.Models...)
	}
	r.Notes = texts.Notes("table4 notes", table4Numbers(f, edition, s, all))
	return r
}

// movieLayout is a table with a column for every movie, of test users in one
// setting.
func movieLayout(m movieSetting, title, note string) study.Layout {
	l := study.Layout{Title: title, Note: note}
	for c, movie := range movieColumns {
		l.Columns = append(l.Columns, study.Column{Name: movie, Of: testIn(m, c), Decimals: 4})
	}
	return l
}

// paper returns the paper's numbers of a row, as far as it has some.
func (e moviesEdition) paper(row tableRow) (values []*study.Value) {
	if e.Paper && !row.ours() {
		for c := range row.Paper {
			values = append(values, &row.Paper[c])
		}
	}
	return values
}

// errorTable is the table of the paper in one setting.
func errorTable(f *study.Frame, edition moviesEdition, m movieSetting, title string) study.Table {
	l := movieLayout(m, title, "")
	for _, row := range append(append([]tableRow{}, paperRows...), networkRows...) {
		l.Lines = append(l.Lines, study.Line{Name: row.Name, Of: row.ID, Ours: row.ours(), Paper: edition.paper(row)})
	}
	return f.Table(l)
}

// moviePairs are the differences worth a look: first less second.
var moviePairs = []struct {
	Name          string
	First, Second tableRow
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
	{"Graph filter: own − offline", filterOwnRow, filterRow},
	{"WD-GNN: own − offline", wideDeepOwnRow, wideDeepRow},
}

// differenceTable compares rows split by split.
func differenceTable(f *study.Frame, edition moviesEdition, m movieSetting, title string) study.Table {
	l := movieLayout(m, title, texts.Say("table4 differences", nil))
	for c := range l.Columns {
		l.Columns[c].Signed, l.Columns[c].Error = true, true
	}
	for _, p := range moviePairs {
		line := study.Line{Name: p.Name, Ours: p.First.ours()}
		for c := range movieColumns {
			f.Compare(p.Name, p.First.ID, p.Second.ID, study.Less, testIn(m, c))
		}
		for c, v := range edition.paper(p.First) {
			line.Paper = append(line.Paper, &study.Value{Mean: v.Mean - p.Second.Paper[c].Mean})
		}
		l.Lines = append(l.Lines, line)
	}
	return f.Table(l)
}

// baselineTable puts the models beside simpler ones, on the same users.
func baselineTable(f *study.Frame) study.Table {
	l := study.Layout{Title: "The same users: baselines and our setting", Note: texts.Say("table4 baselines", nil)}
	for _, movie := range movieColumns {
		l.Columns = append(l.Columns, study.Column{Name: movie, Decimals: 4})
	}
	for _, name := range baselineNames {
		l.Lines = append(l.Lines, study.Line{Name: name, Ours: true})
	}
	t := f.Table(l)
	t.Rows = append(t.Rows, settingRows(f, "Ours: ", centeredSetting)...)
	return t
}

// settingRows are the paper's rows in another setting.
func settingRows(f *study.Frame, prefix string, m movieSetting) []study.Row {
	l := movieLayout(m, "", "")
	for _, row := range paperRows {
		l.Lines = append(l.Lines, study.Line{Name: prefix + row.Name, Of: row.ID, Ours: true})
	}
	return f.Table(l).Rows
}

// streamTable is about the ratings that are heard on the way.
func streamTable(f *study.Frame) study.Table {
	l := study.Layout{Title: "Along the stream: predict, then learn", Note: texts.Say("table4 stream", nil)}
	for _, m := range []movieSetting{libvarSetting, huangSetting} {
		for c := 1; c < len(movieColumns); c++ {
			l.Columns = append(l.Columns, study.Column{Name: strings.TrimSuffix(streamIn(m, c), ", stream"), Of: streamIn(m, c), Decimals: 4})
		}
	}
	for _, row := range []tableRow{
		filterRow, filterOnlineRow, filterNetworkRow, filterLargeRow, wideDeepRow, wideDeepOnlineRow, wideDeepNetworkRow, wideDeepLargeRow,
		{ID: heardMean, Name: "Mean of the ratings heard so far"},
	} {
		l.Lines = append(l.Lines, study.Line{Name: row.Name, Of: row.ID, Ours: true})
	}
	return f.Table(l)
}

// unseenTable is the protocol without a leak.
func unseenTable(f *study.Frame) study.Table {
	t := study.Table{
		Title: "Test users whom nothing has seen", Columns: movieColumns, Note: texts.Say("table4 unseen", nil),
		Rows: settingRows(f, "libvar: ", libvarByUser),
	}
	t.Rows = append(t.Rows, settingRows(f, "Ours: ", centeredByUser)...)
	return t
}

// curveChart shows how test users fare while a stream passes.
func curveChart(f *study.Frame, name string, c int, s *moviesSettings, splits int) study.Chart {
	chart := study.Chart{
		Name: fmt.Sprintf("%s-%s", name, []string{"", "contact", "jedi"}[c]), Title: "Learning a new movie: " + movieColumns[c],
		X: "ratings heard", Y: "RMSE of the test users", Note: texts.Say("table4 chart", splits),
	}
	for _, row := range []tableRow{filterOnlineRow, wideDeepOnlineRow, wideDeepLargeRow} {
		curve := study.Curve{Name: strings.ReplaceAll(row.Name, ", online", ", centralized online"), Points: true}
		for _, at := range curveAt {
			if v := f.Error(row.ID, heardIn(c, at)); at <= s.Split.Stream && v.Count > 0 {
				curve.Add(float64(at), v)
			}
		}
		chart.Curves = append(chart.Curves, curve)
	}
	for _, name := range []string{"Mean of the ratings heard online", factorsTight} {
		chart.Curves = append(chart.Curves, study.Curve{
			Name: strings.ToLower(name[:1]) + name[1:], X: []float64{0}, Y: []float64{f.Mean(name, movieColumns[c])}, Reference: true,
		})
	}
	return chart
}
