package recommend

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wdgnn/wdgnn/internal/dataset"
	"github.com/wdgnn/wdgnn/internal/journal"
	"github.com/wdgnn/wdgnn/rule"
	"github.com/wdgnn/wdgnn/scenario/movies"
)

// Config says how a service learns and keeps. Its zero value does not learn; one
// with [Literal] or [Whitened] steps does.
type Config struct {
	Rule          rule.Config
	Guard         GuardConfig
	Limit         LimitConfig
	SnapshotEvery int          // ratings between two snapshots; 0 means 20,000
	cacheBytes    int          // for what the model sees of users; 0 means 256 MiB
	queue         int          // ratings that may wait; 0 means 4096
	Threads       int          // that build the graph at the start; 0 means 1
	Log           *slog.Logger // nil means none

	// now says what time it is, for what Limit counts; nil means time.Now.
	now func() time.Time
}

// Literal returns plain gradient steps on taps and bias, eq. (7).
func Literal(step float64) rule.Config {
	return rule.Config{StepSize: rule.StepSize{Value: step}, Retrain: rule.RetrainTapsAndBias}
}

// Whitened returns steps in whitened coordinates on taps and bias.
func Whitened(step float64) rule.Config {
	c := Literal(step)
	c.Whiten = true
	return c
}

func (c Config) withDefaults() Config {
	if c.SnapshotEvery == 0 {
		c.SnapshotEvery = 20_000
	}
	if c.cacheBytes == 0 {
		c.cacheBytes = 256 << 20
	}
	if c.queue == 0 {
		c.queue = 4096
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.now == nil {
		c.now = time.Now
	}
	c.Guard, c.Limit = c.Guard.withDefaults(), c.Limit.withDefaults()
	return c
}

// Service predicts and learns. All methods are safe for concurrent use.
type Service struct {
	config Config
	model  *Model
	digest string
	world  *world
	look   *extractor

	users   sync.Map // id -> *atomic.Pointer[profile]
	count   atomic.Int64
	version atomic.Pointer[version]

	queue  chan *request
	closed chan struct{} // closing: no more ratings
	once   sync.Once
	done   chan struct{} // the writer has ended
	writer writer
}

// Open starts a service on the disk, where it finds what it accepted before.
// Ratings are those that the model was trained on. The disk belongs to the
// service until Close returns.
func Open(m *Model, all *movies.Ratings, disk journal.Disk, c Config) (*Service, error) {
	if got := dataset.Fingerprint(all); got != m.Data {
		return nil, fmt.Errorf("recommend: the model was trained on other ratings: fingerprint %.12s…, these have %.12s…", m.Data, got)
	}
	if err := c.Limit.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	w, err := newWorld(all, m.Setting, c.Threads)
	if err != nil {
		return nil, err
	}
	s := &Service{
		config: c, model: m, digest: m.digest(), world: w, look: newExtractor(w, m.network, c.cacheBytes),
		queue: make(chan *request, c.queue), closed: make(chan struct{}), done: make(chan struct{}),
	}
	for u := range w.ratings.Users() {
		if movie, rating := w.ratings.User(u); len(movie) > 0 {
			s.put(w.ratings.UserID(u), &profile{movie: movie, rating: rating})
		}
	}
	l, err := newLearner(m, w, c.Rule, c.Guard)
	if err != nil {
		return nil, err
	}
	s.writer = writer{service: s, learner: l}
	if err := s.writer.open(disk); err != nil {
		return nil, err
	}
	go s.writer.run()
	return s, nil
}

// put makes p the profile of a user.
func (s *Service) put(id int, p *profile) {
	at, known := s.users.Load(id)
	if !known {
		at, known = s.users.LoadOrStore(id, new(atomic.Pointer[profile]))
		if !known {
			s.count.Add(1)
		}
	}
	at.(*atomic.Pointer[profile]).Store(p)
}

// profile returns that of a user, nil if there is none.
func (s *Service) profile(id int) *profile {
	if at, ok := s.users.Load(id); ok {
		return at.(*atomic.Pointer[profile]).Load()
	}
	return nil
}

// Close ends learning: ratings that wait are answered, a snapshot is written.
func (s *Service) Close() error {
	s.once.Do(func() { close(s.closed) })
	<-s.done
	return s.writer.ended
}

// Errors of requests. The text of what is returned says more.
var (
	ErrUser   = errors.New("no such user")
	ErrMovie  = errors.New("no such movie")
	ErrRating = errors.New("no such rating")
	ErrBusy   = errors.New("too many ratings are waiting")
	ErrClosed = errors.New("the service is shutting down")
	ErrDisk   = errors.New("the rating could not be kept")
)

// version is the state that predictions read. It never changes.
type version struct {
	seq     uint64    // ratings accepted
	params  []float32 // of the learner
	serving bool      // the learner serves, not the frozen model
	status  Status
	at      time.Time
}
