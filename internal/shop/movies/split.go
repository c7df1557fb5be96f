package movies

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// SplitConfig says who trains, who tests and who passes by. DefaultSplit
// returns that of the experiment.
type SplitConfig struct {
	Protocol   Protocol `json:"protocol"`   // the zero value is by-movie
	Test       float64  `json:"test"`       // part of the users that test, 0 < part < 1; every-tenth does not read it
	Validation float64  `json:"validation"` // part of the training users that choose parameters, 0 ≤ part < 1; not for every-tenth
	Stream     int      `json:"stream"`     // users that pass by one after the other on another movie, at most; 0 for none
}

// DefaultSplit returns 90 % for training and 10 % for testing by movie, and
// streams of 400 users.
//
// Deviation: the paper does not speak of validation; a tenth of the training
// users choose the parameters.
func DefaultSplit() SplitConfig {
	return SplitConfig{Protocol: ProtocolByMovie, Test: 0.1, Validation: 0.1, Stream: 400}
}

// Validate reports everything that is wrong with c.
func (c SplitConfig) Validate() error {
	var errs []error
	complain := func(format string, args ...any) { errs = append(errs, fmt.Errorf("movies: "+format, args...)) }
	if c.Protocol < 0 || int(c.Protocol) >= len(protocolNames) {
		complain("no protocol has number %d", int(c.Protocol))
	}
	if c.Protocol != ProtocolEveryTenth {
		if !(c.Test > 0 && c.Test < 1) {
			complain("test is %v, want more than 0 and less than 1", c.Test)
		}
		if !(c.Validation >= 0 && c.Validation < 1) {
			complain("validation is %v, want 0 or more and less than 1", c.Validation)
		}
	}
	if c.Stream < 0 {
		complain("stream is %d, want 0 or more", c.Stream)
	}
	return errors.Join(errs...)
}

// Split divides users, given by position, for a model that is trained on one
// movie, the target, and tested on it and on others.
type Split struct {
	Target     int
	Graph      []int // users whose ratings make the graph, ascending
	Train      []int // raters of the target
	Validation []int // raters of the target
	Test       []int // raters of the target, in the order in which they pass by online
	Others     []Transfer
}

// Transfer is a change of the problem: the model of a split is asked for
// another movie.
type Transfer struct {
	Movie  int
	Stream []int // raters of the movie that pass by one after the other, with feedback
	Test   []int // raters of the movie that judge before and after; none of them in Stream
}

// NewSplit divides the users of r by the protocol of c. Every-tenth does not
// use rng, which may then be nil. It is an error if nobody is left to train
// or to test.
func NewSplit(r *Ratings, target int, others []int, c SplitConfig, rng *rand.Rand) (*Split, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	mustHave("target", target, r.Movies())
	for _, n := range others {
		mustHave("movie", n, r.Movies())
	}
	var s *Split
	switch c.Protocol {
	case ProtocolByMovie:
		s = c.byMovie(r, target, others, rng)
	case ProtocolByUser:
		s = c.byUser(r, target, others, rng)
	case ProtocolEveryTenth:
		s = c.everyTenth(r, target, others)
	}
	if err := s.check(r); err != nil {
		return nil, err
	}
	return s, nil
}

// check reports groups without users.
func (s *Split) check(r *Ratings) error {
	var errs []error
	need := func(group []int, what string, movie int) {
		if len(group) == 0 {
			raters, _ := r.Movie(movie)
			errs = append(errs, fmt.Errorf("movies: nobody is left to %s on movie %d, which has %d raters; choose one with more",
				what, r.MovieID(movie), len(raters)))
		}
	}
	need(s.Train, "train", s.Target)
	need(s.Test, "test", s.Target)
	for _, o := range s.Others {
		need(o.Test, "test", o.Movie)
	}
	return errors.Join(errs...)
}

// raters returns the users who rated movie n, ascending.
func raters(r *Ratings, n int) []int {
	list, _ := r.Movie(n)
	users := make([]int, len(list))
	for i, u := range list {
		users[i] = int(u)
	}
	return users
}

// without returns the positions 0 … count-1 that are not in users.
func without(count int, users []int) []int {
	out := make([]bool, count)
	for _, u := range users {
		out[u] = true
	}
	var rest []int
	for u := range count {
		if !out[u] {
			rest = append(rest, u)
		}
	}
	return rest
}

// shuffled returns users in random order.
func shuffled(users []int, rng *rand.Rand) []int {
	users = slices.Clone(users)
	rng.Shuffle(len(users), func(i, j int) { users[i], users[j] = users[j], users[i] })
	return users
}

// part returns how many of count a part is, rounded, halves to even.
func part(count int, of float64) int { return int(math.RoundToEven(float64(count) * of)) }
