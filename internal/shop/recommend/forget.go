package recommend

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"
)

// forgotten are users of the data whom the service must not know again: hashes of the
// model and the id. Others leave no trace.
type forgotten []string

// hashOf returns what is kept of a user of the data who was deleted.
func (s *Service) hashOf(id int) string {
	sum := sha256.Sum256([]byte(s.digest + "\n" + newDirectory(s.shop.Users).text(id)))
	return hex.EncodeToString(sum[:])
}

// has says whether a user of the data is forgotten.
func (f forgotten) has(s *Service, id int) bool {
	return len(f) > 0 && slices.Contains(f, s.hashOf(id))
}

// Forgotten says what became of a user who was deleted.
type Forgotten struct {
	Version   uint64 `json:"version"`
	Ratings   int    `json:"ratings"`   // of the user, which are gone
	Relearned int    `json:"relearned"` // of others, from which the learner learned again: those since some time before the user came
	Trained   bool   `json:"trained"`   // the user is in the data that the model was trained on, and it still is
}

// Forget deletes a user. Everything that was told since they came is learned again without
// them, so what is left is what it would be if the user had never come; then it replaces
// all files. Ratings wait meanwhile.
//
// A user of the data is no longer known, and their ratings neither shown nor used for
// predictions; but graph, offsets and network were made with them. A hash of the id stays,
// so that the next start does not take them from the data again.
func (s *Service) Forget(ctx context.Context, user int) (out Forgotten, err error) {
	err = s.ask(ctx, func() error {
		out, err = s.writer.forget(user)
		return err
	})
	return out, err
}

func (w *writer) forget(user int) (out Forgotten, err error) {
	s, began := w.service, time.Now()
	p := w.book.profile(user)
	if err := w.sweep(); err != nil {
		return out, fmt.Errorf("%w: %w", ErrDisk, err)
	}
	if p == nil {
		return out, fmt.Errorf("%w: user %s has not rated anything yet", ErrUser, w.book.ids.shown(user))
	}
	if w.snapshots != nil {
		w.snapshotDone(<-w.snapshots)
	}
	gone := slices.Clone(w.forgotten)
	if _, out.Trained = s.world.ratings.FindUser(user); out.Trained && !gone.has(s, user) {
		gone = append(gone, s.hashOf(user))
		slices.Sort(gone)
	}
	next, relearned, err := w.relearn(user, gone)
	if err != nil {
		return out, err
	}
	st := s.capture(next).state()
	st.Alone = true
	text, err := json.Marshal(st)
	if err != nil {
		return out, fmt.Errorf("recommend: snapshot: %w", err)
	}
	compacted, err := w.journal.Compact(text)
	if compacted {
		w.stage, w.since = next, 0
		if err != nil {
			w.unswept = w.journal.Last()
		}
	}
	w.publish()
	if err != nil {
		s.config.Log.Error("a user was not deleted as they should", "replaced", compacted, "err", err)
		return out, fmt.Errorf("%w: %w", ErrDisk, err)
	}
	out.Version, out.Ratings, out.Relearned = w.journal.Last(), len(p.movie), relearned
	s.config.Log.Info("a user was deleted", "version", out.Version,
		"relearned", out.Relearned, "took", time.Since(began).Round(time.Millisecond))
	return out, nil
}

// relearn returns the stage that the history leads to without a user, and how many ratings
// were learned again. What was learned before the user came is as it would be without them, so
// it begins at the last mark before that.
func (w *writer) relearn(user int, gone forgotten) (*stage, int, error) {
	s := w.service
	j := w.learner.judges
	if len(gone) > len(w.forgotten) {
		j = s.judges(gone)
	}
	next, err := s.newStage(gone, j)
	if err != nil {
		return nil, 0, err
	}
	for k := range w.newcomers.len() {
		one := w.newcomers.list[k]
		if err := next.welcome(s.world, one.id, one.title); err != nil {
			return nil, 0, err
		}
	}
	next.book.ids.next = w.book.ids.next // numbers stay with their users: requests that are under way know them
	if len(gone) == len(w.forgotten) {   // otherwise the data have changed, with which everything began
		next.marks = w.marks.until(slices.IndexFunc(w.history, func(t told) bool { return t.user == user }))
	}
	from, err := next.marks.resume(next.learner)
	if err != nil {
		return nil, 0, err
	}
	again := &writer{stage: next, service: s}
	var lessons []lesson
	for _, t := range w.history {
		if t.user == user {
			continue
		}
		if err := next.book.ids.put(w.book.ids.name(t.user), t.user); err != nil {
			return nil, 0, err
		}
		n, known := s.world.locate(t.movie, next.newcomers)
		if !known {
			return nil, 0, fmt.Errorf("recommend: history: %w", s.noMovie(t.movie))
		}
		if l, learned := again.hear(t, n); learned && len(next.history) > from {
			lessons = append(lessons, l)
		}
		if len(lessons) == most {
			again.study(lessons)
			lessons = lessons[:0]
		}
	}
	again.study(lessons)
	return next, len(next.history) - from, nil
}

// lesson is a rating to learn from, and what there was to see it by.
type lesson struct {
	rec       *record
	from      *profile
	newcomers *newcomers
	n         int32
}

// hear takes in what was told. It returns what is to be learned, if something is.
func (w *writer) hear(t told, n int32) (l lesson, learned bool) {
	w.pending, w.undo, w.now = map[int]*profile{}, nil, t.at
	if h := w.heed(&request{user: t.user, movie: t.movie, n: n, rating: t.rating}); h.rec != nil {
		l, learned = lesson{h.rec, h.from, w.newcomers, n}, h.learned
		w.take(t.user, n, h.next, h.known)
	}
	for user, p := range w.pending {
		w.book.put(user, p)
	}
	w.history = append(w.history, t)
	return l, learned
}

// study learns from ratings in their order. What the model sees of them does not depend on
// what it learns, so several threads look for that.
func (w *writer) study(lessons []lesson) {
	look, seen := w.service.look, make([]sight, len(lessons))
	threads := max(1, w.service.config.Threads)
	var wait sync.WaitGroup
	for t := range threads {
		wait.Go(func() {
			for k := t; k < len(lessons); k += threads {
				seen[k] = look.computeAt(lessons[k].from, lessons[k].newcomers, lessons[k].n)
			}
		})
	}
	wait.Wait()
	for k, l := range lessons {
		w.learn(l.rec, seen[k])
	}
	w.mark()
}
