package recommend

import (
	"errors"
	"fmt"
	"math"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/shop/movies"
)

// Setting is everything that makes ratings into what a model reads. A model is
// only good for its own.
type Setting struct {
	Movies     int                     `json:"movies"` // N, those with most ratings; 0 means all
	Similarity movies.SimilarityConfig `json:"similarity"`
	Neighbors  int                     `json:"neighbors"` // most similar movies that a movie keeps
	Signal     movies.Signal           `json:"signal"`
	Offsets    bool                    `json:"offsets"` // ratings count from what their movie gets beyond the mean of its raters; see offsets
	Shift      graph.Shift             `json:"shift"`
	Order      int                     `json:"order"`    // K
	Features   int                     `json:"features"` // G
	Seed       uint64                  `json:"seed"`     // who trains, validates and tests; starting values; order of batches
	Test       float64                 `json:"test"`     // part of the users that test, 0 < part < 1
	Validation float64                 `json:"validation"`

	// Least and Most are the ends of the scale; where both are 0, those of the
	// ratings. Unit is what the network takes for one star of five, 0 for 1: it reads
	// ratings divided by it, so that steps mean the same in every scale.
	Least float64 `json:"least,omitempty"`
	Most  float64 `json:"most,omitempty"`
	Unit  float64 `json:"unit,omitempty"`
}

// DefaultSetting returns the 400 movies of the paper with user-centred signals,
// Pearson's correlation shrunk by 100 co-raters, D^-½ A D^-½, order 5 and 64 features; a tenth of the
// users test and a tenth validate.
//
// Deviation: the paper's signals are raw, its model knows one target, and its
// table fits another similarity.
func DefaultSetting() Setting {
	return Setting{
		Movies: 400, Similarity: movies.SimilarityConfig{Measure: movies.SimilarityPearson, Shrinkage: 100}, Neighbors: 10,
		Signal: movies.SignalCentered, Offsets: true, Shift: graph.ShiftSymmetric, Order: 5, Features: 64,
		Seed: 1, Test: 0.1, Validation: 0.1,
	}
}

// Scaled returns s for ratings from least to most, which the network reads as if
// they went from 1 to 5.
func (s Setting) Scaled(least, most float64) Setting {
	s.Least, s.Most, s.Unit = least, most, (most-least)/4
	if s.Unit == 1 {
		s.Unit = 0
	}
	return s
}

// unit returns Unit, or what its 0 means.
func (s Setting) unit() float64 {
	if s.Unit == 0 {
		return 1
	}
	return s.Unit
}

// Validate reports everything that is wrong with s.
func (s Setting) Validate() error {
	errs := []error{s.graph(1).Validate()}
	complain := func(format string, args ...any) { errs = append(errs, fmt.Errorf("recommend: "+format, args...)) }
	if s.Movies < 0 || s.Movies == 1 {
		complain("movies is %d, want 2 or more, or 0 for all", s.Movies)
	}
	if s.Order < 1 || s.Order > maxOrder {
		complain("order is %d, want 1 to %d", s.Order, maxOrder)
	}
	if s.Features < 1 {
		complain("features is %d, want at least 1", s.Features)
	}
	if !(s.Test > 0 && s.Test < 1) || !(s.Validation > 0 && s.Validation < 1) || s.Test+s.Validation >= 1 {
		complain("test is %v and validation %v, want parts of all users that leave some to train on", s.Test, s.Validation)
	}
	if !(math.Abs(s.Least) <= movies.MaxRating && math.Abs(s.Most) <= movies.MaxRating) || s.Least > s.Most || !(s.Unit >= 0) {
		complain("the scale goes from %v to %v, want the least and the most of what users may give, from %d to %d",
			s.Least, s.Most, -movies.MaxRating, movies.MaxRating)
	}
	return errors.Join(errs...)
}

const maxOrder = 64

func (s Setting) graph(threads int) movies.GraphConfig {
	return movies.GraphConfig{Similarity: s.Similarity, Neighbors: s.Neighbors, Threads: threads}
}
