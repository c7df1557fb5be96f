package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/internal/robust"
)

// curveDrops are probabilities of the chart of random loss.
var curveDrops = []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5}

// tryDrop draws outages; for a chart also at probabilities that nobody asked for,
// which change nothing about those that somebody did.
func (p *certifyPage) tryDrop(ctx context.Context, c robust.DropConfig, chart bool) (err error) {
	p.asked = slices.Clone(c.Probabilities)
	if chart {
		c.Probabilities = append(slices.Clone(c.Probabilities), curveDrops...)
	}
	slices.Sort(c.Probabilities)
	c.Probabilities = slices.Compact(c.Probabilities)
	c.Watch = func(done, total int) { p.show.at("random loss", done, total) }
	p.Drop, err = p.question.Drop(ctx, c)
	return err
}

// leadDrop says in words what random loss does.
func (p *certifyPage) leadDrop(w *lines) {
	for k := range p.Drop {
		d := &p.Drop[k]
		if !slices.Contains(p.asked, d.Probability) {
			continue
		}
		lost := fmt.Sprintf("%s random loss of %s", percent(d.Probability), d.Of)
		sure := fmt.Sprintf("with %s confidence", confidence(d.Confidence))
		if p.judged() {
			if p.Lost == nil && d.Probability == slices.Min(p.asked) {
				w.printf("Of %s, ", counted(p.Answers, "answer"))
			}
			w.printf("%s hold under %s: each in most outages, %s.\n", p.of(d.Held), lost, sure)
			continue
		}
		w.printf("Under %s no answer moves by more than %s, and half of them by no more than %s: each in %.2f %% of outages, %s.\n",
			lost, p.units(d.Most), p.units(d.Moves), 100*(1-d.Rare), sure)
	}
}

// confidence writes 99.9 %.
func confidence(v float64) string { return fmt.Sprintf("%.6g %%", 100*v) }

// printDrop prints a row per probability.
func (p *certifyPage) printDrop(w *lines) {
	for k := range p.Drop {
		d := &p.Drop[k]
		if k == 0 {
			w.printf("\n  random loss of %s, %s", d.Of, counted(d.Draws, "outage"))
			if d.Draws < d.Planned {
				w.printf(" of %s that were planned", thousands(d.Planned))
			}
			w.printf("; confidence %s\n", confidence(d.Confidence))
			w.printf("  %-8s", "p")
			if p.judged() {
				w.printf(" %12s %12s", "hold", "all at once")
				if p.Classify {
					w.printf(" %12s", "one class")
				}
				w.printf(" %12s %12s", "on average", "at least")
			}
			w.printf(" %12s %12s\n", "median move", "farthest")
		}
		w.printf("  %-8g", d.Probability)
		if p.judged() {
			w.printf(" %12s %12s", p.share(d.Held), p.share(d.Together))
			if p.Classify {
				w.printf(" %12s", p.share(d.Voted))
			}
			w.printf(" %12s %12s", fmt.Sprintf("%.1f %%", 100*d.Share), fmt.Sprintf("%.1f %%", 100*d.Low))
		}
		w.printf(" %12s %12s\n", fmt.Sprintf("%.3g", d.Moves), fmt.Sprintf("%.3g", d.Most))
	}
}
