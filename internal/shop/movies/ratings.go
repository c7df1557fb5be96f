package movies

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Rating is one line of a file of ratings.
type Rating struct {
	User, Item int     // as in the file, 0 ≤ id ≤ MaxID
	Value      float64 // -MaxRating ≤ value ≤ MaxRating; a raw signal takes 0 for unrated
	Time       int64   // seconds, 0 if not known
	Line       int     // where it stands in the file, counted from 1; 0 if nowhere
}

const (
	// MaxID is the largest id of a user or a movie.
	MaxID = math.MaxInt32
	// MaxRating is the largest rating, and -MaxRating the least. MovieLens' own
	// files go from 1 to 5.
	MaxRating = 1_000_000
)

// check reports what is wrong with r.
func (r Rating) check() error {
	switch {
	case r.User < 0 || r.User > MaxID:
		return fmt.Errorf("user %d; want an id from 0 to %d", r.User, MaxID)
	case r.Item < 0 || r.Item > MaxID:
		return fmt.Errorf("movie %d; want an id from 0 to %d", r.Item, MaxID)
	case !(r.Value >= -MaxRating && r.Value <= MaxRating):
		return fmt.Errorf("rating %v; want a number from %d to %d", r.Value, -MaxRating, MaxRating)
	}
	return nil
}

// Ratings is a table of U users and N movies. Users and movies are known by
// their positions 0 … U-1 and 0 … N-1; their ids are those of the files. It
// never changes once built; any number of goroutines may use it.
type Ratings struct {
	userIDs []int // ascending
	itemIDs []int // ascending, unless Select chose another order
	titles  []string
	byUser  lists // U lists of movies, ascending
	byItem  lists // N lists of users, ascending
	place   []int // by position in byItem: where in byUser the same rating is
	codes   codes // byUser once more, if its ratings are small whole numbers
}

// lists holds one list per row of a table, with the values in it.
type lists struct {
	ptr []int // rows+1 offsets
	col []int32
	val []float64
}

func (l *lists) row(i int) ([]int32, []float64) {
	from, to := l.ptr[i], l.ptr[i+1]
	return l.col[from:to:to], l.val[from:to:to]
}

// NewRatings returns the table of the given ratings, in any order. Its movies
// are those with a rating; a movie without an entry in titles, which may be
// nil, has none.
//
// If a user rated a movie twice, the rating with the later time counts; one
// without a time is taken to be older than those with one. Two at the same
// time, or both without times, are an error that names both lines.
func NewRatings(list []Rating, titles map[int]string) (*Ratings, error) {
	for pos, r := range list {
		if err := r.check(); err != nil {
			return nil, fmt.Errorf("movies: %s: %w", r.where(pos), err)
		}
	}
	order, err := latest(list)
	if err != nil {
		return nil, err
	}
	r := &Ratings{}
	for _, pos := range order { // by user, then by movie
		r.userIDs = append(r.userIDs, list[pos].User)
		r.itemIDs = append(r.itemIDs, list[pos].Item)
	}
	r.userIDs = slices.Compact(r.userIDs)
	slices.Sort(r.itemIDs)
	r.itemIDs = slices.Compact(r.itemIDs)
	r.titles = make([]string, len(r.itemIDs))
	position := make(map[int]int32, len(r.itemIDs))
	for i, id := range r.itemIDs {
		r.titles[i], position[id] = titles[id], int32(i)
	}
	l := lists{ptr: make([]int, 1, len(r.userIDs)+1), col: make([]int32, len(order)), val: make([]float64, len(order))}
	for k, pos := range order {
		if k > 0 && list[pos].User != list[order[k-1]].User {
			l.ptr = append(l.ptr, k)
		}
		l.col[k], l.val[k] = position[list[pos].Item], list[pos].Value
	}
	if len(order) > 0 {
		l.ptr = append(l.ptr, len(order))
	}
	r.byUser = l
	r.byItem = l.transposed(len(r.itemIDs))
	r.index()
	return r, nil
}

// index fills in what is derived from byUser and byItem.
func (r *Ratings) index() {
	r.codes = newCodes(&r.byUser, r.Movies())
	r.place = make([]int, len(r.byItem.col))
	next := slices.Clone(r.byUser.ptr)
	for e, u := range r.byItem.col { // by movie, so that those of a user come in order
		r.place[e] = next[u]
		next[u]++
	}
}

// latest returns the positions of the ratings that count, sorted by user and
// then by movie.
func latest(list []Rating) ([]int32, error) {
	if len(list) > math.MaxInt32 {
		return nil, fmt.Errorf("movies: %d ratings; want at most %d", len(list), math.MaxInt32)
	}
	order := make([]int32, len(list))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		x, y := &list[a], &list[b]
		return cmp.Or(cmp.Compare(x.User, y.User), cmp.Compare(x.Item, y.Item), cmp.Compare(x.Time, y.Time), cmp.Compare(a, b))
	})
	kept := order[:0]
	for _, pos := range order {
		if n := len(kept); n > 0 {
			was, is := list[kept[n-1]], list[pos]
			if was.User == is.User && was.Item == is.Item {
				if was.Time == is.Time {
					return nil, fmt.Errorf("movies: %s: user %d rated movie %d already in %s; "+
						"keep one of the two, or give their times: the later one counts",
						is.where(int(pos)), is.User, is.Item, was.where(int(kept[n-1])))
				}
				n--
			}
			kept = kept[:n]
		}
		kept = append(kept, pos)
	}
	return kept, nil
}

// where names r, which is at the given position of a list.
func (r Rating) where(pos int) string {
	if r.Line > 0 {
		return fmt.Sprintf("line %d", r.Line)
	}
	return fmt.Sprintf("rating %d", pos)
}

// transposed returns the lists by column, of which there are cols.
func (l *lists) transposed(cols int) lists {
	t := lists{ptr: make([]int, cols+1), col: make([]int32, len(l.col)), val: make([]float64, len(l.val))}
	for _, j := range l.col {
		t.ptr[j+1]++
	}
	for j := range cols {
		t.ptr[j+1] += t.ptr[j]
	}
	next := slices.Clone(t.ptr)
	for i := range len(l.ptr) - 1 {
		col, val := l.row(i)
		for e, j := range col {
			t.col[next[j]], t.val[next[j]] = int32(i), val[e]
			next[j]++
		}
	}
	return t
}
