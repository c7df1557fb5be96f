package robust

import (
	"slices"
	"sort"

	"github.com/wdgnn/wdgnn/internal/crown"
)

// liarShares are the shares of the bounds within which a liar is tried. Honest rows are up
// to a quarter as long as agents accept, so that closer bounds than that cost truth.
var liarShares = []float64{0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1}

// LiarShare is what one node that lies can do within a share of the bounds.
type LiarShare struct {
	Share  float64 `json:"share"`
	Held   int     `json:"held"`       // answers that no single liar can flip
	Broken int     `json:"broken"`     // answers that one was found to flip
	Pairs  float64 `json:"pairs_held"` // the share of all liars and answers that hear of them, of which the one cannot flip the other
}

// target is an answer that a liar would like to change.
type target struct {
	*Answer
	q    *Question
	kase *crown.Case
	row  int
	from []float64 // its values
}

func (j *lying) target(kase *crown.Case, k int) *target {
	t := &target{Answer: &j.answers[k], q: j.q, kase: kase, row: j.rows[k]}
	for _, y := range t.Values {
		t.from = append(t.from, float64(y))
	}
	return t
}

// judges says whether an answer either holds or does not: it is a class, or may move so far.
func (q *Question) judges() bool { return q.Classify || q.Within > 0 }

// holds says whether it is certain that the answer holds against anything within a share of
// the bounds.
func (t *target) holds(share float64) bool {
	if t.q.Classify {
		return t.kase.Margin(t.row, t.Class, share) > 0
	}
	return slices.Max(t.kase.Move(t.row, share, t.from))*t.q.scale(t.Node) <= t.q.Within
}

// breaks says whether something within a share of the bounds was found with which it does
// not.
func (t *target) breaks(share float64) bool {
	if t.q.Classify {
		return t.kase.Flips(t.row, t.Class, share)
	}
	return t.kase.Exceeds(t.row, share, t.from, t.q.Within/t.q.scale(t.Node))
}

// worst lists the lies to look at more closely: the one that does most to an answer, as
// far as bounds tell, and, of values, that of every liar.
func (j *lying) worst(verdicts [][]lie) []*lie {
	worse := func(a, b *lie) bool {
		if j.q.judges() {
			return a.safe < b.safe
		}
		return a.move > b.move
	}
	byAnswer := make([]*lie, len(j.answers))
	var list []*lie
	for _, lies := range verdicts {
		var most *lie
		for k := range lies {
			d := &lies[k]
			if most == nil || worse(d, most) {
				most = d
			}
			if at := byAnswer[d.answer]; at == nil || worse(d, at) {
				byAnswer[d.answer] = d
			}
		}
		if most != nil && !j.q.judges() {
			list = append(list, most)
		}
	}
	for _, d := range byAnswer {
		if d != nil && !slices.Contains(list, d) {
			list = append(list, d)
		}
	}
	return list
}

// search looks for what a lie does: how far it moves values, or the smallest share of the
// bounds within which it flips the answer.
func (j *lying) search(d *lie) {
	kase := j.crown(d.liar, []int{j.rows[d.answer]}).Case(j.q.signal(j.samples[d.answer]))
	t := j.target(kase, d.answer)
	if !j.q.Classify {
		d.moved = slices.Max(kase.Moved(t.row, 1, t.from)) * j.q.scale(t.Node)
	}
	if d.broken {
		d.found = sort.Search(len(liarShares)-1, func(s int) bool { return s >= d.safe && t.breaks(liarShares[s]) })
	}
}

// share says of every answer within which shares of the bounds it is safe, and of every
// share what is.
func (j *lying) share(out *Liars, verdicts [][]lie) {
	all := len(liarShares)
	safe, found := slices.Repeat([]int{all}, len(j.answers)), slices.Repeat([]int{all}, len(j.answers))
	held, pairs := make([]int, all), 0
	for _, list := range verdicts {
		for _, d := range list {
			safe[d.answer], found[d.answer] = min(safe[d.answer], d.safe), min(found[d.answer], d.found)
			if d.broken {
				found[d.answer] = min(found[d.answer], all-1)
			}
			pairs++
			for s := range d.safe {
				held[s]++
			}
		}
	}
	for s, share := range liarShares {
		at := LiarShare{Share: share, Pairs: float64(held[s]) / float64(max(pairs, 1))}
		for k := range j.answers {
			at.Held += count(safe[k] > s)
			at.Broken += count(found[k] <= s)
		}
		out.Shares = append(out.Shares, at)
	}
	for k := range out.Answers {
		if s := safe[k]; s > 0 {
			out.Answers[k].Safe = &liarShares[s-1]
		}
		if s := found[k]; s < all {
			out.Answers[k].Found = &liarShares[s]
		}
	}
}
