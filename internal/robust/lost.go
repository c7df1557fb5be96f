package robust

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/mat"
)

// LostConfig says what to try.
type LostConfig struct {
	Of      Kind // empty means Links
	Most    int  // at most so many are lost at once: 1 or 2; 0 means 1
	Threads int  // 0 means 1; they do not change the result

	// Watch, unless nil, hears how many of the losses of a level are done: of one
	// part, then of two. It is called by one goroutine at a time.
	Watch func(lost, done, total int)
}

// Lost is what the loss of any part of a network does to answers.
type Lost struct {
	Of       Kind      `json:"of"`
	Directed bool      `json:"directed"`
	Parts    []Part    `json:"parts"`
	Levels   []Level   `json:"levels"` // at most one lost, at most two
	Answers  []Verdict `json:"answers"`
}

// Level sums up the losses of at most so many parts.
type Level struct {
	Lost  int `json:"lost"`
	Total int `json:"total"` // losses of exactly so many parts
	Tried int `json:"tried"` // of these; fewer than Total if somebody was in a hurry
	Apart int `json:"apart"` // of these, those whose parts have no answer in common: known from the level below

	// Held counts the answers that nothing flips that was tried, or moves beyond
	// Question.Within; if all was tried, nothing can.
	Held int `json:"held"`
}

// Complete says whether all was tried.
func (l *Level) Complete() bool { return l.Tried == l.Total }

// Verdict is what losses do to one answer.
type Verdict struct {
	Answer
	Flips int     `json:"flips"` // losses of one part that flip it, or move it beyond Question.Within
	Worst []Worst `json:"worst"` // by level: the most that at most so many losses do
}

// Worst is the most that losses do to an answer.
type Worst struct {
	Flipped bool    `json:"flipped"`
	Margin  float64 `json:"margin"` // of a classification: the least that is left; below 0 another class is said
	Move    float64 `json:"move"`   // the farthest that an output moves, in the user's units
	By      []int   `json:"by"`     // the parts whose loss does the one, or of values the other
}

// Lost tries the loss of every link or node, and of every two if asked. It is exact:
// each is run. A context that ends leaves what was done until then.
//
// Of two parts, an answer is computed only if both alone can reach it. Otherwise
// the loss of both is, for that answer, the loss of one of them, to the bit: rows
// that a loss changes, and who hears them within the hops of the model, are among
// those it reaches in the network as it is, for less links reach less far.
func (q *Question) Lost(ctx context.Context, c LostConfig) (*Lost, error) {
	c.Of, c.Most = cmp.Or(c.Of, Links), max(c.Most, 1)
	if c.Of != Links && c.Of != Nodes || c.Most > 2 {
		return nil, fmt.Errorf("robust: at most %d %s lost; want 1 or 2 links or nodes", c.Most, c.Of)
	}
	p, err := newPasses(q, nil)
	if err != nil {
		return nil, err
	}
	l := &losing{passes: p, config: c, out: &Lost{Of: c.Of, Directed: q.Graphs[0].Directed(), Parts: q.parts(c.Of)}}
	l.start = p.answers()
	worst := make([]least, len(l.start))
	for a := range worst {
		worst[a] = untouched(&l.start[a])
	}
	flips := make([]int, len(l.start))
	level, err := l.singles(ctx, worst, flips)
	if err != nil {
		return nil, err
	}
	l.sum(level, worst)
	for a := range l.start {
		l.out.Answers = append(l.out.Answers, Verdict{Answer: l.start[a], Flips: flips[a], Worst: []Worst{l.worst(worst[a])}})
	}
	if c.Most == 2 {
		if level, err = l.pairs(ctx, worst); err != nil {
			return nil, err
		}
		l.sum(level, worst)
		for a := range worst {
			l.out.Answers[a].Worst = append(l.out.Answers[a].Worst, l.worst(worst[a]))
		}
	}
	return l.out, nil
}

// losing is an enumeration under way.
type losing struct {
	*passes
	config LostConfig
	start  []Answer
	out    *Lost
	order  []int // parts, those that do most first
}

// least is the most that was done to an answer, and by which loss: ties go to the
// first, so that threads do not matter.
type least struct {
	flipped bool
	margin  float64
	move    float64
	lost    int // how many were lost; 0 if nothing did anything
	by      int // number of the loss
}

func untouched(a *Answer) least { return least{margin: a.Margin} }

// beats says whether b does more than a.
func (b least) beats(a least, classify bool) bool {
	less, more := a.move < b.move, a.move > b.move
	if classify {
		less, more = b.margin < a.margin, b.margin > a.margin
		if a.flipped != b.flipped {
			return b.flipped
		}
	}
	switch {
	case less || more:
		return less
	case a.lost == 0:
		return false
	}
	return a.lost > b.lost || a.lost == b.lost && b.by < a.by
}

// take adds what another does to what was done.
func (a *least) take(b least, classify bool) {
	move := max(a.move, b.move)
	if b.beats(*a, classify) {
		*a = b
	}
	a.move = move
}

// done says what an output y in place of answer a is.
func (l *losing) done(a int, y []float32) least {
	margin, move, holds := l.q.compare(&l.start[a], y)
	return least{flipped: !holds, margin: margin, move: move}
}

// singles tries every part.
func (l *losing) singles(ctx context.Context, worst []least, flips []int) (Level, error) {
	parts := l.out.Parts
	level := Level{Lost: 1, Total: len(parts)}
	type tally struct {
		worst []least
		flips []int
	}
	var tallies []*tally
	done, err := l.each(ctx, 1, len(parts), func() func(r *runner, k int) error {
		t := &tally{worst: slices.Clone(worst), flips: make([]int, len(worst))}
		tallies = append(tallies, t)
		return func(r *runner, k int) error {
			part := &parts[k]
			return r.try(r.keep(left(l.out.Directed, part)), l.alive(nil, part), func(b *block, read []int32, y mat.Dense) {
				l.visit(b, read, y, func(a int, y []float32) {
					now := l.done(a, y)
					now.lost, now.by = 1, k
					t.worst[a].take(now, l.q.Classify)
					part.Move = max(part.Move, now.move)
					if now.flipped {
						part.Flips++
						t.flips[a]++
					}
				})
			})
		}
	})
	for _, t := range tallies {
		for a := range worst {
			worst[a].take(t.worst[a], l.q.Classify)
			flips[a] += t.flips[a]
		}
	}
	level.Tried = done
	return level, err
}

// visit calls f with every answer of a block that was computed anew.
func (l *losing) visit(b *block, read []int32, y mat.Dense, f func(a int, y []float32)) {
	for e, r := range read {
		for s := range b.count {
			f((b.first+s)*len(l.readers)+int(r), y.Row(e*b.count+s))
		}
	}
}

// alive returns the readers among wanted, nil for all, that are not nodes which are
// lost; nil if that is all of them.
func (l *losing) alive(wanted []bool, lost ...*Part) []bool {
	if l.config.Of != Nodes {
		return wanted
	}
	out := make([]bool, len(l.readers))
	for r, row := range l.readers {
		node, _ := l.nodeOf(row)
		out[r] = (wanted == nil || wanted[r]) &&
			!slices.ContainsFunc(lost, func(p *Part) bool { return p.Ends[0] == node })
	}
	return out
}

// pairs tries every two parts, those that do most alone first.
func (l *losing) pairs(ctx context.Context, worst []least) (Level, error) {
	parts := l.out.Parts
	level := Level{Lost: 2, Total: len(parts) * (len(parts) - 1) / 2}
	if level.Total == 0 || l.out.Levels[0].Tried < len(parts) {
		return level, nil
	}
	l.order = l.out.Ranking()
	type tally struct {
		worst []least
		apart int
	}
	reach := l.reaches()
	var tallies []*tally
	done, err := l.each(ctx, 2, level.Total, func() func(r *runner, k int) error {
		t, wanted := &tally{worst: slices.Clone(worst)}, make([]bool, len(l.readers))
		tallies = append(tallies, t)
		return func(r *runner, k int) error {
			i, j := l.pair(k)
			if !common(wanted, reach[i], reach[j]) {
				t.apart++
				return nil
			}
			a, b := &parts[i], &parts[j]
			return r.try(r.keep(left(l.out.Directed, a, b)), l.alive(wanted, a, b), func(b *block, read []int32, y mat.Dense) {
				l.visit(b, read, y, func(a int, y []float32) {
					now := l.done(a, y)
					now.lost, now.by = 2, k
					t.worst[a].take(now, l.q.Classify)
				})
			})
		}
	})
	for _, t := range tallies {
		for a := range worst {
			worst[a].take(t.worst[a], l.q.Classify)
		}
		level.Apart += t.apart
	}
	level.Tried = done
	return level, err
}

// Ranking returns the numbers of the parts, those that flip most answers first, then
// those that move one farthest.
func (l *Lost) Ranking() []int {
	order := make([]int, len(l.Parts))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := &l.Parts[i], &l.Parts[j]
		return cmp.Or(cmp.Compare(b.Flips, a.Flips), cmp.Compare(b.Move, a.Move))
	})
	return order
}

// pair returns the parts of pair k: with a part come all pairs with those before it
// in the order.
func (l *losing) pair(k int) (i, j int) {
	a := int((1 + math.Sqrt(1+8*float64(k))) / 2)
	for a*(a-1)/2 > k {
		a--
	}
	for a*(a+1)/2 <= k {
		a++
	}
	i, j = l.order[k-a*(a-1)/2], l.order[a]
	return min(i, j), max(i, j)
}

// reaches returns the readers that the loss of every part may reach, as bits.
func (l *losing) reaches() [][]uint64 {
	planner, words := newPlanner(l.passes), (len(l.readers)+63)/64
	out := make([][]uint64, len(l.out.Parts))
	var list []int32
	for k := range out {
		planner.spread(l.q.touched(&l.out.Parts[k]))
		list = planner.reached(list[:0])
		out[k] = make([]uint64, words)
		for _, r := range list {
			out[k][r/64] |= 1 << (r % 64)
		}
	}
	return out
}

// common writes which bits both have, and says whether there are any.
func common(to []bool, a, b []uint64) bool {
	some := uint64(0)
	for w := range a {
		some |= a[w] & b[w]
	}
	if some == 0 {
		return false
	}
	for r := range to {
		to[r] = a[r/64]&b[r/64]>>(r%64)&1 != 0
	}
	return true
}

// sum adds a level to the result.
func (l *losing) sum(level Level, worst []least) {
	for a := range worst {
		if !worst[a].flipped {
			level.Held++
		}
	}
	l.out.Levels = append(l.out.Levels, level)
}

// worst returns what was done to an answer, with the parts by which it was.
func (l *losing) worst(w least) Worst {
	out := Worst{Flipped: w.flipped, Margin: w.margin, Move: w.move}
	switch w.lost {
	case 1:
		out.By = []int{w.by}
	case 2:
		i, j := l.pair(w.by)
		out.By = []int{i, j}
	}
	return out
}
