package robust

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/crown"
	"github.com/wdgnn/wdgnn/mat"
)

// LiarConfig says what a node may send.
type LiarConfig struct {
	// Rows is the largest norm of a row by exchange that neighbours accept, the hops of
	// the input first: agent.Plan.MaxRows.
	Rows    []float64
	Most    int // answers to look at, evenly spread over all; 0 means all
	Threads int // 0 means 1; they do not change the result

	Watch  func(done, total int) // hears of liars, unless nil; called by one goroutine at a time
	Search func(done, total int) // hears of searches for lies that do harm, which come last, likewise
}

// Liars is what one node that lies can do to the answers of others, each in turn.
type Liars struct {
	Rows    []float64  `json:"rows"`    // as in LiarConfig
	Total   int        `json:"total"`   // answers that were looked at
	Held    int        `json:"held"`    // of these: no single liar can flip them, or move them beyond Question.Within
	Broken  int        `json:"broken"`  // of these: a liar was found that does
	Liars   []LiarNode `json:"liars"`   // by node
	Answers []Believed `json:"answers"` // those looked at

	// Shares says the same of closer bounds, from none to Rows. It is empty where
	// nothing says what holds, and where not all liars were tried.
	Shares []LiarShare `json:"shares,omitempty"`
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
	Moved  float64 `json:"moved"`  // and was found to

	// Safe is the largest share of the bounds within which no single liar can flip it, nil if
	// there is none or not all liars were tried: 0 withstands one that says nothing but
	// zeros. Found is the smallest within which one was found to, nil if none was.
	Safe  *float64 `json:"safe"`
	Found *float64 `json:"found"`
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
		j.samples = append(j.samples, k/len(j.readers))
	}
	if j.weight, err = q.liarWeights(); err != nil {
		return nil, err
	}
	verdicts := make([][]lie, q.Nodes())
	_, err = p.each(ctx, c.Threads, q.Nodes(), heard(c.Watch), func() func(*runner, int) error {
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
	search := j.worst(verdicts)
	_, err = p.each(ctx, c.Threads, len(search), heard(c.Search), func() func(*runner, int) error {
		return func(_ *runner, k int) error {
			j.search(search[k])
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

// heard returns what hears of progress, if only to ignore it.
func heard(watch func(done, total int)) func(done, total int) {
	if watch == nil {
		return func(int, int) {}
	}
	return watch
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
	net     *crown.Network
	exact   *crown.Shift
	readers []int32
	hears   *mat.CSR // Sᵀ: who hears a row
	hops    int
	answers []Answer // to look at
	rows    []int    // of the shift, of each
	samples []int    // of each
	weight  func(liar int) func(j int, s float64) float64
}

// lie is what a liar can do to one answer.
type lie struct {
	liar, answer int
	held, broken bool
	move, moved  float64
	safe         int // of liarShares, how many it withstands
	found        int // the first of them that was found to flip it; all of them if none was
}

// lie lets node v lie.
func (j *lying) lie(ctx context.Context, v int) []lie {
	q, rows := j.q, j.rowsOf(v)
	near := j.near(rows)
	bySample := make([][]int, q.Samples)
	var read []int
	for k, row := range j.rows {
		if near[row] && j.answers[k].Node != v {
			bySample[j.samples[k]] = append(bySample[j.samples[k]], k)
			read = append(read, row)
		}
	}
	if len(read) == 0 {
		return []lie{}
	}
	crown := j.crown(v, unique(read))
	out := []lie{}
	for s, list := range bySample {
		if len(list) == 0 || ctx.Err() != nil {
			continue
		}
		kase := crown.Case(q.signal(s))
		for _, k := range list {
			out = append(out, j.judge(kase, v, k))
		}
	}
	return out
}

// rowsOf returns the rows of the shift that belong to a node.
func (j *lying) rowsOf(v int) []int {
	var rows []int
	for t := range j.q.Steps() {
		rows = append(rows, t*j.q.Nodes()+v)
	}
	return rows
}

// crown prepares bounds of rows to which node v lies.
func (j *lying) crown(v int, read []int) *crown.Crown {
	return crown.NewLiarCrown(j.net, j.exact, read, crown.Liar{
		Rows: j.rowsOf(v), Most: j.c.Rows, Joint: j.q.Delayed, Weight: j.weight(v),
	})
}

// judge bounds what node v can do to one answer, and looks for a lie that flips it if that
// is not known to be impossible. Where values may move as far as they like, only bounds
// are taken: searches are for the worst.
func (j *lying) judge(kase *crown.Case, v, k int) lie {
	t := j.target(kase, k)
	out := lie{liar: v, answer: k, found: len(liarShares)}
	if !j.q.Classify {
		out.move = slices.Max(kase.Move(t.row, 1, t.from)) * j.q.scale(t.Node)
	}
	if !j.q.judges() {
		return out
	}
	if out.held = t.holds(1); out.held {
		out.safe = len(liarShares)
		return out
	}
	out.safe = sort.Search(len(liarShares)-1, func(s int) bool { return !t.holds(liarShares[s]) })
	out.broken = t.breaks(1)
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
	complete := len(out.Liars) == j.q.Nodes()
	for _, b := range out.Answers {
		out.Held += count(j.q.judges() && b.Held == b.Reach && complete)
		out.Broken += count(b.Broken > 0)
	}
	if complete && j.q.judges() {
		j.share(out, verdicts)
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
