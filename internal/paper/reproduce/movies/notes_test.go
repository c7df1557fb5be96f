package movies

import (
	"strings"
	"testing"
)

// made returns splits in which models have the errors of the paper, but for those
// that change says.
func made(s *moviesSettings, change func(setting, row string, errors *[3]float64)) (all []*unit) {
	for k := range 4 {
		u := &unit{Split: k, Readings: map[string]*movieScores{}, Baselines: map[string][3]float64{}}
		little := 0.001 * float64(k)
		for _, m := range s.Settings {
			scores := &movieScores{Test: map[string][3]float64{}, Stream: map[string][3]float64{}, Curve: map[string][3][]float64{}}
			for _, row := range append(append([]tableRow{{ID: heardMean}}, paperRows...), networkRows...) {
				v := [3]float64{1, 1, 1}
				for c := range v {
					if !row.ours() {
						v[c] = row.Paper[c].Mean
					}
					v[c] += little
				}
				change(m.ID, row.ID, &v)
				scores.Test[row.ID], scores.Stream[row.ID] = v, v
			}
			u.Readings[m.ID] = scores
		}
		for _, name := range baselineNames {
			u.Baselines[name] = [3]float64{0.7 + 2*little, 0.7, 0.7}
		}
		all = append(all, u)
	}
	return all
}

// What the notes conclude follows from the numbers of the run.
func TestNotesFollowTheNumbers(t *testing.T) {
	s := &moviesSettings{
		Settings:  []movieSetting{libvarSetting, huangSetting, centeredSetting, libvarByUser, centeredByUser},
		Baselines: defaultBaselines(),
	}
	set := func(setting, row string, v float64) func(string, string, *[3]float64) {
		return func(m, r string, errors *[3]float64) {
			if m == setting && (row == "" || r == row) {
				*errors = [3]float64{v, v, v}
			}
		}
	}
	wide := wideDeepRow.ID
	for _, c := range []struct {
		name      string
		change    func(setting, row string, errors *[3]float64)
		paper     bool
		want, not string
	}{
		{"libvar fits", set(huangSetting.ID, "", 2), true, "The table fits libvar better", ""},
		{"huang fits", set(libvarSetting.ID, "", 2), true, "Over all 15 cells", "The table fits libvar better"},
		{"we are better", set(centeredSetting.ID, wide, 0.5), true, "the WD-GNN is better", "other way round"},
		{"they are better", set(centeredSetting.ID, wide, 0.9), false, "matrix factorisation is better", "Which similarity does"},
		{"less by agents", set(libvarSetting.ID, wideDeepNetworkRow.ID, 1.5), true, "It gains less than centralized learning does", ""},
		{"more by agents", set(libvarSetting.ID, wideDeepNetworkRow.ID, 0.1), true, "Distributed online learning", "gains less"},
		{"the mean", set(libvarSetting.ID, heardMean, 0.9), true, "most of that could be a correction of the mean", ""},
		{"not the mean", set(libvarSetting.ID, heardMean, 3), true, "no better than the WD-GNN offline", "correction of the mean"},
	} {
		all := made(s, c.change)
		numbers := table4Numbers(observe(s, all), moviesEdition{Paper: c.paper}, s, all)
		notes := strings.Join(texts.Notes("table4 notes", numbers), "\n")
		if !strings.Contains(notes, c.want) {
			t.Errorf("%s: the notes do not say %q:\n%s", c.name, c.want, notes)
		}
		if c.not != "" && strings.Contains(notes, c.not) {
			t.Errorf("%s: the notes say %q:\n%s", c.name, c.not, notes)
		}
	}
}
