package baseline

import (
	"math"
	"math/rand/v2"
)

// FactorsConfig describes a matrix factorisation.
type FactorsConfig struct {
	Factors int     `json:"factors"` // f, at least 1
	Ridge   float64 `json:"ridge"`   // λ > 0
	Sweeps  int     `json:"sweeps"`  // alternations between users and movies; 0 means 10

	Biases BiasesConfig `json:"biases"` // of the biases that are fitted before
}

// Factors predicts μ + b_u + b_n + p_uᵀ q_n. The biases are fitted first; then
// factors of what they leave over, e_un, minimise
//
//	Σ (e_un - p_uᵀ q_n)² + λ (Σ ‖p_u‖² + Σ ‖q_n‖²)
//
// over the visible ratings, by alternating least squares.
type Factors struct {
	bias        *Bias
	factors     int
	user, movie []float64 // f per row
}

// NewFactors fits a factorisation that begins at random.
func NewFactors(t *Table, c FactorsConfig, rng *rand.Rand) *Factors {
	m := &Factors{bias: NewBias(t, c.Biases), factors: c.Factors}
	m.user, m.movie = make([]float64, t.users()*c.Factors), make([]float64, t.movies()*c.Factors)
	for i := range m.movie {
		m.movie[i] = rng.NormFloat64() / math.Sqrt(float64(c.Factors))
	}
	users, films := m.residuals(t)
	sweeps := c.Sweeps
	if sweeps == 0 {
		sweeps = 10
	}
	solver := newRidge(c.Factors, c.Ridge)
	for range sweeps {
		solver.side(m.user, m.movie, users)
		solver.side(m.movie, m.user, films)
	}
	return m
}

// residuals returns what the biases leave of the ratings.
func (m *Factors) residuals(t *Table) (users, films []list) {
	rest := func(lists []list, at func(i, j int) (u, n int)) []list {
		out := make([]list, len(lists))
		for i, l := range lists {
			out[i] = list{l.other, make([]float64, len(l.value))}
			for e, j := range l.other {
				u, n := at(i, int(j))
				out[i].value[e] = l.value[e] - m.bias.Predict(u, n)
			}
		}
		return out
	}
	users = rest(t.byUser, func(i, j int) (int, int) { return i, j })
	films = rest(t.byMovie, func(i, j int) (int, int) { return j, i })
	return users, films
}

// Predict implements [Model].
func (m *Factors) Predict(u, n int) float64 {
	y, f := m.bias.Predict(u, n), m.factors
	q := m.movie[n*f : (n+1)*f]
	for k, p := range m.user[u*f : (u+1)*f] {
		y += p * q[k]
	}
	return y
}

// ridge solves small regularised least squares problems.
type ridge struct {
	n      int
	lambda float64
	gram   []float64 // n×n, lower triangle
	right  []float64
}

func newRidge(n int, lambda float64) *ridge {
	return &ridge{n: n, lambda: lambda, gram: make([]float64, n*n), right: make([]float64, n)}
}

// side solves for every row of one side, the other being fixed:
//
//	(Σ_j q_j q_jᵀ + λI) p = Σ_j e_j q_j
func (s *ridge) side(rows, fixed []float64, lists []list) {
	n := s.n
	for i, l := range lists {
		if len(l.other) == 0 {
			clear(rows[i*n : (i+1)*n])
			continue
		}
		clear(s.gram)
		clear(s.right)
		e := 0
		for ; e+4 <= len(l.other); e += 4 {
			s.addFour(fixed, l.other[e:e+4], l.value[e:e+4])
		}
		for ; e < len(l.other); e++ {
			s.add(fixed[int(l.other[e])*n:], l.value[e])
		}
		s.solve(rows[i*n : (i+1)*n])
	}
}

// add takes in one equation qᵀ p = value.
func (s *ridge) add(q []float64, value float64) {
	for a, v := range q[:s.n] {
		row := s.gram[a*s.n : a*s.n+a+1]
		for b := range row {
			row[b] += v * q[b]
		}
		s.right[a] += v * value
	}
}

// addFour takes in four equations at once, so that sums stay in registers.
func (s *ridge) addFour(fixed []float64, at []int32, value []float64) {
	n := s.n
	row := func(e int) []float64 { return fixed[int(at[e])*n : (int(at[e])+1)*n] }
	q0, q1, q2, q3 := row(0), row(1), row(2), row(3)
	for a := range n {
		v0, v1, v2, v3 := q0[a], q1[a], q2[a], q3[a]
		gram := s.gram[a*n : a*n+a+1]
		w0, w1, w2, w3 := q0[:len(gram)], q1[:len(gram)], q2[:len(gram)], q3[:len(gram)]
		for b := range gram {
			gram[b] += v0*w0[b] + v1*w1[b] + v2*w2[b] + v3*w3[b]
		}
		s.right[a] += v0*value[0] + v1*value[1] + v2*value[2] + v3*value[3]
	}
}

// solve writes the solution to x by Cholesky's decomposition, in place.
func (s *ridge) solve(x []float64) {
	n, g := s.n, s.gram
	copy(x, s.right)
	for a := range n {
		row := g[a*n : (a+1)*n]
		row[a] += s.lambda
		for b := range a {
			v := row[b]
			other := g[b*n : (b+1)*n]
			for k := range b {
				v -= row[k] * other[k]
			}
			row[b] = v / other[b]
			row[a] -= row[b] * row[b]
			x[a] -= row[b] * x[b]
		}
		row[a] = math.Sqrt(row[a])
		x[a] /= row[a]
	}
	for a := n - 1; a >= 0; a-- {
		for k := a + 1; k < n; k++ {
			x[a] -= g[k*n+a] * x[k]
		}
		x[a] /= g[a*n+a]
	}
}
