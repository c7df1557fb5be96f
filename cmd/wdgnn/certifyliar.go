package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wdgnn/wdgnn/internal/box"
	"github.com/wdgnn/wdgnn/internal/paper/figure"
	"github.com/wdgnn/wdgnn/internal/robust"
	"github.com/wdgnn/wdgnn/modelfile"
)

// liarAnswers is how many answers every liar is tried on at most.
const liarAnswers = 100

// tryLiar lets every node lie in turn, within what agents accept of this model.
func (p *certifyPage) tryLiar(ctx context.Context, m *modelfile.Model, threads int) error {
	rows, err := box.MaxRows(m)
	if err != nil {
		return err
	}
	p.Liar, err = p.question.Liars(ctx, robust.LiarConfig{
		Rows: rows, Most: liarAnswers, Threads: threads,
		Watch:  func(done, total int) { p.show.at("liars", done, total) },
		Search: func(done, total int) { p.show.at("the worst lies", done, total) },
	})
	return err
}

// worstLiars returns those that do most, the worst first.
func (p *certifyPage) worstLiars() []robust.LiarNode {
	list := slices.Clone(p.Liar.Liars)
	slices.SortStableFunc(list, func(a, b robust.LiarNode) int {
		if !p.judged() {
			return cmp.Or(cmp.Compare(b.Moved, a.Moved), cmp.Compare(b.Move, a.Move))
		}
		return cmp.Or(cmp.Compare(b.Broken, a.Broken), cmp.Compare(b.Open(), a.Open()))
	})
	return list
}

// leadLiar says in words what one node that lies can do.
func (p *certifyPage) leadLiar(w *lines) {
	l := p.Liar
	if l == nil {
		return
	}
	worst := p.worstLiars()
	if len(l.Liars) < p.Nodes {
		p.leadSomeLiars(w, worst)
		return
	}
	if !p.judged() {
		found := ""
		if moved := worst[0].Moved; moved > 0 {
			found = fmt.Sprintf("one was found to move by %s, and ", p.units(moved))
		}
		w.printf("One node that lies can move no answer%s by more than %s; %snode %s lies worst.\n",
			p.lookedAt(l.Total), p.units(worstMove(worst)), found, p.question.Name(worst[0].Node))
		return
	}
	w.printf("%s of the answers%s cannot be %s by any one node that lies, and %s were.", shareOf(l.Held, l.Total), p.lookedAt(l.Total),
		p.changed(), shareOf(l.Broken, l.Total))
	var names []string
	for _, v := range worst[:min(len(worst), 3)] {
		if v.Broken > 0 {
			names = append(names, fmt.Sprintf("%s (%d)", p.question.Name(v.Node), v.Broken))
		}
	}
	if len(names) > 0 {
		w.printf(" The worst liars are nodes %s.", strings.Join(names, ", "))
	}
	w.printf("\n")
	p.leadShares(w)
}

// leadSomeLiars does so where not all nodes were let lie.
func (p *certifyPage) leadSomeLiars(w *lines, worst []robust.LiarNode) {
	l := p.Liar
	w.printf("Of %s, %s lied so far: ", counted(p.Nodes, "node"), thousands(len(l.Liars)))
	if p.judged() {
		w.printf("%s of the answers%s were %s", shareOf(l.Broken, l.Total), p.lookedAt(l.Total), p.changed())
	} else {
		w.printf("none of these can move an answer%s by more than %s", p.lookedAt(l.Total), p.units(worstMove(worst)))
	}
	w.printf("; what the others do is not known yet.\n")
}

// leadShares says in words how close bounds would have to be for answers to hold: the
// largest share of them within which at least half as many do as if liars sent zeros.
func (p *certifyPage) leadShares(w *lines) {
	l := p.Liar
	if len(l.Shares) == 0 || l.Held == l.Total {
		return
	}
	zeros := &l.Shares[0]
	some := zeros
	for k := range l.Shares {
		if s := &l.Shares[k]; 2*s.Held >= zeros.Held {
			some = s
		}
	}
	switch {
	case zeros.Held == 0:
		w.printf("None withstands all of them, even if they send nothing but zeros.\n")
	case some.Share == 1: // how many do was said
		w.printf("%s withstand any one that sends nothing but zeros.\n", shareOf(zeros.Held, l.Total))
	case some == zeros:
		w.printf("%s withstand any one that sends nothing but zeros, and %s any one within %s of these bounds.\n",
			shareOf(zeros.Held, l.Total), shareOf(l.Shares[1].Held, l.Total), percent(l.Shares[1].Share))
	default:
		w.printf("%s withstand any one that lies within %s of these bounds, %s any one that sends nothing but zeros.\n",
			shareOf(some.Held, l.Total), percent(some.Share), shareOf(zeros.Held, l.Total))
	}
}

func worstMove(list []robust.LiarNode) float64 {
	most := 0.0
	for k := range list {
		most = max(most, list[k].Move)
	}
	return most
}

// liarRows is how many liars are listed.
const liarRows = 10

// printLiar prints the worst liars.
func (p *certifyPage) printLiar(w *lines) {
	l := p.Liar
	if l == nil {
		return
	}
	w.printf("\n  one node lies, with rows as long as neighbours accept (%s at first); %s tried on %s\n",
		fmt.Sprintf("%.3g", append(slices.Clone(l.Rows), 0)[0]), counted(len(l.Liars), "liar"), counted(l.Total, "answer"))
	if p.judged() {
		w.printf("  %-8s %10s %10s %10s %10s\n", "node", "reaches", "flips", "cannot", "open")
	} else {
		w.printf("  %-8s %10s %14s %14s\n", "node", "reaches", "moves by", "at most")
	}
	for k, v := range p.worstLiars() {
		if k == liarRows {
			w.printf("  and %s more\n", counted(len(l.Liars)-liarRows, "node"))
			break
		}
		if p.judged() {
			w.printf("  %-8s %10d %10d %10d %10d\n", p.question.Name(v.Node), v.Reach, v.Broken, v.Held, v.Open())
		} else {
			w.printf("  %-8s %10d %14s %14s\n", p.question.Name(v.Node), v.Reach, p.units(v.Moved), p.units(v.Move))
		}
	}
	p.printShares(w)
}

// printShares prints what closer bounds would do.
func (p *certifyPage) printShares(w *lines) {
	if len(p.Liar.Shares) == 0 {
		return
	}
	w.printf("\n  %-14s %14s %14s %22s\n", "of the bounds", "answers hold", "were "+p.flipped(), "liars and answers hold")
	for k := len(p.Liar.Shares) - 1; k >= 0; k-- {
		s := &p.Liar.Shares[k]
		w.printf("  %-14s %14s %14s %22s\n", percent(s.Share), shareOf(s.Held, p.Liar.Total), shareOf(s.Broken, p.Liar.Total),
			fmt.Sprintf("%.1f %%", 100*s.Pairs))
	}
	w.printf("  rows of training are up to %s of the bounds long; max_norm in agent.yaml sets one bound for all rows\n",
		percent(box.HonestRows))
}

// flipped says in a word what happens to answers that do not hold.
func (p *certifyPage) flipped() string {
	if p.Classify {
		return "flipped"
	}
	return "moved"
}

// liarChart shows which share of the answers holds against how close the bounds are.
func (p *certifyPage) liarChart() *figure.Figure {
	if p.Liar == nil || len(p.Liar.Shares) == 0 {
		return nil
	}
	f := &figure.Figure{
		Title:    "Answers that hold against one node that lies",
		Subtitle: "They cannot be " + p.changed() + " within a share of what neighbours accept",
		X:        figure.Axis{Label: "Share of the bounds of rows, %", Log: true, Zero: true}, Y: figure.Axis{Label: "Share of answers, %"},
		Note: fmt.Sprintf("%s, %s. Rows of training are up to %s of the bounds long.",
			counted(len(p.Liar.Liars), "liar"), counted(p.Liar.Total, "answer"), percent(box.HonestRows)),
	}
	proven := figure.Series{Name: "any liar: proven", Style: figure.LinePoints}
	found := figure.Series{Name: "any liar, as far as a search found", Style: figure.LinePoints}
	pairs := figure.Series{Name: "of every liar and answer: proven", Style: figure.LinePoints}
	for k := range p.Liar.Shares {
		s, all := &p.Liar.Shares[k], float64(p.Liar.Total)
		for _, at := range []struct {
			to *figure.Series
			y  float64
		}{{&proven, float64(s.Held) / all}, {&found, 1 - float64(s.Broken)/all}, {&pairs, s.Pairs}} {
			at.to.X, at.to.Y = append(at.to.X, 100*s.Share), append(at.to.Y, 100*at.y)
		}
	}
	f.Series = []figure.Series{proven, found, pairs}
	return f
}
