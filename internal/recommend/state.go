package recommend

import (
	"encoding/json"
	"fmt"

	"github.com/wdgnn/wdgnn/internal/journal"
)

// state is the content of a snapshot.
type state struct {
	Format int         `json:"format"`
	Model  string      `json:"model"` // Model.Digest
	Memory memory      `json:"memory"`
	Totals totals      `json:"totals"`
	Users  []userState `json:"users"` // those who differ from the data
}

type userState struct {
	User    int       `json:"user"`
	Movies  []int     `json:"movies"`
	Ratings []float64 `json:"ratings"`
}

const stateFormat = 1

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
	s, m := w.service, w.learner.memory()
	if was.Snapshot != nil {
		var st state
		if err := json.Unmarshal(was.Snapshot, &st); err != nil {
			return fmt.Errorf("recommend: snapshot %d: %w", was.Seq, err)
		}
		if st.Format != stateFormat {
			return fmt.Errorf("recommend: snapshot %d has format %d, this program reads %d", was.Seq, st.Format, stateFormat)
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
	p := &profile{changed: true}
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
	s.put(rec.user, p.with(n, rec.rating))
	if !rec.learned {
		return nil
	}
	if len(rec.z) != w.learner.frame.Inputs() || len(rec.params) != w.learner.frame.Len() {
		return fmt.Errorf("%d inputs and %d parameters; the learner has %d and %d", len(rec.z), len(rec.params), w.learner.frame.Inputs(), w.learner.frame.Len())
	}
	w.totals.Learned++
	m.Guard.watch(s.errorsOf(rec))
	o, node := rec.observation(), &m.Node
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

func (s *Service) errorsOf(rec *record) (online, frozen float64, window int) {
	online, frozen = s.world.errors(rec)
	return online, frozen, s.config.Guard.Window
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
		u := userState{User: id, Ratings: p.rating}
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
