package robust

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wdgnn/wdgnn/internal/crown"
)

// NoiseConfig says which noise may be added to what sensors read.
type NoiseConfig struct {
	Norm    crown.Norm
	Size    float64 // in the user's units; 0 means 10 % of the root mean square of what sensors read
	Most    int     // answers to bound, evenly spread over all; 0 means all
	Attacks int     // of these, how many are attacked too, evenly spread; 0 means all
	Threads int     // 0 means 1; they do not change the result

	Watch func(done, total int) // hears of samples, unless nil; called by one goroutine at a time
}

// Noise is what noise at the sensors can do to answers: bounds by linear propagation,
// and beside them what an attack by gradients found.
type Noise struct {
	Norm    string      `json:"norm"`
	Size    float64     `json:"size"`     // in the user's units
	Total   int         `json:"total"`    // answers in all
	Held    int         `json:"held"`     // of those bounded: they cannot be flipped, or moved beyond Question.Within, by noise of Size
	Broken  int         `json:"broken"`   // of those attacked: they were
	Tried   int         `json:"attacked"` // how many were
	Median  float64     `json:"median_radius"`
	Tight   float64     `json:"tightness"` // the median of what the attack needed over what is proven: 1 would be exact
	Answers []Withstood `json:"answers"`
}

// Withstood is the noise that one answer withstands.
type Withstood struct {
	Answer
	Radius float64 `json:"radius"`          // noise up to which it cannot flip, or move beyond Question.Within; of values without one 0
	Found  float64 `json:"found,omitempty"` // noise that was found to do so; 0 if nothing was tried or found
	Move   float64 `json:"move"`            // of values: how far noise of Size can move it at most, in the user's units
	Moved  float64 `json:"moved,omitempty"` // how far it was found to
	Held   bool    `json:"held"`
	Tried  bool    `json:"attacked"`
	Broken bool    `json:"broken,omitempty"`
}

// Noise bounds what noise can do to answers. Nothing that it says holds is ever
// exceeded, by answers in float32 either; see crown.Crown. A context that ends
// leaves the samples that were done.
func (q *Question) Noise(ctx context.Context, c NoiseConfig) (*Noise, error) {
	if !(c.Size >= 0) || math.IsInf(c.Size, 0) {
		return nil, fmt.Errorf("robust: noise of %v; want a number above 0", c.Size)
	}
	p, err := newPasses(q, nil)
	if err != nil {
		return nil, err
	}
	net, shift, err := q.exact()
	if err != nil {
		return nil, err
	}
	all := p.answers()
	out := &Noise{Norm: c.Norm.String(), Size: c.Size, Total: len(all)}
	weights := q.noiseWeights()
	if out.Size == 0 {
		out.Size = 0.1 * q.usual(weights)
	}
	chosen := spread(len(all), c.Most)
	attacked := map[int]bool{}
	for _, k := range spread(len(chosen), c.Attacks) {
		attacked[chosen[k]] = true
	}
	bySample := make([][]int, q.Samples)
	each := len(all) / q.Samples
	var rows []int
	readers := q.Readers()
	for _, k := range chosen {
		bySample[k/each] = append(bySample[k/each], k)
		rows = append(rows, int(readers[k%each]))
	}
	crown := crown.NewCrown(net, shift, unique(rows), crown.Noise{Norm: c.Norm, Weights: weights})
	verdicts := make([]*Withstood, len(all))
	watch := c.Watch
	if watch == nil {
		watch = func(int, int) {}
	}
	_, err = p.each(ctx, c.Threads, q.Samples, watch, func() func(*runner, int) error {
		return func(_ *runner, s int) error {
			if len(bySample[s]) == 0 {
				return nil
			}
			kase := crown.Case(q.signal(s))
			for _, k := range bySample[s] {
				if ctx.Err() != nil {
					return nil
				}
				row := int(readers[k%each])
				if err := agree(kase, &all[k], row); err != nil {
					return err
				}
				v := q.withstand(kase, &all[k], row, out.Size, attacked[k])
				if err := v.contradiction(); err != nil {
					return err
				}
				verdicts[k] = &v
			}
			return nil
		}
	})
	if err != nil {
		return nil, err
	}
	for _, v := range verdicts {
		if v != nil {
			out.Answers = append(out.Answers, *v)
		}
	}
	if len(out.Answers) == 0 {
		return nil, errors.Join(ctx.Err(), errors.New("robust: no answer was bounded"))
	}
	out.sum(q)
	return out, nil
}

// agree reports an answer outside the bounds of what it is without noise: then these
// are not bounds of this model.
func agree(kase *crown.Case, a *Answer, row int) error {
	for c, b := range kase.Bounds(row, 0) {
		if y := float64(a.Values[c]); !(b.Low <= y && y <= b.High) {
			return fmt.Errorf("robust: output %d of node %d is %v and bounded by [%v, %v] without any noise: "+
				"the bounds are not about what this model does", c, a.Node, y, b.Low, b.High)
		}
	}
	return nil
}

// contradiction reports that an attack did what was proven to be impossible: then nothing
// is proven.
func (v *Withstood) contradiction() error {
	if v.Found > 0 && v.Found < v.Radius || v.Moved > 0 && v.Moved > v.Move {
		return fmt.Errorf("robust: an attack on node %d, sample %d, does with noise of %v what was proven up to %v to do nothing, "+
			"or moves its values by %v and not by %v at most: the bounds are wrong", v.Node, v.Sample, v.Found, v.Radius, v.Moved, v.Move)
	}
	return nil
}

// withstand bounds one answer.
func (q *Question) withstand(kase *crown.Case, a *Answer, row int, size float64, attack bool) Withstood {
	v := Withstood{Answer: *a, Tried: attack}
	if q.Classify {
		v.Radius = kase.Radius(row, a.Class)
		v.Held = v.Radius >= size || kase.Margin(row, a.Class, size) > 0
		if v.Held {
			v.Radius = max(v.Radius, size)
		}
		if attack {
			if f := kase.Found(row, a.Class); !math.IsInf(f, 0) {
				v.Found = f
			}
			v.Broken = v.Found > 0 && v.Found <= size
		}
		return v
	}
	scale, from := q.scale(a.Node), make([]float64, len(a.Values))
	for c, y := range a.Values {
		from[c] = float64(y)
	}
	most := func(moves []float64) float64 { return slices.Max(moves) * scale }
	v.Move = most(kase.Move(row, size, from))
	if v.Held = q.Within <= 0 || v.Move <= q.Within; q.Within > 0 {
		v.Radius = kase.Largest(size, func(s float64) bool { return most(kase.Move(row, s, from)) <= q.Within })
		if v.Held {
			v.Radius = max(v.Radius, size)
		}
	}
	if attack {
		v.Moved = most(kase.Moved(row, size, from))
		v.Broken = q.Within > 0 && v.Moved > q.Within
	}
	return v
}

// sum counts.
func (n *Noise) sum(q *Question) {
	var radii, ratios []float64
	for i := range n.Answers {
		v := &n.Answers[i]
		n.Held += count(v.Held)
		n.Tried += count(v.Tried)
		n.Broken += count(v.Broken)
		radii = append(radii, v.Radius)
		switch {
		case q.Classify && v.Found > 0 && v.Radius > 0:
			ratios = append(ratios, v.Found/v.Radius)
		case !q.Classify && v.Moved > 0:
			ratios = append(ratios, v.Move/v.Moved)
		}
	}
	n.Median, n.Tight = middle(radii), middle(ratios)
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// middle returns the median of values, the lower one of two; 0 if there is none.
func middle(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[(len(values)-1)/2]
}

// spread returns at most so many of the numbers below n, evenly spread; all if most
// is 0.
func spread(n, most int) []int {
	if most <= 0 || most > n {
		most = n
	}
	out := make([]int, most)
	for k := range out {
		out[k] = k * n / most
	}
	return out
}

// unique returns the numbers once each, ascending.
func unique(x []int) []int {
	slices.Sort(x)
	return slices.Compact(x)
}

// exact returns network and shift in float64, with what nodes have of their own.
func (q *Question) exact() (*crown.Network, *crown.Shift, error) {
	s, err := q.Shift(q.Graphs)
	if err != nil {
		return nil, nil, err
	}
	net := crown.NewNetwork(q.Network)
	if q.Own != nil {
		if err := GiveOwn(net, q.Network, q.Own, q.Nodes(), q.Readers(), s); err != nil {
			return nil, nil, err
		}
	}
	return net, crown.NewShift(s), nil
}

// signal returns sample s in float64.
func (q *Question) signal(s int) []float64 {
	return crown.Signal(q.Signals.View(s*q.rows(), 0, q.rows(), q.Signals.Cols))
}

// noiseWeights returns what noise of 1 in the user's units adds to the inputs of all
// rows of the shift; nil if it is 1.
func (q *Question) noiseWeights() []float64 {
	if q.InputScale == nil {
		return nil
	}
	one := make([]float64, len(q.InputScale))
	for i, v := range q.InputScale {
		if v != 0 {
			one[i] = 1 / v
		}
	}
	return slices.Repeat(one, q.Steps())
}

// usual returns the root mean square of what sensors read, in the user's units; 1 if
// that is 0.
func (q *Question) usual(weights []float64) float64 {
	sum, n := 0.0, 0
	for i, v := range q.Signals.Data {
		w := 1.0
		if weights != nil {
			w = weights[i%len(weights)]
		}
		if w != 0 {
			sum += float64(v) * float64(v) / (w * w)
			n++
		}
	}
	if sum == 0 {
		return 1
	}
	return math.Sqrt(sum / float64(n))
}
