package movies

import (
	"math/bits"
	"slices"
)

// counter computes moments of co-ratings row by row. It is not safe for
// concurrent use.
type counter interface {
	// variance returns that of all ratings of movie u.
	variance(u int) float64
	// row writes the moments of u with each of the movies before it to head,
	// overwritten.
	row(head []moments, u int)
}

// packed counts co-ratings with ratings of few levels, several sums to a word.
// If user w gave level a to movie u and level b to movie v, the words of v in
// row u grow by
//
//	libvar   1, a, b, a²+b²
//	huang    1, a, b, ab
//	pearson  1, a, b, ab, a², b²     the squares in a second word if need be
//
// each in a field wide enough for the sum over the raters of u. So one addition
// per pair of ratings counts all sums, and they are exact. Levels count from
// the least rating, which changes no moment.
type packed struct {
	*view
	measure Similarity

	layout      layout           // of the words of row u
	one         []uint64         // of row u, by v, if there is one word
	two         [][2]uint64      // of row u, by v, if there are two
	add         [][256]uint64    // by a, then b: what a pair of levels adds to one
	addBoth     [][256][2]uint64 // the same for two
	sum, square []int64          // of all levels, by movie
}

// layout says how many bits the fields of a word have.
type layout struct {
	n, sum, product int
	squares         bool // a² and b² follow ab
	second          bool // a² and b² are in a second word, 32 bits each
}

// fit returns the layout for sums over so many raters, if there is one.
func (p *packed) fit(raters int) (layout, bool) {
	span := p.codes.span
	l := layout{n: bits.Len(uint(raters)), sum: bits.Len(uint(raters * span)), product: bits.Len(uint(raters * span * span))}
	if p.measure == SimilarityLibvar {
		l.product = bits.Len(uint(2 * raters * span * span))
	}
	used := l.n + 2*l.sum + l.product
	if p.measure == SimilarityPearson {
		l.squares = used+2*l.product <= 64
		l.second = !l.squares
	}
	return l, used <= 64 && l.product <= 32
}

// newPacked returns a counter if the ratings have few levels and sums over as
// many raters as a movie has fit into the words.
func newPacked(v *view, measure Similarity) (*packed, bool) {
	if v.codes.word == nil {
		return nil, false
	}
	p := &packed{view: v, measure: measure}
	if _, ok := p.fit(slices.Max(v.raters)); !ok {
		return nil, false
	}
	n, levels := v.Movies(), v.codes.span+1
	p.one, p.add = make([]uint64, n), make([][256]uint64, levels)
	if measure == SimilarityPearson {
		p.two, p.addBoth = make([][2]uint64, n), make([][256][2]uint64, levels)
	}
	p.sum, p.square = make([]int64, n), make([]int64, n)
	for u, listed := range v.listed {
		if !listed {
			continue
		}
		for _, word := range v.codes.word[v.byUser.ptr[u]:v.byUser.ptr[u+1]] {
			a := int64(uint8(word))
			p.sum[word>>8] += a
			p.square[word>>8] += a * a
		}
	}
	return p, true
}

func (p *packed) variance(u int) float64 {
	n := int64(p.raters[u])
	if n == 0 {
		return 0
	}
	return float64(n*p.square[u]-p.sum[u]*p.sum[u]) / p.unit(n)
}

// unit returns n² in squares of levels: by what n Σab - Σa Σb exceeds a
// covariance.
func (p *packed) unit(n int64) float64 { return float64(n*n) * p.codes.scale * p.codes.scale }

// tabulate fills the tables of additions for the layout.
func (p *packed) tabulate() {
	l := p.layout
	for a := range p.codes.span + 1 {
		for b := range p.codes.span + 1 {
			product := a * b
			if p.measure == SimilarityLibvar {
				product = a*a + b*b
			}
			word := 1 | uint64(a)<<l.n | uint64(b)<<(l.n+l.sum) | uint64(product)<<(l.n+2*l.sum)
			if l.squares {
				at := l.n + 2*l.sum + l.product
				word |= uint64(a*a)<<at | uint64(b*b)<<(at+l.product)
			}
			p.add[a][b] = word
			if l.second {
				p.addBoth[a][b] = [2]uint64{word, uint64(a*a) | uint64(b*b)<<32}
			}
		}
	}
}

func (p *packed) row(head []moments, u int) {
	if l, _ := p.fit(p.raters[u]); l != p.layout {
		p.layout = l
		p.tabulate()
	}
	words := p.codes.word
	if p.layout.second {
		sums := p.two[:u]
		clear(sums)
		for first, at := range p.heads(u) {
			addTwo(sums, &p.addBoth[uint8(words[at])], words[first:at])
		}
		for v := range head {
			head[v] = p.moments(sums[v][0], sums[v][1]&(1<<32-1), sums[v][1]>>32)
		}
		return
	}
	sums := p.one[:u]
	clear(sums)
	for first, at := range p.heads(u) {
		addOne(sums, &p.add[uint8(words[at])], words[first:at])
	}
	from, mask := p.layout.n+2*p.layout.sum+p.layout.product, uint64(1)<<p.layout.product-1
	for v := range head {
		rest := sums[v] >> from // 0 unless the squares are here
		head[v] = p.moments(sums[v], rest&mask, rest>>p.layout.product)
	}
}

// addOne adds, for each rating, what its level adds to the sums of its movie.
// It is not inlined so that all of it stays in registers.
//
//go:noinline
func addOne(sums []uint64, add *[256]uint64, ratings []uint32) {
	for _, word := range ratings {
		sums[word>>8] += add[uint8(word)]
	}
}

// addTwo is addOne for two words per movie.
//
//go:noinline
func addTwo(sums [][2]uint64, add *[256][2]uint64, ratings []uint32) {
	for _, word := range ratings {
		s, a := &sums[word>>8], &add[uint8(word)]
		s[0] += a[0]
		s[1] += a[1]
	}
}

// moments returns what the sums of 1, a, b and products in a word and those of
// the squares, 0 unless they are counted, tell.
func (p *packed) moments(word, squareA, squareB uint64) moments {
	if word == 0 {
		return moments{}
	}
	l := &p.layout
	n := int64(word & (1<<l.n - 1))
	a := int64(word >> l.n & (1<<l.sum - 1))
	b := int64(word >> (l.n + l.sum) & (1<<l.sum - 1))
	product := int64(word >> (l.n + 2*l.sum) & (1<<l.product - 1))
	m := moments{raters: float64(n), unit: p.unit(n)}
	switch p.measure {
	case SimilarityLibvar:
		m.varSum = float64(n*product - a*a - b*b)
	case SimilarityHuang:
		m.covariance = float64(n*product - a*b)
	case SimilarityPearson:
		m.covariance = float64(n*product - a*b)
		m.varU = float64(n*int64(squareA) - a*a)
		m.varV = float64(n*int64(squareB) - b*b)
	}
	return m
}
