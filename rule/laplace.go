package rule

import (
	"math"

	"github.com/wdgnn/wdgnn/mat"
)

// belief is what a second-order learner knows: the mean Y and the covariance P of
// its parameters.
type belief struct {
	mean []float64 // Y by outputs: r rows of p values
	cov  []float64 // P: (r·p)×(r·p), or p×p for every output alike; symmetric to the bit
	told int       // answers that it is learned from
}

// begin makes b what it is before any answer: Y = 0, P = τI.
func (b *belief) begin(tau float64) {
	clear(b.mean)
	clear(b.cov)
	b.told = 0
	n := side(b.cov)
	for e := range n {
		b.cov[e*n+e] = tau
	}
}

func (b *belief) copyFrom(o *belief) {
	copy(b.mean, o.mean)
	copy(b.cov, o.cov)
	b.told = o.told
}

// side returns n of an n×n matrix.
func side(a []float64) int { return int(math.Sqrt(float64(len(a)))) }

// laplace makes beliefs follow answers. It holds settings and scratch, and may be
// shared by learners that take turns.
type laplace struct {
	frame  *frame
	full   bool // P is one matrix over all parameters
	tau    float64
	doubt  float64
	forget float64
	limit  float64 // |Y| beyond which an answer is refused

	z        []float64 // z̃
	b        []float64 // B = PΦᵀ, n×r; one matrix: v = P z̃, p
	s, l     []float64 // S = ΦPΦᵀ, r×r, and its root
	eta, u   []float64 // r
	a, grad  []float64 // r: the step in coordinates of l, and the gradient there
	d, trial []float64
	y, g     []float64 // C
	h        []float64 // C×C
	he, m    []float64 // r×r
	k, n     []float64 // r×r
	gain     []float64 // G, n×r
	p        []float64 // C: probabilities
}

func newLaplace(f *frame, full bool) *laplace {
	r, c, n := f.r, f.outputs, f.p
	if full {
		n = r * f.p
	}
	v := func(n int) []float64 { return make([]float64, n) }
	return &laplace{
		frame: f, full: full,
		z: v(f.p), b: v(n * r), s: v(r * r), l: v(r * r), eta: v(r), u: v(r), a: v(r), grad: v(r), d: v(r), trial: v(r),
		y: v(c), g: v(c), h: v(c * c), he: v(r * r), m: v(r * r), k: v(r * r), n: v(r * r), gain: v(n * r), p: v(c),
	}
}

// newBelief returns a belief of the right size.
func (s *laplace) newBelief() belief {
	n := s.frame.p
	if s.full {
		n *= s.frame.r
	}
	return belief{mean: make([]float64, s.frame.r*s.frame.p), cov: make([]float64, n*n)}
}

// predict writes Yᵀ z̃ to eta.
func (s *laplace) predict(eta []float64, o *belief) {
	for a := range eta {
		eta[a] = dot(o.mean[a*len(s.z):(a+1)*len(s.z)], s.z)
	}
}

// absorb makes o follow the answer that j judges by, for the features in s.z. It
// returns what the answer cost before, in the terms of ahead. It is false, and
// nothing changes, where no step can be found or it would lead too far.
func (s *laplace) absorb(o *belief, base []float32, j *judge) (cost float64, ok bool) {
	s.project(o)
	s.predict(s.eta, o)
	s.frame.outputsOf(s.y, base, s.eta)
	w, cost := s.trust(j)
	if !s.solve(base, j, w) || !s.confine(j, w) || !s.within(o) {
		return cost, false
	}
	s.learn(o)
	return cost, true
}

// project computes B, S and the root of S. Where rounding has made P lose a
// direction, so that S has a negative one, P is made larger.
func (s *laplace) project(o *belief) {
	for more := 1e-12 * s.tau; ; more *= 100 {
		if s.full {
			s.projectFull(o)
		} else {
			s.projectOne(o)
		}
		if root(s.l, s.s, s.frame.r) || !(more <= s.tau) {
			return
		}
		n := side(o.cov)
		for e := range n {
			o.cov[e*n+e] += more
		}
	}
}

// faded returns a² and (1-a²)τ.
func (s *laplace) faded() (keep, add float64) {
	keep = float64(s.forget * s.forget)
	return keep, float64((1 - keep) * s.tau)
}

func (s *laplace) projectFull(o *belief) {
	p, r := s.frame.p, s.frame.r
	n := r * p
	keep, add := s.faded()
	for e := range n {
		row := o.cov[e*n : (e+1)*n]
		for c := range r {
			s.b[e*r+c] = float64(keep * dot(row[c*p:(c+1)*p], s.z))
		}
		s.b[e*r+e/p] += float64(add * s.z[e%p])
	}
	for c := range r {
		for d := range c + 1 {
			sum, other := 0.0, 0.0
			for k, z := range s.z {
				sum += float64(z * s.b[(c*p+k)*r+d])
				other += float64(z * s.b[(d*p+k)*r+c])
			}
			mean := (sum + other) / 2
			s.s[c*r+d], s.s[d*r+c] = mean, mean
		}
	}
}

func (s *laplace) projectOne(o *belief) {
	p, r := s.frame.p, s.frame.r
	keep, add := s.faded()
	multiply(s.b[:p], o.cov, s.z)
	sum := 0.0
	for e, z := range s.z {
		s.b[e] = float64(keep*s.b[e]) + float64(add*z)
		sum += float64(z * s.b[e])
	}
	clear(s.s)
	for c := range r {
		s.s[c*r+c] = sum
	}
}

// trust returns how far to believe the answer, w, and what it cost. A label is
// judged by probabilities that know how sure the learner is,
//
//	pm = softmax(y_c/√(1 + π s_c/8)), s_c the variance of y_c
//	w = (1-ε)pm_c / ((1-ε)pm_c + ε/C)      cost = -ln((1-ε)pm_c + ε/C)
func (s *laplace) trust(j *judge) (w, cost float64) {
	if !j.classes {
		return 1, j.eval(s.g, s.h, s.y)
	}
	r, c := s.frame.r, s.frame.outputs
	for k := range c {
		v := 0.0
		if s.frame.reach == nil {
			v = s.s[k*r+k]
		} else {
			for a := range r {
				for b := range r {
					v += float64(float64(s.frame.reach[a*c+k]*s.s[a*r+b]) * s.frame.reach[b*c+k])
				}
			}
		}
		s.p[k] = s.y[k] / math.Sqrt(1+float64(math.Pi/8*max(v, 0)))
	}
	softmax(s.p)
	right := float64((1 - s.doubt) * s.p[int(j.target[0])])
	wrong := s.doubt / float64(c)
	const least = 1e-300
	if s.doubt == 0 {
		return 1, -mat.Log(max(right, least))
	}
	return right / (right + wrong), -mat.Log(max(right+wrong, least))
}

// softmax makes v probabilities.
func softmax(v []float64) {
	largest, sum := v[0], 0.0
	for _, x := range v {
		largest = max(largest, x)
	}
	for k, x := range v {
		v[k] = mat.Exp(x - largest)
		sum += v[k]
	}
	for k := range v {
		v[k] /= sum
	}
}

const (
	mostIterations = 60
	mostHalvings   = 40
	armijo         = 1e-4
	enough         = 1e-6 // what f may still fall by, as a share of it, where rounding ends the search
)

// solve finds the implicit step: u = w ∇J(η - S u), the gradient at the new
// outputs. With S = LLᵀ and a = Lᵀu it is the minimum of
//
//	f(a) = ½|a|² + w J(η - L a)      gradient a - w Lᵀ∇J, Hessian I + w LᵀHL
//
// which is strictly convex if J is convex, found by Newton's steps of the length
// that Armijo's rule allows: a search on the residual would stall. It is false
// where the minimum is not found.
func (s *laplace) solve(base []float32, j *judge, w float64) bool {
	clear(s.a)
	f, ok := s.at(s.a, base, j, w)
	if !ok {
		return false
	}
	exact, near := j.precision(), 0.0
	for range mostIterations {
		slope, ok := s.direction(w)
		if !ok {
			return false
		}
		near = -slope / (1 + math.Abs(f))
		if near <= exact*exact {
			return true // u is w E ∇J, which direction left there
		}
		next, ok := s.search(f, slope, exact, base, j, w)
		if !ok { // costs cannot tell any more
			s.at(s.a, base, j, w)
			break
		}
		f = next
	}
	s.reduce(w)
	return near <= enough
}

// at evaluates f at a, and leaves outputs, gradient and Hessian of J there.
func (s *laplace) at(a []float64, base []float32, j *judge, w float64) (f float64, ok bool) {
	r := s.frame.r
	for c := range r {
		s.u[c] = s.eta[c] - dot(s.l[c*r:c*r+c+1], a[:c+1])
	}
	s.frame.outputsOf(s.y, base, s.u)
	f = float64(w*j.eval(s.g, s.h, s.y)) + float64(dot(a, a)/2)
	return f, mat.Finite(f)
}

// direction writes Newton's step at a to d and returns the slope of f along it.
func (s *laplace) direction(w float64) (slope float64, ok bool) {
	r := s.frame.r
	s.reduce(w)
	if s.full {
		s.bend()
	} else {
		s.bendOne()
	}
	for c, v := range s.grad {
		s.d[c] = -v
	}
	if cholesky(s.k, s.n, r) { // otherwise J is not convex here: along the gradient
		forward(s.k, s.d)
		backward(s.k, s.d)
	}
	slope = dot(s.grad, s.d)
	return slope, mat.Finite(slope)
}

// bend writes the gradient of f and the lower triangle of its Hessian to grad and
// n.
func (s *laplace) bend() {
	r := s.frame.r
	for c := range r { // w Lᵀ g, g in u
		sum := 0.0
		for k := c; k < r; k++ {
			sum += float64(s.l[k*r+c] * s.u[k])
		}
		s.grad[c] = s.a[c] - sum
	}
	between(s.n, s.m, s.he, s.l, r)
}

// between writes the lower triangle of I + Lᵀ H L to dst, L lower triangular, by way
// of HL in room.
//
//	all r×r by rows; dst may be h
func between(dst, room, h, l []float64, r int) {
	for a := range r {
		for b := range r {
			sum := 0.0
			for k := b; k < r; k++ {
				sum += float64(h[a*r+k] * l[k*r+b])
			}
			room[a*r+b] = sum
		}
	}
	for a := range r {
		for b := range a + 1 {
			sum := 0.0
			for k := a; k < r; k++ {
				sum += float64(l[k*r+a] * room[k*r+b])
			}
			if a == b {
				sum++
			}
			dst[a*r+b] = sum
		}
	}
}

// bendOne is bend where P is one matrix for every output, so that S = sI.
func (s *laplace) bendOne() {
	r, variance := s.frame.r, s.s[0]
	deviation := s.l[0]
	for c, u := range s.u {
		s.grad[c] = s.a[c] - float64(deviation*u)
	}
	for a := range r {
		for b := range a + 1 {
			s.n[a*r+b] = float64(variance * s.he[a*r+b])
		}
		s.n[a*r+a]++
	}
}

// reduce writes w E g to u and w E H Eᵀ to he.
func (s *laplace) reduce(w float64) {
	if s.frame.reach == nil {
		for c, v := range s.g {
			s.u[c] = float64(w * v)
		}
	} else {
		c := s.frame.outputs
		for a := range s.u {
			s.u[a] = float64(w * dot(s.frame.reach[a*c:(a+1)*c], s.g))
		}
	}
	s.reduceMatrix(w)
}

// reduceMatrix writes w E h Eᵀ to he.
func (s *laplace) reduceMatrix(w float64) {
	e, r, n := s.frame.reach, s.frame.r, s.frame.outputs
	if e == nil {
		for k, v := range s.h {
			s.he[k] = float64(w * v)
		}
		return
	}
	for a := range r {
		for c := range n { // row a of E h, in p
			sum := 0.0
			for k := range n {
				sum += float64(e[a*n+k] * s.h[k*n+c])
			}
			s.p[c] = sum
		}
		for b := range a + 1 {
			v := float64(w * dot(s.p, e[b*n:(b+1)*n]))
			s.he[a*r+b], s.he[b*r+a] = v, v
		}
	}
}

// search goes along d from a as far as Armijo's rule allows.
func (s *laplace) search(f, slope, exact float64, base []float32, j *judge, w float64) (next float64, ok bool) {
	step := 1.0
	for range mostHalvings {
		for c, v := range s.d {
			s.trial[c] = s.a[c] + float64(step*v)
		}
		next, ok := s.at(s.trial, base, j, w)
		if ok && next <= f+float64(armijo*float64(step*slope))+float64(exact*(1+math.Abs(f))) {
			copy(s.a, s.trial)
			return next, true
		}
		step /= 2
	}
	return 0, false
}

// confine prepares how P shrinks: with the information I of the answer at the new
// outputs, w E I Eᵀ = NNᵀ,
//
//	P ← P - G Gᵀ      G = B N K⁻ᵀ, KKᵀ = I + NᵀSN
//
// and with one matrix for all outputs P ← P - h/(1+hs) vvᵀ, where h is the sum of
// the eigenvalues of the information of a label, otherwise the largest or more.
func (s *laplace) confine(j *judge, w float64) bool {
	r := s.frame.r
	j.information(s.h, s.y, s.g)
	s.reduceMatrix(w)
	if !mat.Finite(s.u...) || !mat.Finite(s.he...) {
		return false
	}
	if !s.full {
		h, v := s.strength(j), s.s[0]
		f := math.Sqrt(h / (1 + float64(h*v)))
		for e := range s.frame.p {
			s.gain[e] = float64(f * s.b[e])
		}
		return true
	}
	root(s.n, s.he, r)
	between(s.he, s.m, s.s, s.n, r)
	if !cholesky(s.k, s.he, r) {
		return false
	}
	for e := range r * s.frame.p {
		row, out := s.b[e*r:(e+1)*r], s.gain[e*r:(e+1)*r]
		for c := range out {
			sum := 0.0
			for k := c; k < r; k++ {
				sum += float64(row[k] * s.n[k*r+c])
			}
			out[c] = sum
		}
		forward(s.k, out) // G Kᵀ = B N, by rows
	}
	return true
}

// strength returns h of one matrix for all outputs.
func (s *laplace) strength(j *judge) float64 {
	r, most, sum := s.frame.r, 0.0, 0.0
	for a := range r {
		row := 0.0
		for _, v := range s.he[a*r : (a+1)*r] {
			row += math.Abs(v)
		}
		most, sum = max(most, row), sum+s.he[a*r+a]
	}
	if j.classes {
		return max(sum, 0)
	}
	return most
}

// within says whether the step leads to a finite Y no farther than the limit.
func (s *laplace) within(o *belief) bool {
	p, far := s.frame.p, 0.0
	for c, u := range s.u {
		for k := range p {
			far = max(far, math.Abs(o.mean[c*p+k]-s.change(c, k, u)))
			if !(far <= s.limit) {
				return false
			}
		}
	}
	return mat.Finite(s.gain...)
}

// change returns (B u) of output c and feature k.
func (s *laplace) change(c, k int, u float64) float64 {
	if !s.full {
		return float64(s.b[k] * u)
	}
	r := s.frame.r
	return dot(s.b[(c*s.frame.p+k)*r:(c*s.frame.p+k+1)*r], s.u)
}

// learn takes the step that was prepared.
func (s *laplace) learn(o *belief) {
	p := s.frame.p
	o.told++
	for c, u := range s.u {
		for k := range p {
			o.mean[c*p+k] -= s.change(c, k, u)
		}
	}
	if !s.full {
		s.shrinkOne(o)
		return
	}
	n, w := p*s.frame.r, s.frame.r
	keep, add := s.faded()
	for a := range n {
		ga := s.gain[a*w : (a+1)*w]
		row := o.cov[a*n : a*n+a+1]
		for b := range row {
			v := float64(keep*row[b]) - dot(ga, s.gain[b*w:(b+1)*w])
			if a == b {
				v += add
			}
			row[b] = v
			o.cov[b*n+a] = v
		}
	}
}

// shrinkOne is P ← a²P + (1-a²)τI - ggᵀ where P is one matrix. Both triangles are
// computed, to the same bits: going along rows takes less time than half of it
// across them.
func (s *laplace) shrinkOne(o *belief) {
	p := s.frame.p
	keep, add := s.faded()
	for a, g := range s.gain[:p] {
		row := o.cov[a*p : (a+1)*p]
		gains := s.gain[:len(row)]
		if keep == 1 {
			for b, v := range row {
				row[b] = v - float64(g*gains[b])
			}
			continue
		}
		for b, v := range row {
			row[b] = float64(keep*v) - float64(g*gains[b])
		}
		row[a] += add
	}
}
