package recommend

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// LimitConfig bounds how far one user can move what all share. Ratings beyond
// it are kept and count for the user's own predictions; nothing is learned from
// them. The defaults are what people do: of the 100,000 ratings of MovieLens
// 100k, at the times at which they were given, none is beyond them.
type LimitConfig struct {
	Burst int           `json:"burst"` // steps of one user at once; 0 means 30
	Every time.Duration `json:"every"` // how often one more is allowed; 0 means 3 s
}

// Validate reports everything that is wrong with c.
func (c LimitConfig) Validate() error {
	var errs []error
	if c.Burst < 0 {
		errs = append(errs, fmt.Errorf("recommend: steps of a user at once are %d, want 1 or more, or 0 for 30", c.Burst))
	}
	if c.Every < 0 {
		errs = append(errs, fmt.Errorf("recommend: a user's steps are %v apart, want more than 0, or 0 for 3s", c.Every))
	}
	return errors.Join(errs...)
}

func (c LimitConfig) withDefaults() LimitConfig {
	if c.Burst == 0 {
		c.Burst = 30
	}
	if c.Every == 0 {
		c.Every = 3 * time.Second
	}
	return c
}

// spent is how many steps a user took of late: one more by each step, one less
// by each Every that passes.
type spent struct {
	steps float64
	at    int64 // of the last step, milliseconds since 1970
}

// step returns what is spent after a step at a time, and whether the limit
// allows it. A clock that goes back brings nothing.
func (s spent) step(c LimitConfig, at int64) (spent, bool) {
	passed := time.Duration(max(0, at-s.at)) * time.Millisecond
	left := max(0, s.steps-float64(passed)/float64(c.Every))
	return spent{left + 1, at}, left+1 <= float64(c.Burst)
}

// mostRepeats is how often a user may change the rating of a movie before
// nothing is learned from it any more.
const mostRepeats = 7

// young is how many other ratings a user needs before one more takes a whole step.
const young = 20

// weight is the part of a step that a rating takes. One that replaces another for the
// repeats-th time takes ½, ¼, …, so all ratings of one movie by one user together
// move no more than two would. Of a user with few other ratings, a rating takes
// as much less: they are soon given, and predictions from them are unsure.
func weight(repeats, others int) float32 {
	if repeats > mostRepeats {
		return 0
	}
	return float32(math.Ldexp(float64(min(others, young))/young, -repeats))
}
