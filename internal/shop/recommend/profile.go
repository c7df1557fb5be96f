package recommend

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/wdgnn/wdgnn/gnn"
	"github.com/wdgnn/wdgnn/internal/shop/movies"
	"github.com/wdgnn/wdgnn/mat"
)

// profile is what one user rated. It never changes; a new rating makes a new
// profile.
type profile struct {
	movie   []int32 // positions, ascending
	rating  []float64
	repeats []uint8 // how often each rating was replaced; nil means never
	spent   spent
	changed bool // differs from the data

	cached atomic.Pointer[features]
}

// with returns the profile after a rating.
func (p *profile) with(n int32, rating float64) *profile {
	at, known := slices.BinarySearch(p.movie, n)
	q := &profile{
		movie: slices.Clone(p.movie), rating: slices.Clone(p.rating), repeats: slices.Clone(p.repeats), spent: p.spent,
		changed: true,
	}
	if known {
		if q.repeats == nil {
			q.repeats = make([]uint8, len(q.movie))
		}
		q.rating[at], q.repeats[at] = rating, min(q.repeats[at], 254)+1
		return q
	}
	q.movie, q.rating = slices.Insert(q.movie, at, n), slices.Insert(q.rating, at, rating)
	if q.repeats != nil {
		q.repeats = slices.Insert(q.repeats, at, 0)
	}
	return q
}

// repeat returns how many ratings of a movie the next one would follow.
func (p *profile) repeat(n int32) int {
	at, ok := slices.BinarySearch(p.movie, n)
	switch {
	case !ok:
		return 0
	case p.repeats == nil:
		return 1
	}
	return 1 + int(p.repeats[at])
}

// of returns the rating of a movie.
func (p *profile) of(n int32) (rating float64, rated bool) {
	if at, ok := slices.BinarySearch(p.movie, n); ok {
		return p.rating[at], true
	}
	return 0, false
}

// features is what the model sees of a user, for every movie as target. It
// never changes.
type features struct {
	z    []float32 // N×(K+1)
	base []float32 // y†
	mean []float64 // m + b_n, by which a prediction is raised
	of   *newcomers
}

// extractor computes features. It is safe for concurrent use.
type extractor struct {
	world *world
	net   *gnn.WideDeep
	pool  sync.Pool // of *workspace

	bytes int // that features may take

	mutex sync.Mutex
	held  []*profile // with features, the oldest first from next on
	next  int
}

// workspace is the memory of one computation.
type workspace struct {
	every *movies.Everywhere
	of    *newcomers // that every knows
	x     []float64
	z     []float64 // N×(K+1)
	mean  []float64 // m
	tape  gnn.Tape
}

// newExtractor keeps the features of users up to the given number of bytes.
func newExtractor(w *world, net *gnn.WideDeep, bytes int) *extractor {
	x := &extractor{world: w, net: net, bytes: bytes}
	x.held = make([]*profile, x.room(nil))
	x.pool.New = func() any {
		return &workspace{tape: gnn.Tape{Fold: true}}
	}
	return x
}

// room is how many users' features are kept with the given newcomers.
func (x *extractor) room(c *newcomers) int {
	n, width := x.world.ratings.Movies()+c.len(), x.world.setting.Order+1
	return max(16, x.bytes/(n*(4*width+12)))
}

// fit lets go of features that newcomers have taken the room of. The caller holds the mutex.
func (x *extractor) fit(room int) {
	if room >= len(x.held) {
		return
	}
	for _, p := range x.held[room:] {
		if p != nil {
			p.cached.Store(nil)
		}
	}
	x.held, x.next = slices.Clone(x.held[:room]), x.next%room
}

// of returns the features of a profile for the items of the graph.
func (x *extractor) of(p *profile) *features { return x.with(p, nil) }

// with returns the features of a profile for the items of the graph and the
// newcomers. The profile keeps them for a while.
func (x *extractor) with(p *profile, c *newcomers) *features {
	was := p.cached.Load()
	if was != nil && was.of == c {
		return was
	}
	f := x.compute(p, c)
	if p.cached.CompareAndSwap(was, f) && was == nil {
		x.mutex.Lock()
		x.fit(x.room(c))
		if old := x.held[x.next]; old != nil {
			old.cached.Store(nil)
		}
		x.held[x.next], x.next = p, (x.next+1)%len(x.held)
		x.mutex.Unlock()
	}
	return f
}

func (x *extractor) compute(p *profile, c *newcomers) *features {
	w := x.pool.Get().(*workspace)
	defer x.pool.Put(w)
	x.shift(w, p, c)
	n, width := len(w.mean), x.world.setting.Order+1
	f := &features{z: make([]float32, len(w.z)), base: make([]float32, n), mean: slices.Clone(w.mean), of: c}
	for i, z := range w.z {
		f.z[i] = float32(z / x.world.unit)
	}
	for i := range f.mean {
		f.mean[i] += x.world.offsetOf(int32(i), c)
	}
	x.net.Forward(mat.NewDense(n, 1, f.base), &gnn.Input{Shifted: mat.NewDense(n, width, f.z)}, &w.tape)
	return f
}

// shift makes z and m of a profile, for every movie, in w.
func (x *extractor) shift(w *workspace, p *profile, c *newcomers) {
	v, n := x.world.graph, x.world.ratings.Movies()+c.len()
	if w.of != c || len(w.mean) != n {
		w.every, w.of = v.features.With(c.all()), c
		w.z, w.mean = make([]float64, n*(x.world.setting.Order+1)), make([]float64, n)
	}
	w.x = w.x[:0]
	for k, i := range p.movie {
		w.x = append(w.x, p.rating[k]-x.world.offsetOf(i, c))
	}
	w.every.Features(w.z, w.mean, p.movie, w.x, x.world.setting.Signal, v.unknown)
}

// sight is what the model sees of a user for one movie as target.
type sight struct {
	z    []float32
	base float32
	mean float64
}

// at returns what is seen for movie n.
func (f *features) at(n int32) sight { return sight{f.row(n), f.base[n], f.mean[n]} }

// computeAt is compute for one movie, to the same bits.
func (x *extractor) computeAt(p *profile, c *newcomers, n int32) sight {
	w := x.pool.Get().(*workspace)
	defer x.pool.Put(w)
	x.shift(w, p, c)
	width := x.world.setting.Order + 1
	f := sight{z: make([]float32, width), mean: w.mean[n] + x.world.offsetOf(n, c)}
	for k, z := range w.z[int(n)*width:][:width] {
		f.z[k] = float32(z / x.world.unit)
	}
	var base [1]float32
	x.net.Forward(mat.NewDense(1, 1, base[:]), &gnn.Input{Shifted: mat.NewDense(1, width, f.z)}, &w.tape)
	f.base = base[0]
	return f
}

// row returns z of movie n.
func (f *features) row(n int32) []float32 {
	width := len(f.z) / len(f.base)
	return f.z[int(n)*width:][:width]
}
