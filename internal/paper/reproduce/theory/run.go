package theory

import (
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/internal/paper/certify"
	"github.com/wdgnn/wdgnn/internal/paper/reproduce/study"
)

// certifiedRun is Theorem 2 or 3 for one run of online learning.
type certifiedRun struct {
	Mode     string               `json:"mode"`
	Steps    int                  `json:"steps"`
	Rank     int                  `json:"rank"`
	Dim      int                  `json:"dim"`
	SafeStep certify.Number       `json:"safe_step"`      // 2/C_s
	Constant certify.Number       `json:"paper_constant"` // log₁₀ C_ε, of distributed runs
	Rows     []certifiedTracking  `json:"rows"`           // as run, and with a ridge
	Limits   []certify.LimitPoint `json:"limits"`         // against γ, of centralized runs
}

// certifiedTracking is a run beside its bound at the last step.
type certifiedTracking struct {
	Name     string         `json:"name"`
	StepSize certify.Number `json:"step_size"`
	Ridge    float64        `json:"ridge"`
	Missing  int            `json:"missing"` // first step without an optimum, -1 if there is none
	Drift    certify.Number `json:"drift"`   // C_B
	Slowest  certify.Number `json:"slowest"` // m̂
	Bound    certify.Number `json:"bound"`
	Measured certify.Number `json:"measured"`
}

// certifiedRunOf takes from a report what tables show.
func certifiedRunOf(r *certify.OnlineReport) certifiedRun {
	c := certifiedRun{
		Mode: string(r.Mode), Steps: r.Steps, Rank: r.Rank, Dim: r.Dim,
		SafeStep: r.SafeStep, Constant: certify.Number(math.NaN()), Limits: r.Limits,
	}
	if r.Mixing != nil {
		c.Constant = r.Mixing.PaperConstant
	}
	for _, t := range []struct {
		name string
		at   *certify.Tracked
	}{{"as run", r.AsRun}, {"with a ridge", r.Ridged}} {
		if t.at == nil {
			continue
		}
		row := certifiedTracking{
			Name: t.name, StepSize: t.at.StepSize, Ridge: t.at.Ridge,
			Missing: t.at.Missing, Drift: t.at.Drift, Slowest: t.at.Slowest,
			Bound: certify.Number(math.NaN()), Measured: certify.Number(math.NaN()),
		}
		if n := len(t.at.Measured); n > 0 {
			row.Bound, row.Measured = t.at.Bound[n-1], t.at.Measured[n-1]
		}
		c.Rows = append(c.Rows, row)
	}
	return c
}

// trackingTable shows runs beside their bounds.
func trackingTable(title, note string, runs []certifiedRun) study.Table {
	t := study.Table{
		Title:   title,
		Columns: []string{"rank of taps", "γ", "2/C_s", "ridge", "C_B", "slowest m", "bound", "measured", "bound / measured"},
		Note:    note,
	}
	for _, r := range runs {
		for _, b := range r.Rows {
			row := study.Row{Name: fmt.Sprintf("%s, %s", r.Mode, b.Name), Ours: true, Cells: []study.Cell{
				{Text: fmt.Sprintf("%d of %d", r.Rank, r.Dim)},
				{Text: b.StepSize.Text(3)},
				{Text: r.SafeStep.Text(3)},
				{Text: fmt.Sprintf("%.3g", b.Ridge)},
			}}
			if b.Missing == 0 {
				row.Cells = append(row.Cells, study.Cell{Text: "no optimum"}, study.Cell{}, study.Cell{}, study.Cell{}, study.Cell{})
			} else {
				row.Cells = append(row.Cells, study.Cell{Text: b.Drift.Text(3)}, study.Cell{Text: rateOf(b.Slowest)},
					study.Cell{Text: b.Bound.Text(3)},
					study.Cell{Text: b.Measured.Text(3)}, study.Cell{Text: (b.Bound / b.Measured).Text(3)})
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// rateOf writes a contraction, of which matters how far it is from 1.
func rateOf(n certify.Number) string {
	if v := float64(n); v < 1 && v > 0.99 {
		return fmt.Sprintf("%.6f", v)
	}
	return n.Text(3)
}

// limitTable shows where learning ends against the step size, and limitChart draws
// it.
func limitTable(r certifiedRun) study.Table {
	last := r.Rows[len(r.Rows)-1]
	t := study.Table{
		Title:   "Theorem 2: the limiting error against the step size",
		Columns: []string{"γ", "C_B/(1 - m)", "each step's own drift", "measured", "own / measured"},
		Note: texts.Say("certify limits", map[string]any{
			"Steps": r.Steps, "Last": last, "Start": r.Limits[0].Start,
		}),
	}
	for _, p := range r.Limits {
		t.Rows = append(t.Rows, study.Row{Name: fmt.Sprintf("%v of 2/C_s", p.Share), Ours: true, Cells: []study.Cell{
			{Text: fmt.Sprintf("%.3g", p.StepSize)},
			{Text: p.Bound.Text(3)},
			{Text: fmt.Sprintf("%.3g", p.Own)},
			{Text: fmt.Sprintf("%.3g", p.Measured)},
			{Text: fmt.Sprintf("%.3g", p.Own/p.Measured)},
		}})
	}
	return t
}

func limitChart(r certifiedRun) study.Chart {
	last := r.Rows[len(r.Rows)-1]
	c := study.Chart{
		Name: "certify-limit", Title: "Where online learning ends, against the step size",
		X: "step size γ", Y: "distance of the taps from the optimum", LogY: true,
		Note: texts.Say("certify limits chart", last),
	}
	bound, own := study.Curve{Name: "C_B/(1 - m)", Points: true}, study.Curve{Name: "each step's own drift", Points: true}
	measured := study.Curve{Name: "measured", Points: true}
	low, high := math.Inf(1), 0.0
	for _, p := range r.Limits {
		if b := float64(p.Bound); !math.IsInf(b, 0) && b > 0 {
			bound.X, bound.Y = append(bound.X, p.StepSize), append(bound.Y, b)
			high, low = max(high, b), min(low, b)
		}
		if p.Measured > 0 {
			own.X, own.Y = append(own.X, p.StepSize), append(own.Y, p.Own)
			measured.X, measured.Y = append(measured.X, p.StepSize), append(measured.Y, p.Measured)
			high, low = max(high, p.Measured), min(low, p.Measured)
		}
	}
	safe := r.Limits[0].StepSize / r.Limits[0].Share
	mark := study.Curve{Name: "safe step size 2/C_s", X: []float64{safe, safe}, Y: []float64{low, high}, Reference: true}
	c.Curves = []study.Curve{bound, own, measured, mark}
	return c
}
