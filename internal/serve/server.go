package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/wdgnn/wdgnn/internal/hostname"
	"github.com/wdgnn/wdgnn/internal/live"
	"github.com/wdgnn/wdgnn/internal/recommend"
)

// Config says how to serve. Its zero value serves without a token.
type Config struct {
	Token    string        // that requests must bear; empty means none is asked for
	header   time.Duration // for the head of a request; 0 means 5 s
	read     time.Duration // for a whole request; 0 means 10 s
	write    time.Duration // for an answer; 0 means 15 s
	idle     time.Duration // of a connection between requests; 0 means 2 min
	shutdown time.Duration // for requests under way when the server ends; 0 means 10 s
	Log      *slog.Logger  // nil means none
	Users    []int         // that the recommender's page offers to pick from
	Limit    Limit
}

func (c Config) withDefaults() Config {
	for _, d := range []struct {
		value *time.Duration
		usual time.Duration
	}{
		{&c.header, 5 * time.Second},
		{&c.read, 10 * time.Second},
		{&c.write, 15 * time.Second},
		{&c.idle, 2 * time.Minute},
		{&c.shutdown, 10 * time.Second},
	} {
		if *d.value == 0 {
			*d.value = d.usual
		}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

const (
	maxHeader = 16 << 10 // bytes of the head of a request
	maxBody   = 4 << 10  // bytes of a rating
	maxMovies = 1000     // asked for at once
)

// Server answers requests. It is safe for concurrent use.
type Server struct {
	config  Config
	service *recommend.Service
	gate    gate
	limiter *limiter
	metrics *metrics
	hub     *live.Hub
	serving string // as last shown
	live    *Live  // the page
	handler http.Handler
}

// New returns a server for a service, which the caller closes after the server
// has ended.
func New(s *recommend.Service, c Config) *Server {
	hub, err := live.NewHub(ratingsScene(s.Word()))
	if err != nil {
		panic("serve: " + err.Error()) // the scene is a constant
	}
	v := &Server{config: c.withDefaults(), service: s, gate: newGate(c.Token), limiter: newLimiter(c.Limit), metrics: newMetrics(s), hub: hub}
	v.live = NewLive(LiveConfig{Hub: hub, Config: c})
	v.live.ratings = v.ratingsPage
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

// ErrNeedsToken says that an address can be reached from outside.
var ErrNeedsToken = errors.New("an address that other machines can reach needs a token")

// Listen opens the address host:port. Without a token, only loopback addresses
// are opened.
func Listen(ctx context.Context, address string, token bool) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("serve: %w; want host:port", err)
	}
	if !token && !hostname.Loopback(host) {
		return nil, fmt.Errorf("serve: %s: %w", address, ErrNeedsToken)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("serve: %w", err)
	}
	if a, ok := l.Addr().(*net.TCPAddr); !token && ok && !a.IP.IsLoopback() { // a name may mean anything
		l.Close()
		return nil, fmt.Errorf("serve: %s is %s: %w", address, a, ErrNeedsToken)
	}
	return l, nil
}

// Serve answers requests until ctx ends, and then those under way. It closes
// the listener.
func (v *Server) Serve(ctx context.Context, l net.Listener) error {
	return serveUntil(ctx, l, v, v.config, v.live.Close)
}

// serveUntil serves h until ctx ends. Then end is called, which must end
// answers that have no end of their own.
func serveUntil(ctx context.Context, l net.Listener, h http.Handler, c Config, end func()) error {
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: c.header, ReadTimeout: c.read, WriteTimeout: c.write, IdleTimeout: c.idle, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(c.Log.Handler(), slog.LevelWarn),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	c.Log.Info("shutting down")
	end()
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.shutdown)
	defer cancel()
	if err := server.Shutdown(ending); err != nil {
		server.Close()
		return fmt.Errorf("serve: requests were cut off: %w", err)
	}
	return nil
}
