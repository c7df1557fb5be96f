package baseline

import (
	"cmp"
	"slices"

	"github.com/wdgnn/wdgnn/internal/shop/movies"
)

// NeighborsConfig says how movies are compared. The zero value is not valid: K
// must be set.
type NeighborsConfig struct {
	K          int                     `json:"k"` // most similar movies of the user's that count
	Similarity movies.SimilarityConfig `json:"similarity"`
}

// Neighbors predicts from the K movies most similar to n that the user rated,
// with positive similarity s:
//
//	r̄_n + Σ s_ni (r_ui - r̄_i) / Σ s_ni      r̄: mean of a movie's visible ratings
//
// It is r̄_n if there is none. Similarities come from the users who have
// nothing to hide.
type Neighbors struct {
	t      *Table
	k      int
	center *means
	alike  [][]float64
}

// NewNeighbors computes the similarities.
func NewNeighbors(t *Table, c NeighborsConfig) (*Neighbors, error) {
	alike, err := movies.Similarities(t.ratings, t.others(), c.Similarity)
	if err != nil {
		return nil, err
	}
	return &Neighbors{t: t, k: c.K, center: MovieMean(t).(*means), alike: alike}, nil
}

// WithK returns the same neighbours, of which k count.
func (m *Neighbors) WithK(k int) *Neighbors {
	other := *m
	other.k = k
	return &other
}

// Predict implements [Model].
func (m *Neighbors) Predict(u, n int) float64 {
	type neighbor struct{ similarity, offset float64 }
	var near []neighbor
	l := m.t.byUser[u]
	for e, i := range l.other {
		if s := m.alike[n][i]; int(i) != n && s > 0 {
			near = append(near, neighbor{s, l.value[e] - m.center.movie[i]})
		}
	}
	slices.SortStableFunc(near, func(a, b neighbor) int { return cmp.Compare(b.similarity, a.similarity) })
	over, under := 0.0, 0.0
	for _, x := range near[:min(m.k, len(near))] {
		over += x.similarity * x.offset
		under += x.similarity
	}
	if under == 0 {
		return m.center.movie[n]
	}
	return m.center.movie[n] + over/under
}
