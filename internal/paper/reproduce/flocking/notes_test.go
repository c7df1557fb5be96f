package flocking

import (
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
)

// What the notes conclude follows from the numbers of the run.
func TestNotesFollowTheNumbers(t *testing.T) {
	s := From(study.Options{})
	rows := table2Rows(&s)
	made := func(total, crashed map[string]float64) (all []*unit) {
		for k := range 3 {
			u := &unit{Index: k, Rows: map[string]*flown{}}
			for _, row := range rows {
				f := &flown{Total: []float64{100}, Final: []float64{1}, Crashed: 1}
				if v, ok := total[row.ID]; ok {
					f.Total[0] = v
				}
				if v, ok := crashed[row.ID]; ok {
					f.Crashed = v
				}
				f.Total[0] += 0.01 * float64(k*len(row.ID)%3)
				u.Rows[row.ID] = f
			}
			all = append(all, u)
		}
		return all
	}
	more := map[string]float64{"wd-gnn central": 2, "wd-gnn distributed": 2, "wd-gnn central carry": 2, "wd-gnn distributed carry": 2}
	lower := map[string]float64{"wd-gnn central": 90, "wd-gnn distributed": 95}
	for _, c := range []struct {
		name           string
		total, crashed map[string]float64
		want, not      string
	}{
		{"far", map[string]float64{"filter": 100}, nil, "100.0 here and 428 ± 105 in the paper, beyond two", "in the paper, within"},
		{"near", map[string]float64{"filter": 400}, nil, "400.0 here and 428 ± 105 in the paper, within two", "in the paper, beyond"},
		{"collisions", nil, more, "Online learning pays with collisions in every one of these.", ""},
		{"none", nil, nil, "The cost that the paper learns from in flight", "pays with collisions"},
		{"apart", nil, nil, "no more than offline, and the total changes by", ""},
		{"not apart", nil, map[string]float64{"wd-gnn distributed apart": 3}, "it is 3.0 distributed and 1.0 if taps", "no more than offline"},
		{"lower", lower, nil, "Both modes lower the total by more than two standard errors.", ""},
		{"the same", nil, nil, "Online learning changes the WD-GNN's total by", "Both modes lower"},
	} {
		notes := strings.Join(table2Result(&s, rows, made(c.total, c.crashed)).Notes, "\n")
		if !strings.Contains(notes, c.want) {
			t.Errorf("%s: the notes do not say %q:\n%s", c.name, c.want, notes)
		}
		if c.not != "" && strings.Contains(notes, c.not) {
			t.Errorf("%s: the notes say %q:\n%s", c.name, c.not, notes)
		}
	}
}
