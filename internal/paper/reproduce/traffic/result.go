package traffic

import (
	"fmt"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
)

// Measures are columns of tables.
var measures = []struct {
	Name string
	Of   func(s score) float64
}{
	{"MAE", func(s score) float64 { return s.MAE }},
	{"RMSE", func(s score) float64 { return s.RMSE }},
	{"MAPE", func(s score) float64 { return s.MAPE }},
}

// whom are those that a score is of.
var whom = []struct {
	Name string
	Of   func(p played) score
}{
	{"all", func(p played) score { return p.All }},
	{"live", func(p played) score { return p.Live }},
	{"dead", func(p played) score { return p.Dead }},
}

// column names what is seen of a horizon.
func column(h int, of, measure string) string { return ahead(h) + " " + of + " " + measure }

// row names who forecasts in which world.
func row(world, who string) string { return world + ": " + who }

// observe returns what all units saw: rows are who in which world.
func observe(all []*unit) *study.Frame {
	f := new(study.Frame)
	for k, u := range all {
		for _, p := range u.Played {
			if p.Refused != "" {
				continue
			}
			for _, of := range whom {
				s := of.Of(p)
				if s.Count == 0 {
					continue
				}
				for _, m := range measures {
					f.Add(row(p.World, p.Who), column(p.Steps, of.Name, m.Name), k, m.Of(s))
				}
			}
		}
	}
	return f
}

// change names the row of what who does against other, in %.
func change(who, other string) string { return who + " against " + other }

// compare adds what learning and the time of day change where nothing else does, in %.
func compare(f *study.Frame) {
	var both []string // MAE and RMSE of all horizons
	for _, h := range horizons {
		both = append(both, column(h, "all", "MAE"), column(h, "all", "RMSE"))
	}
	against := func(who, other string) {
		f.Compare(change(who, other), row(unchanged, who), row(unchanged, other), study.Percent, both...)
	}
	for _, l := range learners {
		against(l.Name, frozen)
	}
	against(season, plain)
	against(frozen, plain)
}

func result(s settings, w *week, all []*unit) *study.Result {
	f := observe(all)
	compare(f)
	said := map[string]any{
		"S": s, "Sensors": len(w.Sensors), "Links": len(w.Links), "First": all[0].First, "Given": w.Stream != nil,
	}
	r := &study.Result{Notes: texts.Notes("notes", said)}
	r.Tables = append(r.Tables, stillTable(f, said), changeTable(f, said))
	for _, telling := range tellings {
		r.Tables = append(r.Tables, changingTable(f, telling.Name, said))
	}
	r.Tables = append(r.Tables, barTable(f, said))
	r.Charts = charts(all[0], said)
	for _, u := range all {
		r.Models = append(r.Models, u.Models...)
	}
	slices.Sort(r.Models)
	return r
}

// stillTable is MAE and RMSE where nothing changes.
func stillTable(f *study.Frame, said map[string]any) study.Table {
	l := study.Layout{Title: "A world that stays as it is: error, mph", Note: texts.Say("still", said)}
	for _, h := range horizons {
		for _, m := range []string{"MAE", "RMSE"} {
			l.Columns = append(l.Columns, study.Column{Name: ahead(h) + " " + m, Of: column(h, "all", m), Decimals: 2})
		}
	}
	l.Columns = append(l.Columns, study.Column{Name: "15 min MAPE, %", Of: column(3, "all", "MAPE"), Decimals: 1})
	for _, who := range append([]string{last, seasonal, ridge, plain, frozen}, names()...) {
		l.Lines = append(l.Lines, study.Line{Name: who, Of: row(unchanged, who)})
	}
	return f.Table(l)
}

func names() (list []string) {
	for _, l := range learners {
		list = append(list, l.Name)
	}
	return list
}

// first measured: changes in % of MAE and RMSE at 5, 15 and 60 min, by code that was
// written before this program could forecast, on models without the time of day.
var measured = []struct {
	Name    string
	Percent map[string]float64
}{
	{"both stages, as first measured", map[string]float64{
		column(1, "all", "MAE"): -1.7, column(1, "all", "RMSE"): -1.4,
		column(3, "all", "MAE"): -3.4, column(3, "all", "RMSE"): -2.7,
		column(12, "all", "MAE"): -9.9, column(12, "all", "RMSE"): -9.6,
	}},
	{"neighbours, as first measured", map[string]float64{
		column(1, "all", "MAE"): -0.7, column(1, "all", "RMSE"): -0.4,
		column(3, "all", "MAE"): -0.6, column(3, "all", "RMSE"): 0.1,
		column(12, "all", "MAE"): 0.6, column(12, "all", "RMSE"): 0.9,
	}},
}

// changeTable is what learning changes, in %.
func changeTable(f *study.Frame, said map[string]any) study.Table {
	l := study.Layout{Title: "What learning changes there, %", Note: texts.Say("change", said)}
	for _, h := range horizons {
		for _, m := range []string{"MAE", "RMSE"} {
			l.Columns = append(l.Columns, study.Column{Name: ahead(h) + " " + m, Of: column(h, "all", m), Decimals: 1, Signed: true})
		}
	}
	for _, m := range measured {
		for name, v := range m.Percent {
			f.Add(m.Name, name, 0, v)
		}
	}
	for _, who := range names() {
		l.Lines = append(l.Lines, study.Line{Name: change(who, frozen)})
	}
	l.Lines = append(l.Lines, study.Line{Name: change(season, plain)}, study.Line{Name: change(frozen, plain)})
	for _, m := range measured {
		l.Lines = append(l.Lines, study.Line{Name: m.Name})
	}
	return f.Table(l)
}

// changingTable is the world that changes, 15 min ahead.
func changingTable(f *study.Frame, telling string, said map[string]any) study.Table {
	h := horizons[shown]
	l := study.Layout{
		Title: fmt.Sprintf("A world that changes, %s: error %s ahead, mph and %%", telling, ahead(h)),
		Note:  texts.Say("changing "+telling, said),
	}
	for _, of := range whom {
		for _, m := range measures {
			l.Columns = append(l.Columns, study.Column{Name: of.Name + " " + m.Name, Of: column(h, of.Name, m.Name), Decimals: 2})
		}
	}
	for _, who := range append([]string{last, believed, frozen}, names()...) {
		l.Lines = append(l.Lines, study.Line{Name: who, Of: row(telling, who)})
	}
	return f.Table(l)
}

// bar is something that the default must reach.
type bar struct {
	Name        string
	Found, Most float64
}

// met says whether it does.
func (b bar) met() bool { return b.Found <= b.Most }

// bars are what forecasts must reach, on the mean over origins unless it says
// otherwise; lower is better.
func bars(f *study.Frame) (list []bar) {
	worst, mean := math.Inf(-1), math.Inf(-1)
	for _, h := range []int{1, 3, 12} {
		for _, m := range []string{"MAE", "RMSE"} {
			values := f.Values(change(season, frozen), column(h, "all", m))
			worst, mean = max(worst, slices.Max(values)), max(mean, study.Mean(values))
		}
	}
	hour := column(12, "all", "RMSE")
	list = append(list,
		bar{"unchanged: worst change of MAE or RMSE at 5, 15, 60 min and any origin, %", worst, 0.5},
		bar{"unchanged: worst of these on the mean over origins, %", mean, 0},
		bar{"unchanged, 60 min: RMSE against the model without the time of day, %", f.Mean(change(season, plain), hour), -6},
		bar{"unchanged, 60 min: RMSE against the model with it, %", f.Mean(change(season, frozen), hour), -3})
	h := horizons[shown]
	for k, most := range []float64{3.4, 3.7} {
		world := tellings[k].Name
		list = append(list, bar{"changing, 15 min, " + world + ": MAE of all", f.Mean(row(world, season), column(h, "all", "MAE")), most})
	}
	for _, telling := range tellings {
		list = append(list, bar{
			"changing, 15 min, " + telling.Name + ": MAE of live sensors",
			f.Mean(row(telling.Name, season), column(h, "live", "MAE")), f.Mean(row(telling.Name, believed), column(h, "live", "MAE")),
		})
	}
	return list
}

// barTable says which bars are met.
func barTable(f *study.Frame, said map[string]any) study.Table {
	t := study.Table{Title: "What the default must reach", Columns: []string{"found", "at most", ""}, Note: texts.Say("bars", said)}
	for _, b := range bars(f) {
		word := "met"
		if !b.met() {
			word = "missed"
		}
		cell := func(v float64) study.Cell { return study.Cell{Value: &study.Value{Mean: v}, Decimals: 2} }
		t.Rows = append(t.Rows, study.Row{Name: b.Name, Cells: []study.Cell{cell(b.Found), cell(b.Most), {Text: word}}})
	}
	return t
}

// charts draw errors over time in the world that changes.
func charts(u *unit, said map[string]any) (list []study.Chart) {
	for k, telling := range tellings {
		c := study.Chart{
			Name: fmt.Sprintf("traffic-changing-%d", k+1), Title: "A world that changes: " + telling.Name,
			X: "hours of the test", Y: ahead(horizons[shown]) + " ahead: mean |error|, mph", Note: texts.Say("chart", said),
		}
		for _, one := range u.Curves {
			if one.World != telling.Name {
				continue
			}
			curve := study.Curve{Name: one.Who, Reference: one.Who == believed}
			for k, v := range one.MAE {
				curve.X, curve.Y = append(curve.X, float64((k+1)*block)*interval.Hours()), append(curve.Y, v)
			}
			c.Curves = append(c.Curves, curve)
		}
		list = append(list, c)
	}
	return list
}
