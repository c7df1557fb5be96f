package movies

import "slices"

// plain counts co-ratings with ratings of any kind, in float64. Ratings are
// taken from the mean of their movie, which changes no moment and keeps
// differences of large sums small.
type plain struct {
	*view
	value  []float64 // by position in byUser
	spread []float64 // variance of all ratings, by movie
	sums   []coSums  // of row u, by v
}

// coSums are sums over the co-raters of u and v, with ratings a and b.
type coSums struct{ n, a, b, aa, bb, ab float64 }

func newPlain(v *view) *plain {
	p := &plain{view: v, value: slices.Clone(v.byUser.val), spread: make([]float64, v.Movies()), sums: make([]coSums, v.Movies())}
	mean := make([]float64, v.Movies())
	for n := range mean {
		raters, rating := v.byItem.row(n)
		if v.raters[n] == 0 {
			continue
		}
		for e, a := range rating {
			if v.listed[raters[e]] {
				mean[n] += a
			}
		}
		mean[n] /= float64(v.raters[n])
		for e, a := range rating {
			if v.listed[raters[e]] {
				p.spread[n] += float64((a - mean[n]) * (a - mean[n]))
			}
		}
		p.spread[n] = positive(p.spread[n]/float64(v.raters[n]), mean[n])
	}
	for e, n := range v.byUser.col {
		p.value[e] -= mean[n]
	}
	return p
}

func (p *plain) variance(u int) float64 { return p.spread[u] }

func (p *plain) row(head []moments, u int) {
	sums := p.sums[:u]
	clear(sums)
	for first, at := range p.heads(u) {
		a := p.value[at]
		for e := first; e < at; e++ {
			b, s := p.value[e], &sums[p.byUser.col[e]]
			s.n++
			s.a += a
			s.b += b
			s.aa += float64(a * a)
			s.bb += float64(b * b)
			s.ab += float64(a * b)
		}
	}
	for v := range head {
		head[v] = sums[v].moments()
	}
}

func (s coSums) moments() moments {
	if s.n == 0 {
		return moments{}
	}
	a, b := s.a/s.n, s.b/s.n
	m := moments{
		raters:     s.n,
		unit:       1,
		varU:       positive(s.aa/s.n-float64(a*a), a),
		varV:       positive(s.bb/s.n-float64(b*b), b),
		covariance: s.ab/s.n - float64(a*b),
	}
	m.varSum = m.varU + m.varV
	return m
}

// positive returns the variance of numbers with the given mean, 0 if it is no
// more than rounding.
func positive(variance, mean float64) float64 {
	const rounding = 1e-13
	if variance <= rounding*(1+float64(mean*mean)) {
		return 0
	}
	return variance
}
