package flocking

import (
	"fmt"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/scenario/flocking"
)

// tableRow is one row with the paper's numbers.
type tableRow struct {
	ID    string
	Name  string
	Model recipe.FlockSpec // not read of the expert
	Cost  flocking.Cost    // what it learns from in flight; empty if it does not
	Gamma float64
	Carry bool
	Gated bool `json:",omitempty"` // behind gates
	Few   bool // needs trainings of its own: computed for the first few realizations, and not in a quick run

	Total, Final *study.Value // the paper's; nil for rows of ours
	Before       string       // row that it is compared with
}

const (
	Expert          = "expert"
	fewRealizations = 3
)

// rowsOf returns the rows of one realization.
func rowsOf(rows []tableRow, realization int) (some []tableRow) {
	for _, row := range rows {
		if !row.Few || realization < fewRealizations {
			some = append(some, row)
		}
	}
	return some
}

// paper adds the paper's numbers to a row.
func (r tableRow) paper(total, totalSpread, final, finalSpread float64) tableRow {
	r.Total, r.Final = &study.Value{Mean: total, Spread: totalSpread}, &study.Value{Mean: final, Spread: finalSpread}
	return r
}

// central returns the row that learns in flight from the velocities of all.
func (r tableRow) central(s *recipe.Flocking) tableRow {
	return r.online(s, " central", ", centralized online", flocking.CostVariation)
}

// distributed returns the row whose robots learn from those they hear.
func (r tableRow) distributed(s *recipe.Flocking) tableRow {
	return r.online(s, " distributed", ", distributed online", flocking.CostNeighborhood)
}

func (r tableRow) online(s *recipe.Flocking, id, name string, cost flocking.Cost) tableRow {
	r.ID, r.Name, r.Before, r.Cost, r.Gamma = r.ID+id, r.Name+name, r.ID, cost, s.Gamma
	return r
}

// carried returns the row whose taps are carried over from flight to flight.
func (r tableRow) carried() tableRow {
	r.ID, r.Name, r.Carry = r.ID+" carry", r.Name+", taps carried over", true
	return r
}

// apart returns the row whose robots learn from distances as well.
func (r tableRow) apart() tableRow {
	r.ID, r.Name, r.Cost = r.ID+" apart", r.Name+", from distances too", flocking.CostClearance
	return r
}

// gated returns the row behind gates, as users have it.
func (r tableRow) gated() tableRow {
	r.ID, r.Name, r.Gated = r.ID+" gated", r.Name+", behind gates", true
	return r
}

// large returns the row with a larger step size.
func (r tableRow) large(s *recipe.Flocking) tableRow {
	r.ID, r.Name, r.Gamma = r.ID+" large", fmt.Sprintf("%s, γ = %v", r.Name, s.GammaLarge), s.GammaLarge
	return r
}

// specs returns the three controllers of the paper, trained with the given profile.
func specs(s *recipe.Flocking, clip float64) (filter, deep, wide recipe.FlockSpec) {
	return s.Spec(recipe.Filter, clip), s.Spec(recipe.GNN, clip), s.Spec(recipe.WideDeep, clip)
}

// table2Rows are those of the paper, then ours.
func table2Rows(s *recipe.Flocking) []tableRow {
	filterSpec, deepSpec, wideSpec := specs(s, recipe.ClipClosest)
	filter := tableRow{ID: "filter", Name: "Graph filter", Model: filterSpec, Before: "gnn"}
	deep := tableRow{ID: "gnn", Name: "GNN", Model: deepSpec}
	wide := tableRow{ID: "wd-gnn", Name: "WD-GNN", Model: wideSpec, Before: "gnn"}
	rows := []tableRow{
		tableRow{ID: Expert, Name: "Optimal controller"}.paper(52, 2, 0.0035, 0.0001),
		deep.paper(95, 6, 0.0153, 0.0030),
		filter.paper(428, 105, 1.8, 1.1),
		filter.central(s).paper(388, 100, 1.3062, 0.8912),
		filter.distributed(s).paper(400, 98, 1.4826, 0.8792),
		wide.paper(84, 5, 0.0119, 0.0032),
		wide.central(s).paper(79, 4, 0.0065, 0.0028),
		wide.distributed(s).paper(82, 4, 0.0069, 0.0023),

		wide.distributed(s).large(s), wide.central(s).carried(), wide.distributed(s).carried(),
		wide.distributed(s).apart(), wide.distributed(s).apart().large(s), wide.distributed(s).apart().carried(),
		wide.distributed(s).apart().gated(),
	}
	dagger := tableRow{ID: "dagger", Name: "WD-GNN, DAgger", Model: wideSpec, Before: "wd-gnn"}
	dagger.Model.Dagger = true
	rows = append(rows, dagger, dagger.distributed(s))
	rows = append(rows, stableRows(s)...)
	local := tableRow{ID: "local", Name: "WD-GNN, row-stochastic shift", Model: wideSpec, Few: true, Before: "wd-gnn"}
	local.Model.Shift = graph.ShiftRowStochastic
	capped := tableRow{ID: "capped filter", Name: "Graph filter, bounded features", Model: filterSpec, Before: "filter"}
	capped.Model.NearCap = s.NearCap
	return append(rows, local, local.distributed(s), capped, capped.central(s))
}

// stableRows are the paper's rows with another profile of training: gradients are
// clipped to a smaller norm.
func stableRows(s *recipe.Flocking) []tableRow {
	filterSpec, deepSpec, wideSpec := specs(s, recipe.ClipStable)
	deep := tableRow{ID: "stable gnn", Name: "Stable profile: GNN", Model: deepSpec, Few: true}
	filter := tableRow{ID: "stable filter", Name: "Stable profile: graph filter", Model: filterSpec, Few: true, Before: deep.ID}
	wide := tableRow{ID: "stable wd-gnn", Name: "Stable profile: WD-GNN", Model: wideSpec, Few: true, Before: deep.ID}
	return []tableRow{
		deep, filter, filter.central(s), filter.distributed(s), wide, wide.central(s), wide.distributed(s),
	}
}
