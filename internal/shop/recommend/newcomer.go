package recommend

import (
	"fmt"
	"maps"
	"slices"

	"github.com/wdgnn/wdgnn/graph"
	"github.com/wdgnn/wdgnn/internal/shop/movies"
)

// newcomer is an item that came after training. It joins the graph by the items
// that its raters rated alike; see [movies.Guest]. It never changes.
type newcomer struct {
	id     int
	title  string
	raters int // who had rated it when it was last looked at; its neighbours and offset are theirs
	near   []movies.Neighbor
	guest  *movies.Guest
	offset float64 // b, as world.offsets has it
}

// newcomers are those of one moment; nil means none. It never changes.
type newcomers struct {
	list     []*newcomer
	guests   []*movies.Guest
	position map[int]int32 // by id
}

// len returns how many there are.
func (c *newcomers) len() int {
	if c == nil {
		return 0
	}
	return len(c.list)
}

// all returns them as a graph knows them.
func (c *newcomers) all() []*movies.Guest {
	if c == nil {
		return nil
	}
	return c.guests
}

// with returns the newcomers with one put at a place, which may be behind the last.
func (c *newcomers) with(at int, one *newcomer) *newcomers {
	next := &newcomers{position: map[int]int32{}}
	if c != nil {
		next.list, next.guests, next.position = slices.Clone(c.list), slices.Clone(c.guests), c.position
	}
	if at < len(next.list) {
		next.list[at], next.guests[at] = one, one.guest
		return next
	}
	next.position = maps.Clone(next.position)
	next.list, next.guests = append(next.list, one), append(next.guests, one.guest)
	return next
}

// locate returns the position of an item.
func (w *world) locate(id int, c *newcomers) (n int32, known bool) {
	if n, known = w.position[id]; known || c == nil {
		return n, known
	}
	n, known = c.position[id]
	return n, known
}

// idOf returns the id and the title of the item at a position.
func (w *world) idOf(n int32, c *newcomers) (id int, title string) {
	if base := w.ratings.Movies(); int(n) >= base {
		one := c.list[int(n)-base]
		return one.id, one.title
	}
	return w.ratings.MovieID(int(n)), w.ratings.Title(int(n))
}

// offsetOf returns b of the item at a position.
func (w *world) offsetOf(n int32, c *newcomers) float64 {
	if base := len(w.graph.offset); int(n) >= base {
		return c.list[int(n)-base].offset
	}
	return w.graph.offset[n]
}

// welcome takes a new item in, which nobody has rated yet.
func (t *stage) welcome(w *world, id int, title string) error {
	guest, err := w.graph.features.Join(w.graph.graph, nil)
	if err != nil {
		return fmt.Errorf("recommend: %w", err)
	}
	at := t.newcomers.len()
	t.newcomers = t.newcomers.with(at, &newcomer{id: id, title: title, guest: guest})
	t.newcomers.position[id] = int32(w.ratings.Movies() + at)
	return nil
}

// due says whether a newcomer is to be looked at again: while its raters are few at
// every new one, later when they are a tenth more.
func due(raters, last int) bool { return 10*raters >= 11*last }

// rated notes the first rating of the item at position n by a user, whose profile has
// it already, and looks at the item if that is due. What was before is returned.
func (t *stage) rated(w *world, n int32, user int, profile func(user int) *profile) (undo func()) {
	was, list := t.newcomers, t.raters[n]
	at, _ := slices.BinarySearch(list, user)
	t.raters[n] = slices.Insert(slices.Clone(list), at, user)
	k := int(n) - w.ratings.Movies()
	if one := was.list[k]; due(len(t.raters[n]), one.raters) {
		t.newcomers = was.with(k, w.look(one, n, t.raters[n], profile))
	}
	return func() { t.newcomers, t.raters[n] = was, list }
}

// look finds the neighbours and the offset of a newcomer from its raters, by
// ascending id, so that they depend on nothing but their ratings.
func (w *world) look(one *newcomer, n int32, raters []int, profile func(user int) *profile) *newcomer {
	next := &newcomer{id: one.id, title: one.title, raters: len(raters), guest: one.guest}
	ratings, count := make([]float64, len(raters)), 0.0
	for k, u := range raters {
		p := profile(u)
		ratings[k], _ = p.of(n)
		if others := len(p.movie) - 1; others > 0 {
			sum := 0.0
			for _, v := range p.rating {
				sum += v
			}
			next.offset += ratings[k] - (sum-ratings[k])/float64(others)
			count++
		}
	}
	next.offset /= count + offsetShrinkage
	if !w.setting.Offsets {
		next.offset = 0
	}
	var err error
	next.near, err = movies.Nearest(w.ratings.Movies(), w.setting.graph(1), ratings, func(k int) ([]int32, []float64) {
		p := profile(raters[k])
		return p.movie, p.rating
	})
	if err == nil {
		next.guest, err = w.graph.features.Join(w.graph.graph, next.near)
	}
	if err != nil {
		panic("recommend: an item that was welcome cannot join: " + err.Error())
	}
	return next
}

// canJoin reports why items cannot join the graph of a setting.
func (s Setting) canJoin() error {
	if s.Shift != graph.ShiftSymmetric || s.Similarity.Measure != movies.SimilarityPearson {
		return fmt.Errorf("recommend: new items need a model with shift %v and similarity %v; this one has %v and %v",
			graph.ShiftSymmetric, movies.SimilarityPearson, s.Shift, s.Similarity.Measure)
	}
	return nil
}
