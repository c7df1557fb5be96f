package recommend

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/wdgnn/wdgnn/internal/journal"
	"github.com/wdgnn/wdgnn/internal/shop/dataset"
	"github.com/wdgnn/wdgnn/internal/shop/movies"
)

// Rated is what became of a rating.
type Rated struct {
	User    int     `json:"user"`
	Movie   int     `json:"movie"`
	Rating  float64 `json:"rating"`
	Version uint64  `json:"version"` // of the parameters that know it
	Changed bool    `json:"changed"` // false if the user had said so before: nothing happened
	Learned bool    `json:"learned"`
	Why     string  `json:"why,omitempty"` // nothing was learned
	Before  float64 `json:"before"`        // the prediction that was served for it before
	After   float64 `json:"after"`         // and is now
}

// request is a rating on its way.
type request struct {
	user   int
	name   string // of a user who is not known yet, if it is not the number
	movie  int
	n      int32
	rating float64

	result Rated
	err    error
	done   chan struct{}
}

// Rate accepts a rating and learns from it. When it returns nil, the rating and
// the parameters that it led to are on the disk and predictions show them. A
// user who is not known becomes known. A movie that the user rated before gets
// the new rating, from which less is learned each time; the same rating once
// more changes nothing, so a rating whose fate is not known can be sent again.
//
// An error that is ErrDisk, or that of ctx, leaves open whether the rating will
// be found after a restart.
func (s *Service) Rate(ctx context.Context, user, movie int, rating float64) (Rated, error) {
	return s.send(ctx, &request{user: user, movie: movie, rating: rating})
}

// RateAs is Rate by the id of a user as it is written, which may be a new one.
func (s *Service) RateAs(ctx context.Context, user string, movie int, rating float64) (Rated, error) {
	r := &request{movie: movie, rating: rating}
	ids := s.version.Load().book.ids
	id, known := ids.find(user)
	switch {
	case known:
		r.user = id
		if ids.named() {
			r.name = user // the writer looks again: the user may be deleted before it comes to this rating
		}
	case !ids.named():
		return Rated{}, fmt.Errorf("%w: id %.40q; want 0 to %d", ErrUser, user, movies.MaxID)
	default:
		if err := dataset.CheckID(user); err != nil {
			return Rated{}, fmt.Errorf("%w: %w", ErrUser, err)
		}
		r.name = user
	}
	return s.send(ctx, r)
}

// send gives the writer a rating and waits for what becomes of it.
func (s *Service) send(ctx context.Context, r *request) (Rated, error) {
	var err error
	if r.n, err = s.check(r.user, r.movie, r.rating, s.version.Load().newcomers); err != nil {
		return Rated{}, err
	}
	r.done = make(chan struct{})
	select {
	case <-s.closed:
		return Rated{}, ErrClosed
	default:
	}
	select {
	case s.queue <- r:
	default:
		return Rated{}, ErrBusy
	}
	select {
	case <-r.done:
		return r.result, r.err
	case <-ctx.Done():
		return Rated{}, ctx.Err()
	case <-s.done: // the writer ended before it came to this one, or just after
		select {
		case <-r.done:
			return r.result, r.err
		default:
			return Rated{}, ErrClosed
		}
	}
}

// writer is the one goroutine that changes anything. Ratings that wait are
// committed together.
type writer struct {
	*stage
	service *Service
	journal *journal.Journal

	buffer    []byte
	pending   map[int]*profile // of this batch
	undo      []func()         // what this batch did, beside profiles and learner
	now       int64            // of this batch, milliseconds since 1970
	since     int              // ratings since the last snapshot
	snapshots chan error       // nil if no snapshot is being written
	ended     error
	unswept   uint64 // the snapshot of a deletion behind which files may be left, 0 for none
	full      bool   // the last ratings were not kept, and the disk has not shown since that it would

	commits atomic.Pointer[func(ratings int, took time.Duration)]
}

// stage is everything that ratings change.
type stage struct {
	book      *book
	learner   *learner
	newcomers *newcomers
	raters    map[int32][]int // of newcomers, by position: users, ascending
	totals    totals
	history   history
	forgotten forgotten
	marks     marks
}

// newStage returns what there is before the first rating.
func (s *Service) newStage(gone forgotten, j *judges) (*stage, error) {
	l, err := newLearner(s.model, s.world, s.config.Rule, s.config.Guard, j)
	if err != nil {
		return nil, err
	}
	return &stage{
		book: s.newBook(gone), learner: l, raters: map[int32][]int{}, forgotten: gone, marks: marks{every: s.config.markEvery},
	}, nil
}

// totals are counts since the beginning. They round-trip through JSON.
type totals struct {
	Learned int `json:"learned"`
	Changed int `json:"changed"` // ratings that replaced others
	Limited int `json:"limited"` // ratings beyond LimitConfig
}

// most is how many ratings are committed together at most.
const most = 512

func (w *writer) run() {
	s := w.service
	defer close(s.done)
	for {
		var again <-chan time.Time
		if w.full {
			again = time.After(probeEvery)
		}
		select {
		case r := <-s.queue:
			w.batch(r)
		case do := <-s.asked:
			do()
		case <-again:
			w.probe()
		case err := <-w.snapshots:
			w.snapshotDone(err)
		case <-s.closed:
			for {
				select {
				case r := <-s.queue:
					w.batch(r)
					continue
				default:
				}
				break
			}
			w.close()
			return
		}
	}
}

// batch handles first and whatever waits behind it.
func (w *writer) batch(first *request) {
	list := []*request{first}
	for len(list) < most {
		select {
		case r := <-w.service.queue:
			list = append(list, r)
			continue
		default:
		}
		break
	}
	w.commit(list)
	for _, r := range list {
		close(r.done)
	}
	if w.since >= w.service.config.SnapshotEvery && w.snapshots == nil {
		w.beginSnapshot()
	}
}

// commit applies the requests, puts them on the disk and publishes them.
func (w *writer) commit(list []*request) {
	s, before := w.service, w.learner.memory()
	totals, began, steps := w.totals, time.Now(), 0
	w.now = s.config.now().UnixMilli()
	w.pending, w.undo = map[int]*profile{}, nil
	var events []event
	var told history
	for _, r := range list {
		rec := w.apply(r)
		if rec == nil {
			r.result.Version = s.version.Load().seq + uint64(steps)
			continue
		}
		w.buffer = rec.appendTo(w.buffer[:0])
		r.result.Version = w.journal.Append(w.buffer)
		told = append(told, rec.told())
		steps++
		if rec.event != eventNone && rec.event != eventHeld {
			events = append(events, rec.event)
		}
	}
	if err := w.journal.Commit(); err != nil {
		w.rollback(list, before, totals, err)
		return
	}
	w.full = w.full && steps == 0
	for user, p := range w.pending {
		w.book.put(user, p)
	}
	w.history = append(w.history, told...)
	w.mark()
	w.since += steps
	w.publish()
	for _, e := range events {
		s.config.Log.Warn("guard "+e.String(), "version", w.journal.Last(), "falls", w.learner.guard.Falls)
	}
	if watch := w.commits.Load(); watch != nil && steps > 0 {
		(*watch)(steps, time.Since(began))
	}
}

// rollback undoes a batch that is not on the disk.
func (w *writer) rollback(list []*request, before memory, was totals, err error) {
	if restored := w.learner.restore(before); restored != nil {
		panic("recommend: a learner does not take its own memory: " + restored.Error())
	}
	for _, undo := range slices.Backward(w.undo) {
		undo()
	}
	w.totals = was
	w.full = true
	w.service.config.Log.Error("ratings were not kept", "ratings", len(list), "err", err)
	for _, r := range list {
		r.result, r.err = Rated{}, fmt.Errorf("%w: %w", ErrDisk, err)
	}
	w.publish()
}

// A disk that took no ratings is asked every probeEvery whether it would take as
// much as a batch of them.
const (
	probeEvery = time.Second
	probeBytes = 64 << 10
)

// probe finds out whether ratings would be kept again: nobody may send any to a
// service that is not well.
func (w *writer) probe() {
	if w.journal.Err() != nil || w.journal.Probe(probeBytes) != nil {
		return
	}
	w.full = false
	w.service.config.Log.Info("the disk has room again")
	w.publish()
}

// apply takes one rating in. It returns nil if nothing changes.
func (w *writer) apply(r *request) *record {
	s := w.service
	isNew := false
	if r.name != "" {
		if r.user, isNew = w.book.ids.add(r.name); isNew {
			w.undo = append(w.undo, func() { w.book.ids.drop(r.user) })
		}
	}
	if w.profile(r.user) == nil && int(w.book.count.Load()) >= s.shop.Ratings.Users()+s.config.users { // a batch may go beyond
		w.book.ids.drop(r.user)
		r.err = fmt.Errorf("%w: %d came since the model was trained; train it again with them", ErrFull, s.config.users)
		return nil
	}
	r.result = Rated{User: r.user, Movie: r.movie, Rating: r.rating}
	h := w.heed(r)
	f := s.look.with(h.from, w.newcomers)
	r.result.Before, r.result.Why, r.result.Learned = w.prediction(f, r.n), h.why, h.learned
	if r.result.Changed = h.rec != nil; !r.result.Changed {
		r.result.After = r.result.Before
		return nil
	}
	if isNew {
		h.rec.name = r.name
	}
	if h.learned {
		w.learn(h.rec, f.at(r.n))
		if h.rec.event == eventHeld {
			r.result.Learned, r.result.Why = false, whyHeld
		}
	}
	r.result.After = w.prediction(f, r.n) // the target's rating is no part of its features
	w.take(r.user, r.n, h.next, h.known)
	return h.rec
}

// heeded is what a rating is to lead to.
type heeded struct {
	rec        *record  // nil if nothing changes
	from, next *profile // of the user, before and after
	known      bool     // the user had rated the item
	learned    bool     // it is to be learned from
	why        string   // or why not
}

// heed finds out what a rating leads to, which does not depend on what was learned, and
// counts it.
func (w *writer) heed(r *request) (h heeded) {
	if h.from = w.profile(r.user); h.from == nil {
		h.from = &profile{}
	}
	p := h.from
	was, known := p.of(r.n)
	if h.known = known; known && was == r.rating {
		h.why = whySame
		return h
	}
	others := len(p.movie)
	if known {
		others--
	}
	h.rec = &record{user: r.user, movie: r.movie, rating: r.rating, weight: weight(p.repeat(r.n), others), at: w.now}
	h.next = p.with(r.n, r.rating)
	spent, allowed := p.spent.step(w.service.config.Limit, w.now)
	switch {
	case others == 0:
		h.why = whyFirst
	case h.rec.weight == 0:
		h.why = whyRepeated
	case !w.hears(r.n):
		h.why = whyStranger
	case !allowed:
		h.why = whyLimited
		w.totals.Limited++
	default:
		h.learned, h.next.spent = true, spent
		w.totals.Learned++
	}
	if known {
		w.totals.Changed++
	}
	return h
}

// take gives a user a new profile, because of a rating of the item at position n.
func (w *writer) take(user int, n int32, next *profile, known bool) {
	w.pending[user] = next
	if world := w.service.world; int(n) >= world.ratings.Movies() && !known {
		w.undo = append(w.undo, w.rated(world, n, user, w.profile))
	}
}

// profile returns that of a user in this batch, nil if there is none.
func (w *writer) profile(user int) *profile {
	if p := w.pending[user]; p != nil {
		return p
	}
	return w.book.profile(user)
}

// hears says whether the item at position n is in the graph, or has joined it.
func (t *stage) hears(n int32) bool {
	base := t.learner.world.ratings.Movies()
	return int(n) < base || t.newcomers.list[int(n)-base].guest.Neighbors() > 0
}

// Why nothing was learned from a rating.
const (
	whySame     = "the user had said so before"
	whyFirst    = "it is the user's only rating: there is no other to predict it from"
	whyRepeated = "the user has changed this rating too often"
	whyStranger = "the item is new, and too few rated it together with others to know what it is like"
	whyHeld     = "the step would have made the predictions for others worse; the rating counts for their own predictions"
	whyLimited  = "the user has rated too much in a short time; the rating counts for their own predictions"
)

// learn takes the step that a rating asks for and fills rec in.
func (w *writer) learn(rec *record, f sight) {
	l := w.learner
	rec.learned, rec.mean, rec.base, rec.z = true, f.mean, f.base, f.z
	rec.online = l.output(rec.z, rec.base)
	rec.event = l.learn(rec.observation(l.world))
	rec.params = slices.Clone(l.node.Params())
}

// observation returns what the learner saw.
func (r *record) observation(w *world) observation {
	return observation{z: r.z, base: r.base, target: w.target(r.rating, r.mean)}.partly(r.weight, r.online)
}

// prediction returns what is served with the writer's parameters.
func (w *writer) prediction(f *features, n int32) float64 {
	y := f.base[n]
	if !w.learner.guard.Fallen {
		y = w.learner.output(f.row(n), y)
	}
	return w.service.world.served(f.mean[n], y)
}

// publish lets predictions see the writer's parameters.
func (w *writer) publish() {
	l := w.learner
	v := &version{
		seq: w.journal.Last(), params: slices.Clone(l.node.Params()), serving: !l.guard.Fallen, at: time.Now(),
		book: w.book, newcomers: w.newcomers,
	}
	v.status = w.status(v)
	w.service.version.Store(v)
}

// close writes a snapshot and ends the journal.
func (w *writer) close() {
	if w.snapshots != nil {
		w.snapshotDone(<-w.snapshots)
	}
	if w.since > 0 && w.journal.Err() == nil {
		w.beginSnapshot()
		if w.snapshots != nil {
			w.snapshotDone(<-w.snapshots)
		}
	}
	w.ended = errors.Join(w.ended, w.journal.Close())
}
