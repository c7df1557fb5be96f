package baseline

// BiasesConfig says how biases are fitted. The zero value is no penalty and 20
// sweeps.
type BiasesConfig struct {
	Ridge  float64 `json:"ridge"`  // λ ≥ 0
	Sweeps int     `json:"sweeps"` // alternations between users and movies; 0 means 20
}

// Bias predicts μ + b_u + b_n, with the biases that minimise
//
//	Σ (r_un - μ - b_u - b_n)² + λ (Σ b_u² + Σ b_n²)
//
// over the visible ratings, found by alternating least squares.
type Bias struct {
	mean        float64
	user, movie []float64
}

// NewBias fits the biases.
func NewBias(t *Table, c BiasesConfig) *Bias {
	b := &Bias{mean: t.mean, user: make([]float64, t.users()), movie: make([]float64, t.movies())}
	sweeps := c.Sweeps
	if sweeps == 0 {
		sweeps = 20
	}
	for range sweeps {
		b.update(b.movie, b.user, t.byMovie, c.Ridge)
		b.update(b.user, b.movie, t.byUser, c.Ridge)
	}
	return b
}

// update solves for one side, the other being fixed.
func (b *Bias) update(side, fixed []float64, lists []list, ridge float64) {
	for i, l := range lists {
		if len(l.other) == 0 {
			continue
		}
		total := 0.0
		for e, j := range l.other {
			total += l.value[e] - b.mean - fixed[j]
		}
		side[i] = total / (float64(len(l.other)) + ridge)
	}
}

// Predict implements [Model].
func (b *Bias) Predict(u, n int) float64 { return b.mean + b.user[u] + b.movie[n] }
