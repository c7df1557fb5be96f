package conformal

import (
	"errors"
	"fmt"
	"math"
)

// Config says how often sets and intervals are to hold the truth.
type Config struct {
	// Coverage is the share of answers that hold it, 0 < 1-α < 1; 0 means 0.9.
	Coverage float64 `json:"coverage,omitempty"`

	// Classes says that outputs are scores of classes, one of which is right;
	// otherwise each is a number with a truth of its own.
	Classes bool `json:"classes,omitempty"`

	// Window is how many scores are remembered; 0 means 10/α, and 100 at least.
	Window int `json:"window,omitempty"`

	// Rate is r, by how much a miss moves the level; 0 means α/5.
	Rate float64 `json:"rate,omitempty"`
}

const (
	// DefaultCoverage is that of a Config which says none.
	DefaultCoverage = 0.9

	leastWindow = 100     // of those that are not given
	maxWindow   = 1 << 17 // for the largest coverage
	maxCoverage = 0.9999
)

// Validate reports everything that is wrong with c.
func (c *Config) Validate() error {
	var errs []error
	complain := func(format string, args ...any) { errs = append(errs, fmt.Errorf("conformal: "+format, args...)) }
	if c.Coverage != 0 && !(c.Coverage > 0 && c.Coverage <= maxCoverage) {
		complain("coverage is %v, want a share between 0 and 1, such as %v, and %v at most", c.Coverage, DefaultCoverage, maxCoverage)
		return errors.Join(errs...)
	}
	f := c.filled()
	if least := f.least(); c.Window < 0 || f.Window < least || c.Window > maxWindow {
		complain("window is %d, want %d scores for this coverage, %d at most, or 0 for a usual number", c.Window, least, maxWindow)
	}
	if !(c.Rate >= 0 && c.Rate < 1) {
		complain("rate is %v, want a number between 0 and 1, or 0 for a fifth of what may miss", c.Rate)
	}
	return errors.Join(errs...)
}

// filled returns c with its defaults.
func (c Config) filled() Config {
	if c.Coverage == 0 {
		c.Coverage = DefaultCoverage
	}
	if c.Window == 0 {
		c.Window = max(leastWindow, int(math.Round(10/c.miss())))
	}
	if c.Rate == 0 {
		c.Rate = c.miss() / 5
	}
	return c
}

// least returns how many scores it takes until something is known.
func (c *Config) least() int {
	n := 1
	for c.rank(n, c.miss()) > n {
		n++
	}
	return n
}

// miss returns α, the share of answers that may miss the truth.
func (c *Config) miss() float64 { return 1 - c.Coverage }

// most returns the largest level. A node whose answers never miss would raise it
// without end, and be late to notice when they begin to.
func (c *Config) most() float64 { return min(float64(1.5*c.miss()), (1+c.miss())/2) }

// rank returns which of n scores, 1 for the smallest, bounds the next one with
// the given level; more than n if none does. Of numbers it is that of the upper
// end, and n+1 less it that of the lower.
//
//	⌈(n+1)(1-α)⌉, or ⌈(n+1)(1-α/2)⌉ for numbers
func (c *Config) rank(n int, level float64) int {
	if !c.Classes {
		level /= 2
	}
	const hair = 1e-9 // products that should be whole are not always
	return max(int(math.Ceil(float64(float64(n+1)*(1-level))-hair)), 1)
}
