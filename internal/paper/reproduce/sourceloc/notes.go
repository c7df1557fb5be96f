package sourceloc

import (
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"

	"github.com/wdgnn/wdgnn/internal/recipe"
)

// manyTimes is how many times the paper's a spread must be to suggest that it is of
// something else.
const manyTimes = 3

// table1Numbers are the numbers of the notes: those of one network unless they say
// otherwise.
func table1Numbers(s recipe.Sourceloc, all []*unit) map[string]any {
	f, several := observe(oneNetwork(all)), severalNetworks(all)
	less := func(a, b recipe.LearnerSpec, column string) *study.Value {
		name := a.ID + " - " + b.ID
		f.Compare(name, a.ID, b.ID, study.Less, column)
		return f.Error(name, column)
	}
	fall := func(spec recipe.LearnerSpec) float64 { return f.Mean(spec.ID, same) - f.Mean(spec.ID, differ) }
	paper := table1Paper()
	paperGain := func(a, b recipe.LearnerSpec) float64 { return paper[a.ID].Differ.Mean - paper[b.ID].Differ.Mean }
	n := map[string]any{
		"Deep": less(gnnFrozen, filterFrozen, same), "Wide": less(WideDeepFrozen, gnnFrozen, same),
		"PaperDeep": paper[gnnFrozen.ID].Same.Mean - paper[filterFrozen.ID].Same.Mean,
		"PaperWide": paper[WideDeepFrozen.ID].Same.Mean - paper[gnnFrozen.ID].Same.Mean,

		"FallFilter": fall(filterFrozen), "FallDeep": fall(gnnFrozen), "FallWide": fall(WideDeepFrozen),

		"Central": less(WideDeepCentral, WideDeepFrozen, differ), "Distributed": less(WideDeepPaper, WideDeepFrozen, differ),
		"SameCentral": less(WideDeepCentral, WideDeepFrozen, same), "SameDistributed": less(WideDeepPaper, WideDeepFrozen, same),
		"PaperCentral": paperGain(WideDeepCentral, WideDeepFrozen), "PaperDistributed": paperGain(WideDeepPaper, WideDeepFrozen),

		"Own": less(WideDeepOwn, WideDeepFrozen, differ), "FilterOwn": f.Mean(filterOwn.ID, differ),
		"Neighbours": less(WideDeepNeighbours, WideDeepFrozen, differ), "OwnMean": f.Mean(WideDeepOwn.ID, differ),
		"Blank": f.Mean(blankOwn.ID, differ), "BlankNeighbours": f.Mean(blankNeighbours.ID, differ),
		"NeighboursMean": f.Mean(WideDeepNeighbours.ID, differ), "Gated": f.Mean(WideDeepNeighbours.Gated().ID, differ),
		"Leak": map[string]any{
			"Gamma": leakGamma, "Offline": f.Mean(WideDeepFrozen.ID, differ),
			"Central": f.Deviation(leakCentral.ID, differ), "Distributed": f.Deviation(leakDistributed.ID, differ),
			"PaperCentral": paper[WideDeepCentral.ID].Differ, "PaperDistributed": paper[WideDeepPaper.ID].Differ,
			"HonestCentral": f.Mean(honest(leakCentral).ID, differ), "HonestDistributed": f.Mean(honest(leakDistributed).ID, differ),
		},
		"PaperFilter": max(paper[filterCentral.ID].Differ.Mean, paper[filterPaper.ID].Differ.Mean),

		"Several":     len(several) > 1,
		"SpreadOne":   f.Deviation(WideDeepFrozen.ID, same).Spread,
		"PaperSpread": paper[WideDeepFrozen.ID].Same.Spread, "Times": manyTimes,
		"SpreadSeveral": observe(several).Deviation(WideDeepFrozen.ID, same).Spread,
		"ManyTimes":     manyTimes * paper[WideDeepFrozen.ID].Same.Spread,

		"Noise": s.World.Noise, "LastTime": s.World.MaxTime - 1,
		"Gammas": map[string]float64{
			"Central": WideDeepCentral.Config.StepSize.Value, "Paper": WideDeepPaper.Config.StepSize.Value,
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
				"Paper": d[WideDeepPaper.ID],
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
