package recommend

import (
	"encoding/json"
	"fmt"

	"github.com/wdgnn/wdgnn/internal/journal"
)

// state is the content of a snapshot.
type state struct {
	Format int         `json:"format"`
	Model  string      `json:"model"` // Model.digest
	Memory memory      `json:"memory"`
	Totals totals      `json:"totals"`
	Users  []userState `json:"users"` // those who differ from the data
}

type userState struct {
	User    int       `json:"user"`
	Movies  []int     `json:"movies"`
	Ratings []float64 `json:"ratings"`
	Repeats []int     `json:"repeats,omitempty"` // how often each rating was replaced; none means never
	Steps   float64   `json:"steps,omitempty"`   // of late; see spent
	At      int64     `json:"at,omitempty"`
}

// stateFormat is that of snapshots. In format 1 the guard had squared errors of
// the last ratings in place of a panel, and nobody's steps were counted; what
// was learned is the same.
const stateFormat = 2

// open reads what is on the disk.
func (w *writer) open(disk journal.Disk) error {
	j, was, err := journal.Open(disk)
	if err != nil {
		return err
	}
	w.journal = j
	if err := w.recover(was); err != nil {
		j.Close()
		return err
	}
	log := w.service.config.Log
	for _, s := range was.Skipped {
		log.Warn("a snapshot cannot be read and is passed over", "snapshot", s)
	}
	if was.Dropped > 0 {
		log.Warn("dropped what was never acknowledged", "bytes", was.Dropped)
	}
	log.Info("state recovered", "version", j.Last(), "snapshot", was.Seq, "replayed", len(was.Records))
	if j.Last() == 0 { // the first snapshot says which model the state belongs to
		if err := w.writeFirst(); err != nil {
			j.Close()
			return err
		}
	}
	w.publish()
	return nil
}

func (w *writer) writeFirst() error {
	text, err := json.Marshal(w.capture().state())
	if err != nil {
		return fmt.Errorf("recommend: snapshot: %w", err)
	}
	return w.journal.WriteSnapshot(0, text)
}

// recover puts the snapshot and the records after it in place.
func (w *writer) recover(was *journal.Recovered) error {
	s, window := w.service, w.service.config.Guard.Window
	silent := s.silent(max(1, window/5))
	w.learner.guard.fill(silent, window)
	m := w.learner.memory()
	if was.Snapshot != nil {
		var st state
		err := json.Unmarshal(was.Snapshot, &st) // of a later format at least the number
		if err != nil && st.Format <= stateFormat {
			return fmt.Errorf("recommend: snapshot %d: %w", was.Seq, err)
		}
		if st.Format < 1 || st.Format > stateFormat {
			return fmt.Errorf("recommend: snapshot %d has format %d, this program reads 1 to %d; try a newer wdgnn, or another folder to begin anew",
				was.Seq, st.Format, stateFormat)
		}
		if st.Model != s.digest && was.Seq == 0 && len(was.Records) == 0 {
			return nil // nothing was learned
		}
		if st.Model != s.digest {
			return fmt.Errorf("recommend: %w: it learned with model %.12s…, this is %.12s…", ErrOtherModel, st.Model, s.digest)
		}
		for _, u := range st.Users {
			if err := s.restoreUser(u); err != nil {
				return fmt.Errorf("recommend: snapshot %d: %w", was.Seq, err)
			}
		}
		m, w.totals = st.Memory, st.Totals
		m.Guard.trim(window)
		m.Guard.fill(silent, window)
	}
	for k, text := range was.Records {
		rec, err := parseRecord(text)
		if err == nil {
			err = w.redo(&m, &rec)
		}
		if err != nil {
			return fmt.Errorf("recommend: record %d: %w", was.Seq+uint64(k)+1, err)
		}
	}
	w.since = len(was.Records)
	return w.learner.restore(m)
}

// ErrOtherModel says that the disk holds what another model learned.
var ErrOtherModel = fmt.Errorf("the state belongs to another model")

func (s *Service) restoreUser(u userState) error {
	if len(u.Movies) != len(u.Ratings) {
		return fmt.Errorf("user %d has %d movies and %d ratings", u.User, len(u.Movies), len(u.Ratings))
	}
	p := &profile{changed: true, spent: spent{u.Steps, u.At}}
	if len(u.Repeats) > 0 && len(u.Repeats) != len(u.Movies) || !(u.Steps >= 0) {
		return fmt.Errorf("user %d has %d movies, %d numbers of repeats and %v steps", u.User, len(u.Movies), len(u.Repeats), u.Steps)
	}
	for _, r := range u.Repeats {
		p.repeats = append(p.repeats, uint8(min(max(r, 0), 255)))
	}
	for k, id := range u.Movies {
		n, err := s.check(u.User, id, u.Ratings[k])
		if err != nil {
			return err
		}
		p.movie, p.rating = append(p.movie, n), append(p.rating, u.Ratings[k])
		if k > 0 && p.movie[k-1] >= n {
			return fmt.Errorf("the movies of user %d are not in the order of the model", u.User)
		}
	}
	s.put(u.User, p)
	return nil
}

// redo does again to m and the users what a record did.
func (w *writer) redo(m *memory, rec *record) error {
	s := w.service
	n, err := s.check(rec.user, rec.movie, rec.rating)
	if err != nil {
		return err
	}
	p := s.profile(rec.user)
	if p == nil {
		p = &profile{}
	}
	if _, known := p.of(n); known {
		w.totals.Changed++
	}
	p = p.with(n, rec.rating)
	if rec.learned && rec.at != 0 {
		p.spent, _ = p.spent.step(s.config.Limit, rec.at)
	}
	s.put(rec.user, p)
	if !rec.learned {
		return nil
	}
	if len(rec.z) != w.learner.basis.Inputs() || len(rec.params) != w.learner.basis.Len() {
		return fmt.Errorf("%d inputs and %d parameters; the learner has %d and %d",
			len(rec.z), len(rec.params), w.learner.basis.Inputs(), w.learner.basis.Len())
	}
	w.totals.Learned++
	m.Guard.watch(rec.user, rec.heard(), s.config.Guard.Window)
	o, node := rec.observation(s.world), &m.Node
	node.Vectors[0] = rec.params
	node.Steps++
	if w.learner.config.Window > 1 {
		node.Counts = append(node.Counts, 1)
		node.Inputs, node.Bases, node.Targets = append(node.Inputs, o.z...), append(node.Bases, o.base), append(node.Targets, o.target)
		if extra := len(node.Counts) - w.learner.config.Window; extra > 0 {
			*node = forget(*node, extra, len(o.z))
		}
	}
	switch rec.event {
	case eventFell, eventDiverged:
		node.Steps, node.Counts, node.Inputs, node.Bases, node.Targets = 0, nil, nil, nil, nil
		m.Guard.fall()
	case eventRecovered:
		m.Guard.Fallen = false
	}
	return nil
}

// captured is the state at one moment, before it is made into text.
type captured struct {
	service  *Service
	memory   memory
	totals   totals
	ids      []int
	profiles map[int]*profile
}

func (w *writer) capture() *captured {
	ids, profiles := w.service.changedUsers()
	return &captured{service: w.service, memory: w.learner.memory(), totals: w.totals, ids: ids, profiles: profiles}
}

func (c *captured) state() state {
	st := state{Format: stateFormat, Model: c.service.digest, Memory: c.memory, Totals: c.totals, Users: []userState{}}
	for _, id := range c.ids {
		p := c.profiles[id]
		u := userState{User: id, Ratings: p.rating, Steps: p.spent.steps, At: p.spent.at}
		for _, r := range p.repeats {
			u.Repeats = append(u.Repeats, int(r))
		}
		for _, n := range p.movie {
			u.Movies = append(u.Movies, c.service.world.ratings.MovieID(int(n)))
		}
		st.Users = append(st.Users, u)
	}
	return st
}

// beginSnapshot writes the state to the disk, beside further ratings.
func (w *writer) beginSnapshot() {
	w.since = 0
	if err := w.journal.Rotate(); err != nil {
		w.service.config.Log.Error("no snapshot", "err", err)
		return
	}
	seq, c := w.journal.Last(), w.capture()
	w.snapshots = make(chan error, 1)
	go func(done chan<- error) {
		text, err := json.Marshal(c.state())
		if err == nil {
			err = w.journal.WriteSnapshot(seq, text)
		}
		done <- err
	}(w.snapshots)
}

func (w *writer) snapshotDone(err error) {
	w.snapshots = nil
	if err == nil {
		err = w.journal.Prune()
	}
	if err != nil { // the log has everything
		w.service.config.Log.Error("no snapshot", "err", err)
	}
}
