package recommend

import (
	"encoding/json"
	"fmt"

	"github.com/wdgnn/wdgnn/internal/journal"
	"github.com/wdgnn/wdgnn/internal/shop/movies"
	"github.com/wdgnn/wdgnn/rule"
)

// state is the content of a snapshot.
type state struct {
	Format int         `json:"format"`
	Model  string      `json:"model"` // Model.digest
	Memory memory      `json:"memory"`
	Totals totals      `json:"totals"`
	Users  []userState `json:"users"` // those who differ from the data
	Items  []itemState `json:"items,omitempty"`

	History   history   `json:"history"` // everything since the beginning, so that it can be learned without a user
	Forgotten forgotten `json:"forgotten,omitempty"`
	Alone     bool      `json:"alone,omitempty"` // what is older than the snapshot must go: a user was deleted
}

type userState struct {
	User    int       `json:"user"`
	Name    string    `json:"name,omitempty"` // where ids are texts
	Movies  []int     `json:"movies"`
	Ratings []float64 `json:"ratings"`
	Repeats []int     `json:"repeats,omitempty"` // how often each rating was replaced; none means never
	Steps   float64   `json:"steps,omitempty"`   // of late; see spent
	At      int64     `json:"at,omitempty"`
}

// itemState is a newcomer.
type itemState struct {
	Item    int       `json:"item"`
	Name    string    `json:"name,omitempty"`
	Title   string    `json:"title,omitempty"`
	Raters  int       `json:"raters"` // when it was last looked at
	Offset  float64   `json:"offset"`
	Near    []int     `json:"near,omitempty"` // ids of the items that it hears
	Similar []float64 `json:"similar,omitempty"`
}

// stateFormat is that of snapshots.
const stateFormat = 5

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
	w.service.basis = w.learner.basis
	w.publish()
	return nil
}

func (w *writer) writeFirst() error {
	text, err := json.Marshal(w.service.capture(w.stage).state())
	if err != nil {
		return fmt.Errorf("recommend: snapshot: %w", err)
	}
	return w.journal.WriteSnapshot(0, text)
}

// recover puts the snapshot and the records after it in place.
func (w *writer) recover(was *journal.Recovered) error {
	s := w.service
	st, err := s.readState(was)
	if err != nil {
		return err
	}
	if w.stage, err = s.newStage(st.Forgotten, s.judges(st.Forgotten)); err != nil {
		return err
	}
	m := w.learner.memory()
	if st.Model != "" {
		if err := s.restoreItems(w.stage, st); err != nil {
			return fmt.Errorf("recommend: snapshot %d: %w", was.Seq, err)
		}
		if err := s.restoreUsers(w.stage, st); err != nil {
			return fmt.Errorf("recommend: snapshot %d: %w", was.Seq, err)
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
	if st.Alone {
		if err := w.journal.Sweep(was.Seq); err != nil {
			return err
		}
	}
	if err := w.learner.restore(m); err != nil {
		return err
	}
	if len(w.history) > 0 {
		w.marks.add(mark{len(w.history), w.learner.memory()})
	}
	return nil
}

// readState returns the state in the snapshot, an empty one if there is none or
// nothing was learned.
func (s *Service) readState(was *journal.Recovered) (st state, err error) {
	if was.Snapshot == nil {
		return st, nil
	}
	err = json.Unmarshal(was.Snapshot, &st) // of a later format at least the number
	if st.Format != stateFormat && (err == nil || st.Format != 0) {
		return st, fmt.Errorf("recommend: snapshot %d has format %d, this program reads %d; try a newer wdgnn, or another folder to begin anew",
			was.Seq, st.Format, stateFormat)
	}
	if err != nil {
		return st, fmt.Errorf("recommend: snapshot %d: %w", was.Seq, err)
	}
	if st.Model != s.digest && was.Seq == 0 && len(was.Records) == 0 {
		return state{}, nil
	}
	if st.Model != s.digest {
		return st, fmt.Errorf("recommend: %w: it learned with model %.12s…, this is %.12s…", ErrOtherModel, st.Model, s.digest)
	}
	return st, nil
}

// ErrOtherModel says that the disk holds what another model learned.
var ErrOtherModel = fmt.Errorf("the state belongs to another model")

// ErrOtherData says that a model goes with other ratings.
var ErrOtherData = fmt.Errorf("the model was trained on other ratings")

// restoreItems puts the newcomers of a snapshot in place.
func (s *Service) restoreItems(t *stage, st state) error {
	for k, i := range st.Items {
		if err := s.items.put(i.Name, i.Item); err != nil {
			return err
		}
		if _, known := s.world.locate(i.Item, t.newcomers); known || len(i.Near) != len(i.Similar) {
			return fmt.Errorf("item %d is there twice, or its neighbours do not match", i.Item)
		}
		if err := t.welcome(s.world, i.Item, i.Title); err != nil {
			return err
		}
		one := &newcomer{id: i.Item, title: i.Title, raters: i.Raters, offset: i.Offset}
		for e, id := range i.Near {
			n, known := s.world.position[id]
			if !known {
				return fmt.Errorf("item %d hears %d, which is not in the model", i.Item, id)
			}
			one.near = append(one.near, movies.Neighbor{Movie: n, Similarity: i.Similar[e]})
		}
		var err error
		if one.guest, err = s.world.graph.features.Join(s.world.graph.graph, one.near); err != nil {
			return err
		}
		t.newcomers = t.newcomers.with(k, one)
	}
	return nil
}

// restoreUsers puts the users of a snapshot and their history in place.
func (s *Service) restoreUsers(t *stage, st state) error {
	t.history = st.History
	for _, u := range st.Users {
		if err := s.restoreUser(t, u); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) restoreUser(t *stage, u userState) error {
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
	if err := t.book.ids.put(u.Name, u.User); err != nil {
		return err
	}
	for k, id := range u.Movies {
		n, err := s.check(u.User, id, u.Ratings[k], t.newcomers)
		if err != nil {
			return err
		}
		p.movie, p.rating = append(p.movie, n), append(p.rating, u.Ratings[k])
		if k > 0 && p.movie[k-1] >= n {
			return fmt.Errorf("the movies of user %d are not in the order of the model", u.User)
		}
		if int(n) >= s.world.ratings.Movies() { // users come in ascending order
			t.raters[n] = append(t.raters[n], u.User)
		}
	}
	t.book.put(u.User, p)
	return nil
}

// redo does again to m and the users what a record did.
func (w *writer) redo(m *memory, rec *record) error {
	s := w.service
	if rec.kind == kindItem {
		if err := s.items.put(rec.name, rec.movie); err != nil {
			return err
		}
		return w.welcome(s.world, rec.movie, rec.title)
	}
	n, err := s.check(rec.user, rec.movie, rec.rating, w.newcomers)
	if err != nil {
		return err
	}
	if err := w.book.ids.put(rec.name, rec.user); err != nil {
		return err
	}
	p := w.book.profile(rec.user)
	if p == nil {
		p = &profile{}
	}
	_, known := p.of(n)
	if known {
		w.totals.Changed++
	}
	p = p.with(n, rec.rating)
	if rec.learned {
		p.spent, _ = p.spent.step(s.config.Limit, rec.at)
	}
	w.book.put(rec.user, p)
	if int(n) >= s.world.ratings.Movies() && !known {
		w.rated(s.world, n, rec.user, w.book.profile)
	}
	w.history = append(w.history, rec.told())
	if !rec.learned {
		return nil
	}
	return w.relive(m, rec)
}

// relive does again to m what learning from a record did.
func (w *writer) relive(m *memory, rec *record) error {
	if len(rec.z) != w.learner.basis.Inputs() || len(rec.params) != w.learner.basis.Len() {
		return fmt.Errorf("%d inputs and %d parameters; the learner has %d and %d",
			len(rec.z), len(rec.params), w.learner.basis.Inputs(), w.learner.basis.Len())
	}
	w.totals.Learned++
	m.Guard.Since++
	if rec.event == eventHeld {
		m.Guard.Held++
		return nil
	}
	steps := m.Node.Steps() + 1
	switch rec.event {
	case eventFell, eventDiverged:
		steps = 0
		m.Guard.fall()
	case eventRecovered:
		m.Guard.Fallen = false
	}
	m.Node = rule.NewState(steps, rule.Vectors{rec.params})
	return nil
}

// captured is the state at one moment, before it is made into text.
type captured struct {
	service  *Service
	stage    stage
	memory   memory
	ids      []int
	profiles map[int]*profile
}

func (s *Service) capture(t *stage) *captured {
	ids, profiles := t.book.changed()
	return &captured{service: s, stage: *t, memory: t.learner.memory(), ids: ids, profiles: profiles}
}

func (c *captured) state() state {
	st := state{
		Format: stateFormat, Model: c.service.digest, Memory: c.memory, Totals: c.stage.totals, Users: []userState{},
		History: c.stage.history, Forgotten: c.stage.forgotten,
	}
	for _, id := range c.ids {
		p := c.profiles[id]
		u := userState{User: id, Name: c.stage.book.ids.name(id), Ratings: p.rating, Steps: p.spent.steps, At: p.spent.at}
		for _, r := range p.repeats {
			u.Repeats = append(u.Repeats, int(r))
		}
		for _, n := range p.movie {
			movie, _ := c.service.world.idOf(n, c.stage.newcomers)
			u.Movies = append(u.Movies, movie)
		}
		st.Users = append(st.Users, u)
	}
	for k := range c.stage.newcomers.len() {
		one := c.stage.newcomers.list[k]
		i := itemState{Item: one.id, Name: c.service.items.name(one.id), Title: one.title, Raters: one.raters, Offset: one.offset}
		for _, near := range one.near {
			i.Near, i.Similar = append(i.Near, c.service.world.ratings.MovieID(int(near.Movie))), append(i.Similar, near.Similarity)
		}
		st.Items = append(st.Items, i)
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
	seq, c := w.journal.Last(), w.service.capture(w.stage)
	alone := w.unswept > 0 // what a deletion left is older than this one too
	w.snapshots = make(chan error, 1)
	go func(done chan<- error) {
		st := c.state()
		st.Alone = alone
		text, err := json.Marshal(st)
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
	if swept := w.sweep(); err == nil {
		err = swept
	}
	if err != nil { // the log has everything
		w.service.config.Log.Error("no snapshot", "err", err)
	}
}

// sweep removes what a deletion could not.
func (w *writer) sweep() error {
	if w.unswept == 0 {
		return nil
	}
	if err := w.journal.Sweep(w.unswept); err != nil {
		return err
	}
	w.unswept = 0
	return nil
}
