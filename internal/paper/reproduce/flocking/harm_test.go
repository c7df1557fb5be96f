package flocking

import (
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/internal/recipe"
)

// Tables warn of learners that make more than 1.5 times as many mistakes as the
// model that they began with, or whose flights cost as much more, and of no others.
func TestTablesWarnOfHarm(t *testing.T) {
	if got := recipe.Harm("own", 91, 71, 70); got != "" {
		t.Errorf("got %q of a learner that helps", got)
	}
	want := "Warning: paper did harm: 45.1 % of its answers to the last 30 % of the signals are wrong, " +
		"of those of the model as trained 17.4 %."
	if got := recipe.Harm("paper", 54.9, 82.6, 82); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	flights := func(total float64) *flown { return &flown{Total: []float64{total}} }
	all := []*unit{{Rows: map[string]*flown{
		"wd-gnn": flights(70), "wd-gnn central": flights(68), "wd-gnn distributed carry": flights(700),
	}}}
	var rows []tableRow
	for _, id := range []string{Expert, "wd-gnn", "wd-gnn central", "wd-gnn distributed", "wd-gnn distributed carry"} {
		rows = append(rows, tableRow{ID: id, Name: id})
	}
	notes := table2Warnings(rows, observe(all))
	want = "wd-gnn distributed carry did harm: its flights cost 700 in all, those of the model as trained 70"
	if len(notes) != 1 || !strings.Contains(notes[0], want) {
		t.Errorf("got %q, want one of the row that did harm", notes)
	}
}
