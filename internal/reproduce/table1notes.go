package reproduce

import (
	"github.com/wdgnn/wdgnn/internal/reproduce/study"

	"github.com/wdgnn/wdgnn/internal/recipe"
)

// manyTimes is how many times the paper's a spread must be to suggest that it is of
// something else.
const manyTimes = 3

// table1Numbers are the numbers of the notes: those of one network unless they say
// otherwise.
func table1Numbers(s recipe.Sourceloc, all []*sourcelocUnit) map[string]any {
	f, several := observe1(oneNetwork(all)), severalNetworks(all)
	less := func(a, b recipe.LearnerSpec, column string) *study.Value {
		name := a.ID + " - " + b.ID
		f.Compare(name, a.ID, b.ID, study.Less, column)
		return f.Error(name, column)
	}
	fall := func(spec recipe.LearnerSpec) float64 { return f.Mean(spec.ID, same) - f.Mean(spec.ID, differ) }
	paper := table1Paper()
	paperGain := func(a, b recipe.LearnerSpec) float64 { return paper[a.ID].Differ.Mean - paper[b.ID].Differ.Mean }
	n := map[string]any{
		"Deep": less(gnnFrozen, filterFrozen, same), "Wide": less(wideDeepFrozen, gnnFrozen, same),
		"PaperDeep": paper[gnnFrozen.ID].Same.Mean - paper[filterFrozen.ID].Same.Mean,
		"PaperWide": paper[wideDeepFrozen.ID].Same.Mean - paper[gnnFrozen.ID].Same.Mean,

		"FallFilter": fall(filterFrozen), "FallDeep": fall(gnnFrozen), "FallWide": fall(wideDeepFrozen),

		"Central": less(wideDeepCentral, wideDeepFrozen, differ), "Literal": less(wideDeepLiteral, wideDeepFrozen, differ),
		"SameCentral": less(wideDeepCentral, wideDeepFrozen, same), "SameLiteral": less(wideDeepLiteral, wideDeepFrozen, same),
		"PaperCentral": paperGain(wideDeepCentral, wideDeepFrozen), "PaperLiteral": paperGain(wideDeepLiteral, wideDeepFrozen),

		"Personal": less(mixed(50, 0.003), wideDeepFrozen, differ), "Single": less(mixed(1, 0.003), wideDeepFrozen, differ),
		"Whitened":       less(mixed(50, 1), wideDeepFrozen, differ),
		"FilterPersonal": f.Mean(filterPersonal.ID, differ),
		"PaperFilter":    max(paper[filterCentral.ID].Differ.Mean, paper[filterLiteral.ID].Differ.Mean),

		"Several":     len(several) > 1,
		"SpreadOne":   f.Deviation(wideDeepFrozen.ID, same).Spread,
		"PaperSpread": paper[wideDeepFrozen.ID].Same.Spread, "Times": manyTimes,
		"SpreadSeveral": observe1(several).Deviation(wideDeepFrozen.ID, same).Spread,
		"ManyTimes":     manyTimes * paper[wideDeepFrozen.ID].Same.Spread,

		"Noise": s.World.Noise, "LastTime": s.World.MaxTime - 1,
		"Gammas": map[string]float64{
			"Central": wideDeepCentral.Config.StepSize.Value, "Literal": wideDeepLiteral.Config.StepSize.Value,
			"Personal": mixed(50, 0.003).Config.StepSize.Value, "Single": mixed(1, 0.003).Config.StepSize.Value,
		},
	}
	var rounding []map[string]differing
	restarts := 0
	for _, u := range all {
		for _, m := range u.Models {
			restarts += m.Restarts
		}
		if d := u.Double; d != nil {
			rounding = append(rounding, map[string]differing{
				"Literal": d[wideDeepLiteral.ID], "Single": d[mixed(1, 0.003).ID], "Personal": d[mixed(50, 0.003).ID],
			})
		}
	}
	n["Rounding"], n["Restarts"], n["Trainings"] = rounding, restarts, 4*len(all)
	return n
}

// table1Paper returns the paper's rows by learner.
func table1Paper() map[string]table1Row {
	rows := map[string]table1Row{}
	for _, row := range table1Rows() {
		rows[row.Spec.ID] = row
	}
	return rows
}
