package sourceloc

import (
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
)

// made returns realizations in which every learner has the accuracies given, or 50 %;
// they differ by little from each other.
func made(same, differ map[string]float64) (all []*unit) {
	of := func(table map[string]float64, id string) float64 {
		if v, ok := table[id]; ok {
			return v
		}
		return 50
	}
	for _, p := range pairs(3) {
		u := &unit{
			Graph: p[0], Data: p[1],
			Same: map[string]float64{}, Differ: map[string][]float64{}, Last: map[string][]float64{},
		}
		for k, row := range table1Rows() {
			id, little := row.Spec.ID, 0.01*float64(k%3)*float64(p[0]+p[1])
			u.Same[id] = of(same, id) + little
			u.Differ[id], u.Last[id] = []float64{of(differ, id) + little}, []float64{of(differ, id) + little}
		}
		all = append(all, u)
	}
	return all
}

// The notes of robust quote the columns of neighbours, with gates and without.
func TestNotesOfRobust(t *testing.T) {
	var all []*lossUnit
	for k := range 2 * len(trainings) {
		u := &lossUnit{Same: 90, Differ: map[string][]float64{}}
		for l, spec := range robustLearners {
			u.Differ[spec.ID] = []float64{float64(80 + l + k%2)}
		}
		u.Differ[WideDeepNeighbours.ID], u.Differ[WideDeepNeighbours.Gated().ID] = []float64{97}, []float64{96}
		all = append(all, u)
	}
	const want = "`neighbours` has 96.0 % behind gates, as users have it, and 97.0 without"
	if notes := strings.Join(robustResult(From(study.Options{}), 2, all).Notes, " "); !strings.Contains(notes, want) {
		t.Errorf("the notes do not say %q:\n%s", want, notes)
	}
}

// What the notes conclude follows from the numbers of the run.
func TestNotesFollowTheNumbers(t *testing.T) {
	s := From(study.Options{})
	filter, deep, wide, central := filterFrozen.ID, gnnFrozen.ID, WideDeepFrozen.ID, WideDeepCentral.ID
	for _, c := range []struct {
		name         string
		same, differ map[string]float64
		want, not    string
	}{
		{"in order", map[string]float64{filter: 40, deep: 80, wide: 90}, nil, "order of the models comes out.", "not in the paper's order"},
		{"in another order", map[string]float64{filter: 40, deep: 90, wide: 80}, nil, "The means are not in the paper's order.", "comes out"},
		{"a gain", nil, map[string]float64{central: 60}, "points centralized (a gain;", "Warning: WD-GNN, centralized"},
		{"a loss", nil, map[string]float64{central: 10}, "points centralized (a loss;", "(a gain"},
		{"harm", nil, map[string]float64{central: 10}, "Warning: WD-GNN, centralized online did harm", ""},
		{
			"leakage", nil,
			map[string]float64{wide: 80, leakCentral.ID: 92, leakDistributed.ID: 86},
			"has 92.0 % centralized (paper 92.7) and 86.0 distributed (paper 86.5), from 80.0 offline: both within", "",
		},
		{"no leakage", nil, nil, "has 50.0 % centralized (paper 92.7)", "both within"},
		{"one spread", nil, nil, "has a standard deviation of", "datasets share one network"},
	} {
		notes := strings.Join(table1Result(s, made(c.same, c.differ)).Notes, "\n")
		if !strings.Contains(notes, c.want) {
			t.Errorf("%s: the notes do not say %q:\n%s", c.name, c.want, notes)
		}
		if c.not != "" && strings.Contains(notes, c.not) {
			t.Errorf("%s: the notes say %q:\n%s", c.name, c.not, notes)
		}
	}
}
