package reproduce

import (
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/internal/recipe"
	"github.com/wdgnn/wdgnn/internal/reproduce/study"
)

func certifyResult(s recipe.Sourceloc, f recipe.Flocking, u *certifyUnit) *Result {
	r := &Result{Models: []string{u.Model.File, u.Flight.Model.File}}
	bounds, chart := stabilityResult(s, u.Stability)
	r.Tables, r.Charts = append(r.Tables, bounds), append(r.Charts, chart)
	constant := ""
	for _, run := range u.Runs {
		if c := float64(run.Constant); c == c {
			constant = fmt.Sprintf(" To the letter the bound of Theorem 3 has the factor C_ε = 10^%.0f.", c)
		}
	}
	r.Tables = append(r.Tables, trackingTable("Theorems 2 and 3: distance from the moving optimum", fmt.Sprintf(
		"Online learning of the WD-GNN of Table 1 to the letter of the paper, where links are lost with probability %v, at the last of the first %d signals. One signal can be answered without error: its cross-entropy has no optimum. With a ridge there is one; with a window of the last signals it moves less. Distributed learning is held against our bound with the measured σ₂, and the farthest node is measured.%s",
		s.OutageProb, u.Runs[0].Steps, constant), u.Runs))
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
		Columns: []string{"links lost", "ε", "measured", "direct certificate", "certificate / measured", "Theorem 1 to the letter", "hypotheses that fail"},
		Note:    "Largest change over 64 random signals of length 1, seed " + fmt.Sprint(s.Seed) + ". The certificate is proven for every perturbation and signal; the theorem leaves out O(ε²) and asks for small ε, one feature per layer and responses below 1.",
	}
	chart := study.Chart{Name: "certify", Title: "Change of the output: bounds and measurement", X: "probability of losing a link", Y: "‖Ψ(X; S) - Ψ(X; Ŝ)‖", LogY: true, Note: "WD-GNN of Table 1, 64 random signals"}
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
		Note:    fmt.Sprintf("One flight of %d robots under the WD-GNN of Table 2, Metropolis weights at every step. A σ₂ below 1 is what our bound needs of every step or of every window; where it is 1, some robots did not hear the others in all that time. Assumption 5 to the letter (all entries positive) holds on no sparse graph.", s.World.Robots),
	}
	for _, m := range f.Mixing {
		yes := "no"
		if m.Connected {
			yes = "yes"
		}
		mixing.Rows = append(mixing.Rows, study.Row{Name: fmt.Sprintf("windows of %d", m.Window), Ours: true, Cells: []study.Cell{
			{Text: yes}, {Text: fmt.Sprint(m.Gap)}, {Text: fmt.Sprintf("%.4f", m.Smallest)}, {Text: fmt.Sprintf("%.4f", m.Worst)}, {Text: fmt.Sprintf("%.4f", m.Windowed)},
		}})
	}
	out := []study.Table{mixing}
	if len(f.Pairs) > 0 {
		out = append(out, f.pairs())
	}
	out = append(out, f.sequence())
	note := fmt.Sprintf("The controller learns in flight as in Table 2, γ = %v, gradients no longer than %v; a clipped step counts as the smaller one that it is. Costs are those of the flight, quadratic as long as no action is at the actuators' limit:", s.Gamma, s.OnlineClip)
	for k, run := range f.Runs {
		note += fmt.Sprintf(" %d of %d components were there in the %s flight,", f.Limited[k], 2*run.Steps*s.World.Robots, run.Mode)
	}
	note = note[:len(note)-1] + ". Where some were, the bound of the run as it was is not proven; those with a ridge are, for the quadratic costs. C_s is that of the step at which robots come closest, whose features are largest."
	return append(out, trackingTable("A flight: Theorems 2 and 3, distance from the moving optimum", note, f.Runs))
}

// pairs shows Theorem 1 for successive graphs.
func (f *certifiedFlight) pairs() study.Table {
	filters := ""
	for _, c := range f.Filters {
		filters += fmt.Sprintf(" filter %s of order %d has C_L = %.3g and max |a(λ)| = %.3g;", c.Name, c.Order, c.Lipschitz, c.Gain)
	}
	t := study.Table{
		Title:   "A flight: Theorem 1 between successive graphs, if they stood still",
		Columns: []string{"links changed", "ε", "measured", "direct certificate", "certificate / measured", "Theorem 1 to the letter", "hypotheses that fail"},
		Note:    "The frequency responses of the trained controller over the graphs' spectra:" + filters[:max(len(filters)-1, 0)] + ". The first change of links in every quarter of the flight. In flight filters are delayed and graphs do not stand still: Theorem 1 does not apply there, and the next table has what does.",
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
		Note:    fmt.Sprintf("The first %d steps of the flight with the signals that the robots had, all steps together, against the same steps on other graphs: what the delayed filters would have answered. A sequence of graphs is one graph in space and time, which is directed and whose eigenvalues are all 0, so that Theorem 1 says nothing about it. The direct certificate holds.", f.Sequences[0].Steps),
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
