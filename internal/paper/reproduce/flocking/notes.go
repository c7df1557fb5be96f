package flocking

import (
	"math"
	"slices"
	"strings"

	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/rule"
)

// againstPaper is a number of ours with the paper's.
type againstPaper struct{ Ours, Paper *study.Value }

func (a againstPaper) near() bool { return study.Near(a.Ours, a.Paper) }

// table2Numbers are the numbers of the notes.
func table2Numbers(s *recipe.Flocking, rows []tableRow, all []*unit) map[string]any {
	f := observe(all)
	at := map[string]tableRow{}
	for _, row := range rows {
		at[row.ID] = row
	}
	const offline, central, distributed = "wd-gnn", "wd-gnn central", "wd-gnn distributed"
	beside := func(id string) againstPaper { return againstPaper{f.Deviation(id, total), at[id].Total} }
	n := map[string]any{
		"S": s, "Filter": beside("filter"),
		"Offline": beside(offline), "Central": beside(central), "Distributed": beside(distributed),

		"CrashedOffline": f.Mean(offline, crashed),
		"CrashedCentral": f.Mean(central, crashed), "CrashedDistributed": f.Mean(distributed, crashed),
		"CrashedCentralCarry": f.Mean(central+" carry", crashed), "CrashedDistributedCarry": f.Mean(distributed+" carry", crashed),

		"LastOffline": f.Mean(offline, lastFlights),
		"LastCentral": f.Mean(central+" carry", lastFlights), "LastDistributed": f.Mean(distributed+" carry", lastFlights),

		"Orders": []ordering{
			orderOf("closest", "", all), orderOf("stable", "stable ", all),
		},
		"Selection": selectionOf(all), "Refused": refusedOf(rows, all),
	}
	n["Doubled"], n["Worst"] = doubledOf(all)
	near := 0
	for _, id := range []string{offline, central, distributed} {
		if beside(id).near() {
			near++
		}
	}
	n["Near"] = near
	change := func(id, column string) *study.Value {
		name := id + " / " + offline
		f.Compare(name, id, offline, study.Percent, column)
		return f.Error(name, column)
	}
	for key, id := range map[string]string{"Central": central, "Distributed": distributed} {
		n["Total"+key], n["Final"+key] = change(id, total), change(id, final)
		n["PaperTotal"+key] = study.Percent(at[id].Total.Mean, at[offline].Total.Mean)
		n["PaperFinal"+key] = study.Percent(at[id].Final.Mean, at[offline].Final.Mean)
	}
	n["FinalLarge"] = change(distributed+" large", final)
	n["TotalApart"], n["TotalApartCarry"] = change(distributed+" apart", total), change(distributed+" apart carry", total)
	n["CrashedApart"], n["CrashedApartCarry"] = f.Mean(distributed+" apart", crashed), f.Mean(distributed+" apart carry", crashed)
	n["TotalGated"], n["CrashedGated"] = change(distributed+" apart gated", total), f.Mean(distributed+" apart gated", crashed)
	n["Collides"] = !slices.ContainsFunc([]string{central, distributed, central + " carry", distributed + " carry"}, func(id string) bool {
		return f.Mean(id, crashed) <= f.Mean(offline, crashed)
	})
	more := true
	for _, id := range []string{central, distributed} {
		ours := study.Percent(f.Mean(id+" carry", lastFlights), f.Mean(offline, lastFlights))
		more = more && ours < 2*study.Percent(at[id].Total.Mean, at[offline].Total.Mean)
	}
	n["CarryGainsMore"] = more
	return n
}

// ordering says in how many realizations the paper's order of rows holds.
type ordering struct {
	Profile             string
	Count, Total, Final int
	Broken              []breach
}

// breach is a pair of rows in the wrong order.
type breach struct {
	Measure       string
	Unit          int
	First, Second string
	A, B          float64
}

// orderOf judges the rows of a profile, whose names begin with prefix.
func orderOf(profile, prefix string, all []*unit) ordering {
	ids := []string{Expert}
	for _, id := range []string{
		"wd-gnn central", "wd-gnn distributed", "wd-gnn", "gnn", "filter central", "filter distributed", "filter",
	} {
		ids = append(ids, prefix+id)
	}
	all = with(all, ids...)
	o := ordering{Profile: profile, Count: len(all)}
	for _, u := range all {
		broken := func(measure string, of func(f *flown) []float64) (list []breach) {
			for k := 1; k < len(ids); k++ {
				if a, b := study.Mean(of(u.Rows[ids[k-1]])), study.Mean(of(u.Rows[ids[k]])); a >= b {
					list = append(list, breach{measure, u.Index, ids[k-1], ids[k], a, b})
				}
			}
			return list
		}
		totals := broken(total, func(f *flown) []float64 { return f.Total })
		finals := broken(final, func(f *flown) []float64 { return f.Final })
		o.Broken = slices.Concat(o.Broken, totals, finals)
		if len(totals) == 0 {
			o.Total++
		}
		if len(finals) == 0 {
			o.Final++
		}
	}
	return o
}

// with returns the realizations that have all of the rows.
func with(all []*unit, ids ...string) (some []*unit) {
	for _, u := range all {
		if !slices.ContainsFunc(ids, func(id string) bool { return u.Rows[id] == nil }) {
			some = append(some, u)
		}
	}
	return some
}

// doubledOf returns how many flights were flown again in float64, and how far
// their totals are from those in float32 at most.
func doubledOf(all []*unit) (flights int, worst float64) {
	for _, u := range all {
		for id, totals := range u.Double {
			for k, v := range totals {
				worst = max(worst, math.Abs(u.Rows[id].Total[k]/v-1))
				flights++
			}
		}
	}
	return flights, worst
}

// selection is what choosing by validation flights did.
type selection struct {
	Models int
	Last   int // of which the last parameters are the best
}

func selectionOf(all []*unit) (s selection) {
	for _, u := range all {
		for _, m := range u.Models {
			s.Models++
			if m.BestSteps == m.Steps || m.BestSteps == 0 {
				s.Last++
			}
		}
	}
	return s
}

// refusedOf counts the updates that were refused.
func refusedOf(rows []tableRow, all []*unit) (refused int) {
	for _, u := range all {
		for _, row := range rows {
			if f := u.Rows[row.ID]; f != nil {
				refused += f.Refused
			}
		}
	}
	return refused
}

// table2Warnings names the learners whose flights cost more than 1.5 times what
// those of the model as trained cost.
func table2Warnings(rows []tableRow, f *study.Frame) (notes []string) {
	for _, row := range rows {
		before, _, central := strings.Cut(row.ID, " central")
		if !central {
			before, _, _ = strings.Cut(row.ID, " distributed")
		}
		if before == row.ID {
			continue
		}
		learned, frozen := f.Both(row.ID, before, total)
		c := rule.Comparison{Steps: 1, Learned: learned, Frozen: frozen, Usual: frozen}
		if c.Harmful() {
			notes = append(notes, texts.Say("table2 harm", map[string]any{"Name": row.Name, "Learned": learned, "Frozen": frozen}))
		}
	}
	return notes
}
