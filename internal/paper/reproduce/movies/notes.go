package movies

import (
	"math"

	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
)

// table4Numbers are the numbers of the notes.
func table4Numbers(f *study.Frame, edition moviesEdition, s *moviesSettings, all []*unit) map[string]any {
	contact := streamIn(libvarSetting, 1)
	n := map[string]any{
		"Paper": nil, "Streams": []streamNumbers{streamsOf(f, 1), streamsOf(f, 2)}, "GammaLarge": s.GammaLarge,
		"Offline": f.Mean(wideDeepRow.ID, contact), "Centralized": f.Mean(wideDeepOnlineRow.ID, contact),
		"Distributed": f.Mean(wideDeepNetworkRow.ID, contact), "DistributedLarge": f.Mean(wideDeepLargeRow.ID, contact),
		"DistributedLess": less(f, wideDeepNetworkRow, wideDeepOnlineRow, contact),

		"MovieMean": f.Mean("Movie's mean", movieColumns[0]), "Neighbors": f.Mean("Item-kNN, k = 10, shrinkage 30", movieColumns[0]),
		"Libvar": f.Mean(wideDeepRow.ID, testIn(libvarSetting, 0)), "Huang": f.Mean(wideDeepRow.ID, testIn(huangSetting, 0)),
		"Centered":     f.Mean(wideDeepRow.ID, testIn(centeredSetting, 0)),
		"FactorsLoose": f.Mean(factorsLoose, movieColumns[0]), "FactorsTight": f.Mean(factorsTight, movieColumns[0]),
		"Loose": s.Baselines.Factors[0].Ridge, "Tight": s.Baselines.Factors[1].Ridge,
	}
	if edition.Paper {
		n["Paper"] = besidePaper(f, all)
	}
	const best = "the better factorisation"
	for k, u := range all {
		f.Add(best, testIn(centeredSetting, 0), k, min(u.Baselines[factorsLoose][0], u.Baselines[factorsTight][0]))
	}
	n["LessFactors"] = less(f, wideDeepRow, tableRow{ID: best}, testIn(centeredSetting, 0))
	return n
}

// less returns the paired difference of two rows with its standard error.
func less(f *study.Frame, first, second tableRow, column string) *study.Value {
	name := first.ID + " less " + second.ID
	if f.Error(name, column).Count == 0 {
		f.Compare(name, first.ID, second.ID, study.Less, column)
	}
	return f.Error(name, column)
}

// streamNumbers are errors along a stream.
type streamNumbers struct {
	Movie                                  string
	Wide, WideOnline, Filter, FilterOnline float64
	Mean                                   float64 // of a learner that knows the mean of the ratings heard
	Gains                                  bool    // the WD-GNN learns something
	Share                                  float64 // of that gain that the mean has, %
}

func streamsOf(f *study.Frame, c int) streamNumbers {
	at := func(id string) float64 { return f.Mean(id, streamIn(libvarSetting, c)) }
	n := streamNumbers{
		Movie: movieColumns[c], Wide: at(wideDeepRow.ID), WideOnline: at(wideDeepOnlineRow.ID),
		Filter: at(filterRow.ID), FilterOnline: at(filterOnlineRow.ID), Mean: at(heardMean),
	}
	if gain := n.Wide - n.WideOnline; gain > 0 {
		n.Gains, n.Share = true, 100*(n.Wide-n.Mean)/gain
	}
	return n
}

// besidePaper compares with the paper's numbers.
func besidePaper(f *study.Frame, all []*unit) map[string]any {
	spread := f.Deviation(wideDeepRow.ID, testIn(libvarSetting, 0)).Spread
	n := map[string]any{
		"HuangSame":   less(f, gnnRow, filterRow, testIn(huangSetting, 0)),
		"HuangOther":  less(f, gnnRow, filterRow, testIn(huangSetting, 1)),
		"LibvarSame":  less(f, gnnRow, filterRow, testIn(libvarSetting, 0)),
		"LibvarOther": less(f, gnnRow, filterRow, testIn(libvarSetting, 1)),
		"PaperSame":   gnnRow.Paper[0].Mean - filterRow.Paper[0].Mean, "PaperOther": gnnRow.Paper[1].Mean - filterRow.Paper[1].Mean,
		"LibvarFar": farFromPaper(f, libvarSetting), "HuangFar": farFromPaper(f, huangSetting), "Cells": len(paperRows) * len(movieColumns),

		"Users": all[0].Readings[libvarSetting.ID].Users[0], "Spread": spread, "TenSplits": spread / math.Sqrt(10),
		"Order": ordersOf(all), "Splits": len(all),

		"Jedi": f.Mean(wideDeepRow.ID, testIn(libvarSetting, 2)), "JediOnline": f.Mean(wideDeepOnlineRow.ID, testIn(libvarSetting, 2)),
		"PaperJedi": wideDeepRow.Paper[2].Mean, "PaperJediOnline": wideDeepOnlineRow.Paper[2].Mean,
	}
	a, b, c := gnnRow.Paper[0].Mean, filterRow.Paper[0].Mean, wideDeepRow.Paper[0].Mean
	n["Closest"] = min(math.Abs(a-b), math.Abs(b-c), math.Abs(a-c))
	n["Farthest"] = max(a, b, c) - min(a, b, c)
	n["Signs"], n["Changes"] = signsOf(f)
	return n
}

// farFromPaper is the root mean squared difference of all cells of the paper.
func farFromPaper(f *study.Frame, m movieSetting) float64 {
	sum, cells := 0.0, 0
	for _, row := range paperRows {
		for c := range movieColumns {
			d := f.Mean(row.ID, testIn(m, c)) - row.Paper[c].Mean
			sum += float64(d * d)
			cells++
		}
	}
	return math.Sqrt(sum / float64(cells))
}

// ordersOf counts the splits with the paper's order on the first movie.
func ordersOf(all []*unit) (order int) {
	for _, u := range all {
		v := u.Readings[libvarSetting.ID].Test
		if v[wideDeepRow.ID][0] < v[filterRow.ID][0] && v[filterRow.ID][0] < v[gnnRow.ID][0] {
			order++
		}
	}
	return order
}

// signsOf counts how many of the changes by online learning on the new movies have
// the paper's sign.
func signsOf(f *study.Frame) (signs, changes int) {
	for _, pair := range [][2]tableRow{{filterOnlineRow, filterRow}, {wideDeepOnlineRow, wideDeepRow}} {
		for c := 1; c < len(movieColumns); c++ {
			column := testIn(libvarSetting, c)
			ours := f.Mean(pair[0].ID, column) - f.Mean(pair[1].ID, column)
			paper := pair[0].Paper[c].Mean - pair[1].Paper[c].Mean
			changes++
			if ours*paper > 0 {
				signs++
			}
		}
	}
	return signs, changes
}
