package serve

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/internal/liveweb"
	"github.com/wdgnn/wdgnn/internal/shop/recommend"
)

// Config says how to serve. Its zero value serves without a token.
type Config struct {
	liveweb.Config
	Users []int // that the page offers to pick from
	Limit Limit
}

const maxMovies = 1000 // asked for at once

// Server answers requests. It is safe for concurrent use.
type Server struct {
	config  Config
	service *recommend.Service
	gate    liveweb.Gate
	limiter *limiter
	metrics *metrics
	hub     *live.Hub
	serving string        // as last shown
	live    *liveweb.Live // the page
	handler http.Handler
}

// New returns a server for a service, which the caller closes after the server
// has ended.
func New(s *recommend.Service, c Config) *Server {
	hub, err := live.NewHub(ratingsScene(s.Word()))
	if err != nil {
		panic("serve: " + err.Error()) // the scene is a constant
	}
	c.Config = c.WithDefaults()
	v := &Server{config: c, service: s, gate: liveweb.NewGate(c.Token), limiter: newLimiter(c.Limit), metrics: newMetrics(s), hub: hub}
	v.live = liveweb.NewLive(liveweb.LiveConfig{Hub: hub, Config: c.Config, Ratings: v.ratingsPage})
	v.show()
	s.OnCommit(v.committed)
	v.handler = v.routes()
	return v
}

// committed is told of ratings that were kept, by the goroutine that writes.
func (v *Server) committed(ratings int, took time.Duration) {
	v.metrics.commit.Observe(took.Seconds())
	v.metrics.batch.Observe(float64(ratings))
	v.show()
}

// show tells the page how the service is doing. It is called by one goroutine
// at a time.
func (v *Server) show() {
	now := v.service.Status()
	if err := v.hub.Publish(ratingsFrame(now)); err != nil {
		v.config.Log.Warn("the page shows an old state", "err", err)
	}
	switch {
	case v.serving == "online" && now.Serving == "frozen":
		v.hub.Say(float64(now.Version), "A step of learning diverged: the model as trained serves, and the learner begins anew.")
	case v.serving == "frozen" && now.Serving == "online":
		v.hub.Say(float64(now.Version), "The learner is as good as the model as trained again, and serves.")
	}
	v.serving = now.Serving
}

// ServeHTTP implements [http.Handler].
func (v *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { v.handler.ServeHTTP(w, r) }

// Serve answers requests until ctx ends, and then those under way. It closes
// the listener.
func (v *Server) Serve(ctx context.Context, l net.Listener) error {
	return liveweb.ServeUntil(ctx, l, v, v.config.Config, v.live.Close)
}
