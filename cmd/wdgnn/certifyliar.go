package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wdgnn/wdgnn/internal/box"
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
		Watch: func(done, total int) { p.show.at("liars", done, total) },
	})
	return err
}

// worstLiars returns those that do most, the worst first.
func (p *certifyPage) worstLiars() []robust.LiarNode {
	list := slices.Clone(p.Liar.Liars)
	slices.SortStableFunc(list, func(a, b robust.LiarNode) int {
		return cmp.Or(
			cmp.Compare(b.Broken, a.Broken), cmp.Compare(b.Moved, a.Moved), cmp.Compare(b.Open(), a.Open()), cmp.Compare(b.Move, a.Move),
		)
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
	if !p.judged() {
		w.printf("One node that lies can move no answer%s by more than %s; one was found to move by %s, and node %d lies worst.\n",
			p.lookedAt(l.Total), p.units(worstMove(worst)), p.units(worst[0].Moved), worst[0].Node)
		return
	}
	w.printf("%s of the answers%s cannot be %s by any one node that lies, and %s were.", shareOf(l.Held, l.Total), p.lookedAt(l.Total),
		p.changed(), shareOf(l.Broken, l.Total))
	var names []string
	for _, v := range worst[:min(len(worst), 3)] {
		if v.Broken > 0 {
			names = append(names, fmt.Sprintf("%d (%d)", v.Node, v.Broken))
		}
	}
	if len(names) > 0 {
		w.printf(" The worst liars are nodes %s.", strings.Join(names, ", "))
	}
	w.printf("\n")
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
			w.printf("  %-8d %10d %10d %10d %10d\n", v.Node, v.Reach, v.Broken, v.Held, v.Open())
		} else {
			w.printf("  %-8d %10d %14s %14s\n", v.Node, v.Reach, p.units(v.Moved), p.units(v.Move))
		}
	}
}
