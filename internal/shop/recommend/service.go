package recommend

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wdgnn/wdgnn/internal/journal"
	"github.com/wdgnn/wdgnn/internal/shop/dataset"
	"github.com/wdgnn/wdgnn/internal/shop/movies"
	"github.com/wdgnn/wdgnn/rule"
)

// Config says how a service learns and keeps. Its zero value does not learn; one
// with [Paper] steps does.
type Config struct {
	Rule          rule.Config
	Guard         GuardConfig
	Limit         LimitConfig
	SnapshotEvery int          // ratings between two snapshots; 0 means 20,000
	cacheBytes    int          // for what the model sees of users; 0 means 256 MiB
	queue         int          // ratings that may wait; 0 means 4096
	users         int          // who may come beside those of the data; 0 means a million, or as many as there are
	markEvery     int          // ratings between two moments that a deletion can begin at; 0 means 1,000
	Threads       int          // that build the graph at the start, and look again at ratings when a user is deleted; 0 means 1
	Log           *slog.Logger // nil means none

	// now says what time it is, for what Limit counts; nil means time.Now.
	now func() time.Time
}

// Paper returns plain gradient steps on taps and bias, eq. (7).
func Paper(step float64) rule.Config {
	return rule.Config{StepSize: rule.StepSize{Value: step}, Retrain: rule.RetrainTapsAndBias}
}

func (c Config) withDefaults() Config {
	if c.SnapshotEvery == 0 {
		c.SnapshotEvery = 20_000
	}
	if c.cacheBytes == 0 {
		c.cacheBytes = 256 << 20
	}
	if c.markEvery == 0 {
		c.markEvery = 1000
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

// mostUsers is how many may come since a model was trained, if it was trained with fewer. Each takes
// half a kilobyte of memory.
const mostUsers = 1_000_000

// Service predicts and learns. All methods are safe for concurrent use.
type Service struct {
	config Config
	model  *Model
	digest string
	shop   *dataset.Shop
	world  *world
	look   *extractor
	items  *directory
	basis  *rule.Basis

	version atomic.Pointer[version]

	queue  chan *request
	asked  chan func()   // for the writer to do, beside ratings
	closed chan struct{} // closing: no more ratings
	once   sync.Once
	done   chan struct{} // the writer has ended
	writer writer
}

// Open is OpenShop for movies.
func Open(m *Model, all *movies.Ratings, disk journal.Disk, c Config) (*Service, error) {
	return OpenShop(m, &dataset.Shop{Ratings: all, Word: "movie"}, disk, c)
}

// OpenShop starts a service on the disk, where it finds what it accepted before.
// Ratings are those that the model was trained on. The disk belongs to the
// service until Close returns.
func OpenShop(m *Model, shop *dataset.Shop, disk journal.Disk, c Config) (*Service, error) {
	if got := shop.Fingerprint(); got != m.Data {
		return nil, fmt.Errorf("recommend: %w: fingerprint %.12s…, these have %.12s…", ErrOtherData, m.Data, got)
	}
	if err := c.Limit.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	if c.users == 0 {
		c.users = max(mostUsers, shop.Ratings.Users())
	}
	w, err := newWorld(shop.Ratings, m.Setting, c.Threads)
	if err != nil {
		return nil, err
	}
	s := &Service{
		config: c, model: m, digest: m.digest(), shop: shop, world: w, look: newExtractor(w, m.network, c.cacheBytes),
		items: newDirectory(shop.Items),
		queue: make(chan *request, c.queue), asked: make(chan func()), closed: make(chan struct{}), done: make(chan struct{}),
	}
	s.writer = writer{service: s}
	if err := s.writer.open(disk); err != nil {
		return nil, err
	}
	go s.writer.run()
	return s, nil
}

// profile returns that of a user, nil if there is none.
func (s *Service) profile(id int) *profile { return s.version.Load().book.profile(id) }

// ask has the writer do something, between ratings.
func (s *Service) ask(ctx context.Context, do func() error) error {
	answer := make(chan error, 1)
	select {
	case s.asked <- func() { answer <- do() }:
	case <-ctx.Done():
		return ctx.Err()
	case <-s.done:
		return ErrClosed
	}
	return <-answer
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
	ErrDisk   = errors.New("the disk did not take it")
	ErrItem   = errors.New("no such item can be added")
	ErrFull   = errors.New("no more users can be added")
)

// version is the state that predictions read. It never changes.
type version struct {
	seq       uint64    // changes accepted
	book      *book     // which grows
	params    []float32 // of the learner
	serving   bool      // the learner serves, not the frozen model
	newcomers *newcomers
	status    Status
	at        time.Time
}
