package liveweb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"runtime/debug"
	"time"

	"github.com/wdgnn/wdgnn/internal/hostname"
)

// Config says how to serve. Its zero value serves without a token.
type Config struct {
	Token    string        // that requests must bear; empty means none is asked for
	Header   time.Duration // for the head of a request; 0 means 5 s
	Read     time.Duration // for a whole request; 0 means 10 s
	Write    time.Duration // for an answer; 0 means 15 s
	Idle     time.Duration // of a connection between requests; 0 means 2 min
	Shutdown time.Duration // for requests under way when the server ends; 0 means 10 s
	Log      *slog.Logger  // nil means none
}

// WithDefaults returns c with what is said of 0.
func (c Config) WithDefaults() Config {
	for _, d := range []struct {
		value *time.Duration
		usual time.Duration
	}{
		{&c.Header, 5 * time.Second},
		{&c.Read, 10 * time.Second},
		{&c.Write, 15 * time.Second},
		{&c.Idle, 2 * time.Minute},
		{&c.Shutdown, 10 * time.Second},
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

// The most that a request may have.
const (
	MaxHeader = 16 << 10 // bytes of the head of a request
	MaxBody   = 4 << 10  // bytes of what is posted
)

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

// ServeUntil serves h until ctx ends. Then end is called, which must end
// answers that have no end of their own.
func ServeUntil(ctx context.Context, l net.Listener, h http.Handler, c Config, end func()) error {
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: c.Header, ReadTimeout: c.Read, WriteTimeout: c.Write, IdleTimeout: c.Idle, MaxHeaderBytes: MaxHeader,
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
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.Shutdown)
	defer cancel()
	if err := server.Shutdown(ending); err != nil {
		server.Close()
		return fmt.Errorf("serve: requests were cut off: %w", err)
	}
	return nil
}

// Rescue turns a panic into an answer. It is for defer.
func Rescue(log *slog.Logger, out *Recorder, path string) {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler {
		panic(p)
	}
	log.Error("a request ended in a panic", "path", path, "panic", p, "stack", string(debug.Stack()))
	if !out.Began {
		ProblemOf(errPanic).Send(out)
	}
}

var errPanic = Problemf(http.StatusInternalServerError, "internal", "something went wrong; the log of the service says what")

// Recorder remembers the status of an answer.
type Recorder struct {
	http.ResponseWriter
	Status int
	Began  bool
}

func (r *Recorder) WriteHeader(status int) {
	r.Status, r.Began = status, true
	r.ResponseWriter.WriteHeader(status)
}

func (r *Recorder) Write(p []byte) (int, error) {
	r.Began = true
	return r.ResponseWriter.Write(p)
}

// Unwrap lets [http.ResponseController] find what it needs.
func (r *Recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// ParseQuery returns the query of a request, every name once and none but
// those given.
func ParseQuery(r *http.Request, names ...string) (map[string]string, error) {
	refuse := func(err error) error {
		return Problemf(http.StatusBadRequest, "bad_query", "query: %v", err)
	}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, refuse(err)
	}
	query := map[string]string{}
	for _, name := range names {
		if len(values[name]) > 1 {
			return nil, refuse(fmt.Errorf("%s is given twice", name))
		}
		query[name] = values.Get(name)
		delete(values, name)
	}
	for name := range values {
		return nil, refuse(fmt.Errorf("unknown parameter %.60q", name))
	}
	return query, nil
}
