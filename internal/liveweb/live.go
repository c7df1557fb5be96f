package liveweb

import (
	"context"
	"crypto/rand"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/wdgnn/wdgnn/internal/live"
)

// LiveConfig says what a page shows: a hub or a recording, and tables beside
// it. All of it belongs to the caller.
type LiveConfig struct {
	Hub       *live.Hub
	Recording *live.Recording
	Results   *live.Results

	// Control lets those who watch send commands to the hub. Leave it false
	// where other machines can reach the page, unless that is meant.
	Control bool

	// Ratings returns what the page shows of a recommender, if it shows one.
	Ratings func() any

	Config // how to serve; of the token see there
}

// Live is the page and what it reads:
//
//	GET  /                       the page; its files are below /page/
//	GET  /page.json              what this process has to show
//	GET  /events                 a hub's messages as server-sent events
//	POST /control                {"name": "drop", "value": 0.3}, a command to the hub
//	GET  /replay                 what a recording holds
//	GET  /replay/frames          ?from=0&count=50
//	GET  /tables, /figures/PATH  results of wdgnn reproduce
//
// Nothing changes by GET. It is safe for concurrent use.
type Live struct {
	config  LiveConfig
	gate    Gate
	handler http.Handler
	limit   bucket
	run     string        // differs from that of every other process
	closed  chan struct{} // streams end
	once    sync.Once
}

// NewLive returns the page of a process.
func NewLive(c LiveConfig) *Live {
	c.Config = c.WithDefaults()
	v := &Live{config: c, gate: NewGate(c.Token), run: rand.Text(), closed: make(chan struct{})}
	mux := http.NewServeMux()
	for _, t := range liveTable {
		mux.Handle(t.path, v.wrap(t))
	}
	mux.Handle("/", v.wrap(liveRoute{path: "/", open: true, handle: (*Live).nothing}))
	v.handler = mux
	return v
}

// liveRoute is something that the page reads.
type liveRoute struct {
	method, path string
	open         bool // needs no token: there is nothing of a run in it
	handle       func(v *Live, w http.ResponseWriter, r *http.Request) error
}

var liveTable = []liveRoute{
	{http.MethodGet, "/{$}", true, (*Live).index},
	{http.MethodGet, "/page/{name}", true, (*Live).file},
	{http.MethodGet, "/page.json", false, (*Live).describe},
	{http.MethodGet, "/events", false, (*Live).events},
	{http.MethodPost, "/control", false, (*Live).control},
	{http.MethodGet, "/replay", false, (*Live).replay},
	{http.MethodGet, "/replay/frames", false, (*Live).frames},
	{http.MethodGet, "/tables", false, (*Live).tables},
	{http.MethodGet, "/figures/{path...}", false, (*Live).figure},
}

// Paths lists what is below the page, as patterns.
func Paths() (list []string) {
	for _, t := range liveTable {
		list = append(list, t.path)
	}
	return list
}

// ServeHTTP implements [http.Handler].
func (v *Live) ServeHTTP(w http.ResponseWriter, r *http.Request) { v.handler.ServeHTTP(w, r) }

// Serve answers requests until ctx ends. It closes the listener.
func (v *Live) Serve(ctx context.Context, l net.Listener) error {
	return ServeUntil(ctx, l, v, v.config.Config, v.Close)
}

// Close ends the streams of events.
func (v *Live) Close() { v.once.Do(func() { close(v.closed) }) }

// policy is what a browser may load for the page: its own files and nothing
// else, no script or style inside them.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// wrap does what all routes need.
func (v *Live) wrap(t liveRoute) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := &Recorder{ResponseWriter: w, Status: http.StatusOK}
		defer Rescue(v.config.Log, out, r.URL.Path)
		h := out.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("X-Frame-Options", "DENY")
		err := v.admit(t, out, r)
		if err == nil {
			err = t.handle(v, out, r)
		}
		if err != nil {
			ProblemOf(err).Send(out)
		}
	})
}

// admit refuses requests that bear no token, or that pages of other sites make.
func (v *Live) admit(t liveRoute, w http.ResponseWriter, r *http.Request) error {
	if err := v.gate.Admit(w, r, t.open); err != nil {
		return err
	}
	if err := CheckMethod(w, r, t.method, t.path); err != nil {
		return err
	}
	site, followed := r.Header.Get("Sec-Fetch-Site"), t.open && r.Header.Get("Sec-Fetch-Mode") == "navigate"
	if (site == "cross-site" || site == "same-site") && !followed {
		return errForeign
	}
	return nil
}

func (v *Live) nothing(_ http.ResponseWriter, r *http.Request) error {
	return Problemf(http.StatusNotFound, "no_such_path", "nothing is at %.80q", r.URL.Path).Hint("GET /, the page")
}

// bucket limits how often something happens: rate per second, burst at once.
type bucket struct {
	mutex sync.Mutex
	used  float64
	at    time.Time
}

const (
	commandRate  = 20
	commandBurst = 40
)

// take says whether one more may happen now.
func (b *bucket) take(now time.Time) bool {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.used = max(0, b.used-commandRate*now.Sub(b.at).Seconds())
	b.at = now
	if b.used+1 > commandBurst {
		return false
	}
	b.used++
	return true
}
