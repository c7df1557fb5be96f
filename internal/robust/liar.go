package robust

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/theory"
)

// LiarConfig says what a node may send.
type LiarConfig struct {
	// Rows is the largest norm of a row by exchange that neighbours accept, the hops of
	// the input first: agent.Plan.MaxRows.
	Rows    []float64
	Most    int // answers to look at, evenly spread over all; 0 means all
	Threads int // 0 means 1; they do not change the result

	Watch func(done, total int) // hears of liars, unless nil; called by one goroutine at a time
}

// Liars is what one node that lies can do to the answers of others, each in turn.
type Liars struct {
	Rows    []float64  `json:"rows"`    // as in LiarConfig
	Total   int        `json:"total"`   // answers that were looked at
	Held    int        `json:"held"`    // of these: no single liar can flip them, or move them beyond Question.Within
	Broken  int        `json:"broken"`  // of these: a liar was found that does
	Liars   []LiarNode `json:"liars"`   // by node
	Answers []Believed `json:"answers"` // those looked at
}

// LiarNode is what one node can do by lying.
type LiarNode struct {
	Node   int     `json:"node"`
	Reach  int     `json:"reach"`  // answers of others that hear of it within the hops of the model
	Held   int     `json:"held"`   // of these: it cannot flip them
	Broken int     `json:"broken"` // of these: a lie was found that does
	Move   float64 `json:"move"`   // of values: the farthest that it can move any, in the user's units
	Moved  float64 `json:"moved"`  // and was found to
}

// Open returns how many answers are neither held nor broken.
func (l *LiarNode) Open() int { return l.Reach - l.Held - l.Broken }

// Believed is what liars can do to one answer.
type Believed struct {
	Answer
	Reach  int     `json:"reach"`  // nodes that it hears of
	Held   int     `json:"held"`   // of these: those that cannot flip it
	Broken int     `json:"broken"` // and those that were found to
	Move   float64 `json:"move"`   // of values: the farthest that any can move it, in the user's units
	Moved  float64 `json:"moved"`
}

// Liars lets every node lie in turn, in all its messages of a step and to everybody
// something else, within what neighbours accept, and bounds what that does to the
// answers of others. What a node says of parameters, and its silence, are not part of
// it: the one is judged by package rule, for the other there is Lost. A context that
// ends leaves the liars that were done.
func (q *Question) Liars(ctx context.Context, c LiarConfig) (*Liars, error) {
	if want := exchanges(q); len(c.Rows) != want {
		return nil, fmt.Errorf("robust: bounds of %d rows, want %d, of every layer and hop", len(c.Rows), want)
	}
	p, err := newPasses(q, nil)
	if err != nil {
		return nil, err
	}
	net, exact, err := q.exact()
	if err != nil {
		return nil, err
	}
	s, err := q.Shift(q.Graphs)
	if err != nil {
		return nil, err
	}
	all := p.answers()
	j := &lying{q: q, c: c, net: net, exact: exact, readers: q.Readers(), hears: s.T(), hops: reach(q)}
	for _, k := range spread(len(all), c.Most) {
		j.answers = append(j.answers, all[k])
		j.rows = append(j.rows, int(j.readers[k%len(j.readers)]))
	}
	if j.weight, err = q.liarWeights(); err != nil {
		return nil, err
	}
	verdicts := make([][]lie, q.Nodes())
	watch := c.Watch
	if watch == nil {
		watch = func(int, int) {}
	}
	_, err = p.each(ctx, c.Threads, q.Nodes(), watch, func() func(*runner, int) error {
		return func(_ *runner, v int) error {
			if found := j.lie(ctx, v); ctx.Err() == nil {
				verdicts[v] = found
			}
			return nil
		}
	})
	if err != nil {
		return nil, err
	}
	out := j.sum(verdicts)
	if len(out.Liars) == 0 {
		return nil, errors.Join(ctx.Err(), errors.New("robust: no liar was tried"))
	}
	return out, nil
}

// exchanges returns how many rows a node sends per step.
func exchanges(q *Question) int {
	n := q.Network.InputOrder()
	for l := 1; l < len(q.Network.Params.Deep); l++ {
		n += q.Network.Params.Deep[l].Order()
	}
	return n
}

// reach returns how many hops away a model hears.
func reach(q *Question) int {
	hops, wide := 0, 0
	for l := range q.Network.Params.Deep {
		hops += q.Network.Params.Deep[l].Order()
	}
	if q.Network.Config.Wide != nil {
		wide = q.Network.Config.Wide.Order
	}
	return max(hops, wide)
}

// lying is a question to which nodes lie.
type lying struct {
	q       *Question
	c       LiarConfig
	net     *theory.Network
	exact   *theory.Shift
	readers []int32
	hears   *mat.CSR // Sᵀ: who hears a row
	hops    int
	answers []Answer // to look at
	rows    []int    // of the shift, of each
	weight  func(liar int) func(j int, s float64) float64
}

// lie is what a liar can do to one answer.
type lie struct {
	answer       int
	held, broken bool
	move, moved  float64
}

// lie lets node v lie.
func (j *lying) lie(ctx context.Context, v int) []lie {
	q, n := j.q, j.q.Nodes()
	var rows []int
	for t := range q.Steps() {
		rows = append(rows, t*n+v)
	}
	near := j.near(rows)
	bySample := map[int][]int{}
	var read []int
	for k, row := range j.rows {
		if near[row] && j.answers[k].Node != v {
			bySample[j.answers[k].Sample] = append(bySample[j.answers[k].Sample], k)
			read = append(read, row)
		}
	}
	if len(read) == 0 {
		return []lie{}
	}
	crown := theory.NewLiarCrown(j.net, j.exact, unique(read), theory.Liar{
		Rows: rows, Most: j.c.Rows, Joint: q.Delayed, Weight: j.weight(v),
	})
	out := []lie{}
	for s := range q.Samples {
		if len(bySample[q.number(s)]) == 0 || ctx.Err() != nil {
			continue
		}
		kase := crown.Case(q.signal(s))
		for _, k := range bySample[q.number(s)] {
			out = append(out, j.judge(kase, k))
		}
	}
	return out
}

// judge bounds and attacks one answer.
func (j *lying) judge(kase *theory.Case, k int) lie {
	a, row := &j.answers[k], j.rows[k]
	out := lie{answer: k}
	if j.q.Classify {
		if out.held = kase.Margin(row, a.Class, 1) > 0; !out.held {
			out.broken = kase.Flips(row, a.Class, 1)
		}
		return out
	}
	scale, from := j.q.scale(a.Node), make([]float64, len(a.Values))
	for c, y := range a.Values {
		from[c] = float64(y)
	}
	out.move = slices.Max(kase.Move(row, 1, from)) * scale
	out.moved = slices.Max(kase.Moved(row, 1, from)) * scale
	out.held = j.q.Within > 0 && out.move <= j.q.Within
	out.broken = j.q.Within > 0 && out.moved > j.q.Within
	return out
}

// near marks the rows that hear of others within the hops of the model.
func (j *lying) near(rows []int) []bool {
	seen := make([]bool, j.hears.Rows)
	ring := slices.Clone(rows)
	for _, i := range rows {
		seen[i] = true
	}
	for range j.hops {
		var next []int
		for _, i := range ring {
			col, _ := j.hears.Row(i)
			for _, k := range col {
				if !seen[k] {
					seen[k] = true
					next = append(next, int(k))
				}
			}
		}
		ring = next
	}
	return seen
}

// sum counts.
func (j *lying) sum(verdicts [][]lie) *Liars {
	out := &Liars{Rows: j.c.Rows, Total: len(j.answers)}
	for _, a := range j.answers {
		out.Answers = append(out.Answers, Believed{Answer: a})
	}
	for v, list := range verdicts {
		if list == nil {
			continue // interrupted
		}
		l := LiarNode{Node: v, Reach: len(list)}
		for _, d := range list {
			b := &out.Answers[d.answer]
			b.Reach++
			b.Held, l.Held = b.Held+count(d.held), l.Held+count(d.held)
			b.Broken, l.Broken = b.Broken+count(d.broken), l.Broken+count(d.broken)
			b.Move, l.Move = max(b.Move, d.move), max(l.Move, d.move)
			b.Moved, l.Moved = max(b.Moved, d.moved), max(l.Moved, d.moved)
		}
		out.Liars = append(out.Liars, l)
	}
	for _, b := range out.Answers {
		out.Held += count(b.Held == b.Reach && len(out.Liars) == j.q.Nodes())
		out.Broken += count(b.Broken > 0)
	}
	return out
}

// liarWeights returns how large a liar can make the weight that a row gives it. Shifts
// that are divided by degrees of both ends take that of the other as it says; it
// is believed down to the weight a of the link, which is part of it, so that
// a/√(d_j d_v) is at most √(a/d_j).
func (q *Question) liarWeights() (func(liar int) func(j int, s float64) float64, error) {
	if q.Operator != graph.ShiftSymmetric && q.Operator != graph.ShiftNormalizedLaplacian {
		return func(int) func(int, float64) float64 { return nil }, nil
	}
	n := q.Nodes()
	var links []*mat.CSR
	for _, g := range q.Graphs {
		a, err := graph.ShiftAdjacency.Of(g)
		if err != nil {
			return nil, err
		}
		links = append(links, a)
	}
	return func(liar int) func(int, float64) float64 {
		return func(j int, s float64) float64 {
			_, val := links[j/n].Row(j % n)
			degree := 0.0
			for _, w := range val {
				degree += float64(w)
			}
			return math.Copysign(max(math.Abs(s), math.Sqrt(float64(links[j/n].At(j%n, liar))/degree)), s)
		}
	}, nil
}
