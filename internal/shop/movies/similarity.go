package movies

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Similarity names a measure of how alike two movies u and v were rated by
// their co-raters C_uv. The zero value is SimilarityLibvar. A Similarity is
// written as text in JSON.
//
// Variances are means of squares (division by the number of raters). Where a
// measure divides by zero, and where a movie pair has no co-rater, it is 0.
// All measures are symmetric.
type Similarity int

// The similarities. sd_u is the standard deviation of all ratings of u,
// var_u[C] and cov[C] are taken over the users in C alone, with their means.
const (
	// SimilarityLibvar, "libvar", is (var_u[C_uv] + var_v[C_uv]) / (2 sd_u sd_v).
	// It is no correlation: it holds no product of a rating of u with one of v,
	// exceeds 1, and says nothing about taste.
	//
	// Deviation: the paper names the Pearson correlation. Its table fits this
	// measure, which the library of its authors computes under that name, and
	// does not fit a correlation.
	SimilarityLibvar Similarity = iota
	// SimilarityHuang, "huang", is cov[C_uv] / (sd_u sd_v), the correlation of
	// the paper's reference for the graph: deviations are those of all raters.
	SimilarityHuang
	// SimilarityPearson, "pearson", is cov[C_uv] / (sd_u[C_uv] sd_v[C_uv]),
	// Pearson's correlation over the co-raters, -1 to 1.
	SimilarityPearson
)

var similarityNames = []string{"libvar", "huang", "pearson"}

// String returns the name that ParseSimilarity reads.
func (s Similarity) String() string {
	if s < 0 || int(s) >= len(similarityNames) {
		return fmt.Sprintf("Similarity(%d)", int(s))
	}
	return similarityNames[s]
}

// ParseSimilarity returns the measure with the given name.
func ParseSimilarity(text string) (Similarity, error) {
	if v := slices.Index(similarityNames, text); v >= 0 {
		return Similarity(v), nil
	}
	return 0, fmt.Errorf("movies: no similarity is called %q; try %s", text, strings.Join(similarityNames, ", "))
}

// MarshalText returns the name of s.
func (s Similarity) MarshalText() ([]byte, error) {
	if s < 0 || int(s) >= len(similarityNames) {
		return nil, fmt.Errorf("movies: no similarity has number %d", int(s))
	}
	return []byte(similarityNames[s]), nil
}

// UnmarshalText sets s to the measure with the given name.
func (s *Similarity) UnmarshalText(text []byte) error {
	parsed, err := ParseSimilarity(string(text))
	if err == nil {
		*s = parsed
	}
	return err
}

// SimilarityConfig says how alike movies are.
type SimilarityConfig struct {
	Measure   Similarity `json:"measure"`   // the zero value is libvar
	Shrinkage float64    `json:"shrinkage"` // λ ≥ 0 multiplies by |C_uv| / (|C_uv| + λ); 0 leaves values as they are
}

// Validate reports everything that is wrong with c.
func (c SimilarityConfig) Validate() error {
	var errs []error
	if c.Measure < 0 || int(c.Measure) >= len(similarityNames) {
		errs = append(errs, fmt.Errorf("movies: no similarity has number %d; try %s", int(c.Measure), strings.Join(similarityNames, ", ")))
	}
	if !(c.Shrinkage >= 0) || math.IsInf(c.Shrinkage, 0) {
		errs = append(errs, fmt.Errorf("movies: shrinkage is %v, want 0 or more", c.Shrinkage))
	}
	return errors.Join(errs...)
}

// Similarities returns the similarity of every two movies, as rated by the
// given users, or by everybody if users is nil: N rows of N, symmetric, with
// zeros on the diagonal. Users must be different positions in r.
func Similarities(r *Ratings, users []int, c SimilarityConfig) ([][]float64, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	n := r.Movies()
	all, matrix := make([]float64, n*n), make([][]float64, n)
	source := newRows(newView(r, users), c)
	for u := range matrix {
		matrix[u] = all[u*n : (u+1)*n : (u+1)*n]
		copy(matrix[u], source.row(u))
		for v := range u {
			matrix[v][u] = matrix[u][v]
		}
	}
	return matrix, nil
}

// rows computes rows of the matrix of similarities. It is not safe for
// concurrent use; several on one view are.
type rows struct {
	config    SimilarityConfig
	counter   counter
	deviation []float64 // sd_u of all raters
	head      []float64
	moments   []moments
}

func newRows(v *view, c SimilarityConfig) *rows {
	n := v.Movies()
	r := &rows{config: c, deviation: make([]float64, n), head: make([]float64, n), moments: make([]moments, n)}
	if packed, ok := newPacked(v, c.Measure); ok {
		r.counter = packed
	} else {
		r.counter = newPlain(v)
	}
	for u := range n {
		r.deviation[u] = math.Sqrt(r.counter.variance(u))
	}
	return r
}

// row returns the similarities of u to the movies 0 … u-1, until the next call.
// Where movies are sorted by the number of their raters, as Top sorts them,
// most rows need sums over few raters only.
func (r *rows) row(u int) []float64 {
	r.counter.row(r.moments[:u], u)
	for v := range u {
		r.head[v] = r.config.similarity(&r.moments[v], r.deviation[u], r.deviation[v])
	}
	return r.head[:u]
}

// moments are those of the ratings of two movies u and v by their co-raters,
// all of them times unit. A counter may leave out what the measure does not
// need.
type moments struct {
	raters     float64 // |C_uv|
	unit       float64
	varU, varV float64
	varSum     float64 // varU + varV
	covariance float64
}

// similarity returns that of two movies with the given moments over their
// co-raters and standard deviations over all raters.
func (c SimilarityConfig) similarity(m *moments, sdU, sdV float64) float64 {
	if m.raters == 0 {
		return 0
	}
	var over, under float64
	switch c.Measure {
	case SimilarityLibvar:
		over, under = m.varSum, 2*sdU*sdV*m.unit
	case SimilarityHuang:
		over, under = m.covariance, sdU*sdV*m.unit
	case SimilarityPearson:
		over, under = m.covariance, math.Sqrt(m.varU*m.varV)
	}
	if under == 0 {
		return 0
	}
	s := over / under
	if c.Measure == SimilarityPearson {
		s = min(1, max(-1, s)) // rounding
	}
	if c.Shrinkage > 0 {
		s *= m.raters / (m.raters + c.Shrinkage)
	}
	return s
}
