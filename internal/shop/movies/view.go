package movies

import (
	"fmt"
	"iter"
	"math"
	"slices"
)

// view is a table of ratings of which only some users count. It is read-only.
type view struct {
	*Ratings
	listed []bool // by user
	raters []int  // by movie: how many of them are listed
}

// newView returns the view of r by the given users, or by everybody if users
// is nil.
func newView(r *Ratings, users []int) *view {
	v := &view{Ratings: r, listed: make([]bool, r.Users()), raters: make([]int, r.Movies())}
	if users == nil {
		for u := range v.listed {
			v.listed[u] = true
		}
	}
	for _, u := range users {
		mustHave("user", u, r.Users())
		if v.listed[u] {
			panic(fmt.Sprintf("movies: user %d listed twice", u))
		}
		v.listed[u] = true
	}
	for u := range v.listed {
		if v.listed[u] {
			movie, _ := r.byUser.row(u)
			for _, n := range movie {
				v.raters[n]++
			}
		}
	}
	return v
}

// heads yields, for every listed rater of movie n, the positions in byUser of
// the first rating of that user and of that for n; those for movies before n
// lie between them.
func (v *view) heads(n int) iter.Seq2[int, int] {
	return func(yield func(first, at int) bool) {
		for e := v.byItem.ptr[n]; e < v.byItem.ptr[n+1]; e++ {
			if w := v.byItem.col[e]; v.listed[w] && !yield(v.byUser.ptr[w], v.place[e]) {
				return
			}
		}
	}
}

// codes holds the ratings of byUser as whole numbers, each with its movie in
// one word: movie<<8 | level. It is empty if they are not that simple.
type codes struct {
	word  []uint32
	scale float64 // level = rating × scale - the least one: 1, or 2 for half stars
	span  int     // largest level; the least is 0
}

const (
	mostMovies = 1 << 24 // that fit into a code
	mostSpan   = 63      // of levels
)

// newCodes returns the ratings of l for a table of the given number of movies.
func newCodes(l *lists, movies int) codes {
	if movies > mostMovies || len(l.val) == 0 {
		return codes{}
	}
	for _, scale := range []float64{1, 2} {
		if c, ok := scaled(l, scale); ok {
			return c
		}
	}
	return codes{}
}

// scaled returns the ratings of l times scale, if all become whole numbers of
// a small range.
func scaled(l *lists, scale float64) (codes, bool) {
	least, most := float64(scale*slices.Min(l.val)), float64(scale*slices.Max(l.val))
	c := codes{word: make([]uint32, len(l.val)), scale: scale}
	if !(most-least <= mostSpan) {
		return codes{}, false
	}
	c.span = int(most - least)
	for e, v := range l.val {
		a := float64(v*scale) - least
		if v*scale != math.Trunc(v*scale) {
			return codes{}, false
		}
		c.word[e] = uint32(l.col[e])<<8 | uint32(a)
	}
	return c, true
}
