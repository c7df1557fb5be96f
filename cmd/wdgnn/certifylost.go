package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wdgnn/wdgnn/internal/robust"
)

// shownParts is how many links or nodes a page names.
const (
	shownParts = 5
	shownRows  = 10
)

// tryLost tries losses.
func (p *certifyPage) tryLost(ctx context.Context, c robust.LostConfig) (err error) {
	c.Watch = func(lost, done, total int) {
		p.show.at(fmt.Sprintf("lost %s, %s at a time", c.Of, number1(lost)), done, total)
	}
	p.Lost, err = p.question.Lost(ctx, c)
	return err
}

// number1 writes small numbers as words.
func number1(n int) string { return []string{"none", "one", "two"}[n] }

// one writes "link" or "node".
func (p *certifyPage) one() string { return strings.TrimSuffix(string(p.Lost.Of), "s") }

// some writes "one link" or "two nodes".
func (p *certifyPage) some(lost int) string {
	if lost == 1 {
		return "one " + p.one()
	}
	return fmt.Sprintf("%s %s", number1(lost), p.Lost.Of)
}

// anyOf writes "any one lost link" or "any two lost nodes".
func (p *certifyPage) anyOf(lost int) string {
	n, thing, _ := strings.Cut(p.some(lost), " ")
	return fmt.Sprintf("any %s lost %s", n, thing)
}

// leadLost says in words what losses do.
func (p *certifyPage) leadLost(w *lines) {
	if p.Lost == nil {
		return
	}
	for k := range p.Lost.Levels {
		l := &p.Lost.Levels[k]
		switch {
		case !l.Complete() && !p.judged():
			_, most := p.moves(k)
			w.printf("Of the %s ways to lose %s, %s were tried: no answer moved by more than %s so far, which certifies nothing yet.\n",
				thousands(l.Total), p.some(l.Lost), thousands(l.Tried), p.units(most))
		case !l.Complete():
			w.printf("Of the %s ways to lose %s, %s were tried: of %s, %s hold so far, which certifies nothing yet.\n",
				thousands(l.Total), p.some(l.Lost), thousands(l.Tried), counted(p.Answers, "answer"), p.of(l.Held))
		case p.Classify:
			w.printf("Of %s, %s cannot be flipped by %s.\n", counted(p.Answers, "answer"), p.of(l.Held), p.anyOf(l.Lost))
		default:
			median, most := p.moves(k)
			if p.Within > 0 {
				w.printf("Of %s, %s cannot be moved by more than %s by %s.\n", counted(p.Answers, "answer"), p.of(l.Held),
					p.units(p.Within), p.anyOf(l.Lost))
			}
			w.printf("No answer moves by more than %s with %s, and half of them by no more than %s.\n",
				p.units(most), p.anyOf(l.Lost), p.units(median))
		}
	}
}

// moves returns the farthest that losses of a level move the median answer, and any.
func (p *certifyPage) moves(level int) (median, most float64) {
	moves := make([]float64, len(p.Lost.Answers))
	for a := range moves {
		moves[a] = p.Lost.Answers[a].Worst[level].Move
	}
	if len(moves) == 0 {
		return 0, 0
	}
	slices.Sort(moves)
	return moves[(len(moves)-1)/2], moves[len(moves)-1]
}

// leadWeakest names the parts that do most.
func (p *certifyPage) leadWeakest(w *lines) {
	if p.Lost == nil || len(p.Lost.Parts) == 0 {
		return
	}
	var names []string
	flips := p.judged()
	for _, k := range p.Lost.Ranking()[:min(shownParts, len(p.Lost.Parts))] {
		part := &p.Lost.Parts[k]
		switch name := p.question.PartName(part); {
		case flips && part.Flips > 0:
			names = append(names, fmt.Sprintf("%s (%s)", name, counted(part.Flips, "answer")))
		case !flips && part.Move > 0:
			names = append(names, fmt.Sprintf("%s (%s)", name, p.units(part.Move)))
		}
	}
	so := "" // how much of it is known
	if !p.Lost.Levels[0].Complete() {
		so = " so far"
	}
	if len(names) == 0 {
		w.printf("No %s alone %s when it is lost%s.\n", p.one(), p.harms("flips", "moves"), so)
		return
	}
	w.printf("The weakest %s%s: %s.\n", p.Lost.Of, so, strings.Join(names, ", "))
}

// harms says what a loss does to an answer that does not hold, with one verb for classes
// and one for values.
func (p *certifyPage) harms(flip, move string) string {
	switch {
	case p.Classify:
		return flip + " an answer"
	case p.Within > 0:
		return fmt.Sprintf("%s an answer by more than %s", move, p.units(p.Within))
	}
	return move + " an answer"
}

// judged says whether answers hold or not, or are only known to move.
func (p *certifyPage) judged() bool { return p.Classify || p.Within > 0 }

// printLost prints what each part does, and how each node fares.
func (p *certifyPage) printLost(w *lines) {
	if p.Lost == nil {
		return
	}
	for k := range p.Lost.Levels {
		l := &p.Lost.Levels[k]
		w.printf("  lost %s, %s at a time: %s of %s tried", p.Lost.Of, number1(l.Lost), thousands(l.Tried), thousands(l.Total))
		if l.Apart > 0 {
			w.printf(", %s of them known from one at a time: no answer hears of both", thousands(l.Apart))
		}
		if l.Lost == 1 && p.judged() {
			doing := 0
			for i := range p.Lost.Parts {
				if p.Lost.Parts[i].Flips > 0 {
					doing++
				}
			}
			w.printf(", %s of them %s", thousands(doing), p.harms("flip", "move"))
		}
		w.printf("\n")
	}
	p.printParts(w)
	p.printNodes(w)
}

// printParts lists the weakest.
func (p *certifyPage) printParts(w *lines) {
	ranking := p.Lost.Ranking()
	if len(ranking) == 0 {
		return
	}
	w.printf("\n  %-15s", "lost "+p.one())
	if p.judged() {
		w.printf(" %10s %8s", "answers", "share")
	}
	w.printf(" %12s\n", "farthest")
	for _, k := range ranking[:min(shownRows, len(ranking))] {
		part := &p.Lost.Parts[k]
		w.printf("  %-15s", p.question.PartName(part))
		if p.judged() {
			w.printf(" %10s %8s", thousands(part.Flips), p.share(part.Flips))
		}
		w.printf(" %12s\n", fmt.Sprintf("%.3g", part.Move))
	}
	if left := len(ranking) - shownRows; left > 0 {
		w.printf("  and %s more; --json has all\n", thousands(left))
	}
}

// nodeRow is how the answers of one node fare.
type nodeRow struct {
	node, answers int
	held          []int     // by level
	moves         []float64 // of the last level
}

// printNodes lists the nodes whose answers fare worst.
func (p *certifyPage) printNodes(w *lines) {
	levels := len(p.Lost.Levels)
	byNode := map[int]*nodeRow{}
	var rows []*nodeRow
	for a := range p.Lost.Answers {
		v := &p.Lost.Answers[a]
		r := byNode[v.Node]
		if r == nil {
			r = &nodeRow{node: v.Node, held: make([]int, levels)}
			byNode[v.Node], rows = r, append(rows, r)
		}
		r.answers++
		for k, worst := range v.Worst {
			if !worst.Flipped {
				r.held[k]++
			}
		}
		r.moves = append(r.moves, v.Worst[levels-1].Move)
	}
	for _, r := range rows {
		slices.Sort(r.moves)
	}
	slices.SortStableFunc(rows, func(a, b *nodeRow) int {
		if p.judged() {
			return a.held[levels-1] - b.held[levels-1]
		}
		return int(sign(b.moves[len(b.moves)-1] - a.moves[len(a.moves)-1]))
	})
	w.printf("\n  %-15s %10s", "node", "answers")
	for k := range levels {
		if p.judged() {
			w.printf(" %12s", fmt.Sprintf("hold, %s lost", number1(k+1)))
		}
	}
	w.printf(" %12s %12s\n", "median move", "farthest")
	for _, r := range rows[:min(shownRows, len(rows))] {
		w.printf("  %-15s %10s", p.question.Name(r.node), thousands(r.answers))
		for k := range levels {
			if p.judged() {
				w.printf(" %12s", shareOf(r.held[k], r.answers))
			}
		}
		w.printf(" %12s %12s\n", fmt.Sprintf("%.3g", r.moves[(len(r.moves)-1)/2]), fmt.Sprintf("%.3g", r.moves[len(r.moves)-1]))
	}
	if left := len(rows) - shownRows; left > 0 {
		w.printf("  and %s that fare better\n", counted(left, "node"))
	}
}

func sign(v float64) float64 {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}
