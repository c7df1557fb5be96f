package recommend

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
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
	Relearned int    `json:"relearned"` // of all others, from which the learner learned again
	Trained   bool   `json:"trained"`   // the user is in the data that the model was trained on, and it still is
}

// Forget deletes a user. Everything that was told since the beginning is learned again
// without them, from the model as trained, so what is left is what it would be if the
// user had never come; then it replaces all files. Ratings wait meanwhile.
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
	next, err := w.relearn(user, gone)
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
	out.Version, out.Ratings, out.Relearned = w.journal.Last(), len(p.movie), len(next.history)
	s.config.Log.Info("a user was deleted", "version", out.Version,
		"relearned", out.Relearned, "took", time.Since(began).Round(time.Millisecond))
	return out, nil
}

// relearn returns the stage that the history leads to without a user.
func (w *writer) relearn(user int, gone forgotten) (*stage, error) {
	s := w.service
	next, err := s.newStage(gone)
	if err != nil {
		return nil, err
	}
	for k := range w.newcomers.len() {
		one := w.newcomers.list[k]
		if err := next.welcome(s.world, one.id, one.title); err != nil {
			return nil, err
		}
	}
	next.book.ids.next = w.book.ids.next // numbers stay with their users: requests that are under way know them
	again := &writer{stage: next, service: s}
	for _, t := range w.history {
		if t.user == user {
			continue
		}
		if err := next.book.ids.put(w.book.ids.name(t.user), t.user); err != nil {
			return nil, err
		}
		n, known := s.world.locate(t.movie, next.newcomers)
		if !known {
			return nil, fmt.Errorf("recommend: history: %w", s.noMovie(t.movie))
		}
		again.hear(t, n)
	}
	return next, nil
}

// hear takes in what was told.
func (w *writer) hear(t told, n int32) {
	w.pending, w.undo, w.now = map[int]*profile{}, nil, t.at
	if t.at == 0 {
		w.keep(t, n)
	} else {
		w.apply(&request{user: t.user, movie: t.movie, n: n, rating: t.rating})
	}
	for user, p := range w.pending {
		w.book.put(user, p)
	}
	w.history = append(w.history, t)
}

// keep takes in a rating from which nothing is learned.
func (w *writer) keep(t told, n int32) {
	p := w.book.profile(t.user)
	if p == nil {
		p = &profile{}
	}
	_, known := p.of(n)
	w.take(t.user, n, p.with(n, t.rating), known)
}
