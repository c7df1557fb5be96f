package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"github.com/wdgnn/wdgnn/internal/config"
	"github.com/wdgnn/wdgnn/internal/grid"
	"github.com/wdgnn/wdgnn/internal/paper/certify"
	"github.com/wdgnn/wdgnn/internal/paper/theory"
	"github.com/wdgnn/wdgnn/internal/rundir"
	"github.com/wdgnn/wdgnn/modelfile"
)

// certified is the report of certify --paper.
type certified struct {
	Model     string                   `json:"model"`
	Stability *certify.StabilityReport `json:"stability,omitempty"`
	Online    *certify.OnlineReport    `json:"online,omitempty"`
	Charts    []string                 `json:"charts,omitempty"`
}

// paperDrop is with what probability a link is lost of the perturbed graph, unless
// somebody says.
const paperDrop = 0.1

// runPaper computes and prints the theorems.
func (c *CertifyCommand) runPaper(ctx context.Context, m *modelfile.Model) error {
	var err error
	report := certified{Model: c.model}
	if c.graph != "" {
		drop := paperDrop
		if c.given["drop"] {
			drop = c.drop[0]
		}
		read, err := parseNodes("--read", c.read)
		if err != nil {
			return usageError{"wdgnn certify", err}
		}
		report.Stability, err = certify.Stability(ctx, m, certify.Options{
			Read: read, Trained: c.read == "trained", Graph: c.graph, Perturbed: c.other, Drop: drop, Seed: c.seed,
			Signals: c.signals, Nodes: c.nodes, Directed: c.directed, Sweep: c.out != "",
		})
		if ctx.Err() != nil {
			return during("certify", ctx.Err())
		}
		if err != nil {
			return helpful{
				during("certify", err),
				"a graph on the nodes that the model runs on, --nodes N if the last have no links, --directed if links have a direction",
			}
		}
	}
	if c.run != "" {
		cfg, err := config.Load(filepath.Join(c.run, rundir.ConfigName))
		if err != nil {
			return helpful{during("certify", err), "--run DIR, a folder that wdgnn online wrote"}
		}
		show := newStageProgress(c.Stderr)
		report.Online, err = certify.Run(ctx, cfg, m, show.stage)
		show.end()
		if ctx.Err() != nil {
			return during("certify", ctx.Err())
		}
		if err != nil {
			return helpful{during("certify", err), "--run DIR, a folder that wdgnn online wrote for this model"}
		}
	}
	if c.out != "" {
		if report.Charts, err = drawCertificate(c.out, &report); err != nil {
			return during("certify", err)
		}
	}
	if c.json {
		return writeJSON(c.Stdout, report)
	}
	return c.printPaper(&report)
}

func (c *CertifyCommand) printPaper(r *certified) error {
	w := &lines{w: c.Stdout}
	if s := r.Stability; s != nil {
		printStability(w, s)
		if c.paper {
			explainStability(w, s)
		}
	}
	if o := r.Online; o != nil {
		if r.Stability != nil {
			w.printf("\n")
		}
		printTracking(w, o)
		if c.paper {
			explainTracking(w, o)
		}
	}
	for _, path := range r.Charts {
		w.printf("wrote %s\n", path)
	}
	return w.err
}

func printStability(w *lines, s *certify.StabilityReport) {
	w.printf("Stability: %d nodes, %d links before, %d after", s.Nodes, s.Edges, s.PerturbedEdges)
	if n := len(s.Read); n > 0 {
		w.printf("; outputs of %s", grid.Count(n, "node"))
	}
	w.printf("\n\n")
	printChecks(w, s.Checks)
	switch {
	case s.Parts > 1:
		w.printf("  (the graph is of %d parts that never hear each other; the bounds do not need it to be one)\n", s.Parts)
	case !s.Connected:
		w.printf("  (the perturbed graph is not connected; the bounds do not need it)\n")
	}
	if len(s.Filters) > 0 {
		w.printf("\n  %-8s %8s %6s %12s %12s %12s\n", "filter", "features", "order", "C_L", "of eq. (12)", "max |a(λ)|")
		for _, f := range s.Filters {
			w.printf("  %-8s %8s %6d %12s %12s %12s\n", f.Name, fmt.Sprintf("%d→%d", f.In, f.Out), f.Order,
				number(f.IntegralLipschitz), number(f.PairConstant), number(f.Gain))
		}
	}
	w.printf("\n  %-24s ‖ΔH‖ %s", "wide, gain and readout", number(s.Wide))
	if s.Biases > 0 {
		w.printf("   biases %s", number(s.Biases))
	}
	if s.Own > 0 {
		w.printf("   with what %s learned", grid.Count(s.Own, "node"))
	}
	w.printf("\n")
	for _, l := range s.Layers {
		w.printf("  %-24s ‖ΔH‖ %s", l.Name, number(l.Change))
		if l.After > 0 {
			w.printf("   ‖H‖ on the perturbed graph %s", number(l.After))
		}
		w.printf("\n")
	}
	if t := s.Together; t != nil {
		w.printf("  %-24s %s ‖X‖ + %s at the outputs\n", "all layers together", number(t.Gain), number(t.Rest))
	}
	w.printf("\n  C_Ψ = %s   C_L = %s   ε = %s   δ = %s\n\n", number(s.Architecture), number(s.IntegralLipschitz),
		number(s.Epsilon), number(s.Misalignment))
	printBounds(w, s.Bounds)
	w.printf("\n  measured on %s (%s): outputs change by %s in the median, %s at most\n", grid.Count(s.Signals.Count, "signal"),
		s.Signals.Source, percent(s.Signals.Median), percent(s.Signals.Worst))
	printMissing(w, s.Missing)
}

func printTracking(w *lines, o *certify.OnlineReport) {
	w.printf("Online learning: %s, %d nodes, %s, played without gates\n\n", o.Mode, o.Nodes, grid.Count(o.Steps, "step"))
	printChecks(w, o.Checks)
	w.printf("\n  C_s = %s   C_c = %s   L = %s   largest safe step size 2/C_s = %s\n", number(o.Smooth), number(o.Convex),
		number(o.Lipschitz), number(o.SafeStep))
	for _, t := range []struct {
		name string
		at   *certify.Tracked
	}{{"as run", o.AsRun}, {"with a ridge", o.Ridged}} {
		if t.at != nil && len(t.at.Measured) > 0 {
			w.printf("  %-13s C_B = %s   m̂ = %s\n", t.name+":", number(t.at.Drift), number(t.at.Slowest))
		}
	}
	if m := o.Mixing; m != nil {
		w.printf("  C_ε of Theorem 3 = %s, its bound %s; our bound settles for γ < %s\n", power(m.PaperConstant),
			power(m.PaperBound), number(m.SafeStep))
	}
	w.printf("\n")
	printBounds(w, o.Bounds)
	printLimits(w, o)
	printMissing(w, o.Messages)
}

// printLimits shows some of the step sizes that were tried.
func printLimits(w *lines, o *certify.OnlineReport) {
	for k, p := range o.Limits {
		if k == 0 {
			w.printf("\n  where learning ends, %s; never above the larger of e_0 and C_B/(1 - m)\n", limitNote(o))
			w.printf("  %-24s %10s %10s %12s %10s %10s\n", "step size", "γ", "e_0", "C_B/(1 - m)", "own drift", "measured")
		}
		if slices.Contains([]float64{0.01, 0.1, 0.5, 0.9, 0.99, 0.999}, p.Share) {
			w.printf("  %-24s %10s %10s %12s %10s %10s\n", fmt.Sprintf("%v of the safe one", p.Share), number(p.StepSize),
				number(p.Start), number(p.Bound), number(p.Own), number(p.Measured))
		}
	}
}

func printChecks(w *lines, checks []theory.Check) {
	for _, k := range checks {
		mark := "✓"
		if !k.Holds {
			mark = "✗"
		}
		w.printf("  %s %-46s %s\n", mark, k.Name, k.Text)
	}
}

func printBounds(w *lines, bounds []certify.BoundReport) {
	if len(bounds) == 0 {
		return
	}
	w.printf("  %-45s %10s %10s %14s\n", "", "bound", "measured", "bound/measured")
	for _, b := range bounds {
		w.printf("  %-45s %10s %10s %14s", b.Name, number(b.Bound), number(b.Measured), number(b.Ratio))
		if b.Note != "" {
			w.printf("   %s", b.Note)
		}
		w.printf("\n")
	}
}

func printMissing(w *lines, missing []string) {
	for i, text := range missing {
		if i == 0 {
			w.printf("\n")
		}
		w.printf("  not computed: %s\n", text)
	}
}

// number prints v in a few characters.
func number[T ~float64](v T) string { return certify.Number(v).Text(4) }

// power prints 10ˣ for a logarithm x.
func power(log certify.Number) string {
	if v := float64(log); !math.IsNaN(v) && !math.IsInf(v, 0) {
		return fmt.Sprintf("10^%.0f", v)
	}
	return number(log)
}

// percent prints a share.
func percent(v float64) string {
	if v >= 0.1 {
		return fmt.Sprintf("%.0f %%", 100*v)
	}
	return fmt.Sprintf("%.2g %%", 100*v)
}
