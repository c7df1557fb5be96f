package movies

import (
	"fmt"
	"slices"
	"strings"
)

// Signal names how the ratings of a user become a graph signal x. The zero
// value is SignalRaw. A Signal is written as text in JSON.
type Signal int

// The signals. The rating of the target is not part of any.
const (
	// SignalRaw, "raw", is the rating itself: x_i = r_i.
	SignalRaw Signal = iota
	// SignalCentered, "centered", is what a rating differs from the mean of
	// the user's ratings of movies other than the target: x_i = r_i - m. What is
	// predicted is then the target's rating less m.
	//
	// Deviation: the paper's signals are raw.
	SignalCentered
)

var signalNames = []string{"raw", "centered"}

// String returns the name that ParseSignal reads.
func (s Signal) String() string {
	if s < 0 || int(s) >= len(signalNames) {
		return fmt.Sprintf("Signal(%d)", int(s))
	}
	return signalNames[s]
}

// ParseSignal returns the signal with the given name.
func ParseSignal(text string) (Signal, error) {
	if v := slices.Index(signalNames, text); v >= 0 {
		return Signal(v), nil
	}
	return 0, fmt.Errorf("movies: no signal is called %q; try %s", text, strings.Join(signalNames, ", "))
}

// MarshalText returns the name of s.
func (s Signal) MarshalText() ([]byte, error) {
	if s < 0 || int(s) >= len(signalNames) {
		return nil, fmt.Errorf("movies: no signal has number %d", int(s))
	}
	return []byte(signalNames[s]), nil
}

// UnmarshalText sets s to the signal with the given name.
func (s *Signal) UnmarshalText(text []byte) error {
	parsed, err := ParseSignal(string(text))
	if err == nil {
		*s = parsed
	}
	return err
}

// Mean returns m, the number that the signal takes from ratings and that a
// prediction must be raised by: 0 for raw signals, otherwise the mean of the
// ratings of movies other than target, or unknown if there is none.
func (s Signal) Mean(movie []int32, rating []float64, target int, unknown float64) float64 {
	if s == SignalRaw {
		return 0
	}
	sum, count := 0.0, 0
	for e, n := range movie {
		if int(n) != target {
			sum += rating[e]
			count++
		}
	}
	if count == 0 {
		return unknown
	}
	return sum / float64(count)
}

// Fill writes the signal x of a user to dst, one value per movie, overwritten:
// 0 for the target and for movies without a rating. It returns the mean of
// [Signal.Mean]. Movies and ratings are those of [Ratings.User], or any other
// list of different positions.
func (s Signal) Fill(dst []float64, movie []int32, rating []float64, target int, unknown float64) (mean float64) {
	mean = s.Mean(movie, rating, target, unknown)
	clear(dst)
	for e, n := range movie {
		if int(n) != target {
			dst[n] = rating[e] - mean
		}
	}
	return mean
}
