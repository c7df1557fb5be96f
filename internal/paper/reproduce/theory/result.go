package theory

import (
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
	"github.com/wdgnn/wdgnn/internal/recipe"
)

func certifyResult(s recipe.Sourceloc, f recipe.Flocking, u *certifyUnit) *study.Result {
	r := &study.Result{Models: []string{u.Model.File, u.Flight.Model.File}}
	bounds, chart := stabilityResult(s, u.Stability)
	r.Tables, r.Charts = append(r.Tables, bounds), append(r.Charts, chart)
	var constants []float64
	for _, run := range u.Runs {
		if c := float64(run.Constant); c == c {
			constants = append(constants, c)
		}
	}
	note := texts.Say("certify learning", map[string]any{
		"OutageProb": s.OutageProb, "Steps": u.Runs[0].Steps, "Constants": constants[max(len(constants)-1, 0):],
	})
	r.Tables = append(r.Tables, trackingTable("Theorems 2 and 3: distance from the moving optimum", note, u.Runs))
	if first := u.Runs[0]; len(first.Limits) > 0 {
		r.Tables, r.Charts = append(r.Tables, limitTable(first)), append(r.Charts, limitChart(first))
	}
	r.Tables = append(r.Tables, u.Flight.tables(f)...)
	slices.Sort(r.Models)
	return r
}

// stabilityResult shows Theorem 1 for source localization.
func stabilityResult(s recipe.Sourceloc, all []certifiedOutput) (study.Table, study.Chart) {
	bounds := study.Table{
		Title:   "Theorem 1: change of the output when links are lost",
		Columns: append([]string{"links lost"}, certifiedColumns...),
		Note:    texts.Say("certify stability", s.Seed),
	}
	chart := study.Chart{
		Name: "certify", Title: "Change of the output: bounds and measurement", X: "probability of losing a link",
		Y: "‖Ψ(X; S) - Ψ(X; Ŝ)‖", LogY: true, Note: "WD-GNN of Table 1, 64 random signals",
	}
	direct, measured := study.Curve{Name: "direct certificate", Points: true}, study.Curve{Name: "measured", Points: true}
	for k, c := range all {
		p := certifiedProbs[k]
		bounds.Rows = append(bounds.Rows, study.Row{Name: fmt.Sprintf("p = %v", p), Ours: true, Cells: c.cells(c.Lost)})
		if c.Measured > 0 {
			direct.X, direct.Y = append(direct.X, p), append(direct.Y, c.Certificate)
			measured.X, measured.Y = append(measured.X, p), append(measured.Y, c.Measured)
		}
	}
	chart.Curves = []study.Curve{direct, measured}
	return bounds, chart
}

// certifiedColumns are the columns of Theorem 1 behind the number of links.
var certifiedColumns = []string{
	"ε", "measured", "direct certificate", "certificate / measured", "Theorem 1 to the letter", "hypotheses that fail",
}

// cells are the columns of Theorem 1 for a number of links that differ.
func (c *certifiedOutput) cells(links int) []study.Cell {
	return []study.Cell{
		{Text: fmt.Sprint(links)},
		{Text: c.Epsilon},
		{Text: fmt.Sprintf("%.3g", c.Measured)},
		{Text: fmt.Sprintf("%.3g", c.Certificate)},
		{Text: fmt.Sprintf("%.2f", c.Certificate/c.Measured)},
		{Text: c.Letter},
		{Text: fmt.Sprintf("%d of %d", c.Failing, c.Checks)},
	}
}

// tables show what was found for a flight.
func (f *certifiedFlight) tables(s recipe.Flocking) []study.Table {
	mixing := study.Table{
		Title:   "A flight: how its graphs mix (Assumptions 3 to 5)",
		Columns: []string{"union connected", "C_d, steps", "smallest entry ε", "largest σ₂(W_t)", "largest σ₂ over a window"},
		Note:    texts.Say("certify mixing", s.World.Robots),
	}
	for _, m := range f.Mixing {
		yes := "no"
		if m.Connected {
			yes = "yes"
		}
		mixing.Rows = append(mixing.Rows, study.Row{Name: fmt.Sprintf("windows of %d", m.Window), Ours: true, Cells: []study.Cell{
			{Text: yes},
			{Text: fmt.Sprint(m.Gap)},
			{Text: fmt.Sprintf("%.4f", m.Smallest)},
			{Text: fmt.Sprintf("%.4f", m.Worst)},
			{Text: fmt.Sprintf("%.4f", m.Windowed)},
		}})
	}
	out := []study.Table{mixing}
	if len(f.Pairs) > 0 {
		out = append(out, f.pairs())
	}
	out = append(out, f.sequence())
	type limited struct {
		Mode                string
		Limited, Components int
	}
	var runs []limited
	for k, run := range f.Runs {
		runs = append(runs, limited{run.Mode, f.Limited[k], 2 * run.Steps * s.World.Robots})
	}
	note := texts.Say("certify flight", map[string]any{"S": s, "Runs": runs})
	return append(out, trackingTable("A flight: Theorems 2 and 3, distance from the moving optimum", note, f.Runs))
}

// pairs shows Theorem 1 for successive graphs.
func (f *certifiedFlight) pairs() study.Table {
	t := study.Table{
		Title:   "A flight: Theorem 1 between successive graphs, if they stood still",
		Columns: append([]string{"links changed"}, certifiedColumns...),
		Note:    texts.Say("certify pairs", f.Filters),
	}
	for _, p := range f.Pairs {
		t.Rows = append(t.Rows, study.Row{Name: fmt.Sprintf("steps %d and %d", p.Time, p.Time+1), Ours: true, Cells: p.cells(p.Changed)})
	}
	return t
}

// sequence shows the direct certificate of delayed filters.
func (f *certifiedFlight) sequence() study.Table {
	t := study.Table{
		Title:   "A flight: delayed filters on a sequence of graphs",
		Columns: []string{"‖X‖", "‖Ψ‖", "measured ‖ΔΨ‖", "direct certificate", "certificate / measured"},
		Note:    texts.Say("certify sequence", f.Sequences[0].Steps),
	}
	for _, q := range f.Sequences {
		t.Rows = append(t.Rows, study.Row{Name: q.Name, Ours: true, Cells: []study.Cell{
			{Text: fmt.Sprintf("%.3g", q.Signal)},
			{Text: fmt.Sprintf("%.3g", q.Output)},
			{Text: fmt.Sprintf("%.3g", q.Measured)},
			{Text: fmt.Sprintf("%.3g", q.Known)},
			{Text: fmt.Sprintf("%.2f", q.Known/q.Measured)},
		}})
	}
	return t
}
