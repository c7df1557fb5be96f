package baseline

// global predicts one number.
type global float64

// Global predicts μ, the mean of all visible ratings.
func Global(t *Table) Model { return global(t.mean) }

func (g global) Predict(int, int) float64 { return float64(g) }

// means predicts by user, by movie, or by both.
type means struct {
	t              *Table
	mean           float64
	byUser, offset bool
	movie          []float64 // by movie: mean of its ratings, or of their offsets from their users' means
}

// UserMean predicts the mean of the user's ratings of other movies; μ if there
// is none.
func UserMean(t *Table) Model { return &means{t: t, mean: t.mean, byUser: true} }

// MovieMean predicts the mean of the movie's visible ratings; μ if there is
// none. The user's own rating of the movie, if it is visible, is part of it.
func MovieMean(t *Table) Model {
	m := &means{t: t, mean: t.mean, movie: make([]float64, t.movies())}
	for n, l := range t.byMovie {
		m.movie[n] = t.mean
		if len(l.value) > 0 {
			m.movie[n] = sum(l.value) / float64(len(l.value))
		}
	}
	return m
}

// UserMeanMovieOffset predicts the mean of the user's ratings of other movies
// plus the movie's offset: the mean of r_vn less the mean of user v's ratings
// of other movies, over the raters v of n.
func UserMeanMovieOffset(t *Table) Model {
	m := &means{t: t, mean: t.mean, byUser: true, offset: true, movie: make([]float64, t.movies())}
	for n, l := range t.byMovie {
		for e, v := range l.other {
			m.movie[n] += (l.value[e] - t.userMean(int(v), n)) / float64(len(l.other))
		}
	}
	return m
}

func (m *means) Predict(u, n int) float64 {
	switch {
	case m.offset:
		return m.t.userMean(u, n) + m.movie[n]
	case m.byUser:
		return m.t.userMean(u, n)
	}
	return m.movie[n]
}

// userMean returns the mean of the user's ratings of movies other than n.
func (t *Table) userMean(u, n int) float64 {
	total, count := 0.0, 0
	for e, i := range t.byUser[u].other {
		if int(i) != n {
			total += t.byUser[u].value[e]
			count++
		}
	}
	if count == 0 {
		return t.mean
	}
	return total / float64(count)
}

func sum(values []float64) float64 {
	total := 0.0
	for _, v := range values {
		total += v
	}
	return total
}
