package rule

import (
	"errors"
	"fmt"

	"github.com/wdgnn/wdgnn/mat"
)

// What a second-order learner remembers is one list of numbers, since most of them
// are two matrices:
//
//	scale, τ, answers, age, its two costs, links known (0 or 1), their number, links…
//	n, and unless that is 0: main, and fresh if age ≥ 0, each as
//	answers, mean (r·p numbers), lower triangle of P (n×n) by rows

// memory returns a copy of what l remembers, nil if that is nothing.
func (l *learnt) memory() []float64 {
	if l.main.mean == nil && !l.linked {
		return nil
	}
	linked := 0.0
	if l.linked {
		linked = 1
	}
	m := []float64{l.scale, l.tau, float64(l.told), float64(l.age), l.costs[0], l.costs[1], linked, float64(len(l.links))}
	for _, j := range l.links {
		m = append(m, float64(j))
	}
	n := side(l.main.cov)
	m = append(m, float64(n))
	if n == 0 {
		return m
	}
	m = l.main.appendTo(m, n)
	if l.age >= 0 {
		m = l.fresh.appendTo(m, n)
	}
	return m
}

func (b *belief) appendTo(m []float64, n int) []float64 {
	m = append(append(m, float64(b.told)), b.mean...)
	for a := range n {
		m = append(m, b.cov[a*n:a*n+a+1]...)
	}
	return m
}

// recall returns what memory wrote; frame says of which sizes. It may come from
// outside: an error says what does not fit.
func recall(m []float64, g *frame) (*learnt, error) {
	l := &learnt{age: -1}
	if m == nil {
		return l, nil
	}
	if !mat.Finite(m...) {
		return nil, errors.New("rule: memory: a number of newton is not finite")
	}
	r := memoryReader{rest: m}
	l.scale, l.tau, l.told, l.age = r.next(), r.next(), r.count(), int(r.next())
	l.costs = [2]float64{r.next(), r.next()}
	l.linked = r.next() != 0
	for range min(r.count(), len(r.rest)) {
		l.links = append(l.links, int32(r.next()))
	}
	n := r.count()
	if n != 0 && n != g.p && n != g.p*g.r || n == 0 && l.age >= 0 {
		r.bad = true
	}
	if n != 0 && !r.bad {
		if !(l.scale > 0) || !(l.tau > 0) {
			r.bad = true
		}
		l.main, l.fresh = r.belief(g, n, true), r.belief(g, n, l.age >= 0)
	}
	if r.bad || len(r.rest) > 0 {
		return nil, fmt.Errorf("rule: memory: %d numbers of newton that do not fit %d features and %d outputs", len(m), g.p, g.r)
	}
	return l, nil
}

// memoryReader hands out numbers until there are none.
type memoryReader struct {
	rest []float64
	bad  bool
}

func (r *memoryReader) next() float64 {
	if len(r.rest) == 0 {
		r.bad = true
		return 0
	}
	v := r.rest[0]
	r.rest = r.rest[1:]
	return v
}

// count returns a number of things, which are no more than numbers are left.
func (r *memoryReader) count() int {
	v := r.next()
	const most = 1 << 53
	if !(v >= 0 && v <= most) || v != float64(int(v)) {
		r.bad = true
		return 0
	}
	return int(v)
}

// belief returns room for one, with what was remembered if it is there.
func (r *memoryReader) belief(g *frame, n int, there bool) belief {
	b := belief{mean: make([]float64, g.r*g.p), cov: make([]float64, n*n)}
	if !there {
		return b
	}
	b.told = r.count()
	for e := range b.mean {
		b.mean[e] = r.next()
	}
	for a := range n {
		for c := range a + 1 {
			v := r.next()
			b.cov[a*n+c], b.cov[c*n+a] = v, v
		}
		if !(b.cov[a*n+a] > 0) {
			r.bad = true
		}
	}
	return b
}
