package robust

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/mat"
	"github.com/wdgnn/wdgnn/random"
)

// DropConfig says what is lost at random.
type DropConfig struct {
	Of            Kind      // empty means Links
	Probabilities []float64 // each in 0 ≤ p < 1: every link, or node, is lost with it, independently
	Draws         int       // of outages; the same for all probabilities, which are nested
	Confidence    float64   // of every bound, such as 0.999
	Seed          uint64
	Threads       int // 0 means 1; they do not change the result

	Watch func(done, total int) // hears of draws, unless nil; called by one goroutine at a time
}

// Validate reports what is wrong with c.
func (c *DropConfig) Validate() error {
	if c.Of != "" && c.Of != Links && c.Of != Nodes {
		return fmt.Errorf("robust: nothing is called %q; want links or nodes", c.Of)
	}
	if c.Draws < 1 || !(c.Confidence > 0 && c.Confidence < 1) || len(c.Probabilities) == 0 {
		return fmt.Errorf("robust: %d draws of %d probabilities at a confidence of %v; want some, and 0 < confidence < 1",
			c.Draws, len(c.Probabilities), c.Confidence)
	}
	for _, p := range c.Probabilities {
		if !(p >= 0 && p < 1) {
			return fmt.Errorf("robust: a loss with probability %v; want 0 ≤ p < 1", p)
		}
	}
	return nil
}

// Drop is what random outages of one probability do to answers.
type Drop struct {
	Of          Kind    `json:"of"`
	Probability float64 `json:"probability"`
	Draws       int     `json:"draws"` // that were done
	Planned     int     `json:"planned"`
	Confidence  float64 `json:"confidence"`

	Held     int `json:"held"`     // answers that stay as they are in more than half of all outages, each with this confidence
	Together int `json:"together"` // the same, all of them at once with this confidence
	Voted    int `json:"voted"`    // of a classification: where one class, as before or not, is said in more than half

	Share float64 `json:"share"`          // of answers that stay as they are, on average over outages
	Low   float64 `json:"share_at_least"` // at least that, with this confidence
	Rare  float64 `json:"beyond_move"`    // the share of outages that move an answer farther than its Move, at most
	Moves float64 `json:"median_move"`    // of values: the median answer's Move
	Most  float64 `json:"largest_move"`   // and the largest
	Each  []Stay  `json:"answers"`        // in the order of Question.Answers
}

// Stay is how often an answer stays as it is.
type Stay struct {
	Kept int     `json:"kept"`     // outages in which it does
	Of   int     `json:"of"`       // outages in which the node is not lost itself
	Low  float64 `json:"at_least"` // the probability that it does, with the confidence of the whole
	Vote int     `json:"vote"`     // of a classification: the class that is said most often
	Said int     `json:"said"`     // how often that is
	Move float64 `json:"move"`     // the farthest it moved in any outage, in the user's units
}

// Drop draws outages and counts. Draw k is the same for the same seed, whatever the
// number of threads; links that are lost with one probability are lost with every
// larger one.
//
// A context that ends leaves what was drawn until then: bounds hold for any number of
// draws that nobody chose by looking at them.
func (q *Question) Drop(ctx context.Context, c DropConfig) ([]Drop, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c.Of = cmp.Or(c.Of, Links)
	p, err := newPasses(q, nil)
	if err != nil {
		return nil, err
	}
	d := &dropping{passes: p, config: c, start: p.answers()}
	for range c.Probabilities {
		d.shares = append(d.shares, slices.Repeat([]float64{math.NaN()}, c.Draws))
	}
	watch := c.Watch
	if watch == nil {
		watch = func(int, int) {}
	}
	var tallies []*dropTally
	done, err := p.each(ctx, c.Threads, c.Draws, watch, func() func(r *runner, k int) error {
		t := d.newTally()
		tallies = append(tallies, t)
		return func(r *runner, k int) error { return d.draw(r, t, k) }
	})
	if err == nil && done == 0 {
		err = cmp.Or(ctx.Err(), errors.New("robust: no outage was drawn"))
	}
	if err != nil {
		return nil, err
	}
	total := d.newTally()
	for _, t := range tallies {
		total.add(t)
	}
	out := make([]Drop, len(c.Probabilities))
	for k := range out {
		out[k] = d.sum(total.at[k], k, done)
	}
	return out, nil
}

// dropping is a number of draws under way.
type dropping struct {
	*passes
	config DropConfig
	start  []Answer
	shares [][]float64 // by probability and draw: how many of the answers hold; NaN of draws to come
}

// dropTally counts draws, by probability.
type dropTally struct{ at []*dropCounts }

// dropCounts counts those of one probability.
type dropCounts struct {
	changed []int // by answer: it does not hold
	votes   []int // by answer and class: more than if the answer had always stayed
	absent  []int // by reader: it is lost itself
	move    []float64
}

func (d *dropping) newTally() *dropTally {
	t := new(dropTally)
	for range d.config.Probabilities {
		c := &dropCounts{changed: make([]int, len(d.start)), absent: make([]int, len(d.readers)), move: make([]float64, len(d.start))}
		if d.q.Classify {
			c.votes = make([]int, len(d.start)*d.q.Network.Outputs())
		}
		t.at = append(t.at, c)
	}
	return t
}

// add adds the draws of another.
func (t *dropTally) add(o *dropTally) {
	for k, c := range t.at {
		from := o.at[k]
		for a := range c.changed {
			c.changed[a] += from.changed[a]
			c.move[a] = max(c.move[a], from.move[a])
		}
		for v := range c.votes {
			c.votes[v] += from.votes[v]
		}
		for r := range c.absent {
			c.absent[r] += from.absent[r]
		}
	}
}

// draw counts outage k at every probability.
func (d *dropping) draw(r *runner, t *dropTally, k int) error {
	cut := d.outage(random.Stream(d.config.Seed, "certify drop", k))
	for at, p := range d.config.Probabilities {
		graphs, dead, err := cut(r, p)
		if err != nil {
			return err
		}
		c := t.at[at]
		alive := make([]bool, len(d.readers))
		answering := 0
		for reader, row := range d.readers {
			node, _ := d.nodeOf(row)
			if alive[reader] = dead == nil || !dead[node]; alive[reader] {
				answering += d.q.Samples
			} else {
				c.absent[reader]++
			}
		}
		changed := 0
		err = r.try(graphs, alive, func(b *block, read []int32, y mat.Dense) { changed += d.count(c, b, read, y) })
		if err != nil {
			return err
		}
		share := 1.0
		if answering > 0 {
			share = 1 - float64(changed)/float64(answering)
		}
		d.shares[at][k] = share
	}
	return nil
}

// count takes in the answers of a block that were computed anew, and returns how many
// do not hold.
func (d *dropping) count(c *dropCounts, b *block, read []int32, y mat.Dense) (changed int) {
	for e, r := range read {
		for s := range b.count {
			a, out := (b.first+s)*len(d.readers)+int(r), y.Row(e*b.count+s)
			_, move, holds := d.q.compare(&d.start[a], out)
			c.move[a] = max(c.move[a], move)
			if !holds {
				c.changed[a]++
				changed++
			}
			if d.q.Classify {
				class := mat.Argmax(out)
				c.votes[a*len(out)+class]++
				c.votes[a*len(out)+d.start[a].Class]--
			}
		}
	}
	return changed
}

// outage draws one, and returns what it leaves of the graphs at a probability and
// which nodes are lost, nil if it is links. Links of a sequence are drawn anew at
// every step, nodes once.
func (d *dropping) outage(rng *rand.Rand) func(r *runner, p float64) ([]*graph.Graph, []bool, error) {
	q := d.q
	if d.config.Of == Nodes {
		u := make([]float64, q.Nodes())
		for i := range u {
			u[i] = rng.Float64()
		}
		return func(r *runner, p float64) ([]*graph.Graph, []bool, error) {
			dead := make([]bool, len(u))
			for i := range dead {
				dead[i] = u[i] < p
			}
			return r.keep(func(i, j int) bool { return !dead[i] && !dead[j] }), dead, nil
		}
	}
	outages := make([]*graph.Outage, len(q.Graphs))
	for t, g := range q.Graphs {
		outages[t] = graph.NewOutage(g, rng)
	}
	return func(_ *runner, p float64) ([]*graph.Graph, []bool, error) {
		graphs := make([]*graph.Graph, len(outages))
		for t, o := range outages {
			var err error
			if graphs[t], err = o.At(p); err != nil {
				return nil, nil, err
			}
		}
		return graphs, nil, nil
	}
}
