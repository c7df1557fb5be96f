package recommend

import (
	"math"
	"time"
)

// Status says how a service is doing.
type Status struct {
	Model    string  `json:"model"`    // digest of the trained model
	Version  uint64  `json:"version"`  // changes accepted: ratings, new items and deletions; every one makes a version
	Serving  string  `json:"serving"`  // "online", or "frozen" after the guard fell back
	Steps    int     `json:"steps"`    // of the learner since it last began at the trained parameters
	Learned  int     `json:"learned"`  // ratings learned from, in all
	Changed  int     `json:"changed"`  // ratings that replaced others
	Limited  int     `json:"limited"`  // ratings not learned from because their user had taken too many steps
	Held     int     `json:"held"`     // ratings not learned from because the step would have made predictions for others worse
	Users    int     `json:"users"`    // with a rating
	Movies   int     `json:"movies"`   // N
	Falls    int     `json:"falls"`    // how often the guard fell back
	Moved    float64 `json:"moved"`    // ‖𝒜 - 𝒜†‖ of the learner
	Writable bool    `json:"writable"` // false once a sync failed: no rating is accepted before a restart
	Stored   bool    `json:"stored"`   // false after ratings that the disk did not take, until it would again

	Window Window  `json:"window"`
	Rule   Rule    `json:"rule"`
	Scale  Scale   `json:"scale"`
	Report Report  `json:"report"`
	Params []Param `json:"params"` // of the learner, as package rule has them; 0 is as trained
	At     string  `json:"at"`     // when this version was made, RFC 3339
}

// Window compares the learner with the frozen model on the guard's panel; see
// GuardConfig.
type Window struct {
	Length int     `json:"length"` // users of a full panel
	Filled int     `json:"filled"`
	Online float64 `json:"online_rmse"`
	Frozen float64 `json:"frozen_rmse"`
	Margin float64 `json:"margin"` // by which online may be worse
}

// Rule says how the learner steps.
type Rule struct {
	StepSize float64 `json:"step_size"`
	Retrain  string  `json:"retrain"`
}

// Scale is the range of the ratings.
type Scale struct {
	Least float64 `json:"least"`
	Most  float64 `json:"most"`
}

// Param is a parameter and its bits, so that two states can be compared
// exactly.
type Param struct {
	Value float32 `json:"value"`
	Bits  uint32  `json:"bits"`
}

// Status returns the state of the version that predictions read.
func (s *Service) Status() Status { return s.version.Load().status }

// OnCommit has watch called after every commit, by the goroutine that writes.
func (s *Service) OnCommit(watch func(ratings int, took time.Duration)) {
	s.writer.commits.Store(&watch)
}

// Waiting returns how many ratings wait for the writer.
func (s *Service) Waiting() int { return len(s.queue) }

func (w *writer) status(v *version) Status {
	s, l := w.service, w.learner
	st := Status{
		Model: s.digest, Version: v.seq, Serving: v.servingName(),
		Steps: l.node.Steps(), Learned: w.totals.Learned - l.guard.Held, Changed: w.totals.Changed,
		Limited: w.totals.Limited, Held: l.guard.Held,
		Users: int(v.book.count.Load()), Movies: s.world.ratings.Movies() + v.newcomers.len(),
		Falls: l.guard.Falls, Moved: l.basis.Distance(v.params, nil),
		Writable: w.journal.Err() == nil, Stored: !w.full && w.journal.Err() == nil,
		Window: Window{
			Length: l.guards.Window, Filled: l.judges.users, Online: s.world.unit * l.judged(), Frozen: s.world.unit * l.judges.rmse(nil),
			Margin: l.guards.Margin,
		},
		Rule:  Rule{StepSize: l.config.StepSize.Value, Retrain: string(l.config.Retrain)},
		Scale: Scale{s.world.least, s.world.most}, Report: s.model.Report, At: v.at.UTC().Format(time.RFC3339Nano),
	}
	for _, p := range v.params {
		st.Params = append(st.Params, Param{p, math.Float32bits(p)})
	}
	return st
}
