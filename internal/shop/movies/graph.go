package movies

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/wdgnn/wdgnn/graph"
)

// GraphConfig says how ratings become a graph. DefaultGraph returns that of
// the experiment.
type GraphConfig struct {
	Similarity SimilarityConfig `json:"similarity"`
	Neighbors  int              `json:"neighbors"` // k, how many most similar movies a movie keeps; at least 1
	Threads    int              `json:"-"`         // goroutines that count at the same time; 0 means 1; the graph does not depend on it
}

// DefaultGraph returns the ten most similar movies by libvar, without
// shrinkage.
func DefaultGraph() GraphConfig { return GraphConfig{Neighbors: 10} }

// Validate reports everything that is wrong with c.
func (c GraphConfig) Validate() error {
	err := c.Similarity.Validate()
	if c.Neighbors < 1 {
		err = errors.Join(err, fmt.Errorf("movies: neighbors is %d, want at least 1", c.Neighbors))
	}
	if c.Threads < 0 {
		err = errors.Join(err, fmt.Errorf("movies: threads is %d, want 0 or more", c.Threads))
	}
	return err
}

// NewGraph returns the undirected graph of the movies, node n for movie n, as
// rated by the given users, or by everybody if users is nil:
//
//	A_uv = similarity of u and v  if v is among the k most similar to u, else 0
//	the graph has (A + Aᵀ)/2
//
// Of equal similarities the lower position goes first; only positive ones
// count. A movie may end with more than k neighbours. Users must be different
// positions in r. Test users must not be among them.
//
// Deviation: the paper keeps ten edges per node and does not say how that
// becomes a symmetric matrix.
func NewGraph(r *Ratings, users []int, c GraphConfig) (*graph.Graph, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	best := mostSimilar(newView(r, users), c)
	var edges []graph.Edge
	for u := range best {
		for _, b := range best[u] {
			v := int(b.movie)
			back := slices.ContainsFunc(best[v], func(x similar) bool { return int(x.movie) == u })
			if w := b.similarity; !back {
				edges = append(edges, graph.Edge{From: v, To: u, Weight: w / 2})
			} else if u < v {
				edges = append(edges, graph.Edge{From: v, To: u, Weight: w})
			}
		}
	}
	edges = slices.DeleteFunc(edges, func(e graph.Edge) bool { return float32(e.Weight) == 0 })
	g, err := graph.FromEdges(r.Movies(), edges, false)
	if err != nil {
		return nil, fmt.Errorf("movies: %w", err)
	}
	return g, nil
}

// mostSimilar returns the most similar movies of each. Every thread looks at
// some of the rows and finds the best of them; the best of those are the best.
func mostSimilar(v *view, c GraphConfig) []nearest {
	threads := max(1, min(c.Threads, v.Movies()))
	found := make([][]nearest, threads)
	var wait sync.WaitGroup
	for t := range threads {
		wait.Go(func() { found[t] = search(v, c, t, threads) })
	}
	wait.Wait()
	best := found[0]
	for _, more := range found[1:] {
		for u, list := range more {
			for _, m := range list {
				best[u].offer(m)
			}
		}
	}
	return best
}

// search looks at the rows first, first+step, …
func search(v *view, c GraphConfig, first, step int) []nearest {
	best := make([]nearest, v.Movies())
	for u := range best {
		best[u] = make(nearest, 0, min(c.Neighbors, v.Movies()))
	}
	enough := make([]float64, v.Movies()) // what a similarity must exceed, as movies come in ascending order
	source := newRows(v, c.Similarity)
	for u := first; u < v.Movies(); u += step {
		for v, s := range source.row(u) {
			if s > enough[u] {
				enough[u] = best[u].offer(similar{s, int32(v)})
			}
			if s > enough[v] {
				enough[v] = best[v].offer(similar{s, int32(u)})
			}
		}
	}
	return best
}

// nearest holds the movies most similar to one, most similar first, of equals
// the lower one first; its capacity is how many it keeps.
type nearest []similar

type similar struct {
	similarity float64
	movie      int32
}

// before says whether s is the nearer one of two.
func (s similar) before(t similar) bool {
	return s.similarity > t.similarity || s.similarity == t.similarity && s.movie < t.movie
}

// offer adds a movie if it belongs to the most similar ones. It returns the
// least similarity among them, 0 while there is room.
func (n *nearest) offer(s similar) float64 {
	list := *n
	if full := len(list) == cap(list); full && s.before(list[len(list)-1]) {
		list = list[:len(list)-1]
	} else if full {
		return list[len(list)-1].similarity
	}
	at := len(list)
	for at > 0 && s.before(list[at-1]) {
		at--
	}
	*n = slices.Insert(list, at, s)
	if len(*n) < cap(*n) {
		return 0
	}
	return (*n)[cap(*n)-1].similarity
}
