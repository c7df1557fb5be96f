package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/wdgnn/wdgnn/internal/crown"
	"github.com/wdgnn/wdgnn/internal/paper/figure"
	"github.com/wdgnn/wdgnn/internal/robust"
)

// How many answers are looked at, and attacked too, where nobody asked about noise,
// and how many are attacked where somebody did.
const (
	glanceAnswers = 100
	glanceAttacks = 20
	mostAttacks   = 100
)

// normOf returns the norm that a flag names.
func normOf(name string) (crown.Norm, error) {
	for _, n := range []crown.Norm{crown.L2, crown.LInf} {
		if n.String() == name {
			return n, nil
		}
	}
	return 0, fmt.Errorf("--norm is %q, want l2 or linf", name)
}

// tryNoise bounds what noise does.
func (p *certifyPage) tryNoise(ctx context.Context, c robust.NoiseConfig) (err error) {
	c.Watch = func(done, total int) { p.show.at("noise", done, total) }
	p.Noise, err = p.question.Noise(ctx, c)
	return err
}

// leadNoise says in words what noise does.
func (p *certifyPage) leadNoise(w *lines) {
	n := p.Noise
	if n == nil {
		return
	}
	size := fmt.Sprintf("noise of %s at the sensors%s", p.noiseUnits(n.Size), p.everywhere())
	if !p.judged() {
		median, most := p.noiseMoves(func(v *robust.Withstood) float64 { return v.Move })
		w.printf("With %s no answer%s can move by more than %s, and half of them by no more than %s.\n",
			size, p.lookedAt(len(n.Answers)), p.units(most), p.units(median))
		return
	}
	w.printf("The median answer%s withstands noise of %s at the sensors%s; %s cannot be %s by %s.\n",
		p.lookedAt(len(n.Answers)), p.noiseUnits(n.Median), p.everywhere(),
		shareOf(n.Held, len(n.Answers)), p.changed(), p.noiseUnits(n.Size))
}

// noiseUnits writes a size of noise, in the unit of the data where inputs are readings.
func (p *certifyPage) noiseUnits(v float64) string {
	if p.question.InputScale == nil {
		return fmt.Sprintf("%.3g", v)
	}
	return p.units(v)
}

// noiseUnit writes that unit behind a label.
func (p *certifyPage) noiseUnit() string {
	if p.question.InputScale == nil {
		return ""
	}
	return p.inUnit()
}

// everywhere says how noise is measured, if not as usual.
func (p *certifyPage) everywhere() string {
	if p.Noise.Norm == crown.LInf.String() {
		return ", at each of them"
	}
	return ""
}

// lookedAt says how many answers a sentence is about, if not all.
func (p *certifyPage) lookedAt(answers int) string {
	if answers == p.Answers {
		return ""
	}
	return fmt.Sprintf(" of %s that were looked at", thousands(answers))
}

// changed says what happens to an answer that does not hold.
func (p *certifyPage) changed() string {
	if p.Classify {
		return "flipped"
	}
	return fmt.Sprintf("moved by more than %s", p.units(p.Within))
}

// shareOf writes a share. Less than all is never 100.0 %, however little is missing.
func shareOf(some, all int) string {
	share := 100 * float64(some) / float64(max(all, 1))
	if some < all {
		share = min(share, 99.9)
	}
	return fmt.Sprintf("%.1f %%", share)
}

// noiseMoves returns the median and the largest of something about answers.
func (p *certifyPage) noiseMoves(of func(v *robust.Withstood) float64) (median, most float64) {
	var all []float64
	for k := range p.Noise.Answers {
		all = append(all, of(&p.Noise.Answers[k]))
	}
	slices.Sort(all)
	return all[(len(all)-1)/2], all[len(all)-1]
}

// printNoise prints what is proven beside what was found.
func (p *certifyPage) printNoise(w *lines) {
	n := p.Noise
	if n == nil {
		return
	}
	how := "‖noise‖₂ over all sensors together"
	if n.Norm == crown.LInf.String() {
		how = "of every sensor by itself"
	}
	w.printf("\n  noise at the sensors%s, %s; %s bounded, %s attacked\n", p.noiseUnit(), how,
		counted(len(n.Answers), "answer"), thousands(n.Tried))
	w.printf("  %-34s %10s %10s %10s %10s\n", "", "least", "10 %", "median", "90 %")
	row := func(name string, of func(v *robust.Withstood) (float64, bool)) {
		var all []float64
		for k := range n.Answers {
			if v, ok := of(&n.Answers[k]); ok {
				all = append(all, v)
			}
		}
		if len(all) == 0 {
			return
		}
		slices.Sort(all)
		at := func(share float64) string { return fmt.Sprintf("%.3g", all[int(share*float64(len(all)-1))]) }
		w.printf("  %-34s %10s %10s %10s %10s\n", name, at(0), at(0.1), at(0.5), at(0.9))
	}
	beside := func(name string, proven, found func(v *robust.Withstood) float64) {
		row(name, func(v *robust.Withstood) (float64, bool) { return proven(v), true })
		if n.Tried < len(n.Answers) { // others than those attacked would not compare
			row("  of those attacked", func(v *robust.Withstood) (float64, bool) { return proven(v), found(v) > 0 })
		}
	}
	if p.judged() {
		found := func(v *robust.Withstood) float64 { return v.Found }
		beside("withstood whatever it is: proven", func(v *robust.Withstood) float64 { return v.Radius }, found)
		row("found to be too much", func(v *robust.Withstood) (float64, bool) { return v.Found, v.Found > 0 })
	}
	if !p.Classify {
		found := func(v *robust.Withstood) float64 { return v.Moved }
		beside("moves by at most: proven", func(v *robust.Withstood) float64 { return v.Move }, found)
		row("found to move by", func(v *robust.Withstood) (float64, bool) { return v.Moved, v.Moved > 0 })
	}
	if n.Tight > 0 {
		w.printf("  an answer needs between what is proven and what was found: a factor of %.2f in the median\n", n.Tight)
	}
}

// noiseChart shows which share of the answers holds against the size of the noise.
func (p *certifyPage) noiseChart() *figure.Figure {
	n := p.Noise
	if n == nil || !p.judged() {
		return nil
	}
	f := &figure.Figure{
		Title: "Answers that hold under noise at the sensors", Subtitle: "They cannot be " + p.changed() + ", whatever the noise is",
		X: figure.Axis{Label: "Size of the noise" + p.noiseUnit()}, Y: figure.Axis{Label: "Share of answers, %"},
		Note: fmt.Sprintf("%s bounded, %s attacked.", counted(len(n.Answers), "answer"), thousands(n.Tried)),
	}
	var proven, found []float64
	for k := range n.Answers {
		v := &n.Answers[k]
		proven = append(proven, v.Radius)
		if v.Found > 0 {
			found = append(found, v.Found)
		}
	}
	f.Series = append(f.Series, falling("proven", proven, len(proven)))
	if len(found) > 0 {
		f.Series = append(f.Series, falling("as far as an attack found", found, n.Tried))
	}
	return f
}

// falling is the share of answers that are still as they are at every size.
func falling(name string, sizes []float64, all int) figure.Series {
	slices.Sort(sizes)
	s := figure.Series{Name: name, X: []float64{0}, Y: []float64{100}}
	for k, v := range sizes {
		s.X, s.Y = append(s.X, v), append(s.Y, 100*float64(all-k-1)/float64(all))
	}
	return s
}
