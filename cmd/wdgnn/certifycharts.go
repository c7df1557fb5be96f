package main

import (
	"fmt"
	"math"
	"path/filepath"

	"github.com/wdgnn/wdgnn/internal/paper/certify"
	"github.com/wdgnn/wdgnn/internal/paper/figure"
)

// drawCertificate writes the charts of a report to a folder and returns their
// names.
func drawCertificate(dir string, r *certified) ([]string, error) {
	var names []string
	save := func(name string, f *figure.Figure) error {
		if f == nil {
			return nil
		}
		base := filepath.Join(dir, name)
		if err := f.Save(base); err != nil {
			return err
		}
		names = append(names, base+".svg", base+".png")
		return nil
	}
	if s := r.Stability; s != nil {
		if err := save("responses", responsesChart(s)); err != nil {
			return nil, err
		}
		if err := save("change", changeChart(s)); err != nil {
			return nil, err
		}
	}
	if o := r.Online; o != nil {
		for _, t := range []struct {
			name, title string
			at          *certify.Tracked
		}{
			{"tracking", "Distance from the optimum, as run", o.AsRun},
			{"tracking-ridge", "Distance from the optimum, with a ridge", o.Ridged},
		} {
			if err := save(t.name, trackingChart(t.title, t.at)); err != nil {
				return nil, err
			}
		}
		if err := save("limit", limitChart(o)); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// responsesChart shows the responses of every filter that bend most.
func responsesChart(s *certify.StabilityReport) *figure.Figure {
	if len(s.Responses) == 0 {
		return nil
	}
	f := &figure.Figure{
		Title: "Frequency responses", Subtitle: "Of every filter, the pairs of features that bend most",
		X: figure.Axis{Label: "Eigenvalue λ of the shift"}, Y: figure.Axis{Label: "a(λ)"},
		Note: fmt.Sprintf("Theorem 1 wants |a(λ)| ≤ 1; C_L = %.4g is the largest |λ a'(λ)|.", float64(s.IntegralLipschitz)),
	}
	color := map[string]int{}
	for _, c := range s.Responses {
		name := ""
		if color[c.Filter] == 0 {
			color[c.Filter] = len(color) + 1
			name = c.Filter
		}
		f.Series = append(f.Series, figure.Series{Name: name, X: c.Lambda, Y: c.Gain, Color: color[c.Filter]})
	}
	return f
}

// changeChart shows the change of the output on the way to the perturbed graph.
func changeChart(s *certify.StabilityReport) *figure.Figure {
	var x, measured, direct, theorem []float64
	label := "Relative perturbation ε"
	for _, p := range s.Sweep {
		at := float64(p.Epsilon)
		if math.IsNaN(at) || math.IsInf(at, 0) {
			at, label = p.Way, "Way t from S to the perturbed graph"
		}
		x, measured, direct = append(x, at), append(measured, positive(p.Measured)), append(direct, positive(p.Direct))
		theorem = append(theorem, positive(float64(p.Theorem)))
	}
	if len(x) == 0 || x[0] <= 0 || math.IsNaN(measured[len(measured)-1]) {
		return nil
	}
	f := &figure.Figure{
		Title: "Change of the output", Subtitle: "On the way from the graph to the perturbed one",
		X: figure.Axis{Label: label, Log: true}, Y: figure.Axis{Label: "Euclidean norm", Log: true},
		Series: []figure.Series{
			{Name: "measured", X: x, Y: measured, Style: figure.LinePoints},
			{Name: "direct certificate", X: x, Y: direct, Style: figure.LinePoints},
		},
		Note: fmt.Sprintf("%d nodes; the theorem without O(ε²). Signals: %s.", s.Nodes, s.Signals.Source),
	}
	if !math.IsNaN(theorem[0]) {
		f.Series = append(f.Series, figure.Series{Name: "Theorem 1", X: x, Y: theorem, Style: figure.Dashed})
	}
	return f
}

// trackingChart shows a distance over time beside its bounds.
func trackingChart(title string, t *certify.Tracked) *figure.Figure {
	if t == nil || len(t.Measured) < 2 {
		return nil
	}
	curve := func(name string, values []certify.Number, style figure.Style) figure.Series {
		s := figure.Series{Name: name, Style: style}
		for i, v := range values {
			s.X, s.Y = append(s.X, float64(i)), append(s.Y, positive(float64(v)))
		}
		return s
	}
	f := &figure.Figure{
		Title: title, X: figure.Axis{Label: "Step t"}, Y: figure.Axis{Label: "Distance of the taps", Log: true},
		Series: []figure.Series{curve("measured", t.Measured, figure.Line), curve("bound", t.Bound, figure.Line)},
		Note:   fmt.Sprintf("C_B = %.3g, slowest m = %.4g, ridge %.3g.", float64(t.Drift), float64(t.Slowest), t.Ridge),
	}
	if len(t.Paper) > 0 {
		f.Series = append(f.Series, curve("Theorem 2", t.Paper, figure.Dashed))
	}
	for _, s := range f.Series {
		some := false
		for _, v := range s.Y {
			some = some || !math.IsNaN(v)
		}
		if !some {
			return nil
		}
	}
	return f
}

// limitChart shows where learning ends against the step size.
func limitChart(o *certify.OnlineReport) *figure.Figure {
	if len(o.Limits) == 0 {
		return nil
	}
	var x, bound, own, measured []float64
	top, low := 0.0, math.Inf(1)
	for _, p := range o.Limits {
		x, bound, measured = append(x, p.StepSize), append(bound, positive(float64(p.Bound))), append(measured, positive(p.Measured))
		own = append(own, positive(p.Own))
		for _, v := range []float64{bound[len(bound)-1], measured[len(measured)-1]} {
			if !math.IsNaN(v) {
				top, low = max(top, v), min(low, v)
			}
		}
	}
	if !(low < top) {
		return nil
	}
	safe := o.Limits[0].StepSize / o.Limits[0].Share
	return &figure.Figure{
		Title: "Where learning ends", Subtitle: "The largest distance in the last quarter of the steps",
		X: figure.Axis{Label: "Step size γ"}, Y: figure.Axis{Label: "Distance from the optimum", Log: true},
		Series: []figure.Series{
			{Name: "measured", X: x, Y: measured, Style: figure.LinePoints},
			{Name: "C_B/(1 - m)", X: x, Y: bound, Style: figure.LinePoints},
			{Name: "each step's own drift", X: x, Y: own, Style: figure.LinePoints},
			{Name: "safe step size 2/C_s", X: []float64{safe, safe}, Y: []float64{low, top}, Style: figure.Dashed},
		},
		Note: "Learned once more in float64, " + limitNote(o) + ".",
	}
}

// limitNote says what was learned with.
func limitNote(o *certify.OnlineReport) string {
	return fmt.Sprintf("with a ridge of %.3g", o.Ridged.Ridge)
}

// positive returns v, or a gap where it has no place on a logarithmic axis.
func positive(v float64) float64 {
	if !(v > 0) || v > 1e200 {
		return math.NaN()
	}
	return v
}
