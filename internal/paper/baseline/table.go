package baseline

import (
	"github.com/wdgnn/wdgnn/internal/shop/movies"
)

// Model predicts a rating.
type Model interface {
	// Predict returns the rating that user u is expected to give to movie n,
	// both by position. A rating of n by u is not read, whether hidden or not.
	Predict(u, n int) float64
}

// Table is a table of ratings of which some are hidden. It never changes once
// built; any number of goroutines may use it.
type Table struct {
	ratings *movies.Ratings
	movie   int    // whose ratings are hidden
	hidden  []bool // by user

	byUser, byMovie []list
	mean            float64 // of what is visible
	count           int
}

// list holds the visible ratings of one user by movie, or of one movie by
// user.
type list struct {
	other []int32
	value []float64
}

// NewTable returns r without the ratings that the given users, by position,
// gave to one movie. Their ratings of other movies stay.
func NewTable(r *movies.Ratings, movie int, users []int) *Table {
	t := &Table{ratings: r, movie: movie, hidden: make([]bool, r.Users()), byUser: make([]list, r.Users()), byMovie: make([]list, r.Movies())}
	for _, u := range users {
		t.hidden[u] = true
	}
	for u := range t.byUser {
		other, value := r.User(u)
		if t.hidden[u] {
			other, value = without(other, value, movie)
		}
		t.byUser[u] = list{other, value}
		t.count += len(other)
		for _, v := range value {
			t.mean += v
		}
	}
	for n := range t.byMovie {
		other, value := r.Movie(n)
		t.byMovie[n] = list{other, value}
		if n == movie {
			t.byMovie[n] = visible(other, value, t.hidden)
		}
	}
	if t.count > 0 {
		t.mean /= float64(t.count)
	}
	return t
}

// without returns a list that lacks one entry.
func without(other []int32, value []float64, skip int) (o []int32, v []float64) {
	for e, n := range other {
		if int(n) != skip {
			o, v = append(o, n), append(v, value[e])
		}
	}
	return o, v
}

// visible returns a list without the users that are hidden.
func visible(other []int32, value []float64, hidden []bool) (l list) {
	for e, u := range other {
		if !hidden[u] {
			l.other, l.value = append(l.other, u), append(l.value, value[e])
		}
	}
	return l
}

// users returns the number of users.
func (t *Table) users() int { return len(t.byUser) }

// movies returns the number of movies.
func (t *Table) movies() int { return len(t.byMovie) }

// others returns the visible users who had nothing hidden, ascending.
func (t *Table) others() (users []int) {
	for u, hidden := range t.hidden {
		if !hidden {
			users = append(users, u)
		}
	}
	return users
}
