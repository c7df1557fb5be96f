package recommend

import (
	"errors"
	"fmt"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/scenario/movies"
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
	return errors.Join(errs...)
}

const maxOrder = 64

func (s Setting) graph(threads int) movies.GraphConfig {
	return movies.GraphConfig{Similarity: s.Similarity, Neighbors: s.Neighbors, Threads: threads}
}
