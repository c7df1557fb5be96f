package movies

import (
	"cmp"
	"fmt"
	"slices"
)

// Users returns U.
func (r *Ratings) Users() int { return len(r.userIDs) }

// Movies returns N.
func (r *Ratings) Movies() int { return len(r.itemIDs) }

// Count returns the number of ratings.
func (r *Ratings) Count() int { return len(r.byUser.col) }

// User returns the movies that the user at position u rated, ascending, and
// the ratings. The slices belong to r and must not be changed.
func (r *Ratings) User(u int) (movie []int32, rating []float64) {
	mustHave("user", u, len(r.userIDs))
	return r.byUser.row(u)
}

// Movie returns the raters of movie n, ascending, and their ratings. The
// slices belong to r and must not be changed.
func (r *Ratings) Movie(n int) (user []int32, rating []float64) {
	mustHave("movie", n, len(r.itemIDs))
	return r.byItem.row(n)
}

// Rating returns the rating that user u gave to movie n, if there is one.
func (r *Ratings) Rating(u, n int) (rating float64, rated bool) {
	mustHave("movie", n, len(r.itemIDs))
	movie, values := r.User(u)
	if at, ok := slices.BinarySearch(movie, int32(n)); ok {
		return values[at], true
	}
	return 0, false
}

// UserID returns the id of user u.
func (r *Ratings) UserID(u int) int {
	mustHave("user", u, len(r.userIDs))
	return r.userIDs[u]
}

// MovieID returns the id of movie n.
func (r *Ratings) MovieID(n int) int {
	mustHave("movie", n, len(r.itemIDs))
	return r.itemIDs[n]
}

// Title returns the title of movie n, empty if it is not known.
func (r *Ratings) Title(n int) string {
	mustHave("movie", n, len(r.itemIDs))
	return r.titles[n]
}

// FindUser returns the position of the user with the given id.
func (r *Ratings) FindUser(id int) (u int, found bool) { return slices.BinarySearch(r.userIDs, id) }

// FindMovie returns the position of the movie with the given id. It looks at
// every movie.
func (r *Ratings) FindMovie(id int) (n int, found bool) {
	n = slices.Index(r.itemIDs, id)
	return max(n, 0), n >= 0
}

// FindTitle returns the position of the movie with exactly the given title.
// Of several the first.
func (r *Ratings) FindTitle(title string) (n int, found bool) {
	n = slices.Index(r.titles, title)
	return max(n, 0), n >= 0
}

// Range returns the smallest and the largest rating, 0 and 0 if there is none.
func (r *Ratings) Range() (least, most float64) {
	if len(r.byUser.val) == 0 {
		return 0, 0
	}
	return slices.Min(r.byUser.val), slices.Max(r.byUser.val)
}

// Mean returns the mean of the ratings given by the users, or by everybody if
// users is nil; 0 if there is no rating.
func (r *Ratings) Mean(users []int) float64 {
	sum, count := 0.0, 0
	add := func(u int) {
		_, rating := r.User(u)
		for _, v := range rating {
			sum += v
		}
		count += len(rating)
	}
	if users == nil {
		for u := range r.Users() {
			add(u)
		}
	}
	for _, u := range users {
		add(u)
	}
	if count == 0 {
		return 0
	}
	return sum / float64(count)
}

// Top returns the m movies with most ratings, most rated first, of equally
// many the lower id first; all movies if there are not as many.
func (r *Ratings) Top(m int) []int {
	order := make([]int, r.Movies())
	for n := range order {
		order[n] = n
	}
	count := func(n int) int { return r.byItem.ptr[n+1] - r.byItem.ptr[n] }
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(count(b), count(a)), cmp.Compare(r.itemIDs[a], r.itemIDs[b]))
	})
	return order[:max(0, min(m, len(order)))]
}

// Select returns the table of the given movies alone, in the given order. All
// users stay at their positions, also those left without a rating. It panics
// if a movie is named twice or does not exist.
func (r *Ratings) Select(movies []int) *Ratings {
	s := &Ratings{userIDs: r.userIDs, byItem: lists{ptr: make([]int, 1, len(movies)+1)}}
	seen := make([]bool, r.Movies())
	for _, n := range movies {
		user, rating := r.Movie(n)
		if seen[n] {
			panic(fmt.Sprintf("movies: Select: movie %d twice", n))
		}
		seen[n] = true
		s.itemIDs, s.titles = append(s.itemIDs, r.itemIDs[n]), append(s.titles, r.titles[n])
		s.byItem.col, s.byItem.val = append(s.byItem.col, user...), append(s.byItem.val, rating...)
		s.byItem.ptr = append(s.byItem.ptr, len(s.byItem.col))
	}
	s.byUser = s.byItem.transposed(len(s.userIDs))
	s.index()
	return s
}

// mustHave panics unless position i is one of count.
func mustHave(what string, i, count int) {
	if uint(i) >= uint(count) {
		panic(fmt.Sprintf("movies: %s %d of %d", what, i, count))
	}
}
